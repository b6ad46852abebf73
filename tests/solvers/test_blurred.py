"""Newton's equations in single precision have about the solutions that they have in double precision."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pnulearn._solvers.blurred import AllRows, LeadingCoordinates

ALPHAS = np.array([1e-3, 1e-1])


def rows_and_gives(kept, rng):
    """Thirty rows; the share `kept` of them gives, and the others do not at all."""
    features = rng.normal(size=(30, 6))
    give = rng.uniform(0.5, 2, size=(2, 30)) * (np.arange(30) < kept * 30)
    return features, give.astype(np.float32), rng.normal(size=(2, 30)).astype(np.float32)


@pytest.mark.parametrize("kept", [0.3, 1.0])  # rows that bend, all rows
@pytest.mark.parametrize("rows", [lambda features: AllRows(features @ features.T), LeadingCoordinates])
def test_every_problem_is_solved(rows, kept):
    features, give, push = rows_and_gives(kept, np.random.default_rng(0))
    scores, gamma = rows(features).systems(give, ALPHAS).solve(push)
    for place, alpha in enumerate(ALPHAS):
        system = np.eye(30) + give[place, :, None] * (features @ features.T) / (2 * alpha)
        expected = np.linalg.solve(system, push[place].astype(float))
        assert_allclose(gamma[place], expected, atol=1e-2)
        assert_allclose(scores[place], features @ (features.T @ expected) / (2 * alpha), rtol=2e-3, atol=1e-2)


def test_rows_that_hardly_give_are_left_out_at_little_loss():
    features, give, push = rows_and_gives(0.3, np.random.default_rng(1))
    little = np.where(give == 0, np.float32(1e-6), give)
    exact, _ = AllRows(features @ features.T).systems(give, ALPHAS).solve(push)
    scores, _ = AllRows(features @ features.T).systems(little, ALPHAS).solve(push)
    assert_allclose(scores, exact, rtol=1e-2, atol=1e-2)


@pytest.mark.parametrize("rows", [lambda features: AllRows(features @ features.T), LeadingCoordinates])
def test_a_system_that_cannot_be_factorised_leaves_the_others_alone(rows):
    features, give, push = rows_and_gives(1.0, np.random.default_rng(0))
    alone, _ = rows(features).systems(give[1:], ALPHAS[1:]).solve(push[1:])
    give[0] = np.nan
    scores, gamma = rows(features).systems(give, ALPHAS).solve(push)
    assert np.isnan(scores[0]).all()
    assert np.isnan(gamma[0]).any()
    assert_allclose(scores[1:], alone, rtol=1e-5)


def test_the_smallest_numbers_are_zero():
    gram = np.array([[1.0, 1e-40], [1e-40, 1.0]])
    assert AllRows(gram).spread(np.eye(2, dtype=np.float32)).tolist() == [[1, 0], [0, 1]]
