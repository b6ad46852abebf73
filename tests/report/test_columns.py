"""Columns are shuffled and set as the user knows them, by models that have not seen the row."""

import numpy as np
import pytest

from pnulearn import TableClassifier
from pnulearn.inspection import ColumnImportance
from pnulearn.metrics import Estimate
from pnulearn.report._ablation import best_candidate
from pnulearn.report._columns import column_groups, look_at_columns
from pnulearn.report._page import say_columns


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """The city tells most, the date a little, the number nothing."""
    rng = np.random.default_rng(0)
    path = tmp_path_factory.mktemp("columns") / "t.csv"
    good = rng.random(400) < 0.4
    lines = ["city,since,noise,remark,bought"]
    for i, g in enumerate(good):
        city = rng.choice(["Graz", "Bern", "Rom"], p=[0.85, 0.1, 0.05] if g else [0.1, 0.45, 0.45])
        day = rng.integers(1, 21) + 8 * g
        words = " ".join(rng.choice(["red", "blue", "green", "old", "new", "fine"], 12))
        lines.append(f"{city},2024-05-{day:02d},{rng.normal():.3f},{words} {i},{'yn'[not g] if i < 80 else ''}")
    path.write_text("\n".join(lines))
    return TableClassifier(prior=0.4, cv=3).fit(path, "bought").fitted_


@pytest.fixture(scope="module")
def found(fitted):
    return look_at_columns(fitted)


def test_groups_cover_all_features_once(fitted):
    groups = column_groups(fitted)
    assert list(groups) == ["city", "since", "noise", "remark"]
    assert [place for group in groups.values() for place in group] == list(range(fitted.X.shape[1]))


def test_what_matters_comes_first_under_its_own_name(found):
    assert [one.column for one in found.importances][:2] == ["city", "since"]
    assert found.importances[0].rise.low > 0
    assert say_columns(found.importances).startswith("Most important: 'city' (+")


def test_effects_speak_of_values_as_they_stand_in_the_table(found):
    city, since = found.effects[:2]
    assert sorted(city.values) == ["Bern", "Graz", "Rom"]
    probability = dict(zip(city.values, city.average[0], strict=True))
    assert probability["Graz"] > probability["Bern"] + 0.3
    assert since.values == sorted(since.values)
    assert since.values[0].startswith("2024-05-")
    assert (city.low <= city.average).all()
    assert (city.average <= city.high).all()
    assert "remark" not in [effect.column for effect in found.effects]  # text has no scale


def test_nothing_is_claimed_of_columns_that_chance_could_explain(found):
    rest = [one for one in found.importances if one.rise.low <= 0]
    assert say_columns(rest).startswith("These labels do not show that any single column is needed")


def test_the_candidate_is_the_one_with_most_weight(fitted):
    classifier = fitted.model.classifier
    alone = best_candidate(classifier)
    assert (alone.mix, alone.alpha, alone.prior) == (classifier.mix_, classifier.alpha_, 0.4)


def test_one_other_column_is_not_several():
    sure, unsure = (
        ColumnImportance(name, Estimate(rise, 0.01, rise - 0.02, rise + 0.02), 0.1)
        for name, rise in (("age", 0.1), ("city", 0.0))
    )
    assert say_columns([sure, unsure]).endswith(" For the other column no effect is shown.")
    assert say_columns([sure, unsure, unsure]).endswith(" For the other 2 columns no effect is shown.")
