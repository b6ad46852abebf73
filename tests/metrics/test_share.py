"""The share of positives and the mean of a numeric label, from few labels and second opinions."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.stats import beta

from pnulearn.metrics import pnu_mean, pnu_share
from pnulearn.priors import PriorEstimate


def draw(rng, share=0.7, sensitivity=0.9, specificity=0.8, n_labels=100, n_rows=1000):
    """Labels of all rows, labels that are known, and verdicts."""
    truth = (rng.random(n_rows) < share).astype(float)
    right = rng.random(n_rows) < np.where(truth == 1, sensitivity, specificity)
    y = np.full(n_rows, np.nan)
    chosen = rng.choice(n_rows, n_labels, replace=False)
    y[chosen] = truth[chosen]
    return truth, y, np.where(right, truth, 1 - truth)


def covers(estimate, truth):
    return estimate.low <= truth <= estimate.high


def test_labels_alone_give_jeffreys_interval():
    found = pnu_share([1] * 30 + [0] * 10 + [None] * 100)
    assert found.value == 0.75
    assert_allclose([found.low, found.high], beta(30.5, 10.5).ppf([0.025, 0.975]), atol=1e-12)
    assert found.n_labels == 40
    assert found.worth == pytest.approx(40)


def test_two_verdicts_give_the_post_stratified_share():
    y = [1] * 24 + [0] * 6 + [1] * 4 + [0] * 16 + [None] * 950
    verdict = ["good"] * 30 + ["bad"] * 20 + ["good"] * 570 + ["bad"] * 380
    found = pnu_share(y, helper=verdict)
    assert found.value == pytest.approx(0.6 * 0.8 + 0.4 * 0.2)
    shares = [beta(24.4, 6.4), beta(4.4, 16.4)]
    draws = np.random.default_rng(0).random((2, 200_000))
    mixture = 0.6 * shares[0].ppf(draws[0]) + 0.4 * shares[1].ppf(draws[1])
    within = 0.36 * shares[0].var() * 31.8 / 30.8 + 0.16 * shares[1].var() * 21.8 / 20.8  # one row less
    between = 0.6 * 0.4 * (shares[0].mean() - shares[1].mean()) ** 2 / 1000
    assert found.stderr == pytest.approx(np.sqrt(within + between))
    assert_allclose([found.low, found.high], np.quantile(mixture, [0.025, 0.975]), atol=0.006)


@pytest.mark.parametrize("words", [(0, 1), (1, 0), ("bad", "good"), ("x", "a"), (False, True), (0.2, 0.7), (1, 5)])
def test_the_words_of_the_judge_and_their_order_do_not_matter(words):
    """So a judge that is always wrong is as good as one that is always right."""
    _, y, verdict = draw(np.random.default_rng(0))
    usual = pnu_share(y, helper=verdict)
    found = pnu_share(y, helper=np.array(words)[verdict.astype(int)])
    assert_allclose([found.value, found.low, found.high], [usual.value, usual.low, usual.high], atol=1e-12)


@pytest.mark.parametrize("helper", [np.ones(1000), np.array(["good"] * 1000)], ids=["number", "word"])
def test_a_constant_judge_changes_nothing(helper):
    _, y, _ = draw(np.random.default_rng(0))
    assert pnu_share(y, helper=helper) == pnu_share(y)


@pytest.mark.parametrize("kind", ["verdict", "score", "three judges"])
def test_a_judge_that_knows_nothing_is_hardly_wider_than_labels_alone(kind):
    rng, widths = np.random.default_rng(1), []
    for _ in range(30):
        _, y, verdict = draw(rng, 0.8, 0.5, 0.5, 50, 400)
        helper = {
            "verdict": verdict,
            "score": rng.normal(size=400),
            "three judges": {name: rng.integers(2, size=400) for name in "abc"},
        }[kind]
        widths.append([found.high - found.low for found in (pnu_share(y, helper=helper), pnu_share(y))])
    with_judge, alone = np.mean(widths, axis=0)
    assert with_judge < 1.03 * alone


@pytest.mark.parametrize(
    ("share", "accuracy", "n_labels"), [(0.5, 0.8, 50), (0.9, 0.9, 50), (0.7, 0.95, 100), (0.9, 0.2, 100)]
)
def test_intervals_cover(share, accuracy, n_labels):
    rng = np.random.default_rng(2)
    held = []
    for _ in range(300):
        _, y, verdict = draw(rng, share, accuracy, accuracy, n_labels)
        held.append(covers(pnu_share(y, helper=verdict, pos_label=1), share))
    assert 0.92 <= np.mean(held) <= 0.99  # three standard errors are 0.038


def test_intervals_cover_with_scores_and_with_several_judges():
    rng = np.random.default_rng(3)
    held = {"score": [], "judges": []}
    for _ in range(150):
        truth, y, verdict = draw(rng, 0.7, 0.8, 0.8, 60, 600)
        held["score"].append(covers(pnu_share(y, helper=rng.normal(1.5 * truth, 1)), 0.7))
        others = {k: np.where(rng.random(600) < 0.7, truth, 1 - truth) for k in "bcd"}
        held["judges"].append(covers(pnu_share(y, helper={"a": verdict, **others}), 0.7))
    assert min(map(np.mean, held.values())) >= 0.90
    assert max(map(np.mean, held.values())) <= 1.0


def test_several_judges_are_worth_more_than_one():
    rng = np.random.default_rng(4)
    worth = []
    for _ in range(20):
        truth, y, verdict = draw(rng, 0.5, 0.75, 0.75, 200, 2000)
        others = {k: np.where(rng.random(2000) < 0.75, truth, 1 - truth) for k in "bc"}
        worth.append([pnu_share(y, helper=verdict).worth, pnu_share(y, helper={"a": verdict, **others}).worth])
    one, three = np.mean(worth, axis=0)
    assert three > 1.2 * one > 1.2 * 200


def choose_by_verdict(rng, truth, verdict, n_bad=60, n_good=30):
    y, chance = np.full(len(truth), np.nan), np.zeros(len(truth))
    for value, n in ((0, n_bad), (1, n_good)):
        rows = np.flatnonzero(verdict == value)
        chosen = rng.choice(rows, n, replace=False)
        y[chosen] = truth[chosen]
        chance[rows] = n / len(rows)
    return y, chance


def test_labels_chosen_by_verdict():
    """Labels alone are then biased; strata with unknown rates and known rates are not."""
    rng, found = np.random.default_rng(5), {"naive": [], "unknown": [], "known": []}
    for _ in range(150):
        truth, _, verdict = draw(rng)
        y, chance = choose_by_verdict(rng, truth, verdict)
        found["naive"].append(pnu_share(y))
        found["unknown"].append(pnu_share(y, helper=verdict, sampling="by_helper"))
        found["known"].append(pnu_share(y, helper=verdict, sampling=chance))
    bias = {name: np.mean([each.value for each in rows]) - 0.7 for name, rows in found.items()}
    assert bias["naive"] < -0.1
    assert max(abs(bias["unknown"]), abs(bias["known"])) < 0.012
    assert min(np.mean([covers(each, 0.7) for each in found[name]]) for name in ("unknown", "known")) >= 0.91


def test_labels_chosen_by_class_at_known_rates():
    rng, found = np.random.default_rng(6), []
    for _ in range(150):
        truth, _, verdict = draw(rng)
        chance = np.where(truth == 1, 0.05, 0.2)
        y = np.where(rng.random(len(truth)) < chance, truth, np.nan)
        found.append(pnu_share(y, helper=verdict, sampling=np.where(np.isnan(y), np.nan, chance)))
    assert abs(np.mean([each.value for each in found]) - 0.7) < 0.012
    assert np.mean([covers(each, 0.7) for each in found]) >= 0.90


def test_labels_gathered_by_class_give_rogan_and_gladen_with_fiellers_interval():
    y = [1] * 100 + [0] * 100 + [None] * 2000
    verdict = [1] * 90 + [0] * 10 + [1] * 20 + [0] * 80 + [1] * 1100 + [0] * 900
    found = pnu_share(y, helper=verdict, sampling="by_class")
    assert found.value == pytest.approx((0.55 - 0.2) / (0.9 - 0.2), abs=0.01)
    variance = 0.55 * 0.45 / 2000 + 0.25 * (0.9 * 0.1 + 0.2 * 0.8) / 100
    assert found.stderr == pytest.approx(np.sqrt(variance) / 0.7, rel=0.1)
    useless = pnu_share(y, helper=[1, 0] * 1100, sampling="by_class")
    assert useless.high - useless.low > 0.85


def test_intervals_cover_with_labels_gathered_by_class():
    rng, held = np.random.default_rng(7), []
    for _ in range(200):
        truth, _, verdict = draw(rng, 0.3)
        y = np.full(len(truth), np.nan)
        for k in (0, 1):
            chosen = rng.choice(np.flatnonzero(truth == k), 40, replace=False)
            y[chosen] = k
        held.append(covers(pnu_share(y, helper=verdict, sampling="by_class"), 0.3))
    assert 0.90 <= np.mean(held) <= 0.995


def test_weights_of_the_population():
    """A row of weight two stands for two rows of the population, but is one label."""
    _, y, verdict = draw(np.random.default_rng(8))
    weight = np.where(verdict == 1, 2.0, 1.0)
    found = pnu_share(y, helper=verdict, sample_weight=weight)
    share = [np.nanmean(y[verdict == k]) for k in (0, 1)]
    good = 2 * np.sum(verdict == 1)
    assert found.value == pytest.approx((share[0] * np.sum(verdict == 0) + share[1] * good) / weight.sum())
    assert_allclose(pnu_share(y, helper=verdict, sample_weight=7 * weight).high, found.high)


def test_correlated_rows_widen_the_interval():
    rng = np.random.default_rng(9)
    held, widths = [], []
    for _ in range(150):
        user = np.repeat(np.arange(200), 5)
        truth = np.repeat(rng.random(200) < 0.6, 5).astype(float)
        verdict = np.where(rng.random(1000) < 0.8, truth, 1 - truth)
        y = np.where(np.isin(user, rng.choice(200, 20, replace=False)), truth, np.nan)
        grouped, plain = pnu_share(y, helper=verdict, groups=user), pnu_share(y, helper=verdict)
        held.append([covers(grouped, 0.6), covers(plain, 0.6)])
        widths.append([grouped.high - grouped.low, plain.high - plain.low])
    assert np.mean(held, axis=0)[0] >= 0.88 > np.mean(held, axis=0)[1]
    assert np.mean(widths, axis=0)[0] > 1.5 * np.mean(widths, axis=0)[1]


def test_other_knowledge_of_the_share_is_combined():
    _, y, verdict = draw(np.random.default_rng(10), n_labels=30)
    plain, told = pnu_share(y, helper=verdict), pnu_share(y, helper=verdict, prior=(0.65, 0.75))
    assert told.high - told.low < 0.8 * (plain.high - plain.low)
    again = pnu_share(y, helper=verdict, prior=PriorEstimate.of_counts([300, 700]))
    assert abs(again.value - 0.7) < abs(plain.value - 0.7)


def test_ends_are_reached_if_all_labels_are_equal():
    assert pnu_share([1] * 20 + [None] * 50).high == 1
    assert pnu_share([0] * 20 + [None] * 50, pos_label=1).low == 0


def test_the_order_of_rows_does_not_matter():
    rng = np.random.default_rng(11)
    truth, y, verdict = draw(rng)
    score, order = rng.normal(truth, 1), rng.permutation(len(y))
    for helper in (verdict, score):
        one, other = pnu_share(y, helper=helper), pnu_share(y[order], helper=helper[order])
        assert_allclose([one.value, one.low, one.high], [other.value, other.low, other.high], atol=1e-10)


def test_labels_and_helpers_in_any_container():
    _, y, verdict = draw(np.random.default_rng(12))
    usual = pnu_share(y, helper=verdict)
    frame = pd.DataFrame({"human": y, "judge": verdict})
    assert pnu_share(frame["human"], helper=frame["judge"]) == usual
    assert pnu_share(frame["human"], helper=frame[["judge"]]) == usual
    assert pnu_share(y, helper={"judge": verdict.tolist()}) == usual
    words = np.where(np.isnan(y), None, np.where(y == 1, "good", "bad"))
    assert pnu_share(words, helper=verdict, pos_label="good") == usual


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sampling": "by_verdict"}, "sampling must be 'random'"),
        ({"sampling": "by_helper"}, "needs helper="),
        ({"sampling": "by_class"}, "needs helper="),
        ({"sampling": [0.5]}, "one probability for each of the 6 rows"),
        ({"sampling": [0.5, 0, 1, 1, 1, 1]}, r"sampling\[1\] is 0"),
        ({"helper": [1, 0]}, "y has 6 rows"),
        ({"helper": [1, 0, 1, None, 0, 1]}, "missing in 1 rows, first in row 3"),
        ({"helper": [1, 0, 1, np.inf, 0, 1]}, "infinite"),
        ({"helper": ["a", "b", "a", "b", "c", "a"], "sampling": "by_helper"}, "No row with helper=c is labelled"),
        ({"prior": 0.5}, "fixes the share"),
        ({"confidence": 95}, "confidence"),
        ({"groups": [1, 2]}, "groups must have one entry"),
    ],
    ids=str,
)
def test_errors_say_what_to_do(options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        pnu_share([1, 0, 1, 0, None, None], **options)


def test_by_class_needs_all_three_kinds_of_rows():
    with pytest.raises(ValueError, match="unlabelled ones are missing"):
        pnu_share([1, 0, 1, 0], helper=[1, 0, 1, 0], sampling="by_class")


def rating(rng, n_labels=60, n_rows=800, bias=0.4):
    truth = np.clip(np.round(rng.normal(3.4, 1.1, n_rows)), 1, 5)
    grade = np.clip(np.round(truth + rng.normal(bias, 0.8, n_rows)), 1, 5)
    y = np.full(n_rows, np.nan)
    chosen = rng.choice(n_rows, n_labels, replace=False)
    y[chosen] = truth[chosen]
    return truth, y, grade


def test_the_mean_of_labels_alone_is_the_sample_mean():
    y = [1, 2, 2, 5, 4, 4, 4, 3] + [None] * 10
    found = pnu_mean(y)
    assert found.value == pytest.approx(np.mean(y[:8]))
    assert found.stderr == pytest.approx(np.std(y[:8], ddof=1) / np.sqrt(8))
    assert found.worth == pytest.approx(8)


def test_intervals_of_means_cover_and_are_narrower():
    rng = np.random.default_rng(13)
    mean = np.clip(np.round(rng.normal(3.4, 1.1, 2_000_000)), 1, 5).mean()
    held, ratio = [], []
    for _ in range(250):
        _, y, grade = rating(rng)
        found, alone = pnu_mean(y, helper=grade), pnu_mean(y)
        held.append(covers(found, mean))
        ratio.append((found.high - found.low) / (alone.high - alone.low))
    assert 0.91 <= np.mean(held) <= 0.985
    assert np.mean(ratio) < 0.75


def test_means_of_labels_chosen_by_grade():
    rng, values = np.random.default_rng(14), []
    for _ in range(100):
        truth, _, grade = rating(rng)
        chance = np.where(grade <= 2, 0.3, 0.06)
        y = np.where(rng.random(len(truth)) < chance, truth, np.nan)
        known, unknown = (pnu_mean(y, helper=grade, sampling=how) for how in (chance, "by_helper"))
        values.append([np.nanmean(y) - truth.mean(), known.value - truth.mean(), unknown.value - truth.mean()])
    naive, known, unknown = np.mean(values, axis=0)
    assert naive < -0.25
    assert max(abs(known), abs(unknown)) < 0.05


def test_means_take_words_and_several_judges():
    rng = np.random.default_rng(15)
    _, y, grade = rating(rng)
    words = np.array(["poor", "fair", "good", "fine", "great"])[grade.astype(int) - 1]
    by_word, by_grade = pnu_mean(y, helper=words), pnu_mean(y, helper=grade)
    assert by_word.value == pytest.approx(by_grade.value, abs=0.1)
    both = pnu_mean(y, helper={"grade": grade, "noise": rng.normal(size=len(y))})
    assert both.worth > 60


@pytest.mark.parametrize(
    ("y", "options", "message"),
    [
        (["a", "b"], {}, "not a number"),
        ([1.0, None], {}, "needs 2 or more"),
        ([1, 2, np.inf], {}, "infinite"),
        ([1, 2, 3], {"sampling": "by_class"}, "for classes"),
        ([1, 2, 3], {"sampling": "by_helper"}, "needs helper="),
    ],
    ids=str,
)
def test_errors_of_means(y, options, message):
    with pytest.raises(ValueError, match=message):
        pnu_mean(y, **options)
