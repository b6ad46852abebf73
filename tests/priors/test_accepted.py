"""A prior may be an estimate, a range or a distribution wherever one is asked for."""

import numpy as np
import pytest
from scipy.stats import beta
from sklearn.linear_model import LogisticRegression

from pnulearn import PNUClassifier, advise, advise_for, baselines, metrics, risks
from pnulearn.priors import PriorEstimate, resolve_prior
from pnulearn.priors._resolve import combine_evidence
from pnulearn.streaming import fit_files

RNG = np.random.default_rng(0)
TRUTH = np.concatenate([np.ones(12), np.zeros(12), RNG.random(60) < 0.3])
X = RNG.normal(size=(84, 2)) + 2 * TRUTH[:, None]
Y = np.where(np.arange(84) < 24, TRUTH, np.nan)
ESTIMATE = PriorEstimate.of_range(0.2, 0.4)
VAGUE = {"estimate": ESTIMATE, "range": (0.2, 0.4), "distribution": beta(6, 14)}
LINEAR = {"kernel": "linear", "alpha": 0.1, "random_state": 0}
GOOD, BIASED = (LogisticRegression().fit(X[:24] + shift, TRUTH[:24]) for shift in (0.0, 1.0))
WEAK = X[:, 0] + 2 * RNG.normal(size=84)  # an AUC near one has no room for doubt

LEARNERS = {
    "PNUClassifier": lambda prior: PNUClassifier(prior=prior, **LINEAR).fit(X, Y),
    "partial_fit": lambda prior: PNUClassifier(prior=prior, **LINEAR).partial_fit(X, Y, classes=[0, 1]),
    "fit_files": lambda prior: fit_files(PNUClassifier(prior=prior, **LINEAR), (X, Y)),
    "SMIR": lambda prior: baselines.SMIRClassifier(prior=prior, random_state=0).fit(X, Y),
    "harmonic": lambda prior: baselines.HarmonicClassifier(prior=prior, random_state=0).fit(X, Y),
}
JUDGES = {
    "risk": lambda prior: metrics.pnu_risk(Y, X[:, 0] - 3, prior=prior),  # most errors are missed positives
    "auc": lambda prior: metrics.pnu_auc(Y, WEAK, prior=prior),
    "precision": lambda prior: metrics.pnu_precision(Y, X[:, 0] - 1, prior=prior),
    "recall": lambda prior: metrics.pnu_recall(Y, X[:, 0] - 1, prior=prior),
    "f1": lambda prior: metrics.pnu_f1(Y, X[:, 0] - 1, prior=prior),
    "compare": lambda prior: metrics.compare(GOOD, BIASED, X, Y, prior=prior),
}


@pytest.mark.parametrize("vague", VAGUE)
@pytest.mark.parametrize("learner", LEARNERS)
def test_learners_take_what_is_known_about_the_prior(learner, vague):
    model = LEARNERS[learner](VAGUE[vague])
    assert 0.15 < model.prior_ < 0.45
    if vague == "estimate":
        assert model.prior_ == ESTIMATE.value


@pytest.mark.parametrize("vague", VAGUE)
@pytest.mark.parametrize("judge", JUDGES)
def test_who_is_less_sure_of_the_prior_is_less_sure_of_the_quality(judge, vague):
    known = VAGUE[vague].mean() if vague == "distribution" else ESTIMATE.mean
    unsure, sure = JUDGES[judge](VAGUE[vague]), JUDGES[judge](float(known))
    assert unsure.high - unsure.low > sure.high - sure.low


@pytest.mark.parametrize("vague", VAGUE)
def test_scorers_and_advice_take_it_too(vague):
    score = metrics.make_pnu_scorer(prior=VAGUE[vague])(GOOD, X, Y)
    assert -1 <= score <= 0
    assert advise(n_positive=12, n_negative=12, n_unlabeled=60, prior=VAGUE[vague])
    assert advise_for(GOOD, X, Y, prior=VAGUE[vague])


@pytest.mark.parametrize("risk", [risks.pn, risks.pu, risks.nu])
def test_tables_of_weights_take_the_number_that_an_estimate_stands_for(risk):
    """Losses for neural networks are made from these tables."""
    assert risk(ESTIMATE) == risk(ESTIMATE.value)


@pytest.mark.parametrize("learner", ["PNUClassifier", "partial_fit", "fit_files"])
def test_counts_of_labels_drawn_at_random_can_be_told_as_a_distribution(learner):
    """Where rows cannot be marked (files, Dask), Beta(½ + positives, ½ + negatives) says the same as a mask."""
    told = LEARNERS[learner](beta(3.5, 7.5)).prior_estimate_
    alone = LEARNERS[learner](None).prior_estimate_
    counted = combine_evidence([PriorEstimate.of_counts([7, 3])], [alone])
    np.testing.assert_allclose([told.value, told.sd], [counted.value, counted.sd], rtol=1e-4)


def test_a_class_without_labels_is_refused_by_its_name():
    codes = np.where(np.isnan(Y) | (Y == 0), -1, 1)
    with pytest.raises(ValueError, match="No labelled rows of class 'no'"):
        resolve_prior("energy", X, codes, classes=["no", "yes"])
