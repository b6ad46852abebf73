"""Differences of shares of several systems, and the labels they need."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pnulearn.metrics import compare_shares, judge_quality, labels_for_share, pnu_share


def draw(rng, shares, n_labels=80, n_rows=600, common=0.7):
    """Labels and verdicts of systems that answer the same questions; some questions are hard for all of them."""
    hard, y, helper = rng.random(n_rows), {}, {}
    for name, share in shares.items():
        level = np.where(rng.random(n_rows) < common, hard, rng.random(n_rows))
        truth = (level < share).astype(float)
        helper[name] = np.where(rng.random(n_rows) < 0.85, truth, 1 - truth)
        y[name] = np.full(n_rows, np.nan)
        y[name][:n_labels] = truth[:n_labels]
    return y, helper


@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.parametrize("with_helper", [True, False])
def test_intervals_of_differences_cover(paired, with_helper):
    rng, held = np.random.default_rng(0), []
    for _ in range(150):
        y, helper = draw(rng, {"A": 0.8, "B": 0.65}, common=0.7 if paired else 0.0)
        found = compare_shares(y, helper=helper if with_helper else None, paired=paired).differences["A", "B"]
        held.append(found.low <= 0.15 <= found.high)
    assert 0.90 <= np.mean(held) <= 0.995  # three standard errors are 0.053


def test_standard_errors_with_a_judge_are_the_deviation_of_the_estimates():
    """Also for paired rows, where they are smaller than for rows taken as independent."""
    rng, found = np.random.default_rng(1), []
    for _ in range(200):
        y, helper = draw(rng, {"A": 0.8, "B": 0.65}, n_labels=200)
        paired, apart = (compare_shares(y, helper=helper, paired=how).differences["A", "B"] for how in (True, False))
        found.append([paired.value, paired.stderr, apart.stderr])
    values, paired, apart = np.array(found).T
    assert paired.mean() == pytest.approx(values.std(), rel=0.15)  # three standard errors of a deviation
    assert apart.mean() > 1.1 * paired.mean()


def test_two_systems_with_labels_alone_give_newcombes_interval():
    y = {"A": [1] * 30 + [0] * 10, "B": [1] * 20 + [0] * 20}
    found = compare_shares(y, paired=False).differences["A", "B"]
    a, b = (pnu_share(each) for each in y.values())
    assert found.low == pytest.approx(0.25 - np.hypot(a.value - a.low, b.high - b.value))
    assert found.high == pytest.approx(0.25 + np.hypot(a.high - a.value, b.value - b.low))


def test_the_paired_standard_error_is_that_of_the_differences():
    rng = np.random.default_rng(2)
    y, _ = draw(rng, {"A": 0.7, "B": 0.6}, n_labels=600)
    found = compare_shares(y).differences["A", "B"]
    gap = y["A"] - y["B"]
    assert found.stderr == pytest.approx(gap.std() / np.sqrt(600), rel=0.01)


def test_four_equal_systems_are_rarely_found_different():
    """All six intervals hold together in about 95 % of draws."""
    rng, wrong, single = np.random.default_rng(3), [], []
    for _ in range(120):
        y, helper = draw(rng, dict.fromkeys("ABCD", 0.7), n_rows=300)
        wrong.append(bool(compare_shares(y, helper=helper).different))
        pairs = [(a, b) for a in "ABCD" for b in "ABCD" if a < b]
        one_by_one = (
            compare_shares({k: y[k] for k in pair}, helper={k: helper[k] for k in pair}).different for pair in pairs
        )
        single.append(any(one_by_one))
    assert np.mean(wrong) <= 0.11  # 0.05 and three standard errors
    assert np.mean(single) > np.mean(wrong)


def test_the_words_say_which_is_higher():
    y = {"A": [1] * 45 + [0] * 5, "B": [1] * 25 + [0] * 25, "C": [1] * 26 + [0] * 24}
    found = compare_shares(y, paired=False)
    assert found.different == [("A", "B"), ("A", "C")]
    assert "A - B: +0.4000" in str(found)
    assert "undecided" in str(found)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"y": {"A": [1, 0]}}, "two or more systems"),
        ({"helper": {"A": [1, 0, 1]}}, "must have the names of y"),
        ({"sampling": "by_class"}, "'random' or 'by_helper' here"),
        ({"y": {"A": [1, 0, 1], "B": [1, 0]}}, "same rows in the same order"),
    ],
    ids=str,
)
def test_errors_say_what_to_do(options, message):
    with pytest.raises(ValueError, match=message):
        compare_shares(**{"y": {"A": [1, 0, 1], "B": [1, 0, 0]}, **options})


@pytest.mark.parametrize("judge", [None, (0.9, 0.8)])
def test_the_number_of_labels_gives_the_width(judge):
    rng, widths = np.random.default_rng(4), []
    needed = labels_for_share(0.12, 0.7, judge=judge, n_rows=2000)
    for _ in range(40):
        truth = (rng.random(2000) < 0.7).astype(float)
        y = np.full(2000, np.nan)
        rows = rng.choice(2000, needed.total, replace=False)
        y[rows] = truth[rows]
        verdict = None
        if judge is not None:
            verdict = np.where(rng.random(2000) < np.where(truth == 1, *judge), truth, 1 - truth)
        found = pnu_share(y, helper=verdict)
        widths.append(found.high - found.low)
    assert np.mean(widths) == pytest.approx(0.12, rel=0.04)


def test_planning_from_the_judge_seen_so_far():
    truth = np.repeat([1, 0], [70, 30])
    quality = judge_quality(truth, np.concatenate([np.repeat([1, 0], [63, 7]), np.repeat([1, 0], [6, 24])]))
    found, expected = labels_for_share(0.1, 0.7, judge=quality), labels_for_share(0.1, 0.7, judge=(0.9, 0.8))
    assert replace(found, reached=expected.reached) == expected
    assert found.reached == pytest.approx(expected.reached, rel=1e-12)


def test_a_width_that_cannot_be_reached():
    with pytest.raises(ValueError, match="Collect more rows"):
        labels_for_share(0.01, 0.5, n_rows=100)
