"""The default estimator: the identity it rests on, its optimal contrast, bias, coverage, several classes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import softmax
from scipy.stats import truncnorm
from sklearn.linear_model import LogisticRegression

from pnulearn.priors import EMPrior, ScorePrior
from pnulearn.priors import _em as em
from pnulearn.priors._em import gather_scores, most_likely_shares
from pnulearn.priors._groups import Group
from pnulearn.priors._scores import Contrast, _median_within, least_variance_shares, matching_shares


def gaussians(seed, prior=0.3, n_labeled=40, n_unlabeled=300, gap=2.0, classes=2):
    """Rows and codes of unit Gaussians at the corners of a simplex; `prior` is a number or one share per class."""
    rng = np.random.default_rng(seed)
    shares = [1 - prior, prior] if np.isscalar(prior) else prior
    truth = np.concatenate([np.repeat(np.arange(classes), n_labeled), rng.choice(classes, n_unlabeled, p=shares)])
    X = rng.normal(size=(len(truth), 3)) + gap * np.eye(classes, 3)[truth]
    return X, np.concatenate([truth[: classes * n_labeled], np.full(n_unlabeled, -1)])


def contrast_variance(h, prior, p, n, sizes):
    """Variance of θ = (mean_U h − mean_N h) / (mean_P h − mean_N h) to first order, for discrete densities n and p."""
    u = prior * p + (1 - prior) * n
    variance = lambda density: density @ h**2 - (density @ h) ** 2  # noqa: E731
    noise = prior**2 * variance(p) / sizes[1] + (1 - prior) ** 2 * variance(n) / sizes[0] + variance(u) / sizes[2]
    return noise / (p @ h - n @ h) ** 2


@pytest.mark.parametrize("prior", [0.1, 0.5, 0.8])
@pytest.mark.parametrize("sizes", [(10, 10, 1000), (100, 20, 50)])
def test_no_other_contrast_varies_less(prior, sizes):
    rng = np.random.default_rng(0)
    n, p = rng.dirichlet(np.ones(8), 2)
    b, a = least_variance_shares(np.array([1 - prior, prior]), np.array(sizes[:2]), sizes[2])
    best = contrast_variance(a * p / (a * p + b * n), prior, p, n, sizes)
    for _ in range(200):
        other = a * p / (a * p + b * n) + 0.05 * rng.normal(size=8)
        assert contrast_variance(other, prior, p, n, sizes) > best


def test_the_variance_formula_is_that_of_redrawn_samples():
    """Contrast fixed, samples redrawn: the spread of the ratio is what the optimum was computed from."""
    rng = np.random.default_rng(1)
    n, p = rng.dirichlet(np.ones(6), 2)
    h, prior, sizes = p / (p + n), 0.3, (400, 300, 1000)
    u = prior * p + (1 - prior) * n
    means = [rng.multinomial(size, density, 20000) @ h / size for size, density in zip(sizes, (n, p, u), strict=True)]
    stacked = np.stack([np.stack([1 - m, m]) for m in means])
    assert_allclose(matching_shares(stacked).var(), contrast_variance(h, prior, p, n, sizes), rtol=0.1)


def test_the_estimate_is_the_mean_of_u_between_those_of_n_and_p():
    n, p, u = 0.2, 0.8, 0.35
    means = np.array([[1 - n, n], [1 - p, p], [1 - u, u]])[:, :, None]
    assert_allclose(matching_shares(means), [0.25])
    three = np.array([[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.1, 0.2, 0.7]])
    shares = np.array([0.5, 0.2, 0.3])
    assert_allclose(matching_shares(np.vstack([three, shares @ three])[:, :, None])[0], shares, atol=1e-9)


def test_small_classes_lean_on_what_the_model_expects_but_vary_as_before():
    """The data's class means move towards the expected ones; replicates move along and keep their spread."""
    rng = np.random.default_rng(2)
    scores = [rng.random((2, 4)), rng.random((2, 5)), rng.random((2, 6))]
    shares = [rng.dirichlet(np.ones(n), 3).T for n in (4, 5, 6)]
    expected = np.array([[0.9, 0.1], [0.3, 0.7]])
    plain = np.stack([h @ share for h, share in zip(scores, shares, strict=True)])
    means = Contrast(scores, expected, np.array([0.25, 1.0])).means(shares)
    assert_allclose(means[0, :, 0], 0.25 * plain[0, :, 0] + 0.75 * expected[0])
    assert_allclose(means[0] - means[0, :, :1], plain[0] - plain[0, :, :1])
    assert_allclose(means[1:], plain[1:])


