"""Rows for humans: their number, their probabilities, and estimates from them."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from pnulearn.metrics import judge_quality, pnu_share, rows_to_label


def test_every_row_is_chosen_with_its_probability():
    verdict = np.repeat(["a", "b", "c"], [60, 30, 10])
    draws = [rows_to_label(20, verdict, random_state=k) for k in range(500)]
    often = np.mean([np.isin(np.arange(100), one.rows) for one in draws], axis=0)
    probability = draws[0].probability
    assert_allclose(probability.sum(), 20)
    assert_allclose(often, probability, atol=5 * 0.5 / np.sqrt(500))
    assert all(len(np.unique(one.rows)) == 20 for one in draws)
    assert_allclose(draws[0].weights, 1 / probability[draws[0].rows])


def test_verdicts_get_equal_parts_but_for_the_share_that_is_spread_evenly():
    verdict = np.repeat(["pass", "fail"], [900, 100])
    chosen = rows_to_label(50, verdict, least=0.2, random_state=0)
    assert_allclose(chosen.probability[-1], 50 * (0.2 / 1000 + 0.8 * 0.5 / 100))
    assert abs(np.sum(verdict[chosen.rows] == "fail") - 21) <= 1
    rare = rows_to_label(50, np.repeat(["x", "y"], [997, 3]), random_state=0)
    assert_allclose(rare.probability[-3:], 1.0)
    assert_allclose(rare.probability.sum(), 50)
    two = rows_to_label(4, pd.DataFrame({"a": [0, 0, 1, 1], "b": ["u", "v", "u", "v"]}))
    assert two.rows.tolist() == [0, 1, 2, 3]


def test_uncertain_rows_are_chosen_more_often():
    p = np.linspace(0, 1, 1001)
    found = rows_to_label(100, p, by="uncertainty", least=0.2).probability
    wish = np.sqrt(p * (1 - p))
    assert_allclose(found, 100 * (0.2 / 1001 + 0.8 * wish / wish.sum()))
    assert_allclose(rows_to_label(3, [0.0, 1.0, 1.0, 0.0], by="uncertainty").probability, 0.75)


@pytest.mark.parametrize(
    ("by", "right"),
    [
        ("verdict", 0.9),
        pytest.param("uncertainty", 0.9, marks=pytest.mark.thorough),
        pytest.param("verdict", 0.15, marks=pytest.mark.thorough),
        pytest.param("uncertainty", 0.15, marks=pytest.mark.thorough),
    ],
)
def test_estimates_from_the_chosen_rows_cover(by, right):
    """At least 90 % of 200 intervals of 95 %: fewer have a probability of 0.2 % if the cover is exact."""
    rng, held, gaps = np.random.default_rng(2), 0, []
    for draw in range(200):
        good = rng.random(2000) < 0.8
        verdict = np.where(rng.random(2000) < right, good, ~good)
        helper = verdict if by == "verdict" else np.clip(np.where(verdict, 0.85, 0.3) + rng.normal(0, 0.1, 2000), 0, 1)
        chosen = rows_to_label(120, helper, by=by, random_state=draw)
        y = np.full(2000, np.nan)
        y[chosen.rows] = good[chosen.rows]
        found = pnu_share(y, helper=helper, sampling=chosen.probability)
        held += found.low <= 0.8 <= found.high
        gaps.append(found.value - 0.8)
    assert held >= 180
    assert abs(np.mean(gaps)) < 3 * np.std(gaps) / np.sqrt(200)


def test_the_probabilities_serve_the_quality_of_the_judge_too():
    rng = np.random.default_rng(0)
    good = rng.random(20_000) < 0.9
    verdict = np.where(rng.random(20_000) < 0.85, good, ~good)
    chosen = rows_to_label(3000, verdict, random_state=0)
    y = np.full(20_000, np.nan)
    y[chosen.rows] = good[chosen.rows]
    found = judge_quality(y, verdict.astype(float), sampling=chosen.probability)
    assert abs(found.sensitivity.value - 0.85) < 0.02


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"n": 11}, "n=11 rows are asked for, and there are 10"),
        ({"by": "score"}, "'verdict' or 'uncertainty'"),
        ({"by": "uncertainty", "helper": ["a"] * 10}, "probabilities from 0 to 1"),
        ({"helper": np.arange(30.0)}, "by='uncertainty'"),
        ({"least": 0}, "least"),
    ],
)
def test_refusals(given, words):
    with pytest.raises(ValueError, match=words):
        rows_to_label(**({"n": 5, "helper": [0, 1] * 5} | given))
