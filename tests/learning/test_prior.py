"""The prior from moments: its scores against those of rows, its error, its interval."""

import numpy as np
import pytest

from pnulearn._kernels.gaussian import GaussianBasis
from pnulearn._kernels.linear import LinearBasis
from pnulearn._learning.from_moments import held_out_scores, prior_from_moments
from pnulearn._learning.moment_search import MomentProblem, explore_moments
from pnulearn._solvers.candidates import ALPHAS, Mixes
from pnulearn.streaming import Design, PNUStatistics


def draw(rng, n_unlabeled, n_labeled, prior):
    """Two overlapping normal classes in four dimensions."""
    truth = np.concatenate([rng.random(n_unlabeled) < prior, np.arange(2 * n_labeled) % 2 == 1]).astype(int)
    X = rng.normal(size=(len(truth), 4)) + np.outer(truth, [1.5, 0.5, 0, 0])
    y = truth.astype(float)
    y[:n_unlabeled] = np.nan
    return X, y


def estimate(X, y, basis, n_classes=2):
    design = Design(None, np.arange(n_classes), basis, dtype="float64")
    return prior_from_moments(PNUStatistics.of(design, X, y))


def test_held_out_scores_are_those_of_rows(rng):
    """Means and covariances from moments against the scores of each row by the model that has not seen it."""
    X, y = draw(rng, 900, 60, 0.35)
    truth = np.arange(len(y)) % 3
    y[-90:] = truth[-90:]
    basis = GaussianBasis(X[:15], np.array([2.5]))
    statistics = PNUStatistics.of(Design(None, np.arange(3), basis, dtype="float64"), X, y)
    problem = MomentProblem(statistics, np.full(3, 1 / 3), Mixes.of("pn", None), ALPHAS)
    (fits,) = explore_moments(problem)
    alpha = int(np.argmin(fits.tally.squared(problem.prior)))
    folds = statistics.design.folds("", 0, len(X))
    features = basis.features(basis.prepare(X), 0)
    scores = np.stack([fits.candidates[f].scores(features[i : i + 1])[:, 0, alpha, 0] for i, f in enumerate(folds)])
    for found, members in zip(held_out_scores(statistics), [y == 0, y == 1, y == 2, np.isnan(y)], strict=True):
        assert found.count == members.sum()
        np.testing.assert_allclose(found.mean, scores[members].mean(axis=0), atol=1e-10)
        np.testing.assert_allclose(found.covariance, np.cov(scores[members].T, bias=True), atol=1e-10)


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_it_is_unbiased_and_its_interval_covers(kernel):
    rng = np.random.default_rng(5)
    estimates = []
    for _ in range(60):
        X, y = draw(rng, 1000, 60, 0.25)
        basis = GaussianBasis(X[:30], np.array([4.0])) if kernel == "rbf" else LinearBasis(np.zeros(4))
        estimates.append(estimate(X, y, basis))
    values = np.array([one.value for one in estimates])
    covered = np.mean([one.low <= 0.25 <= one.high for one in estimates])
    assert abs(values.mean() - 0.25) < 4 * values.std() / np.sqrt(60)
    assert values.std() < 0.09
    assert 0.75 <= covered <= 1.0


def test_more_classes_get_a_point_of_the_simplex(rng):
    truth = rng.choice(3, size=6000, p=[0.5, 0.3, 0.2])
    X = rng.normal(size=(6000, 3)) + 2.5 * np.eye(3)[truth]
    y = np.where(np.arange(6000) < 600, truth, np.nan)
    found = estimate(X, y, GaussianBasis(X[:40], np.array([3.0])), 3)
    np.testing.assert_allclose(found.value, [0.5, 0.3, 0.2], atol=0.06)
    assert found.value.sum() == pytest.approx(1)
    assert (found.low < found.value).all()
    assert (found.value < found.high).all()


def test_classes_that_do_not_differ_are_reported(rng):
    X = np.tile(rng.normal(size=(30, 4)), (3, 1))
    y = np.repeat([0.0, 1.0, np.nan], 30)
    with pytest.raises(ValueError, match="do not separate the labelled classes"):
        estimate(X, y, LinearBasis(np.zeros(4)))


@pytest.fixture
def rng():
    return np.random.default_rng(0)
