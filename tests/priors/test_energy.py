"""Energy-distance priors: closed form against loops, weights, order, many classes, intervals."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.optimize import minimize

from pnulearn.priors import EnergyPrior, PriorEstimate, energy_prior
from pnulearn.priors._mixture import MeanDissimilarities, nearest_mixtures


def gaussians(seed, prior=0.3, n_positive=20, n_negative=25, n_unlabeled=80, dimension=3, gap=2.0):
    """Rows and codes of two unit Gaussians; U is drawn from the mixture."""
    rng = np.random.default_rng(seed)
    hidden = (rng.random(n_unlabeled) < prior).astype(int)
    truth = np.concatenate([np.ones(n_positive, int), np.zeros(n_negative, int), hidden])
    X = rng.normal(size=(len(truth), dimension))
    X[:, 0] += gap * truth
    return X, np.concatenate([truth[: n_positive + n_negative], np.full(n_unlabeled, -1)])


def looped_energy(X, codes, bias_correction):
    """The formula of the docstring, pair by pair."""
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    P, N, U = Z[codes == 1], Z[codes == 0], Z[codes == -1]

    def mean_distance(A, B):
        pairs = [(i, j) for i in range(len(A)) for j in range(len(B)) if A is not B or not bias_correction or i != j]
        return np.mean([np.sqrt(((A[i] - B[j]) ** 2).sum()) for i, j in pairs])

    between = mean_distance(P, N)
    top = between - mean_distance(N, N) + mean_distance(N, U) - mean_distance(P, U)
    return top / (2 * between - mean_distance(P, P) - mean_distance(N, N))


@pytest.mark.parametrize("bias_correction", [True, False])
def test_closed_form_equals_loops_over_pairs(bias_correction):
    X, codes = gaussians(0)
    found = energy_prior(X, codes, bias_correction=bias_correction, n_bootstrap=0)
    assert_allclose(found.raw, looped_energy(X, codes, bias_correction), rtol=1e-8)


@pytest.mark.parametrize("copies", [(1, 1), (3, 1), (2, 5)])
def test_unlabeled_copies_of_the_labeled_rows_are_counted_exactly(copies):
    """U made of k copies of P and m of N is that mixture exactly, and the V-statistic sees it."""
    X, codes = gaussians(1, n_unlabeled=1)
    P, N = X[codes == 1], X[codes == 0]
    k, m = copies
    X = np.concatenate([P, N, *[P] * k, *[N] * m])
    codes = np.concatenate([np.ones(len(P)), np.zeros(len(N)), np.full(k * len(P) + m * len(N), -1)]).astype(int)
    found = energy_prior(X, codes, bias_correction=False, n_bootstrap=0)
    assert_allclose(found.raw, k * len(P) / (k * len(P) + m * len(N)), rtol=1e-9)


def test_swapping_the_classes_gives_the_complement():
    X, codes = gaussians(2)
    swapped = np.where(codes >= 0, 1 - codes, -1)
    assert_allclose(energy_prior(X, swapped, n_bootstrap=0).raw, 1 - energy_prior(X, codes, n_bootstrap=0).raw)


def test_units_offsets_and_constant_columns_do_not_matter():
    X, codes = gaussians(3)
    moved = np.column_stack([X * [1e-5, 3.0, 1e6] + [7.0, 1e3, -2e9], np.full(len(X), 4.2)])
    assert_allclose(energy_prior(moved, codes, n_bootstrap=0).raw, energy_prior(X, codes, n_bootstrap=0).raw, rtol=1e-6)


def test_integer_weights_equal_repeated_rows_and_order_is_irrelevant():
    """Exactly, interval included."""
    X, codes = gaussians(4)
    rng = np.random.default_rng(0)
    weight = rng.integers(0, 4, len(X)).astype(float)
    repeated = rng.permutation(np.repeat(np.arange(len(X)), weight.astype(int)))
    weighted = energy_prior(X, codes, weight, n_bootstrap=50)
    assert energy_prior(X[repeated], codes[repeated], n_bootstrap=50) == weighted


@pytest.mark.parametrize("bias_correction", [True, False])
def test_repeated_labeled_rows_follow_the_formula_over_pairs(bias_correction):
    X, codes = gaussians(5, n_positive=6, n_negative=5, n_unlabeled=10)
    weight = np.array([1, 2, 1, 3, 1, 1, 2, 2, 1, 1, 4] + [1] * 9 + [3])
    rows = np.repeat(np.arange(len(X)), weight)
    found = energy_prior(X, codes, weight, bias_correction=bias_correction, n_bootstrap=0)
    assert_allclose(found.raw, looped_energy(X[rows], codes[rows], bias_correction), rtol=1e-8)


def test_weights_below_one_have_no_scale():
    """They are not counts, so shrinking them all changes nothing; weights of one are the border."""
    X, codes = gaussians(6)
    found = energy_prior(X, codes, np.full(len(X), 1e-3), n_bootstrap=0)
    assert_allclose(found.raw, energy_prior(X, codes, n_bootstrap=0).raw)


def test_sparse_rows_give_the_same_answer():
    X, codes = gaussians(7)
    X[np.abs(X) < 0.5] = 0
    dense = energy_prior(X, codes, n_bootstrap=20)
    found = energy_prior(sparse.csr_matrix(X), codes, n_bootstrap=20)
    assert_allclose([found.raw, found.low, found.high], [dense.raw, dense.low, dense.high], rtol=1e-9, atol=1e-9)


def test_many_unlabeled_rows_are_thinned_without_regard_to_order():
    X, codes = gaussians(8, n_unlabeled=6000)
    order = np.random.default_rng(1).permutation(len(X))
    found = energy_prior(X, codes, n_bootstrap=10)
    assert energy_prior(X[order], codes[order], n_bootstrap=10) == found
    assert abs(found.value - 0.3) < 0.15


def three_classes(seed, shares, n_labeled=15, n_unlabeled=120):
    rng = np.random.default_rng(seed)
    truth = np.concatenate([np.repeat(np.arange(3), n_labeled), rng.choice(3, n_unlabeled, p=shares)])
    X = rng.normal(size=(len(truth), 2)) + 2.0 * np.array([[0, 0], [1, 0], [0, 1]])[truth]
    return X, np.concatenate([truth[: 3 * n_labeled], np.full(n_unlabeled, -1)])


@pytest.mark.parametrize("shares", [(0.5, 0.3, 0.2), (0.0, 0.1, 0.9), (0.0, 0.0, 1.0)])
def test_several_classes_minimise_the_energy_over_the_simplex(shares):
    M, q = _distances(*three_classes(9, shares))
    found, separated = nearest_mixtures(MeanDissimilarities(M[None], q[None], np.ones((1, 3))))
    assert separated.all()
    starts = [np.full(3, 1 / 3), *(np.eye(3) * 0.98 + 0.01 / 3)]
    energy = lambda prior: 2 * q @ prior - prior @ M @ prior  # noqa: E731
    sums_to_one = {"type": "eq", "fun": lambda prior: prior.sum() - 1}
    best = min(
        (minimize(energy, s, bounds=[(0, 1)] * 3, constraints=sums_to_one, options={"ftol": 1e-14}) for s in starts),
        key=lambda result: result.fun,
    )
    assert_allclose(found[0], best.x, atol=2e-5)
    assert energy(found[0]) <= best.fun + 1e-10


def _distances(X, codes):
    """V-statistics without standardisation."""
    groups = [X[codes == k] for k in (0, 1, 2)]
    D = lambda A, B: np.sqrt(((A[:, None] - B[None]) ** 2).sum(axis=2)).mean()  # noqa: E731
    return np.array([[D(a, b) for b in groups] for a in groups]), np.array([D(a, X[codes == -1]) for a in groups])


def test_the_simplex_problem_agrees_with_the_closed_form_for_two_classes():
    from pnulearn.priors._mixture import _on_simplex

    rng = np.random.default_rng(0)
    for _ in range(20):
        q = 1.5 + rng.normal(size=2) * 0.3
        M = np.array([[1.0, 1.6], [1.6, 1.2]])
        raw = nearest_mixtures(MeanDissimilarities(M[None], q[None], np.ones((1, 2))))[0][0]
        assert_allclose(_on_simplex(M, q)[0], np.clip(raw, 0, 1), atol=1e-9)


def test_several_classes_are_estimated_with_intervals_that_add_up():
    X, codes = three_classes(10, (0.6, 0.3, 0.1), n_labeled=60, n_unlabeled=600)
    found = energy_prior(X, codes, n_classes=3, n_bootstrap=50)
    assert_allclose(found.value, [0.6, 0.3, 0.1], atol=0.1)
    assert_allclose(found.value.sum(), 1)
    assert ((found.low <= found.value) & (found.value <= found.high)).all()


def test_a_class_absent_from_the_population_keeps_a_little_prior():
    X, codes = three_classes(11, (0.0, 0.0, 1.0), n_unlabeled=99)
    found = energy_prior(X, codes, n_classes=3, n_bootstrap=0)
    assert found.value.min() >= 0.01 * (1 - 1e-9)
    assert_allclose(found.value.sum(), 1)


def test_the_prior_stays_inside_the_unit_interval_and_raw_tells():
    X, codes = gaussians(12, prior=0.0, n_unlabeled=50)
    X[codes == -1, 0] -= 3
    found = energy_prior(X, codes)
    assert found.raw < 0
    assert found.low <= found.value == pytest.approx(1 / 51)


def test_ninety_percent_intervals_cover_about_ninety_percent():
    hits = []
    for seed in range(120):
        X, codes = gaussians(seed, prior=0.3, n_positive=50, n_negative=50, n_unlabeled=500, dimension=5)
        found = energy_prior(X, codes, confidence=0.9, n_bootstrap=100)
        assert found.low <= found.value <= found.high
        hits.append(found.low <= 0.3 <= found.high)
    assert 0.83 <= np.mean(hits) <= 0.97


def test_the_interval_narrows_like_one_over_root_n():
    def width(factor):
        sizes = {"n_positive": 20 * factor, "n_negative": 20 * factor, "n_unlabeled": 100 * factor}
        spans = [energy_prior(*gaussians(seed, **sizes), n_bootstrap=100) for seed in range(8)]
        return np.mean([span.high - span.low for span in spans])

    assert 1.5 < width(2) / width(8) < 2.7


def test_degenerate_problems_are_refused_or_flagged():
    X, codes = gaussians(13)
    with pytest.raises(ValueError, match="there are none"):
        energy_prior(X[codes >= 0], codes[codes >= 0])
    with pytest.raises(ValueError, match="rows of class 0"):
        energy_prior(X[codes != 0], codes[codes != 0])
    with pytest.raises(ValueError, match="no difference between the labelled classes"):
        energy_prior(np.zeros((6, 2)), np.array([0, 0, 1, 1, -1, -1]))
    one = np.flatnonzero(codes == 1)[:1]
    rows = np.concatenate([one, np.flatnonzero(codes != 1)])
    with pytest.warns(UserWarning, match="single labelled row"):
        assert 0 < energy_prior(X[rows], codes[rows]).value < 1


def test_inseparable_classes_fall_back_to_the_v_statistic_with_a_warning():
    """Rows of one class are farther from each other than from the other class."""
    X, codes = np.array([[0.0], [10.0], [0.1], [10.1], [0.2], [9.0]]), np.array([0, 0, 1, 1, -1, -1])
    with pytest.warns(UserWarning, match="V-statistic"):
        found = energy_prior(X, codes, n_bootstrap=0)
    assert_allclose(found.raw, energy_prior(X, codes, n_bootstrap=0, bias_correction=False).raw)


def test_same_seed_same_interval():
    X, codes = gaussians(14)
    assert energy_prior(X, codes, random_state=3) == energy_prior(X, codes, random_state=3)
    assert energy_prior(X, codes, random_state=3).low != energy_prior(X, codes, random_state=4).low


def test_estimates_print_for_one_and_for_several_classes():
    several = PriorEstimate(np.array([0.2, 0.8]), "energy", concentration=41.0)
    assert str(several) == "0.200 [0.107, 0.309], 0.800 [0.691, 0.893] (energy, 90% interval)"
    assert str(PriorEstimate.known(0.3)) == "0.300 (given, no interval)"


def test_the_estimator_hands_its_bias_correction_on():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), np.repeat([0.0, 1.0, np.nan], [8, 8, 24])
    codes = np.repeat([0, 1, -1], [8, 8, 24])
    X[codes == 1] += 2
    for correction in (True, False):
        expected = energy_prior(X, codes, bias_correction=correction, n_bootstrap=0).raw
        assert EnergyPrior(correction, n_bootstrap=0).fit(X, y).estimate_.raw == expected
    assert energy_prior(X, codes, n_bootstrap=0).raw != expected
