"""The weight tables: unbiased, and equal to the paper's formulas."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pnulearn.losses import LOSSES
from pnulearn.risks import Risk, empirical_risk, nu, pn, pnnu, pnpu, pnu, pu, punu

PRIOR = 0.3
EVERY_RISK = [
    pn(PRIOR),
    pu(PRIOR),
    nu(PRIOR),
    *(family(PRIOR, gamma) for family in (punu, pnpu, pnnu) for gamma in (0.0, 0.2, 0.5, 1.0)),
    *(pnu(PRIOR, eta) for eta in (-1.0, -0.3, 0.0, 0.6, 1.0)),
]
SCORES = tuple(np.random.default_rng(0).normal(size=n) for n in (7, 5, 40))


@pytest.mark.parametrize("risk", EVERY_RISK, ids=str)
def test_every_risk_is_unbiased(risk):
    """Replacing U by θ P + (1 − θ) N must give back the PN risk."""
    p, n, u = risk.table
    assert_allclose(p + PRIOR * u, [PRIOR, 0], atol=1e-12)
    assert_allclose(n + (1 - PRIOR) * u, [0, 1 - PRIOR], atol=1e-12)


@pytest.mark.parametrize("name", ["squared", "logistic", "double_hinge"])
def test_convex_punu_risk_is_the_definition_not_the_misprint(name):
    """Section 3.1 with its two U terms unswapped: linear terms on P and N, (1 − γ) ℓ(−g) + γ ℓ(g) on U."""
    loss, gamma, (gp, gn, gu) = LOSSES[name], 0.2, SCORES
    expected = (
        -(1 - gamma) * PRIOR * gp.mean()
        + gamma * (1 - PRIOR) * gn.mean()
        + (1 - gamma) * loss(-gu).mean()
        + gamma * loss(gu).mean()
    )
    assert_allclose(empirical_risk(punu(PRIOR, gamma), loss, SCORES), expected)


@pytest.mark.parametrize("name", ["zero_one", "ramp", "sigmoid"])
@pytest.mark.parametrize("eta", [-1, -0.4, 0, 0.7, 1])
def test_pnu_is_punu_for_symmetric_losses(name, eta):
    left = empirical_risk(pnu(PRIOR, eta), name, SCORES)
    right = empirical_risk(punu(PRIOR, (1 - eta) / 2), name, SCORES)
    assert_allclose(left, right, atol=1e-14)


def test_pnu_and_punu_differ_for_the_squared_loss():
    left = empirical_risk(pnu(PRIOR, 0.4), "squared", SCORES)
    assert abs(left - empirical_risk(punu(PRIOR, 0.3), "squared", SCORES)) > 1e-3


def test_swapping_classes_mirrors_every_risk():
    gp, gn, gu = SCORES
    for eta in (-0.5, 0.0, 0.8):
        left = empirical_risk(pnu(PRIOR, eta), "logistic", SCORES)
        right = empirical_risk(pnu(1 - PRIOR, -eta), "logistic", (-gn, -gp, -gu))
        assert_allclose(left, right)


def test_a_risk_prints_as_its_formula():
    assert str(pnu(0.5, -0.5)) == "0.25 E_P[ℓ(g)] − 0.25 E_N[ℓ(g)] + 0.5 E_N[ℓ(−g)] + 0.5 E_U[ℓ(g)]"
    assert str(Risk()) == "0"


def test_a_missing_sample_is_named():
    with pytest.raises(ValueError, match="needs unlabeled rows"):
        empirical_risk(pu(PRIOR), "zero_one", ([1.0], [], []))


@pytest.mark.parametrize(
    ("risk", "arguments", "words"),
    [
        (pn, (50,), r"prior must be a number between 0 and 1, got 50\. Did you mean 0\.5\?"),
        (pu, (-0.1,), "prior must"),
        (nu, (float("nan"),), "prior must"),
        (pnu, (50, 0.5), "prior must"),
        (pnu, (0.5, 2), "eta must be a number between -1 and 1, got 2"),
        (punu, (0.5, -0.5), "gamma must be a number between 0 and 1"),
    ],
)
def test_weights_outside_their_range_are_refused(risk, arguments, words):
    with pytest.raises(ValueError, match=words):
        risk(*arguments)