@pytest.mark.parametrize("raw, deviation", [(0.4, 0.1), (-0.2, 0.15), (1.3, 0.2), (0.02, 0.3)])
def test_the_value_is_the_median_of_a_truncated_normal(raw, deviation):
    law = truncnorm((0 - raw) / deviation, (1 - raw) / deviation, raw, deviation)
    assert_allclose(_median_within(raw, deviation), law.median(), rtol=1e-6)


def test_hopelessly_distant_ratios_end_at_the_border():
    assert _median_within(9.0, 0.1) == 1
    assert _median_within(0.4, 0.0) == 0.4


def test_estimates_are_right_on_average_even_far_from_one_half():
    found = [ScorePrior(n_bootstrap=0).estimate(*gaussians(seed, prior=0.15)).raw for seed in range(40)]
    assert abs(np.mean(found) - 0.15) < 3 * np.std(found) / np.sqrt(40)
    assert np.std(found) < 0.08


def test_ninety_percent_intervals_cover_about_ninety_percent():
    hits = []
    for seed in range(60):
        found = ScorePrior(confidence=0.9, n_bootstrap=100, random_state=seed).estimate(
            *gaussians(seed, n_labeled=50, n_unlabeled=500)
        )
        assert found.low <= found.value <= found.high
        hits.append(found.low <= 0.3 <= found.high)
    assert 0.82 <= np.mean(hits) <= 0.98


@pytest.mark.parametrize("estimator", [ScorePrior, EMPrior])
def test_swapping_the_classes_gives_the_complement(estimator):
    X, codes = gaussians(2)
    swapped = np.where(codes >= 0, 1 - codes, -1)
    one, other = (estimator(n_bootstrap=0).estimate(X, c).raw for c in (codes, swapped))
    assert_allclose(one, 1 - other, atol=1e-5)


@pytest.mark.parametrize("estimator", [ScorePrior, EMPrior])
def test_several_classes_are_estimated_at_once(estimator):
    shares = [0.5, 0.35, 0.15]
    X, codes = gaussians(3, prior=shares, n_labeled=50, n_unlabeled=800, gap=3.0, classes=3)
    found = estimator(n_bootstrap=20, random_state=0).estimate(X, codes, n_classes=3)
    assert_allclose(found.value, shares, atol=0.06)
    assert_allclose(found.value.sum(), 1)
    assert ((found.low <= found.value) & (found.value <= found.high)).all()


@pytest.mark.parametrize("estimator", [ScorePrior, EMPrior])
def test_any_classifier_can_do_the_scoring(estimator):
    method = estimator(LogisticRegression(), n_bootstrap=20, random_state=0)
    found = [method.estimate(*gaussians(seed, n_labeled=60, n_unlabeled=500)).value for seed in range(4, 8)]
    assert abs(np.mean(found) - 0.3) < 0.05


def test_indistinguishable_classes_fall_back_to_energy_with_a_warning():
    """Rows of one class are nearest to those of the other, so every left-out row is scored wrongly."""
    X = np.array([[0.0], [10.0], [0.1], [10.1], [0.2], [9.0]])
    codes = np.array([0, 0, 1, 1, -1, -1])
    with pytest.warns(UserWarning, match="V-statistic"), pytest.warns(UserWarning, match="do not separate the"):
        found = ScorePrior(n_bootstrap=0).estimate(X, codes)
    assert found.method == "energy"


def test_em_maximises_the_likelihood_of_u():
    """The maximum of Σ w log(θ p + (1 − θ)(1 − p)) on a fine grid, for several weightings."""
    rng = np.random.default_rng(5)
    p, weights = rng.random(200), rng.dirichlet(np.ones(200), 3)
    probabilities = np.broadcast_to(np.stack([1 - p, p]), (3, 2, 200))
    grid = np.linspace(0.001, 0.999, 999)
    likelihood = np.log(np.outer(grid, p) + np.outer(1 - grid, 1 - p)) @ weights.T
    assert_allclose(most_likely_shares(probabilities, weights)[:, 1], grid[likelihood.argmax(axis=0)], atol=2e-3)


