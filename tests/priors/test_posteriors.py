"""Held-out, calibrated class probabilities, against refitting and against a general optimiser."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import log_softmax
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from pnulearn.priors import _posteriors as module
from pnulearn.priors import estimate_prior
from pnulearn.priors._groups import Group
from pnulearn.priors._posteriors import (
    BANDWIDTHS,
    PENALTIES,
    Posteriors,
    calibrate,
    fold_scores,
    held_out_posteriors,
    kernel_scores,
)


def blobs(seed, sizes=(8, 11), n_other=5, gap=1.5):
    rng = np.random.default_rng(seed)
    centers = gap * rng.normal(size=(len(sizes), 3))
    classes = [
        Group(rng.normal(size=(n, 3)) + c, rng.integers(1, 4, n) * 1.0) for n, c in zip(sizes, centers, strict=True)
    ]
    return classes, Group(rng.normal(size=(n_other, 3)), np.ones(n_other))


def ridge_fit(rows, targets, weight, penalty):
    """argmin Σ w (y − f)² + λ |f|² over the linear kernel x'z / d + 1, solved directly for the coefficients of rows."""
    gram = rows @ rows.T / rows.shape[1] + 1
    return np.linalg.solve(weight[:, None] * gram + penalty * np.eye(len(rows)), weight[:, None] * targets)


@pytest.mark.parametrize("sizes", [(8, 11), (5, 6, 7)])
def test_left_out_scores_equal_a_fit_without_the_row(sizes):
    classes, other = blobs(0, sizes)
    K, rows = len(sizes), np.concatenate([group.X for group in classes])
    weight = np.concatenate([group.share for group in classes]) / K
    targets = np.repeat(np.eye(K), sizes, axis=0)
    *own, of_other = kernel_scores(classes, [other])
    shifted, other_shifted = rows - rows.mean(axis=0), other.X - rows.mean(axis=0)
    last = len(BANDWIDTHS) * len(PENALTIES)  # the linear kernel comes last
    for j, penalty in enumerate(PENALTIES):
        coef = ridge_fit(shifted, targets, weight, penalty)
        assert_allclose(of_other[last + j].T, (other_shifted @ shifted.T / 3 + 1) @ coef, rtol=1e-7)
        for i in (0, sizes[0], len(rows) - 1):
            rest = np.arange(len(rows)) != i
            coef = ridge_fit(shifted[rest], targets[rest], weight[rest], penalty)
            alone = (shifted[i] @ shifted[rest].T / 3 + 1) @ coef
            assert_allclose(np.concatenate(own, axis=2)[last + j, :, i], alone, rtol=1e-6, atol=1e-9)


def test_rows_beyond_the_limit_are_held_out(monkeypatch):
    classes, other = blobs(1)
    monkeypatch.setattr(module, "MOST_TRAINED", 10)
    few = [group.first(5) for group in classes]
    *own, of_other = kernel_scores(classes, [other])
    *few_own, _, of_rest, of_other_again = kernel_scores(few, [classes[0].after(5), classes[1].after(5), other])
    assert_allclose(own[1], np.concatenate([few_own[1], of_rest], axis=2))
    assert_allclose(of_other, of_other_again)


def test_sparse_rows_are_scored_like_dense_ones():
    classes, other = blobs(2)
    as_sparse = [Group(sparse.csr_matrix(group.X), group.weight) for group in [*classes, other]]
    for one, two in zip(kernel_scores(classes, [other]), kernel_scores(as_sparse[:-1], as_sparse[-1:]), strict=True):
        assert_allclose(one, two, rtol=1e-7, atol=1e-10)


def test_candidates_on_ranks_come_after_the_others_and_do_not_depend_on_the_scale():
    classes, other = blobs(4)
    stretched = [Group(np.exp(2 * group.X), group.weight) for group in (*classes, other)]
    given = kernel_scores(classes, [other])
    with_ranks = kernel_scores(classes, [other], with_ranks=True)
    of_stretched = kernel_scores(stretched[:-1], stretched[-1:], with_ranks=True)
    for one, both, changed in zip(given, with_ranks, of_stretched, strict=True):
        assert len(both) == 2 * len(one)
        assert_allclose(both[: len(one)], one)
        assert_allclose(changed[len(one) :], both[len(one) :], atol=1e-12)
        assert np.abs(changed[: len(one)] - one).max() > 0.1


def test_large_sparse_rows_are_not_ranked(monkeypatch):
    classes, other = blobs(5)
    as_sparse = [Group(sparse.csr_matrix(group.X), group.weight) for group in (*classes, other)]
    for one, two in zip(
        kernel_scores(classes, [other], with_ranks=True),
        kernel_scores(as_sparse[:-1], as_sparse[-1:], with_ranks=True),
        strict=True,
    ):
        assert_allclose(one, two, atol=1e-9)
    monkeypatch.setattr("pnulearn._kernels.basis.DENSE_AT_MOST", 0)
    found = kernel_scores(as_sparse[:-1], as_sparse[-1:], with_ranks=True)
    assert len(found[0]) == len(kernel_scores(classes, [other])[0])


