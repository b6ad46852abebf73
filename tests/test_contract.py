"""What every classifier of the package promises; a new one joins by a line in CLASSIFIERS."""

import inspect
import pickle
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.utils.estimator_checks import check_estimator

from pnulearn import LabeledOnly, PNUClassifier, baselines
from pnulearn._kernels.registry import KERNELS
from pnulearn.baselines import (
    S4VM,
    EntropyRegularizedClassifier,
    HarmonicClassifier,
    LaplacianSVM,
    SMIRClassifier,
    WellSVM,
)
from pnulearn.priors import EnergyPrior, estimate_prior

BASELINES = [
    EntropyRegularizedClassifier(alpha=1e-3, entropy=0.1, bandwidth=1.0, random_state=0),
    LaplacianSVM(alpha=1e-3, manifold=1.0, bandwidth=1.0, random_state=0),
    SMIRClassifier(information=0.1, bandwidth=1.0, random_state=0),
    WellSVM(C_unlabeled=0.1, bandwidth=1.0, random_state=0),
    HarmonicClassifier(leak=0.1, bandwidth=1.0, random_state=0),
    S4VM(C_unlabeled=0.1, bandwidth=1.0, n_starts=20, random_state=0),
]
RANKED = PNUClassifier(columns="both", centers=20, random_state=0)
OURS = [PNUClassifier(random_state=0), PNUClassifier(kernel="linear", random_state=0), RANKED, *BASELINES]
CLASSIFIERS = [*OURS, LabeledOnly(LogisticRegression())]

rng = np.random.default_rng(0)
N_LABELED, N = 24, 120
TRUTH = np.concatenate([np.arange(N_LABELED) % 2, rng.random(N - N_LABELED) < 0.3]).astype(int)
X = rng.normal(size=(N, 2)) + 3 * TRUTH[:, None]
Y = np.where(np.arange(N) < N_LABELED, TRUTH, np.nan)


def name(model):
    columns = "-ranks" if getattr(model, "columns", "given") == "both" else ""
    return type(model).__name__ + ("-linear" if getattr(model, "kernel", "") == "linear" else columns)


def every(models):
    return pytest.mark.parametrize("model", [clone(model) for model in models], ids=name)


def test_no_baseline_is_left_out():
    assert {type(model).__name__ for model in BASELINES} == set(baselines.__all__)


@pytest.mark.parametrize("kernel", KERNELS)
@every([PNUClassifier(random_state=0), *(model for model in BASELINES if "kernel" in model.get_params())])
def test_every_kernel_of_the_registry_is_learnt_with_dense_or_sparse_rows(model, kernel):
    model = clone(model).set_params(kernel=kernel, bandwidth=2.0, prior=0.3)
    rows = X - 1.5  # WellSVM has no intercept
    dense = clone(model).fit(rows, Y)
    assert (dense.predict(rows) == TRUTH).mean() > 0.9
    rare = csr_matrix(rows)
    assert_allclose(model.fit(rare, Y).decision_function(rare), dense.decision_function(rows), atol=1e-4)


GIVEN = pytest.param(PNUClassifier(columns="given"), marks=pytest.mark.thorough)


