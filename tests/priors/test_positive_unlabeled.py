"""Methods that know P and U only: each against an independent computation, all on classes that hardly overlap."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.stats import norm
from sklearn.metrics import roc_auc_score

from pnulearn._intervals.closed_forms import dkw_half_width
from pnulearn.priors import (
    BBEPrior,
    CombinedPrior,
    DEDPULPrior,
    KMPrior,
    PearsonPrior,
    PenalizedL1Prior,
    ROCPrior,
    TIcEPrior,
)
from pnulearn.priors._combined import Combination
from pnulearn.priors._dedpul import _monotone, _positives
from pnulearn.priors._groups import Group, Groups, split_groups, standardize
from pnulearn.priors._km import Extrapolation, project_to_simplex, widest_apart_gram
from pnulearn.priors._mixture import least_norm_shares
from pnulearn.priors._pe import _prior
from pnulearn.priors._penl1 import least_penalized
from pnulearn.priors._positive_unlabeled import scores_against_unlabeled, tail_shares
from pnulearn.priors._tice import _conditions, _largest_bound, _regions

EVERY = [
    CombinedPrior(),
    KMPrior(1),
    KMPrior(2),
    ROCPrior(),
    BBEPrior(),
    DEDPULPrior(),
    PearsonPrior(),
    PenalizedL1Prior(),
    TIcEPrior(),
]
NAMES = ["combined", "km1", "km2", "roc", "bbe", "dedpul", "pe", "penl1", "tice"]


def apart(seed, prior, n_labeled=200, n_unlabeled=400, gap=4.0):
    """Positives around (gap, 0), negatives around 0: irreducible up to a sliver."""
    rng = np.random.default_rng(seed)
    hidden = rng.random(n_unlabeled) < prior
    X = rng.normal(size=(n_labeled + n_unlabeled, 2))
    X[:n_labeled, 0] += gap
    X[n_labeled:, 0] += gap * hidden
    return X, np.array([1] * n_labeled + [-1] * n_unlabeled)


# penL1's fixed penalty charges too little, ROC and TIcE report bounds: their distance is one-sided and larger
REACH = {
    "combined": 0.1,
    "km1": 0.1,
    "km2": 0.1,
    "roc": 0.35,
    "bbe": 0.07,
    "dedpul": 0.1,
    "pe": 0.1,
    "penl1": 0.15,
    "tice": 0.2,
}


@pytest.mark.parametrize("estimator", EVERY, ids=NAMES)
@pytest.mark.parametrize("prior", [0.25, 0.6])
def test_the_prior_is_found_when_the_classes_lie_apart(estimator, prior):
    estimator.set_params(n_bootstrap=0)
    found = np.mean([estimator.estimate(*apart(seed, prior)).value for seed in range(2)])
    assert abs(found - prior) < REACH[estimator.method]


@pytest.mark.parametrize("estimator", EVERY, ids=NAMES)
def test_more_positives_give_a_larger_estimate_and_intervals_contain_it(estimator):
    estimator.set_params(n_bootstrap=10, random_state=0)
    few, many = (estimator.estimate(*apart(0, prior, 60, 120)) for prior in (0.2, 0.7))
    assert few.value < many.value
    for found in (few, many):
        assert found.low <= found.value <= found.high


@pytest.mark.parametrize("estimator", EVERY, ids=NAMES)
def test_negatives_alone_exchange_the_roles(estimator):
    X, codes = apart(1, 0.3, 60, 120)
    estimator.set_params(n_bootstrap=0)
    of_positive = estimator.estimate(X, codes)
    of_negative = estimator.estimate(X, np.where(codes == 1, 0, -1))
    assert_allclose(of_negative.raw, 1 - of_positive.raw)


@pytest.mark.parametrize("estimator", EVERY, ids=NAMES)
def test_labeled_negatives_are_set_aside_with_a_word(estimator):
    X, codes = apart(2, 0.3, 60, 120)
    estimator.set_params(n_bootstrap=0)
    alone = estimator.estimate(X, codes)
    with pytest.warns(UserWarning, match="ignores 2 labelled negatives"):
        found = estimator.estimate(np.vstack([X, [[0, 0], [1, 1]]]), np.append(codes, [0, 0]))
    assert found.raw == alone.raw


@pytest.mark.parametrize("estimator", EVERY, ids=NAMES)
def test_three_classes_and_missing_u_are_refused(estimator):
    X, codes = apart(3, 0.3, 20, 20)
    with pytest.raises(ValueError, match="is for two classes"):
        estimator.estimate(X, codes, n_classes=3)
    with pytest.raises(ValueError, match="there are none"):
        estimator.estimate(X[:20], codes[:20])


def test_tails_count_rows_at_or_above_every_threshold():
    labeled, unlabeled = np.array([3.0, 1.0]), np.array([2.0, 1.0, 0.0])
    shares = np.array([[0.5], [0.5]]), np.array([[0.2], [0.3], [0.5]])
    of_labeled, of_unlabeled = tail_shares((labeled, unlabeled), shares)
    for row, threshold in enumerate([3.0, 2.0, 1.0, 0.0]):
        assert_allclose(of_labeled[row, 0], shares[0][labeled >= threshold].sum())
        assert_allclose(of_unlabeled[row, 0], shares[1][unlabeled >= threshold].sum())


@pytest.mark.parametrize("estimator", [ROCPrior(), BBEPrior()], ids=["roc", "bbe"])
def test_threshold_methods_equal_a_loop_over_thresholds(estimator):
    rng = np.random.default_rng(4)
    scores = rng.normal(1, 1, 40), rng.normal(0, 1, 90)
    groups = [Group(np.zeros((len(s), 1)), np.ones(len(s))) for s in scores]
    found = estimator._of_scores(scores, *groups)(*(group.share[:, None] for group in groups))[0]
    e_p, e_u = dkw_half_width(40, 0.05), dkw_half_width(90, 0.05)
    best = (np.inf, np.nan)
    for t in np.concatenate(scores):
        p, u = (scores[0] >= t).mean(), (scores[1] >= t).mean()
        if estimator.method == "roc" and p > e_p:
            best = min(best, ((u + e_u) / (p - e_p),) * 2)
        if estimator.method == "bbe" and p > 0:
            best = min(best, (u / p + 1.01 * (e_u + e_p) / p, u / p))
    assert found == pytest.approx(min(best[1], 1))


@pytest.fixture
def extrapolation():
    X, codes = apart(5, 0.4, 20, 40, gap=2.0)
    labeled, unlabeled = (Group(X[codes == c], np.ones((codes == c).sum())) for c in (1, -1))
    gram = widest_apart_gram(labeled, unlabeled)
    return Extrapolation(gram, labeled.share[:, None], unlabeled.share[:, None])


@pytest.mark.parametrize("strength", [1.0, 1.3, 2.0, 5.0])
def test_distance_to_the_distributions_is_that_of_an_exact_solver(extrapolation, strength, monkeypatch):
    monkeypatch.setattr("pnulearn.priors._km.MOST_STEPS", 20000)
    target = (extrapolation.start + strength * extrapolation.direction)[:, 0]
    size, directions = np.linalg.eigh(extrapolation.gram)
    root = (directions * np.sqrt(np.maximum(size, 0))).T
    columns = root - (root @ target)[:, None]
    exact = np.linalg.norm(columns @ least_norm_shares(columns))
    assert_allclose(extrapolation.distance(np.array([strength]))[0], exact, atol=1e-4)


def test_slope_of_the_distance_is_its_derivative(extrapolation):
    ahead, behind = (extrapolation.distance(np.array([2.0 + step]))[0][0] for step in (0.05, -0.05))
    assert_allclose(extrapolation.distance(np.array([2.0]))[1][0], (ahead - behind) / 0.1, rtol=0.02)


@pytest.mark.parametrize("seed", range(4))
def test_u_that_looks_like_p_has_a_larger_prior_than_u_that_lies_apart(seed):
    """Where U is P to the bit, rounding decides how far KM can go: its curve is flat. So U is drawn afresh."""
    rng = np.random.default_rng(seed)
    positive, unlabeled = rng.normal(size=(60, 2)), rng.normal(size=(120, 2))
    codes = np.repeat([1, -1], [60, 120])
    like, apart = (
        KMPrior(2, n_bootstrap=0).estimate(np.vstack([positive, unlabeled + shift]), codes).value for shift in (0, 8)
    )
    assert apart < 0.1 < 0.25 < like


def test_projection_is_the_nearest_point_of_the_simplex():
    rng = np.random.default_rng(7)
    columns = 2 * rng.normal(size=(5, 4))
    found = project_to_simplex(columns)
    for column, point in zip(columns.T, found.T, strict=True):
        sums_to_one = {"type": "eq", "fun": lambda v: v.sum() - 1}
        best = minimize(
            lambda v, c=column: ((v - c) ** 2).sum(), np.full(5, 0.2), bounds=[(0, 1)] * 5, constraints=sums_to_one
        )
        assert_allclose(point, best.x, atol=1e-4)


def test_variant_is_checked():
    with pytest.raises(ValueError, match="variant must be 1 or 2"):
        KMPrior(3).estimate(*apart(0, 0.3, 10, 10))


def test_pearson_prior_minimises_its_divergence():
    """θ that minimises θ² c/2 − θ with c = 2 h'α − α'Hα, α = G⁻¹h: the fitted ∫ p_P²/p_U."""
    rng = np.random.default_rng(8)
    features = rng.random((30, 4))
    h, H = features[:10].mean(axis=0), features.T @ features / 30
    alpha = np.linalg.solve(H + 0.1 * np.eye(4), h)
    grid = np.linspace(0, 1, 100001)
    curvature = 2 * h @ alpha - alpha @ H @ alpha
    assert_allclose(_prior(h, H, 0.1), grid[(grid**2 * curvature / 2 - grid).argmin()], atol=1e-4)


def test_pearson_prior_of_disjoint_cells_is_their_share():
    """Indicator features of three cells, P in the first one only: ∫ p_P²/p_U = 1/θ."""
    assert_allclose(_prior(np.array([1.0, 0, 0]), np.diag([0.3, 0.5, 0.2]), 1e-12), 0.3)


def test_penalised_l1_equals_a_fine_grid():
    rng = np.random.default_rng(9)
    p, u = rng.random((12, 5)), rng.random((12, 5))
    p *= [0.5, 1, 2, 4, 8]
    grid = np.linspace(0, 1, 20001)
    for penalty in (0.01, 0.1, 1.0):
        excess = np.maximum(0, grid[:, None, None] * p - u)
        scores = (excess**2).sum(axis=1) / penalty - grid[:, None] + 1
        assert_allclose(least_penalized(p, u, penalty), grid[scores.argmin(axis=0)], atol=1e-4)


def test_density_ratio_em_stops_where_no_row_is_overdrawn():
    """U = 0.3 P + 0.7 N with disjoint scores: r = 1/0.3 on the positives and 0 elsewhere."""
    ratio = np.repeat([0.0, 1 / 0.3], [70, 30])
    assert _positives(ratio, np.full(100, 0.01)) == pytest.approx(0.3)


def test_density_ratio_em_is_followed_to_its_end():
    rng = np.random.default_rng(11)
    ratio, share, alpha = np.sort(rng.exponential(1, 50)), rng.dirichlet(np.ones(50)), 0.0
    scaled = ratio / (share @ ratio)
    for _ in range(100_000):
        alpha = share @ np.maximum(0, 1 - (1 - alpha) * scaled)
    assert _positives(ratio, share) == pytest.approx(1 - alpha, abs=1e-9)


def test_rounding_makes_no_threshold_and_no_cut():
    scores, shares = np.array([0.3, 0.1 + 0.2]), (np.array([[1.0], [0.0]]), np.array([[0.5], [0.5]]))
    assert [len(tail) for tail in tail_shares((scores, scores), shares)] == [1, 1]
    grades = np.arange(5.0)[:, None] / 10
    assert_allclose(_conditions(grades), _conditions(np.nextafter(grades, -1)))
    assert_allclose(_conditions(grades), _conditions(np.nextafter(grades, 1)))


def test_density_ratios_are_monotone_and_capped():
    ratio = _monotone(np.random.default_rng(10).exponential(30, 200), np.full(200, 1 / 200))
    assert (np.diff(ratio) >= 0).all()
    assert ratio.max() <= 50


def test_tree_bound_is_the_formula_on_every_region():
    rng = np.random.default_rng(11)
    inside = rng.random((4, 60)) < 0.5
    weights, is_labeled = rng.random((60, 2)) + 0.5, rng.random(60) < 0.5
    frequency = np.array([0.5, 0.3])
    expected = np.full(2, -np.inf)
    for region in inside:
        for b in range(2):
            T, L = weights[region, b].sum(), weights[region & is_labeled, b].sum()
            delta = max(0.025, 1 / (1 + 0.004 * weights[:, b].sum()))
            c = frequency[b]
            bound = L / T - np.sqrt(c * (1 - c) * (1 - delta) / (delta * T))
            expected[b] = max(expected[b], bound)
    assert_allclose(_largest_bound(inside, weights, is_labeled, frequency), expected)


def test_trees_find_the_corner_with_the_labeled_rows():
    rng = np.random.default_rng(12)
    X = rng.random((400, 3))
    is_labeled = (X[:, 0] > 0.75) & (X[:, 2] < 0.25)
    regions = _regions(_conditions(X), np.ones(400), is_labeled)
    shares = [is_labeled[region].mean() for region in regions if region.sum() >= 10]
    assert max(shares) > 0.9


def test_combined_is_what_its_formula_says():
    rng = np.random.default_rng(0)
    truth = rng.random(300) < 0.3
    X = rng.normal(size=(350, 2)) + 2 * np.concatenate([np.ones(50), truth])[:, None]
    y = np.repeat([1.0, np.nan], [50, 300])
    given = {"n_bootstrap": 0, "random_state": 0}
    found, bins, density = (kind(**given).fit(X, y).prior_ for kind in (CombinedPrior, BBEPrior, DEDPULPrior))
    groups = split_groups(X, np.where(np.isnan(y), -1, 1))
    pair = standardize(Groups((groups.classes[1],), groups.unlabeled))
    scores = scores_against_unlabeled(pair.classes[0], pair.unlabeled, None)
    bound = 2 * (1 - roc_auc_score(np.repeat([1, 0], [50, 300]), np.concatenate(scores)))
    b, d, a = np.arcsin(np.sqrt([bins, density, bound]))
    assert found == pytest.approx(np.sin(0.7 * d + 0.3 * b - 0.2 * (a - b)) ** 2, abs=1e-6)


@pytest.fixture
def combination():
    """An estimate of 0.3 whose bootstrap has a standard deviation of 0.03 (arcsin √θ), and an overlap of 0.1."""
    angle = np.arcsin(np.sqrt(0.3))
    return Combination(angle + 0.03 * norm.ppf(np.append(0.5, (np.arange(400) + 0.5) / 400)), np.full(401, 0.9))


@pytest.mark.parametrize("n_labeled", [25.0, 2500.0])
def test_few_labelled_rows_widen_the_lower_side(combination, n_labeled):
    found = CombinedPrior()._of_combination(combination, n_labeled, 500)
    above = np.hypot(0.03, 0.05 + 0.03)
    below = np.sqrt(0.03**2 + (0.05 + 0.1) ** 2 + 1 / (4 * n_labeled))
    share = above / (above + below)
    ends = [
        np.arcsin(np.sqrt(0.3)) + below * norm.ppf(0.05 / (2 * (1 - share))),
        np.arcsin(np.sqrt(0.3)) - above * norm.ppf(0.05 / (2 * share)),
    ]
    assert_allclose([found.low, found.high], np.sin(ends) ** 2, atol=0.01)
    assert found.value == pytest.approx(0.3)


def test_without_irreducibility_every_share_below_the_bound_is_possible(combination):
    found = CombinedPrior(irreducible=False)._of_combination(combination, 50, 500)
    bound, above = np.arcsin(np.sqrt(0.3)), np.hypot(0.03, 0.05 + 0.03)
    tail = above * np.sqrt(np.pi / 2)
    ends = [0.05 * (bound + tail), bound - above * norm.ppf(0.05 * (bound + tail) / (2 * tail))]
    assert_allclose([found.low, found.high], np.sin(ends) ** 2, atol=2e-3)
    assert found.value == found.mean < 0.3 < found.high
    assert found.method == "bound"
    mirrored = CombinedPrior(irreducible=False)._of_combination(combination, 50, 500, is_positive=False)
    assert_allclose([mirrored.low, mirrored.high], [1 - found.high, 1 - found.low], atol=1e-6)


def test_combined_doubts_more_downwards():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(350, 2)) + np.concatenate([np.ones(50), rng.random(300) < 0.3])[:, None]
    found = CombinedPrior(random_state=0).fit(X, np.repeat([1.0, np.nan], [50, 300])).estimate_
    center, low, high = np.arcsin(np.sqrt([found.value, found.low, found.high]))
    assert center - low > 1.2 * (high - center)
    mirrored = CombinedPrior(random_state=0, pos_label=1).fit(X, np.repeat([0.0, np.nan], [50, 300])).estimate_
    assert mirrored.value == pytest.approx(1 - found.value, abs=1e-9)
    assert mirrored.high == pytest.approx(1 - found.low, abs=1e-6)
