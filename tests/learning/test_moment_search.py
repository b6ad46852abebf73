"""Candidates and their validation from moments equal those from rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from tests.problems import mixture

from pnulearn._kernels.gaussian import GaussianBasis
from pnulearn._kernels.linear import LinearBasis
from pnulearn._learning.moment_search import MomentProblem, can_validate, explore_moments, fit_candidates
from pnulearn._learning.selection import Tally, membership
from pnulearn._solvers.candidates import Mixes, Training
from pnulearn._solvers.ridge import squared_candidates
from pnulearn.streaming import Design, PNUStatistics

PRIORS = {2: np.array([0.7, 0.3]), 3: np.array([0.5, 0.3, 0.2])}


def problem_for(X, y, n_classes, kernel, risk="pnu", sampling="by_class") -> MomentProblem:
    basis = GaussianBasis(X[:9], np.array([1.5])) if kernel == "rbf" else LinearBasis(X.mean(axis=0))
    design = Design(None, np.arange(n_classes), basis, 3, 1, "float64")
    statistics = PNUStatistics.of(design, X, y, name="x")
    mix = [0.0, 0.4, 1.0] if risk == "punu" else [-1.0, -0.3, 0.0, 0.3, 1.0]
    return MomentProblem(statistics, PRIORS[n_classes], Mixes.of(risk, mix), np.array([1e-3, 0.1]), sampling)


def training(problem, X, y, rows) -> Training:
    basis = problem.statistics.design.basis
    codes = np.where(np.isnan(y), -1, y).astype(int)[rows]
    population = np.arange(len(rows)) if problem.sampling == "random" else np.flatnonzero(codes < 0)
    features = basis.features(basis.prepare(X[rows]), 0)
    ones = np.ones(len(rows))
    return Training(features, codes, ones, population, problem.prior, problem.mixes, problem.alphas, basis.intercept)


@pytest.mark.parametrize("sampling", ["by_class", "random"])
@pytest.mark.parametrize("risk", ["pnu", "punu"])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_validation_from_moments_equals_validation_of_rows(n_classes, kernel, risk, sampling):
    X, y, _ = mixture(900, n_classes=n_classes, labeled=0.2)
    problem = problem_for(X, y, n_classes, kernel, risk, sampling)
    (fits,) = explore_moments(problem)
    folds = problem.statistics.design.folds("x", 0, len(X))
    tallies = []
    for fold in range(3):
        rows = training(problem, X, y, np.flatnonzero(folds != fold))
        candidates = squared_candidates(rows)
        held = training(problem, X, y, np.flatnonzero(folds == fold))
        wanted = candidates.scores(held.features)
        assert_allclose(fits.candidates[fold].scores(held.features), wanted, atol=1e-9)
        tallies.append(Tally.of(wanted, membership(held.codes, held.weight, n_classes, held.population)))
    total = sum(tallies[1:], start=tallies[0])
    assert_allclose(fits.tally.squared(problem.prior), total.squared(problem.prior), atol=1e-10)
    assert fits.tally.effective_labels(problem.prior) == pytest.approx(total.effective_labels(problem.prior))
    assert np.isnan(fits.tally.zero_one(problem.prior)).all()


def test_a_missing_class_leaves_pu():
    """Without negatives, moments and rows give the same PU model."""
    X, y, _ = mixture(500)
    y[y == 0] = np.nan
    problem = problem_for(X, y, 2, "rbf", "pu")
    total = problem.statistics.sums[:, 0].sum(axis=0)
    rows = training(problem, X, y, np.arange(len(X)))
    wanted = squared_candidates(rows).scores(rows.features)
    assert_allclose(fit_candidates(problem, total).scores(rows.features), wanted, atol=1e-9)


def test_a_class_whose_rows_are_all_in_one_fold_cannot_be_validated():
    X, y, _ = mixture(400)
    positives = np.flatnonzero(y == 1)
    y[positives[1:]] = np.nan
    problem = problem_for(X, y, 2, "rbf")
    assert not can_validate(problem.statistics)
    (fits,) = explore_moments(problem)
    assert fits.tally is None
    assert set(fits.candidates) == {None}
