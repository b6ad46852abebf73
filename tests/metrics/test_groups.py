"""Rows that belong together: folds keep them together, intervals count them as what they are worth."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.svm import SVC

from pnulearn import LabeledOnly, PNUClassifier, PNUStratifiedGroupKFold, PNUStratifiedKFold, make_pnu_scorer, pnu_risk
from pnulearn._problem.samples import Samples
from pnulearn.metrics import pnu_auc, pnu_average_precision, pnu_best_threshold, pnu_recall, pnu_roc_curve
from pnulearn.priors import PriorEstimate


def draw(rng, n_groups=20, size=5, prior=0.4):
    """Groups of rows that are all right or all wrong; half of the groups of either class are unlabelled."""
    group = np.repeat(np.arange(4 * n_groups), size)
    truth = np.repeat(np.tile([1.0, 0.0], 2 * n_groups), size)
    wrong = np.repeat(rng.random(4 * n_groups) < 0.2, size)
    y = np.where(group < 2 * n_groups, truth, np.nan)
    return y, np.where(wrong, 1, -1) * (1 - 2 * truth), group


def test_intervals_hold_where_rows_of_a_group_err_together():
    rng = np.random.default_rng(0)
    alone, together, values = [], [], []
    for _ in range(150):
        y, score, group = draw(rng)
        one, other = pnu_risk(y, score, prior=0.5), pnu_risk(y, score, prior=0.5, groups=group)
        alone.append(one.low <= 0.2 <= one.high)
        together.append(other.low <= 0.2 <= other.high)
        values.append((other.value, other.stderr))
    assert np.mean(alone) < 0.8
    assert np.mean(together) > 0.89
    values, stderrs = np.array(values).T
    assert np.sqrt(np.mean(stderrs**2)) == pytest.approx(values.std(), rel=0.2)


def test_groups_of_one_row_change_nothing():
    y, score, _ = draw(np.random.default_rng(1))
    assert pnu_risk(y, score, prior=0.4) == pnu_risk(y, score, prior=0.4, groups=np.arange(len(y)))


def problem(seed=0):
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(40), 6)
    center = rng.normal(size=(40, 2)) * 1.5
    positive = np.tile([1.0, 0.0], 120)
    X = center[group] + rng.normal(size=(240, 2)) * 0.3 + positive[:, None]
    return X, np.where(np.arange(240) < 90, positive, np.nan), group


def test_no_group_is_split_and_all_kinds_of_rows_are_spread():
    _, y, group = problem()
    for train, test in PNUStratifiedGroupKFold(4, train_on_unlabeled=True, random_state=0).split(y=y, groups=group):
        assert not set(group[train]) & set(group[test])
        assert {0.0, 1.0} <= set(y[test][~np.isnan(y[test])])
        assert np.isnan(y[test]).any()


def test_searches_pass_groups_on():
    X, y, group = problem()
    cv, scoring = PNUStratifiedGroupKFold(3, random_state=0), make_pnu_scorer(prior=0.5)
    search = GridSearchCV(LabeledOnly(SVC()), {"classifier__C": [0.1, 1]}, cv=cv, scoring=scoring)
    assert np.isfinite(search.fit(X, y, groups=group).cv_results_["mean_test_score"]).all()
    with pytest.raises(ValueError, match="Use PNUStratifiedGroupKFold"):
        cross_val_score(LabeledOnly(SVC()), X, y, cv=PNUStratifiedKFold(3), scoring=scoring, groups=group)
    with pytest.raises(ValueError, match="needs groups"):
        cross_val_score(LabeledOnly(SVC()), X, y, cv=cv, scoring=scoring)


def test_a_fit_holds_groups_out_together():
    """Rows of a group are near copies: judged alone they look easier than new groups are."""
    X, y, group = problem()
    options = {"prior": 0.5, "cv": 4, "random_state": 0}
    alone, together = PNUClassifier(**options).fit(X, y), PNUClassifier(**options).fit(X, y, groups=group)
    own = PNUClassifier(**{**options, "cv": PNUStratifiedGroupKFold(4, random_state=0)}).fit(X, y, groups=group)
    assert together.risk_.high - together.risk_.low >= 0.9 * (alone.risk_.high - alone.risk_.low)
    assert np.isfinite(own.risk_.value)
    with pytest.raises(ValueError, match="Use PNUStratifiedGroupKFold"):
        PNUClassifier(**{**options, "cv": PNUStratifiedKFold(3)}).fit(X, y, groups=group)


@pytest.mark.parametrize("groups, message", [([1, 2], "one entry for each"), ([1.0, np.nan, 2.0], "missing entries")])
def test_groups_that_cannot_be_read(groups, message):
    with pytest.raises(ValueError, match=message):
        pnu_risk([1, 0, None], [1.0, -1.0, 1.0], prior=0.5, groups=groups)


def test_other_metrics_count_groups_or_say_that_they_do_not():
    rng, alone, together = np.random.default_rng(2), [], []
    for _ in range(60):
        y, score, group = draw(rng)
        one, other = (pnu_recall(y, score, prior=0.5, **given) for given in ({}, {"groups": group}))
        alone.append(one.low <= 0.8 <= one.high)
        together.append(other.low <= 0.8 <= other.high)
    assert np.mean(alone) < 0.85 < np.mean(together)
    assert pnu_recall(y, score, prior=0.5) == pnu_recall(y, score, prior=0.5, groups=np.arange(len(y)))
    for curve in (pnu_roc_curve, pnu_average_precision, pnu_best_threshold):
        with pytest.raises(ValueError, match="do not support groups"):
            curve(y, score, prior=0.5, groups=group)
    with pytest.raises(TypeError, match="groups"):
        pnu_auc(y, score, prior=0.5, groups=group)


def test_a_prior_counted_on_random_labels_allows_for_weights_and_groups():
    """Weights times a constant change nothing; groups of equal rows count once; design weights correct the shares."""
    y = np.concatenate([np.repeat([1.0, 0.0], [20, 40]), np.full(100, np.nan)])
    score = np.random.default_rng(0).normal(size=160) + np.nan_to_num(y, nan=0.3)
    plain, scaled = (pnu_risk(y, score, sampling="random", sample_weight=w) for w in (None, np.full(160, 100.0)))
    assert_allclose([scaled.value, scaled.low, scaled.high], [plain.value, plain.low, plain.high])
    codes, priors = np.where(np.isnan(y), -1, y).astype(int), {}
    for name, weight, groups in (
        ("plain", np.ones(160), None),
        ("scaled", np.full(160, 100.0), None),
        ("grouped", np.ones(160), np.arange(160) // 10),
        ("design", np.where(y == 1, 0.2, 1.0), None),
    ):
        counts = Samples(score[:, None], codes, weight, 2, "random", groups=groups).random_counts
        priors[name] = PriorEstimate.of_counts(counts)
    assert_allclose(priors["scaled"].sd, priors["plain"].sd)
    assert priors["grouped"].sd > 2 * priors["plain"].sd
    assert_allclose(priors["design"].value, 4 / 44, atol=0.02)