def test_em_comes_to_its_end_where_classes_overlap(monkeypatch):
    """Plain EM is still far away after a thousand steps, each as dear as one of these."""
    x = np.linspace(-5, 5, 500)
    weights = 0.6 * np.exp(-(x**2) / 2) + 0.4 * np.exp(-((x - 0.3) ** 2) / 2)
    weights, p = weights[None] / weights.sum(), 1 / (1 + np.exp(-0.3 * (x - 0.15)))
    probabilities = np.stack([1 - p, p])[None]
    steps, step = [], em._newton
    monkeypatch.setattr(em, "_newton", lambda *given: steps.append(None) or step(*given))
    found = most_likely_shares(probabilities, weights)[0, 1]
    assert_allclose(found, 0.4, atol=1e-4)
    assert len(steps) < 10


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_em_leaves_no_slope(n_classes):
    """At the maximum the mean of p_k / Σ θ_j p_j is 1 for classes that are present, and less for the others."""
    rng = np.random.default_rng(7)
    centers = rng.normal(size=(n_classes, 1, 1, 2))
    x = rng.normal(size=(50, 80, 2)) + centers[0]  # of one class only, so that others are absent in many of the samples
    probabilities = softmax(-((x - centers) ** 2).sum(axis=-1) / 2, axis=0).swapaxes(0, 1)
    weights = rng.dirichlet(np.ones(80), 50)
    shares = most_likely_shares(probabilities, weights)
    mixture = np.einsum("rk,rkn->rn", shares, probabilities)
    pull = np.einsum("rkn,rn->rk", probabilities, weights / mixture)
    present = shares > 1e-11
    assert_allclose(shares.sum(axis=1), 1)
    assert (~present).any()
    assert present.sum() > len(shares)
    assert_allclose(pull[present], 1, atol=1e-12)
    assert pull.max() < 1 + 1e-12


def test_gathered_rows_have_the_likelihood_of_all():
    rng = np.random.default_rng(8)
    odds, weight = rng.normal(size=5000), rng.integers(1, 4, 5000).astype(float)
    scores = np.log(np.stack([1 / (1 + np.exp(odds)), 1 / (1 + np.exp(-odds))]))
    few, group = gather_scores(scores, Group(np.zeros((5000, 1)), weight))
    shares = [
        most_likely_shares(np.exp(s)[None], (w / w.sum())[None])[0, 1]
        for s, w in ((scores, weight), (few, group.weight))
    ]
    assert few.shape[1] <= 400
    assert_allclose(group.weight.sum(), weight.sum())
    assert_allclose(shares[0], shares[1], atol=2e-5)


def test_em_recovers_the_prior_from_exact_posteriors():
    rng = np.random.default_rng(6)
    x = rng.normal(size=20000) + 2 * (rng.random(20000) < 0.2)
    p = 1 / (1 + np.exp(-(2 * x - 2)))  # N(2, 1) against N(0, 1) under equal shares
    found = most_likely_shares(np.stack([1 - p, p])[None], np.full((1, 20000), 1 / 20000))
    assert abs(found[0, 1] - 0.2) < 0.01


def test_em_stays_where_rows_tell_nothing():
    """Probabilities that differ by rounding alone: no share is more likely than another."""
    p = 0.5 + 1e-16 * np.arange(-3, 4)
    assert_allclose(most_likely_shares(np.stack([1 - p, p])[None], np.full((1, 7), 1 / 7))[0], [0.5, 0.5])


def test_em_stays_where_the_mean_posterior_is_the_prior():
    """p symmetric around 1/2 has the fixed point θ = 1/2."""
    p = np.array([0.1, 0.9, 0.4, 0.6])
    assert_allclose(most_likely_shares(np.stack([1 - p, p])[None], np.full((1, 4), 0.25))[0], [0.5, 0.5], atol=1e-5)
