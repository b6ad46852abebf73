"""Evidence about the prior that counts: labels at random, ranges, and what the unlabelled rows say."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pnulearn import PNUClassifier, estimate_prior, pnu_risk
from pnulearn.priors import PriorEstimate


def mixture(prior, n_labeled=30, n_unlabeled=300, seed=0, distance=2.0):
    """Labels drawn at random from the population, the last column noise."""
    rng = np.random.default_rng(seed)
    truth = (rng.random(n_labeled + n_unlabeled) < prior).astype(float)
    truth[:2] = 0, 1
    X = rng.normal(size=(len(truth), 3))
    X[:, 0] += distance * truth
    y = truth.copy()
    y[n_labeled:] = np.nan
    return X, y, truth


def fast(**options):
    return PNUClassifier(mix=[0.0, 0.5], alpha=[0.01, 0.1], bandwidth=1.5, random_state=0, **options)


def test_labels_at_random_tell_the_prior():
    X, y, _ = mixture(0.2, n_labeled=100)
    by_class, at_random = fast().fit(X, y), fast(sampling="random").fit(X, y)
    assert at_random.prior_estimate_.sd < by_class.prior_estimate_.sd
    assert at_random.prior_estimate_.low < 0.2 < at_random.prior_estimate_.high
    counted = PriorEstimate.of_counts([np.sum(y == 0), np.sum(y == 1)])
    assert at_random.prior_estimate_.sd < counted.sd


def test_marked_rows_count_as_drawn_at_random_and_others_do_not():
    X, y, truth = mixture(0.2, n_labeled=60, n_unlabeled=400)
    extra = np.flatnonzero(np.isnan(y) & (truth == 1))[:30]
    y[extra] = 1.0  # gathered by class
    mask = np.zeros(len(y), dtype=bool)
    mask[:60] = True
    plain, marked = fast().fit(X, y), fast().fit(X, y, at_random=mask)
    assert "labels drawn at random" in marked.prior_estimate_.method
    assert marked.prior_estimate_.sd < plain.prior_estimate_.sd
    alone = fast(sampling="random").fit(X, y)  # would believe all 90 labels
    assert abs(marked.prior_ - 0.2) < abs(alone.prior_ - 0.2)


@pytest.mark.parametrize("mask", [[True, False], np.full(330, 2), np.array(["yes"] * 330)])
def test_masks_that_are_none_are_refused(mask):
    X, y, _ = mixture(0.3)
    with pytest.raises(ValueError, match="at_random must be True or False"):
        fast().fit(X, y, at_random=mask)


def test_a_range_is_combined_with_what_the_rows_say():
    X, y, _ = mixture(0.2, n_labeled=10)
    alone = fast().fit(X, y).prior_estimate_
    known = fast(prior=(0.1, 0.3)).fit(X, y).prior_estimate_
    assert known.sd < min(alone.sd, PriorEstimate.of_range(0.1, 0.3).sd)


def test_an_estimate_can_be_passed_wherever_a_prior_can():
    X, y, _ = mixture(0.3)
    estimate = estimate_prior(X, y, random_state=0)
    model = fast(prior=estimate).fit(X, y)
    assert model.prior_ == estimate.value
    unsure, sure = (pnu_risk(y, 1 - X[:, 0], prior=prior) for prior in (estimate, estimate.mean))
    assert unsure.high - unsure.low > sure.high - sure.low
    assert unsure.stderr > sure.stderr


def test_a_given_prior_that_the_rows_contradict_is_doubted():
    X, y, _ = mixture(0.2, n_labeled=60, n_unlabeled=600, distance=3.0)
    with pytest.warns(UserWarning, match=r"prior=0.7 was given, but .* about 0\.[123]"):
        model = fast(prior=0.7).fit(X, y)
    assert "0.7" in model.prior_doubt_
    assert fast(prior=0.2).fit(X, y).prior_doubt_ is None


@pytest.mark.filterwarnings("ignore:prior=0.3 was given")
def test_doubt_is_rare_where_the_prior_is_right():
    doubts = 0
    for seed in range(40):
        X, y, _ = mixture(0.3, n_labeled=12, n_unlabeled=150, seed=seed, distance=1.5)
        model = PNUClassifier("pn", "squared", "linear", prior=0.3, alpha=0.1, random_state=0)
        doubts += model.fit(X, y).prior_doubt_ is not None
    assert doubts <= 5


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_the_risk_of_a_model_judged_under_an_unknown_prior_covers():
    """A frozen rule, labels by class, the prior estimated from few labels."""
    hits, n_draws = 0, 60
    for seed in range(n_draws):
        rng = np.random.default_rng(seed)
        truth = np.concatenate([np.ones(10), np.zeros(10), rng.random(200) < 0.25])
        X = rng.normal(size=(220, 2))
        X[:, 0] += 1.5 * truth
        y = truth.copy()
        y[20:] = np.nan
        estimate = estimate_prior(X, y, random_state=0)
        found = pnu_risk(y, X[:, 0] - 0.75, prior=estimate)
        hits += found.low <= 0.2266 <= found.high  # Φ(−0.75) for either class
    assert hits >= 0.88 * n_draws


def test_the_risk_under_a_known_range_is_linear_in_the_prior():
    """The value is the risk at the mean, because every risk is linear in the prior."""
    rng = np.random.default_rng(1)
    y, score = np.repeat([1, 0, np.nan], [20, 20, 100]), rng.normal(size=140)
    estimate = PriorEstimate.of_range(0.2, 0.6)
    found = pnu_risk(y, score, prior=estimate, mix=0.4)
    values = [pnu_risk(y, score, prior=float(p), mix=0.4).value for p in estimate.points(400)]
    assert_allclose(found.value, np.mean(values), atol=1e-3)