@pytest.mark.parametrize("sizes", [(8, 11), (5, 6, 7)])
def test_calibration_minimises_the_smoothed_log_loss(sizes):
    classes, _ = blobs(3, sizes)
    rng = np.random.default_rng(0)
    K = len(sizes)
    scores = [rng.normal(size=(4, K, n)) + 2 * np.eye(K)[k][None, :, None] for k, n in enumerate(sizes)]
    found = calibrate(scores, classes)
    for c in range(4):

        def loss(parameters, c=c):
            total = 0.0
            for k, group in enumerate(classes):
                logits = log_softmax(parameters[0] * scores[k][c] + parameters[1:, None], axis=0)
                miss = 1 / (group.size + 2)
                target = np.where(np.arange(K) == k, 1 - miss, miss / (K - 1))
                total -= (group.share / K) @ (target @ logits)
            return total

        best = minimize(loss, np.zeros(K + 1), bounds=[(0, None)] + [(None, None)] * K, tol=1e-14)
        assert_allclose(found.loss[c], best.fun, atol=1e-7)
        assert_allclose(found.slope[c], best.x[0], atol=2e-3)


def test_useless_scores_get_no_slope():
    """Scores that point the wrong way are flattened, not turned round."""
    classes, _ = blobs(4)
    scores = [np.broadcast_to(-np.eye(2)[k][None, :, None], (1, 2, len(group))) for k, group in enumerate(classes)]
    assert calibrate(scores, classes).slope == pytest.approx(0)
    assert calibrate([0 * score for score in scores], classes).slope == pytest.approx(0)


def test_probabilities_move_with_the_prior_by_odds():
    """p' = r p / (r p + 1 − p) with r the ratio of prior odds, and moving back returns p."""
    p = np.array([0.1, 0.5, 0.8])
    posteriors = Posteriors([np.log([[1 - p, p]])], np.ones(1))
    r = (0.3 / 0.7) / 1
    assert_allclose(posteriors.at(np.array([0.7, 0.3]))[0][1], r * p / (r * p + 1 - p))
    assert_allclose(posteriors.at(np.array([0.5, 0.5]))[0][1], p)


def test_trust_goes_to_the_candidates_that_predict_left_out_rows():
    rng = np.random.default_rng(5)
    angle = rng.uniform(0, 2 * np.pi, 160)
    radius = np.repeat([1.0, 3.0], 80) + 0.2 * rng.normal(size=160)  # rings: no linear kernel can
    X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    rings = [Group(X[:80], np.ones(80)), Group(X[80:], np.ones(80))]
    inner, outer, probe = held_out_posteriors(rings, [Group(np.array([[0.0, 1.0], [3.0, 0.0]]), np.ones(2))]).at(
        np.array([0.5, 0.5])
    )
    assert inner[0].mean() > 0.9
    assert outer[1].mean() > 0.9
    assert probe[0, 0] > 0.9
    assert probe[1, 1] > 0.9


@pytest.mark.parametrize("classifier", [LogisticRegression(), LinearSVC()])
def test_any_classifier_can_be_cross_fitted(classifier):
    classes, other = blobs(6, (20, 20), gap=3.0)
    classes = [Group(group.X, np.ones(len(group))) for group in classes]
    negative, positive, of_other = fold_scores(classifier, classes, [other])
    assert negative.shape == (1, 2, 20)
    assert of_other.shape == (1, 2, 5)
    assert (positive[0, 1] > positive[0, 0]).mean() > 0.8
    assert (negative[0, 1] < negative[0, 0]).mean() > 0.8
    with pytest.raises(ValueError, match="at least two distinct"):
        fold_scores(classifier, [classes[0].first(1), classes[1]], [other])


def test_cross_fitted_rows_are_not_seen():
    """One-nearest-neighbour repeats the label of a row it has seen; on pure noise it must not look clever."""
    from sklearn.neighbors import KNeighborsClassifier

    rng = np.random.default_rng(7)
    noise = [Group(rng.normal(size=(100, 2)), np.ones(100)) for _ in range(2)]
    negative, positive = fold_scores(KNeighborsClassifier(1), noise, [])
    right = np.concatenate([(negative[0, 0] > negative[0, 1]), (positive[0, 1] > positive[0, 0])])
    assert 0.35 < right.mean() < 0.65


def test_one_copy_is_left_out_where_distinct_rows_are_few():
    """Against a fit with one copy less: 9 and 2 rows of value 1, 3 and 8 of value 0."""
    values, copies = np.array([[1.0], [0.0]]), [np.array([9.0, 3.0]), np.array([2.0, 8.0])]
    own = np.concatenate(kernel_scores([Group(values, weight) for weight in copies]), axis=2)
    rows, targets = np.tile(values, (2, 1)), np.repeat(np.eye(2), 2, axis=0)
    weight = np.concatenate([weight / weight.sum() / 2 for weight in copies])
    shifted = rows - rows.mean(axis=0)
    for j, penalty in enumerate(PENALTIES):
        for i, count in enumerate(np.concatenate(copies)):
            fewer = weight * np.where(np.arange(4) == i, 1 - 1 / count, 1)
            alone = (shifted[i] @ shifted.T + 1) @ ridge_fit(shifted, targets, fewer, penalty)
            assert_allclose(own[len(BANDWIDTHS) * len(PENALTIES) + j, :, i], alone, rtol=1e-7, atol=1e-10)


def test_em_reads_one_binary_column():
    counts = [45, 5, 10, 40, 650, 350]
    X = np.repeat([1.0, 0.0, 1.0, 0.0, 1.0, 0.0], counts)[:, None]
    found = estimate_prior(X, np.repeat([1, 1, 0, 0, -1, -1], counts), "em", unlabeled=-1, random_state=0)
    assert found.low < (0.65 - 0.2) / (0.9 - 0.2) < found.high  # Rogan and Gladen
    assert found.value == pytest.approx(0.643, abs=0.05)
