"""A thousand rows at every threshold, counted by hand from a table whose truth is known."""

import numpy as np
import pytest

from pnulearn import TableClassifier
from pnulearn.metrics._estimate import Estimate
from pnulearn.report._findings import AtThreshold, all_alike, cheapest, look_at_thresholds
from pnulearn.report._page import _say_rule
from pnulearn.report._rows import held_out_probability


@pytest.mark.thorough
def test_counts_of_a_thousand_are_near_the_truth(tmp_path):
    rng = np.random.default_rng(0)
    good = rng.random(3000) < 0.3
    x = rng.normal(size=3000) + 2 * good
    labels = np.where(np.arange(3000) < 400, np.where(good, "yes", "no"), "")
    path = tmp_path / "t.csv"
    path.write_text("x,y\n" + "\n".join(f"{value:.4f},{label}" for value, label in zip(x, labels, strict=True)))
    fitted = TableClassifier(prior=0.3, cv=3).fit(path, "y").fitted_
    probability = held_out_probability(fitted)[:, 1]
    lines = look_at_thresholds(fitted)
    assert [line.threshold for line in lines] == sorted(line.threshold for line in lines)
    for line in lines:
        called = probability >= line.threshold
        assert line.called == pytest.approx(1000 * called.mean(), abs=40)
        assert line.false_alarms == pytest.approx(1000 * np.mean(called & ~good), abs=40)
        assert line.missed == pytest.approx(1000 * np.mean(~called & good), abs=40)
        assert line.recall.low - 0.02 <= np.mean(called[good]) <= line.recall.high + 0.02


def test_the_dearer_a_miss_the_lower_the_line():
    estimate = Estimate(0.5, 0.1, 0.3, 0.7)
    lines = [
        AtThreshold(0.2, 400, 200, 10, estimate, estimate),
        AtThreshold(0.5, 200, 50, 60, estimate, estimate),
        AtThreshold(0.8, 50, 5, 150, estimate, estimate),
    ]
    assert [cheapest(lines, price).threshold for price in (0.1, 1, 2, 5, 20)] == [0.8, 0.5, 0.5, 0.2, 0.2]
    assert lines[0].cost(5) == 250


def test_predicting_nobody_or_everybody_is_compared_too():
    estimate = Estimate(0.5, 0.1, 0.3, 0.7)
    everybody, nobody = all_alike(0.05)
    assert [nobody.cost(1), everybody.cost(1), nobody.cost(50), everybody.cost(50)] == [50, 950, 2500, 950]
    lines = [everybody, AtThreshold(0.5, 80, 50, 40, estimate, estimate), nobody]
    assert cheapest(lines, 1) is nobody
    assert cheapest(lines, 1000) is everybody


def test_a_threshold_other_than_that_of_predict_is_explained():
    estimate = Estimate(0.5, 0.1, 0.3, 0.7)
    everybody, nobody = all_alike(0.05)
    same, other = (AtThreshold(threshold, 80, 50, 40, estimate, estimate) for threshold in (0.2, 0.4))
    lines = [everybody, same, other, nobody]
    assert _say_rule(same, lines, 5) == ""
    found = _say_rule(other, lines, 5)
    assert found.startswith("pnulearn predict --costs 5 1 predicts above 17 % instead")
    assert "held-out rows" in found
    assert _say_rule(nobody, lines, 1) == ""  # no row has a probability above 50 %
    assert _say_rule(everybody, lines, 20) == ""
    assert _say_rule(nobody, lines, 5)
