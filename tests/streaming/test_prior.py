"""The prior from moments: the formula against pairs of rows, its error, its interval."""

import numpy as np
import pytest

from pnulearn.basis import GaussianBasis, LinearBasis
from pnulearn.streaming import Design, PNUStatistics
from pnulearn.streaming.prior import prior_from_moments


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


def test_it_is_the_mixture_nearest_in_mean_squared_distance_of_features(rng):
    """The energy formula with |φ − φ′|²/2 between all pairs of different rows."""
    X, y = draw(rng, 300, 40, 0.35)
    basis = GaussianBasis(X[:20], np.array([2.5]))
    features = basis.features(basis.prepare(X), 0)
    half = ((features[:, None] - features[None]) ** 2).sum(axis=2) / 2
    P, N, U = y == 1, y == 0, np.isnan(y)

    def mean(a, b):
        block = half[np.ix_(a, b)]
        return block.sum() / (block.size - (len(block) if a is b else 0))

    wanted = (mean(P, N) - mean(N, N) + mean(N, U) - mean(P, U)) / (2 * mean(P, N) - mean(P, P) - mean(N, N))
    assert estimate(X, y, basis).value == pytest.approx(wanted, abs=1e-10)


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


def test_raw_columns_count_alike_whatever_their_units(rng):
    X, y = draw(rng, 2000, 100, 0.4)
    scaled = X * [1, 1000, 1, 0.001] + [0, 1e5, 0, 0]
    plain = estimate(X, y, LinearBasis(X[:9].mean(axis=0)))
    assert estimate(scaled, y, LinearBasis(scaled[:9].mean(axis=0))).value == pytest.approx(plain.value, abs=1e-6)


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
    with pytest.raises(ValueError, match="do not differ"):
        estimate(X, y, LinearBasis(np.zeros(4)))


@pytest.fixture
def rng():
    return np.random.default_rng(0)