@pytest.mark.parametrize("model", [PNUClassifier(), PNUClassifier(kernel="linear"), GIVEN], ids=name)
def test_scikit_learn_finds_nothing_to_complain_about(model):
    """The baselines' turn is in tests/baselines, with and without a search; others have tests of their own."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the checks fit fully labelled data, which we warn about
        results = check_estimator(model, on_fail=None)
    assert [r["check_name"] for r in results if r["status"] not in ("passed", "skipped")] == []


@every(CLASSIFIERS)
@pytest.mark.parametrize("kind", ["text", "integer", "boolean", "marked"])
def test_labels_of_any_kind_are_answered_in_kind_and_never_by_the_marker(model, kind):
    names = {"text": ["ham", "spam"], "integer": [3, 7], "boolean": [False, True], "marked": [1, 2]}[kind]
    marker = -1 if kind == "marked" else None
    y = np.array([marker if np.isnan(code) else names[int(code)] for code in Y], dtype=object)
    fitted = clone(model).set_params(unlabeled=marker).fit(X, y)
    assert fitted.classes_.tolist() == names
    predicted = fitted.predict(X)
    assert set(predicted.tolist()) == set(names)
    assert (predicted == np.array(names)[TRUTH]).mean() > 0.85


@every(CLASSIFIERS)
def test_score_is_the_accuracy_on_labelled_rows(model):
    fitted = clone(model).fit(X, Y)
    hits = fitted.predict(X[:N_LABELED]) == Y[:N_LABELED]
    assert fitted.score(X, Y) == pytest.approx(hits.mean())
    weight = np.where(hits, 1.0, 3.0) if not hits.all() else np.ones(N_LABELED)
    padded = np.append(weight, np.ones(N - N_LABELED))
    assert fitted.score(X, Y, sample_weight=padded) == pytest.approx(np.average(hits, weights=weight))


@every(CLASSIFIERS)
def test_clones_and_pickles_answer_the_same(model):
    fitted = clone(model).fit(X, Y)
    expected = fitted.decision_function(X)
    assert_array_equal(clone(fitted).fit(X, Y).decision_function(X), expected)
    assert_array_equal(pickle.loads(pickle.dumps(fitted)).decision_function(X), expected)


@every(OURS)
def test_a_skops_file_answers_the_same(model):
    skops = pytest.importorskip("skops.io")
    fitted = clone(model).fit(X, Y)
    blob = skops.dumps(fitted)
    trusted = skops.get_untrusted_types(data=blob)
    assert all(kind.startswith("pnulearn.") for kind in trusted)
    assert_array_equal(skops.loads(blob, trusted=trusted).decision_function(X), fitted.decision_function(X))


@every(CLASSIFIERS)
@pytest.mark.parametrize(
    "rows, y, message",
    [
        (X[:50], Y, "inconsistent numbers of samples"),
        (X, np.full(N, np.nan), "no labelled row"),
        (X, None, "requires y"),
        (X, np.where(np.isnan(Y), 0.5, Y), "continuous"),
    ],
)
def test_what_cannot_be_learnt_is_refused(model, rows, y, message):
    with pytest.raises(ValueError, match=message):
        clone(model).fit(rows, y)


@every(OURS)
@pytest.mark.parametrize("n_jobs", [0, "a", 1.5])
def test_a_senseless_number_of_threads_is_refused(model, n_jobs):
    with pytest.raises(ValueError, match="n_jobs must be a whole number"):
        clone(model).set_params(n_jobs=n_jobs).fit(X, Y)


@every(OURS)
def test_the_default_prior_is_the_default_estimate(model):
    fitted = clone(model).fit(X, Y)
    assert fitted.prior_ == pytest.approx(estimate_prior(X, Y, n_bootstrap=0).value)
    low, high = fitted.prior_interval_
    assert low < fitted.prior_ < high


@every(OURS)
@pytest.mark.parametrize(
    "prior, value",
    [
        (0.25, 0.25),
        ({0.0: 0.75, 1.0: 0.25}, 0.25),
        ("labeled", 0.5),
        ("energy", estimate_prior(X, Y, "energy", n_bootstrap=0).value),
        (EnergyPrior(n_bootstrap=0), estimate_prior(X, Y, "energy", n_bootstrap=0).value),
    ],
    ids=["number", "mapping", "labeled", "method", "estimator"],
)
def test_a_prior_can_be_said_in_every_way(model, prior, value):
    fitted = clone(model).set_params(prior=prior).fit(X, Y)
    assert fitted.prior_ == pytest.approx(value)
    assert (fitted.prior_interval_ is None) == (prior == "labeled" or isinstance(prior, EnergyPrior))


@every(OURS)
@pytest.mark.parametrize(
    "prior, error, message",
    [
        (30, ValueError, r"Did you mean 0\.3"),
        (1.0, ValueError, "strictly between 0 and 1"),
        ("half", ValueError, "neither a number nor a method"),
        ([0.5], TypeError, "prior must be a number"),
        ({0.0: 0.5}, ValueError, "no share for class 1.0"),
    ],
)
def test_a_senseless_prior_is_refused_in_the_same_words(model, prior, error, message):
    with pytest.raises(error, match=message):
        clone(model).set_params(prior=prior).fit(X, Y)


@every([PNUClassifier(random_state=0), *(model for model in BASELINES if model._multi_class)])
def test_several_classes_have_a_prior_in_the_order_of_the_classes(model):
    truth = np.arange(N) % 3
    rows = rng.normal(size=(N, 2)) + 4 * np.eye(3, 2)[truth]
    y = np.where(np.arange(N) < 45, truth, np.nan)
    fitted = clone(model).set_params(prior={2: 0.5, 0: 0.3, 1: 0.2}).fit(rows, y)
    assert_allclose(fitted.prior_, [0.3, 0.2, 0.5])


@every(OURS)
def test_without_unlabelled_rows_the_labelled_share_is_the_prior(model):
    with pytest.warns(UserWarning, match="no unlabelled rows"):
        fitted = clone(model).fit(X[:N_LABELED], Y[:N_LABELED])
    assert fitted.prior_ == 0.5
    assert fitted.prior_interval_ is None


@every(OURS)
def test_the_search_is_one_kind_of_table(model):
    table = clone(model).fit(X, Y).search_
    rows = table.rows()
    assert len(rows) == table.weight.size == np.prod([len(values) for values in table.values.values()])
    assert set(rows[0]) == {*table.values, "zero_one", "squared", "weight"} | ({"columns"} if table.columns else set())
    assert sum(row["weight"] for row in rows) == pytest.approx(1)
    assert table.weight[table.best] == table.weight.max()


@every(CLASSIFIERS)
def test_weights_are_taken_or_refused_with_a_reason(model):
    takes = "sample_weight" in inspect.signature(model.fit).parameters
    weight = np.where(np.arange(N) % 3 == 0, 2.0, 1.0)
    if takes:
        plain, weighted = clone(model).fit(X, Y), clone(model).fit(X, Y, sample_weight=weight)
        assert np.abs(plain.decision_function(X) - weighted.decision_function(X)).max() > 1e-6
    else:
        with pytest.raises(TypeError, match=rf"{name(model)}.fit takes no sample_weight.*weight two.*PNUClassifier"):
            clone(model).fit(X, Y, sample_weight=weight)
    with pytest.raises(TypeError, match="colour"):
        clone(model).fit(X, Y, colour="red")


@every(OURS)
def test_progress_goes_to_standard_error_when_asked_for(model, capsys):
    clone(model).fit(X, Y)
    assert capsys.readouterr() == ("", "")
    clone(model).set_params(verbose=1).fit(X, Y)
    out, err = capsys.readouterr()
    assert not out
    assert err.startswith("pnulearn: ")
