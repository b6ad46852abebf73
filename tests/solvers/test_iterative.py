"""The grid of candidates: each is what it would be alone, and every fact a loss declares is checked."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pnulearn import risks
from pnulearn._solvers.candidates import Mixes, Training
from pnulearn._solvers.iterative import candidate_solver, iterative_candidates
from pnulearn._solvers.objectives import objective, shares_in_means
from pnulearn._solvers.ridge import squared_candidates
from pnulearn.losses import LOSSES, Loss

ITERATIVE = ["logistic", "double_hinge", "hyperbolic", "ramp", "sigmoid"]
ALPHAS = np.array([1e-3, 1e-1, 1e-2])


def training(mixes, alphas=ALPHAS, *, intercept=False, n_classes=2, single_set=False):
    rng = np.random.default_rng(0)
    codes = rng.permutation(np.repeat(np.arange(-1, n_classes), [25, *[8] * n_classes]))
    features = rng.normal(size=(len(codes), 6)) + 0.4 * codes[:, None]
    population = np.arange(len(codes)) if single_set else np.flatnonzero(codes < 0)
    prior = np.arange(1, n_classes + 1) / np.arange(1, n_classes + 1).sum()
    return Training(features, codes, rng.uniform(0.5, 2, len(codes)), population, prior, mixes, alphas, intercept)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("loss", ITERATIVE)
def test_a_candidate_does_not_depend_on_its_company(loss, intercept):
    problem = training(Mixes.of("pnu", [-1.0, -0.5, 0.0, 0.5, 1.0]), intercept=intercept)
    grid = iterative_candidates(problem, LOSSES[loss])
    assert grid.converged.all()
    for mix, alpha in [(0, 0), (2, 1), (3, 0), (4, 2)]:
        alone = iterative_candidates(problem.only(np.array([mix]), np.array([alpha])), LOSSES[loss])
        # a gradient of 1e-8 where the curvature may be as small as 2 alpha = 2e-3
        assert_allclose(grid.coef[0, mix, alpha], alone.coef[0, 0, 0], atol=1e-5)
        assert_allclose(grid.intercept[0, mix, alpha], alone.intercept[0, 0, 0], atol=1e-5)


@pytest.mark.parametrize("loss", ITERATIVE)
@pytest.mark.parametrize("single_set", [False, True])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_every_output_is_stationary_for_its_own_one_against_rest_risk(loss, single_set, n_classes):
    problem = training(Mixes.of("pnu", [-0.4, 0.0, 0.6]), n_classes=n_classes, single_set=single_set)
    grid = iterative_candidates(problem, LOSSES[loss])
    assert grid.coef.shape == (1 if n_classes == 2 else 3, 3, 3, 6)
    for k, own in enumerate(problem.outputs):
        shares = shares_in_means(problem.codes, problem.weight, problem.population, problem.prior, own)
        for c, eta in enumerate(problem.mixes.values):
            terms = objective(risks.pnu(problem.prior[own], eta), LOSSES[loss], shares)
            for j, alpha in enumerate(problem.alphas):
                w = grid.coef[k, c, j]
                here = terms.value(problem.features @ w) + alpha * w @ w
                moves = 1e-4 * np.random.default_rng(j).normal(size=(40, 6))
                around = [terms.value(problem.features @ v) + alpha * v @ v for v in w + moves]
                assert here <= min(around) + 1e-12


def test_scores_and_averages_follow_from_coefficients():
    problem = training(Mixes.of("punu", [0.2, 0.7]), intercept=True)
    grid = iterative_candidates(problem, LOSSES["logistic"])
    rows = problem.features[:5]
    assert_allclose(grid.scores(rows)[0, 1, 2], rows @ grid.coef[0, 1, 2] + grid.intercept[0, 1, 2])
    weights = np.array([[0.1, 0.2, 0.3], [0.0, 0.3, 0.1]])
    coef, intercept = grid.average(weights)
    assert_allclose(coef @ rows.T + intercept[:, None], np.einsum("kcjn,cj->kn", grid.scores(rows), weights))


@pytest.mark.parametrize("loss", ["ramp", "sigmoid"])
def test_pnu_and_punu_are_one_family_for_symmetric_losses(loss):
    etas = np.array([-0.6, 0.0, 0.4])
    pnu = iterative_candidates(training(Mixes.of("pnu", etas)), LOSSES[loss])
    punu = iterative_candidates(training(Mixes.of("punu", (1 - etas) / 2)), LOSSES[loss])
    assert_allclose(pnu.scores(np.eye(6)), punu.scores(np.eye(6)), atol=1e-6)


def test_the_squared_loss_as_a_smooth_one_gives_the_closed_form():
    problem = training(Mixes.of("pnu", [-0.5, 0.0, 1.0]), intercept=True)
    by_newton = iterative_candidates(problem, LOSSES["squared"]).scores(problem.features)
    assert_allclose(by_newton, squared_candidates(problem).scores(problem.features), atol=1e-6)


class Declared(Loss):
    """The logistic loss with facts to be chosen by a test."""

    name = "declared"

    def __call__(self, margin):
        return LOSSES["logistic"](margin)

    def derivative(self, margin):
        return LOSSES["logistic"].derivative(margin)


def test_a_loss_of_ones_own_is_trained_by_its_facts():
    class Own(Declared):
        gap, convex, smooth = "linear", True, True

    problem = training(Mixes.of("pnu", [-0.5, 0.5]))
    own, known = (candidate_solver(loss)(problem).scores(problem.features) for loss in (Own(), LOSSES["logistic"]))
    assert_allclose(own, known, rtol=1e-5, atol=1e-5)  # L-BFGS, which needs no curvature, is not as close as Newton


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({}, "none of quadratic="),
        ({"smooth": True, "gap": "constant"}, "declares gap='constant'.*does not hold"),
        ({"kinks": ((1.0, 1.0),)}, "declares kinks"),
    ],
)
def test_missing_and_wrong_facts_are_refused(facts, message):
    with pytest.raises(ValueError, match=message):
        candidate_solver(type("Wrong", (Declared,), facts)())


@pytest.mark.parametrize("loss", ["zero_one", "truncated_squared"])
def test_losses_for_evaluation_are_not_trained(loss):
    with pytest.raises(ValueError, match="cannot be trained"):
        candidate_solver(LOSSES[loss])
