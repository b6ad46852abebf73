"""Error rates, agreement and bias of a judge."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, cohen_kappa_score, precision_score, recall_score

from pnulearn.metrics import judge_quality

SHARE, SENSITIVITY, SPECIFICITY = 0.7, 0.9, 0.75


def draw(rng, n_rows=1500):
    truth = (rng.random(n_rows) < SHARE).astype(int)
    right = rng.random(n_rows) < np.where(truth == 1, SENSITIVITY, SPECIFICITY)
    return truth, np.where(right, truth, 1 - truth)


def known(truth, rows):
    y = np.full(len(truth), np.nan)
    y[rows] = truth[rows]
    return y


def test_all_rows_labelled_gives_the_measures_of_scikit_learn():
    truth, verdict = draw(np.random.default_rng(0))
    found = judge_quality(truth, verdict)
    assert found.sensitivity.value == pytest.approx(recall_score(truth, verdict))
    assert found.specificity.value == pytest.approx(recall_score(truth, verdict, pos_label=0))
    assert found.precision.value == pytest.approx(precision_score(truth, verdict))
    assert found.agreement.value == pytest.approx(accuracy_score(truth, verdict))
    assert found.kappa.value == pytest.approx(cohen_kappa_score(truth, verdict))
    assert found.bias.value == pytest.approx(verdict.mean() - truth.mean())
    assert found.disagreements.tolist() == np.flatnonzero(truth != verdict).tolist()


@pytest.mark.parametrize("design", ["random", "by_helper"])
def test_intervals_cover(design):
    rng, held = np.random.default_rng(1), {}
    called = SHARE * SENSITIVITY + (1 - SHARE) * (1 - SPECIFICITY)
    agreement = SHARE * SENSITIVITY + (1 - SHARE) * SPECIFICITY
    chance = called * SHARE + (1 - called) * (1 - SHARE)
    truths = {
        "sensitivity": SENSITIVITY,
        "specificity": SPECIFICITY,
        "precision": SHARE * SENSITIVITY / called,
        "agreement": agreement,
        "kappa": (agreement - chance) / (1 - chance),
        "bias": called - SHARE,
    }
    for _ in range(120):
        truth, verdict = draw(rng)
        if design == "random":
            rows = rng.choice(len(truth), 100, replace=False)
        else:
            parts = [rng.choice(np.flatnonzero(verdict == k), n, replace=False) for k, n in ((0, 70), (1, 30))]
            rows = np.concatenate(parts)
        found = judge_quality(known(truth, rows), verdict, sampling=design)
        for name, value in truths.items():
            estimate = getattr(found, name)
            held.setdefault(name, []).append(estimate.low <= value <= estimate.high)
    assert min(map(np.mean, held.values())) >= 0.89  # three standard errors are 0.06


def test_groups_are_judged_apart():
    rng = np.random.default_rng(2)
    truth, verdict = draw(rng, 4000)
    language = np.array(["de", "en"])[rng.integers(2, size=4000)]
    verdict = np.where((language == "de") & (rng.random(4000) < 0.4), 1 - verdict, verdict)
    y = known(truth, rng.choice(4000, 400, replace=False))
    found = judge_quality(y, verdict, by=language)
    assert list(found.groups) == ["de", "en"]
    alone = judge_quality(y[language == "de"], verdict[language == "de"])
    assert found.groups["de"].kappa.value == pytest.approx(alone.kappa.value)
    assert found.groups["de"].agreement.high < found.groups["en"].agreement.low
    assert "de: agreement" in str(found)


def test_words_of_the_judge():
    truth, verdict = draw(np.random.default_rng(3))
    usual = judge_quality(truth, verdict)
    words = np.where(verdict == 1, "accept", "reject")
    found = judge_quality(truth, words, pos_verdict="accept")
    assert found.kappa == usual.kappa
    assert judge_quality(truth, words, pos_verdict="reject").kappa.value < 0


def test_a_constant_judge_has_kappa_zero():
    found = judge_quality([1, 0, 1, 1, None], ["good"] * 5, pos_verdict="good")
    assert found.kappa.value == 0
    assert found.sensitivity.value == 1


@pytest.mark.parametrize(
    ("verdict", "options", "message"),
    [
        ([0.1, 0.5, 0.9, 0.2], {}, "two are needed"),
        ([1, 0, 1, 0], {"pos_verdict": "good"}, "not among the verdicts"),
        ([1, 0, 1, 0], {"sampling": "by_class"}, "how common"),
        ([1, 0, None, 0], {}, "missing in 1 rows"),
    ],
    ids=str,
)
def test_errors_say_what_to_do(verdict, options, message):
    with pytest.raises(ValueError, match=message):
        judge_quality([1, 0, 1, None], verdict, **options)
