"""The shared grid against a separate solve for every candidate."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.spatial.distance import pdist

from pnulearn._kernels.gaussian import BANDWIDTH_FACTORS, gaussian, squared_distances
from pnulearn._solvers import low_rank
from pnulearn._solvers.candidates import ALPHAS, Mixes, Training
from pnulearn._solvers.ridge import solve_one_by_one, squared_candidates
from pnulearn._solvers.ridge_problem import RidgeProblem
from pnulearn.risks import empirical_risk, pnu, punu

PRIOR = 0.3


def problem(
    n_positive, n_negative, n_unlabeled, size, *, seed=0, mixes=None, alphas=ALPHAS, intercept=False, prior=PRIOR
):
    rng = np.random.default_rng(seed)
    codes = np.repeat([1, 0, -1], [n_positive, n_negative, n_unlabeled])
    features = rng.normal(size=(len(codes), size)) / np.sqrt(size) + 0.3
    return Training(
        features,
        codes,
        np.ones(len(codes)),
        np.flatnonzero(codes < 0),
        np.array([1 - prior, prior]),
        mixes or Mixes.of("pnu", None),
        alphas,
        intercept,
    )


def separate_solve(training, share, tilt, alpha):
    """(B.2) of the derivation, written out: normal equations of one candidate, intercept as an extra column."""
    Z = training.features
    if training.intercept:
        Z = np.column_stack([Z, np.ones(len(Z))])
    groups = [Z[training.codes == code] for code in (1, 0, -1)]
    grams = [group.T @ group / len(group) for group in groups]
    means = [group.mean(axis=0) for group in groups]
    theta = training.prior[1]
    A = (1 - share) * (theta * grams[0] + (1 - theta) * grams[1]) + share * grams[2]
    b0 = theta * means[0] - (1 - theta) * means[1]
    b1 = theta * means[0] + (1 - theta) * means[1] - means[2]
    penalty = 4 * alpha * np.eye(len(A))
    if training.intercept:
        penalty[-1, -1] = 0
    return Z @ np.linalg.solve(A + penalty, b0 + tilt * b1)


def assert_grid_equals_separate_solves(training, tolerance, n_checked=None):
    """All candidates, or a random choice and the four corners of the grid, where rounding is worst."""
    scores = squared_candidates(training).scores(training.features)[0]
    mixes, alphas = training.mixes, training.alphas
    places = [(c, j) for c in range(len(mixes)) for j in range(len(alphas))]
    if n_checked is not None:
        chosen = np.random.default_rng(0).choice(len(places), n_checked, replace=False)
        corners = [(c, j) for c in (0, len(mixes) - 1) for j in (0, len(alphas) - 1)]
        places = [places[i] for i in chosen] + corners
    for c, j in places:
        expected = separate_solve(training, mixes.shares[c], mixes.tilts[c], alphas[j])
        scale = max(1.0, np.abs(expected).max())
        assert np.abs(scores[c, j] - expected).max() < tolerance * scale, (mixes.values[c], alphas[j])


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("risk", ["pnu", "punu", "pn", "pu", "nu"])
@pytest.mark.parametrize("sizes", [(6, 4, 30, 50), (6, 4, 90, 20), (40, 30, 60, 12)])
def test_every_candidate_equals_a_separate_solve(risk, sizes, intercept):
    assert_grid_equals_separate_solves(problem(*sizes, mixes=Mixes.of(risk, None), intercept=intercept), 1e-8)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("risk", ["pnu", "punu"])
@pytest.mark.parametrize("factor", BANDWIDTH_FACTORS)
def test_the_papers_grid_to_1e_7(risk, factor, intercept):
    """350 Gaussian centres, 50 labelled rows, 21 mixes x 8 alphas, to 1e-7 in the decision values."""
    rng = np.random.default_rng(1)
    X = rng.random((350, 2))
    bandwidth = factor * np.median(pdist(X))
    training = problem(35, 15, 300, 2, mixes=Mixes.of(risk, None), intercept=intercept, prior=0.5)
    training = replace(training, table=gaussian(squared_distances(X, X), bandwidth))
    assert_grid_equals_separate_solves(training, 1e-7, n_checked=8)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("single_set", [False, True])
def test_all_routes_agree(intercept, single_set):
    training = problem(5, 4, 12, 23, intercept=intercept)
    if single_set:
        training = replace(training, population=np.arange(21))
    rng = np.random.default_rng(0)
    training = replace(training, weight=rng.integers(1, 4, size=21).astype(float))
    task = RidgeProblem.of(training, np.array([0.0, 0.4, 1.0]))
    routes = [
        low_rank.solve_from_gram(task, task.population),
        low_rank.solve_from_rows(task, training),
        low_rank.solve_from_rows(task, replace(training, products=training.features @ training.features.T)),
    ]
    wanted = solve_one_by_one(task)[0]
    new = rng.normal(size=(7, 23))
    for coefficients, frame in routes:
        assert_allclose(frame.lift(coefficients), wanted, atol=1e-8)
        assert_allclose(coefficients @ frame.coordinates(new).T, wanted @ new.T, atol=1e-8)
        known = frame.coordinates(new, new @ training.features.T)
        assert_allclose(known, frame.coordinates(new), atol=1e-12)


def test_weighted_grams_in_parts(monkeypatch):
    rng = np.random.default_rng(0)
    rows, weights, plus = rng.normal(size=(6, 5)), rng.normal(size=(4, 6)), rng.normal(size=(6, 6))
    plus = plus + plus.T
    wanted = [(rows * w[:-1]) @ rows.T + w[-1] * plus for w in weights]
    for at_once in (1, 50, 10_000):
        monkeypatch.setattr(low_rank, "PRODUCTS_AT_ONCE", at_once)
        assert_allclose(low_rank.weighted_grams(rows, weights, plus), wanted, atol=1e-12)
    assert_allclose(low_rank.weighted_grams(rows, weights[:, :-1]), wanted - weights[:, -1, None, None] * plus)


def test_no_numerical_optimiser_finds_a_lower_risk():
    training = problem(6, 4, 30, 8, mixes=Mixes.of("pnu", [0.6, -0.4]), alphas=np.array([1e-2]))
    fits = squared_candidates(training)
    for c, eta in enumerate(training.mixes.values):
        weights = np.zeros((2, 1))
        weights[c] = 1
        ours = fits.average(weights)[0][0]

        def objective(w, eta=eta):
            g = training.features @ w
            scores = [g[training.codes == code] for code in (1, 0, -1)]
            return empirical_risk(pnu(PRIOR, eta), "squared", scores) + 1e-2 * w @ w

        found = minimize(objective, ours + 0.1, method="BFGS", options={"gtol": 1e-9})
        assert objective(ours) <= found.fun + 1e-12
        assert_allclose(ours, found.x, atol=1e-5)


def test_punu_minimises_its_own_risk():
    training = problem(6, 4, 30, 8, mixes=Mixes.of("punu", 0.2), alphas=np.array([1e-2]))
    ours = squared_candidates(training).average(np.ones((1, 1)))[0][0]

    def objective(w):
        g = training.features @ w
        scores = [g[training.codes == code] for code in (1, 0, -1)]
        return empirical_risk(punu(PRIOR, 0.2), "squared", scores) + 1e-2 * w @ w

    assert_allclose(minimize(objective, 0 * ours, method="BFGS", options={"gtol": 1e-9}).x, ours, atol=1e-5)


@pytest.mark.parametrize("intercept", [False, True])
def test_swapping_classes_flips_the_sign_exactly(intercept):
    training = problem(6, 4, 30, 50, intercept=intercept, prior=0.25)
    codes = np.where(training.codes < 0, -1, 1 - training.codes)
    swapped = replace(training, codes=codes, prior=training.prior[::-1])
    scores = squared_candidates(training).scores(training.features)
    mirrored = squared_candidates(swapped).scores(training.features)[:, ::-1]
    np.testing.assert_array_equal(scores, -mirrored)


def test_unlabelled_rows_that_repeat_the_labelled_ones_make_the_mix_irrelevant():
    """With U = P ∪ N at the right ratio b1 vanishes and G_U = L."""
    training = problem(3, 7, 0, 5)
    features = np.vstack([training.features, training.features])
    codes = np.concatenate([training.codes, np.full(10, -1)])
    doubled = replace(training, table=features, codes=codes, weight=np.ones(20), population=np.arange(10, 20))
    scores = squared_candidates(doubled).scores(features)[0]
    assert_allclose(scores, np.broadcast_to(scores[:1], scores.shape), atol=1e-10)


def test_a_huge_penalty_leaves_the_right_hand_side():
    training = problem(6, 4, 30, 8, mixes=Mixes.of("pnu", 0.5), alphas=np.array([1e8]))
    w = squared_candidates(training).average(np.ones((1, 1)))[0][0]
    p, n, u = (training.features[training.codes == code].mean(axis=0) for code in (1, 0, -1))
    assert_allclose(4e8 * w, 1.5 * PRIOR * p - 0.5 * (1 - PRIOR) * n - 0.5 * u, rtol=1e-6)


def test_weights_equal_repeated_rows():
    training = problem(4, 3, 20, 6)
    weight = np.random.default_rng(0).integers(1, 4, size=27)
    rows = np.repeat(np.arange(27), weight)
    weighted = replace(training, weight=weight.astype(float))
    repeated = replace(
        training,
        table=training.features[rows],
        codes=training.codes[rows],
        weight=np.ones(len(rows)),
        population=np.flatnonzero(training.codes[rows] < 0),
    )
    left, right = (squared_candidates(t).scores(training.features) for t in (weighted, repeated))
    assert_allclose(left, right, atol=1e-9)


def test_duplicated_columns_give_a_finite_answer():
    training = problem(4, 3, 20, 6)
    doubled = replace(training, table=np.hstack([training.features] * 2))
    assert np.isfinite(squared_candidates(doubled).scores(doubled.features)).all()
