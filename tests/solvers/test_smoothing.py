"""Rounded corners: their derivatives, the guesses they lead to, and the exact minimisers behind these."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import approx_fprime

from pnulearn._solvers import hinge
from pnulearn._solvers.candidates import FeatureMatrix
from pnulearn._solvers.hinge import minimize_pieces
from pnulearn._solvers.piecewise_linear import convex_pieces
from pnulearn._solvers.rounded_hinge import _Rounded, sharpen
from pnulearn.losses import LOSSES


def tall_problem(problems, risk="pu", seed=0, width=4):
    terms, features = problems.random(LOSSES["double_hinge"], risk, seed)
    return convex_pieces(terms), features[:, :width]


def test_derivatives_are_those_of_the_value_and_a_corner_is_off_by_an_eighth_of_its_width(problems):
    pieces, features = tall_problem(problems)
    rounded = _Rounded(pieces, FeatureMatrix(features), 0.1)
    scores = np.random.default_rng(0).normal(size=len(features))
    terms = rounded.terms(scores, 0.7)
    assert_allclose(terms.slope, approx_fprime(scores, lambda g: rounded.terms(g, 0.7).value, 1e-7), atol=1e-6)
    bend = approx_fprime(scores, lambda g: rounded.terms(g, 0.7).slope.sum(), 1e-7)
    assert_allclose(terms.bend, bend, atol=1e-5)
    assert 0 <= terms.value - pieces.value(scores) <= 0.7 / 8 * pieces.jumps.sum()


@pytest.mark.parametrize("risk", ["pn", "pu", "pnnu"])
@pytest.mark.parametrize("intercept", [False, True])
def test_the_last_guess_is_the_state_of_the_minimiser(problems, risk, intercept):
    for seed, alpha in enumerate([1e-3, 1e-1]):
        pieces, features = tall_problem(problems, risk, seed)
        matrix = FeatureMatrix(features, intercept)
        exact = minimize_pieces(pieces, matrix, alpha)
        guesses = list(sharpen(pieces, matrix, alpha, None))
        assert len(guesses) > 3
        assert_array_equal(guesses[-1][pieces.jumps.any(axis=1)], exact.state[pieces.jumps.any(axis=1)])


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("risk", ["pn", "pu", "pnpu", "pnnu"])
def test_many_rows_have_the_minimiser_of_interior_points(problems, monkeypatch, risk, intercept):
    monkeypatch.setattr(hinge, "WARM_ROUNDS", 0)
    for seed, alpha in enumerate([1e-3, 1e-2, 1e-1]):
        pieces, features = tall_problem(problems, risk, seed)
        matrix = FeatureMatrix(features, intercept)
        assert not matrix.wide
        by_interior = minimize_pieces(pieces, matrix, alpha)
        with monkeypatch.context() as patch:
            patch.setattr(hinge, "LARGE", 0)
            patch.setattr(hinge, "interior_points", None)  # must not be needed
            rounded = minimize_pieces(pieces, matrix, alpha)
            again = minimize_pieces(pieces, matrix, alpha, minimize_pieces(pieces, matrix, 2 * alpha))
        for found in (rounded, again):
            assert found.converged
            assert_allclose(found.coef, by_interior.coef, atol=1e-8)
            assert found.intercept == pytest.approx(by_interior.intercept, abs=1e-7)
