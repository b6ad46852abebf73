"""Support vector machines on a kernel matrix, against their objectives."""

import cvxpy as cp
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import optimize

from pnulearn.baselines._lapsvm import hinge_machine, squared_hinge_machine

rng = np.random.default_rng(0)
SIGNS = np.repeat([1.0, -1.0], [14, 8])
FACTOR = rng.normal(size=(22, 22)) / 3
GRAM = FACTOR @ FACTOR.T
WEIGHT = rng.uniform(0.2, 1.0, 22) / 22


def minimum(scale, power):
    """The objective's least value by an interior-point solver that knows nothing of ours."""
    c, b = cp.Variable(22), cp.Variable()
    margins = cp.multiply(SIGNS, np.sqrt(scale) * FACTOR @ c + b)
    loss = cp.pos(1 - margins) if power == 1 else cp.square(cp.pos(1 - margins))
    problem = cp.Problem(cp.Minimize(WEIGHT @ loss + cp.sum_squares(c)))
    return problem.solve(solver="CLARABEL")


def value(gram, beta, bias, power):
    fitted = gram @ beta
    return WEIGHT @ np.maximum(0, 1 - SIGNS * (fitted + bias)) ** power + beta @ fitted


@pytest.mark.parametrize("scale", [0.1, 1.0, 30.0, 1e4])
@pytest.mark.parametrize(
    "machine, power, gap",
    [(hinge_machine, 1, 1e-5 * WEIGHT.sum()), (squared_hinge_machine, 2, 1e-8)],  # libsvm's tolerance times its C
)
def test_no_solver_goes_lower(machine, power, gap, scale):
    beta, bias = machine(scale * GRAM, SIGNS, WEIGHT)
    assert_allclose(value(scale * GRAM, beta, bias, power), minimum(scale, power), rtol=1e-7, atol=gap)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3, 1e6])
def test_newton_ends_at_a_stationary_point(scale):
    gram = scale * GRAM
    beta, bias = squared_hinge_machine(gram, SIGNS, WEIGHT)
    pull = WEIGHT * SIGNS * np.maximum(0, 1 - SIGNS * (gram @ beta + bias))
    assert_allclose(beta, pull, atol=1e-9)
    assert abs(pull.sum()) < 1e-9


@pytest.mark.parametrize("machine", [hinge_machine, squared_hinge_machine])
def test_swapping_the_classes_flips_the_machine(machine):
    beta, bias = machine(GRAM, SIGNS, WEIGHT)
    flipped, flipped_bias = machine(GRAM, -SIGNS, WEIGHT)
    assert_allclose(flipped, -beta, atol=1e-5)
    assert flipped_bias == pytest.approx(-bias, abs=1e-4)


@pytest.mark.parametrize("seed", range(20))
def test_newton_does_not_cycle(seed):
    """Separable, ill-conditioned and unevenly weighted problems reach the minimum too: with a kernel of rank three it
    is a problem in four variables that a general solver can check."""
    random = np.random.default_rng(seed)
    rows = random.normal(size=(30, 3)) * 10.0 ** random.uniform(-2, 2)
    signs = np.where(random.random(30) < 0.3, 1.0, -1.0)
    signs[:2] = 1, -1
    weight = 10.0 ** random.uniform(-4, 2, 30)
    beta, bias = squared_hinge_machine(rows @ rows.T, signs, weight)

    def objective(v):
        return weight @ np.maximum(0, 1 - signs * (rows @ v[:3] + v[3])) ** 2 + v[:3] @ v[:3]

    found = np.append(rows.T @ beta, bias)
    polished = optimize.minimize(objective, found, method="Nelder-Mead", options={"maxiter": 2000, "xatol": 1e-10})
    assert objective(found) <= polished.fun * (1 + 1e-6)
