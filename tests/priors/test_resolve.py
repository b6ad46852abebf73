"""Every way to name a prior, every method under one contract, and every way to get it wrong."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import clone

from pnulearn.priors import METHODS, AutoPrior, EnergyPrior, KMPrior, PriorEstimator, estimate_prior, resolve_prior
from pnulearn.priors._resolve import prior_estimator

NEEDS_BOTH = [name for name, (kind, _) in METHODS.items() if kind.needs_every_class]


def table(method="energy", seed=0, n_labeled=25, n_unlabeled=80, prior=0.4):
    """X and y in words; without negatives for methods that do not use them."""
    rng = np.random.default_rng(seed)
    hidden = rng.random(n_unlabeled) < prior
    truth = np.concatenate([np.ones(n_labeled), np.zeros(n_labeled), hidden]).astype(bool)
    X = rng.normal(size=(len(truth), 2))
    X[truth, 0] += 3
    y = np.array(["spam"] * n_labeled + ["ham"] * n_labeled + [None] * n_unlabeled, dtype=object)
    used = slice(None) if method in NEEDS_BOTH else y != "ham"
    return X[used], y[used]


@pytest.mark.parametrize("method", METHODS)
def test_every_method_reads_labels_and_answers_for_the_positive_class(method):
    X, y = table(method)
    fitted = prior_estimator(method, n_bootstrap=5, pos_label="spam", random_state=0).fit(X, y)
    assert fitted.classes_[1] == "spam"
    low, high = fitted.interval_
    assert 0 < low <= fitted.prior_ <= high < 1
    assert abs(fitted.prior_ - 0.4) < 0.4
    assert fitted.estimate_.method == method.removesuffix("_v")
    assert fitted.n_features_in_ == 2


@pytest.mark.parametrize("method", METHODS)
def test_weights_equal_copies_order_is_irrelevant_and_seeds_repeat(method):
    X, y = table(method, seed=1)
    weight = np.random.default_rng(2).integers(0, 3, len(y))
    rows = np.random.default_rng(3).permutation(np.repeat(np.arange(len(y)), weight))
    options = {"n_bootstrap": 3, "random_state": 7, "pos_label": "spam"}
    weighted = estimate_prior(X, y, method, sample_weight=weight, **options)
    repeated = estimate_prior(X[rows], y[rows], method, **options)
    assert_allclose([weighted.raw, weighted.low, weighted.high], [repeated.raw, repeated.low, repeated.high], rtol=1e-6)


@pytest.mark.parametrize("method", METHODS)
def test_sparse_rows_give_the_same_answer(method):
    X, y = table(method, seed=4)
    X[np.abs(X) < 0.3] = 0
    options = {"n_bootstrap": 0, "pos_label": "spam"}
    dense, compressed = (estimate_prior(rows, y, method, **options).raw for rows in (X, sparse.csr_matrix(X)))
    assert_allclose(compressed, dense, rtol=1e-5)


@pytest.mark.parametrize("method", METHODS)
def test_estimators_are_cloned_and_pickled(method):
    X, y = table(method, seed=5)
    estimator = prior_estimator(method, n_bootstrap=2, random_state=0)
    fitted = estimator.fit(X, y)
    again = pickle.loads(pickle.dumps(clone(estimator).fit(X, y)))
    assert again.estimate_ == fitted.estimate_


@pytest.mark.parametrize("method", NEEDS_BOTH)
def test_a_missing_class_is_named_with_what_to_do(method):
    X, y = table("bbe")
    with pytest.raises(ValueError, match=r"class 'not spam'.*'bbe'"):
        estimate_prior(X, y, method, pos_label="spam")


@pytest.mark.parametrize("method", [None, *METHODS])
def test_no_unlabeled_rows_no_prior(method):
    X, y = table()
    with pytest.raises(ValueError, match="there are none"):
        estimate_prior(X[:50], y[:50], method)


def test_the_default_follows_the_rows_that_are_there():
    X, y = table()
    assert estimate_prior(X, y, n_bootstrap=0).method == "scores"
    X, y = table("bbe")
    with pytest.warns(UserWarning, match="irreducibility"):
        found = estimate_prior(X, y, n_bootstrap=0, pos_label="spam")
    assert found.method == "combined"
    assert isinstance(prior_estimator(None), AutoPrior)


def test_unknown_names_list_the_valid_ones():
    X, y = table()
    with pytest.raises(ValueError, match=r"No prior estimator is called 'enrgy'.*'scores', 'energy'"):
        estimate_prior(X, y, "enrgy")


def test_estimators_keep_their_own_parameters_and_take_the_caller_s_seed():
    X, y = table()
    found = estimate_prior(X, y, EnergyPrior(bias_correction=False), random_state=1)
    assert found == estimate_prior(X, y, "energy_v", random_state=1)


class TestResolve:
    X, y = table()
    codes = np.array([{"ham": 0, "spam": 1, None: -1}[label] for label in y])

    def resolve(self, prior, classes=("ham", "spam")):
        return resolve_prior(prior, self.X, self.codes, None, classes=np.array(classes), random_state=0)

    def test_numbers_are_taken_as_they_are(self):
        found = self.resolve(0.25)
        assert (found.value, found.low, found.high, found.method) == (0.25, 0.25, 0.25, "given")
        assert self.resolve(np.float32(0.25)).value == 0.25

    def test_mappings_name_all_classes_in_any_order(self):
        assert self.resolve({"ham": 0.8, "spam": 0.2}).value == pytest.approx(0.2)
        assert_allclose(self.resolve({2: 0.2, 1: 0.3, 0: 0.5}, (0, 1, 2)).value, [0.5, 0.3, 0.2])

    def test_methods_estimators_and_nothing_are_estimated(self):
        for prior, method in ((None, "scores"), ("energy", "energy"), (EnergyPrior(), "energy")):
            assert self.resolve(prior).method == method
        with pytest.warns(UserWarning, match="labelled negatives"):
            assert self.resolve(KMPrior(2, n_bootstrap=0)).method == "km2"

    def test_the_caller_s_estimator_is_left_alone(self):
        estimator = EnergyPrior()
        self.resolve(estimator)
        assert estimator.random_state is None
        assert not hasattr(estimator, "prior_")

    @pytest.mark.parametrize(
        "prior, error, message",
        [
            (0, ValueError, "strictly between 0 and 1, got 0"),
            (1.0, ValueError, "strictly between"),
            (-0.3, ValueError, "strictly between"),
            (float("nan"), ValueError, "strictly between 0 and 1, got nan"),
            (50, ValueError, r"Did you mean 0\.5\?"),
            ("half", ValueError, "neither a number nor a method: 'scores'"),
            ([0.3, 0.7], TypeError, "a number between 0 and 1"),
            (True, TypeError, "a number"),
            ({"spam": 1.5}, ValueError, "strictly between"),
            ({"eggs": 0.5}, ValueError, "'eggs', which is not a class"),
            ({"ham": 0.5, "spam": 0.2}, ValueError, "add up to 0.7"),
            ({"spam": 0.3}, ValueError, "no share for class 'ham'"),
        ],
    )
    def test_impossible_priors_are_refused(self, prior, error, message):
        with pytest.raises(error, match=message):
            self.resolve(prior)

    def test_three_classes_need_a_share_each(self):
        with pytest.raises(ValueError, match=r"y has 3 classes.*'a': \.\.\."):
            self.resolve(0.3, ("a", "b", "c"))
        with pytest.raises(ValueError, match="no share for class 'c'"):
            self.resolve({"a": 0.3, "b": 0.3}, ("a", "b", "c"))


def test_an_estimator_of_one_s_own_can_be_used_as_prior():
    class Half(PriorEstimator):
        needs_every_class = False

        def __init__(self, random_state=None):
            self.random_state = random_state

        def estimate(self, X, codes, weight=None, n_classes=2):
            return resolve_prior(0.5, X, codes, weight, classes=[0, 1])

    assert resolve_prior(Half(), np.zeros((2, 1)), np.array([1, -1]), classes=[0, 1]).value == 0.5
