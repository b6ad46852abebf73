"""What every baseline promises: labels, priors, search, saving, errors."""

import pickle
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

from pnulearn.baselines import EntropyRegularizedClassifier, HarmonicClassifier, LaplacianSVM, SMIRClassifier
from pnulearn.baselines._base import STRENGTHS, BaselineTraining, candidates

rng = np.random.default_rng(0)
N_LABELED, N = 16, 80
TRUTH = np.arange(N) % 2
X = rng.normal(size=(N, 2)) + 3 * TRUTH[:, None]
Y = np.where(np.arange(N) < N_LABELED, TRUTH, np.nan)

FIXED = [
    EntropyRegularizedClassifier(alpha=1e-3, entropy=0.1, bandwidth=1.0, prior=0.5),
    EntropyRegularizedClassifier(alpha=1e-3, entropy=0.1, kernel="linear", prior=0.5),
    LaplacianSVM(alpha=1e-3, manifold=1.0, bandwidth=1.0, prior=0.5),
    LaplacianSVM(alpha=1e-3, manifold=1.0, bandwidth=1.0, loss="hinge", prior=0.5),
    SMIRClassifier(information=0.1, bandwidth=1.0, prior=0.5),
    HarmonicClassifier(leak=0.1, bandwidth=1.0, prior=0.5),
]
SEARCHING = [
    EntropyRegularizedClassifier(alpha=[1e-3, 1e-1], entropy=[0.01, 1.0], prior=0.5, cv=3, random_state=0),
    LaplacianSVM(alpha=[1e-3, 1e-1], manifold=[0.1, 10.0], prior=0.5, cv=3, random_state=0),
    SMIRClassifier(information=[0.01, 1.0], prior=0.5, cv=3, random_state=0),
    HarmonicClassifier(leak=[0.01, 1.0], prior=0.5, cv=3, random_state=0),
]


def name(model):
    return type(model).__name__ + "".join(f"-{v}" for k, v in model.get_params().items() if k in ("kernel", "loss"))


def every(models):
    return pytest.mark.parametrize("model", [clone(model) for model in models], ids=name)


@pytest.mark.thorough
@every([*FIXED, *(clone(model).set_params(bandwidth=[0.5, 2.0], cv=2) for model in (FIXED[0], FIXED[2], FIXED[4]))])
def test_scikit_learn_accepts_it(model):
    """No expected failures, with and without a search."""
    model = clone(model).set_params(prior=None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the checks fit {−1, 1} without unlabelled rows
        for result in check_estimator(model, on_fail=None):
            assert result["status"] in ("passed", "skipped"), result


@every(FIXED + SEARCHING)
def test_it_learns_two_blobs(model):
    fitted = clone(model).fit(X, Y)
    assert (fitted.predict(X) == TRUTH).mean() > 0.95
    assert fitted.decision_function(X).shape == (N,)
    assert_array_equal(fitted.predict(X) == 1, fitted.decision_function(X) > 0)


@every(FIXED)
def test_the_name_of_the_marker_and_of_the_classes_does_not_matter(model):
    scores = clone(model).fit(X, Y).decision_function(X)
    marked = np.where(np.isnan(Y), -1, Y).astype(int)
    assert_array_equal(clone(model).set_params(unlabeled=-1).fit(X, marked).decision_function(X), scores)
    words = np.array(["spam" if v == 1 else "ham" if v == 0 else None for v in Y], dtype=object)
    named = clone(model).set_params(pos_label="spam").fit(X, words)
    assert_array_equal(named.decision_function(X), scores)
    assert set(named.predict(X)) == {"spam", "ham"}


@every(FIXED)
def test_sparse_rows_give_the_same_model(model):
    dense = clone(model).fit(X, Y)
    thin = clone(model).fit(sparse.csr_matrix(X), Y)
    assert_allclose(thin.decision_function(X), dense.decision_function(sparse.csr_matrix(X)), atol=1e-3)


@every(FIXED)
def test_three_classes_are_learnt(model):
    third = np.concatenate([X, rng.normal(size=(30, 2)) + np.array([6, -3])])
    truth = np.concatenate([TRUTH, np.full(30, 2)])
    y = np.where(np.isin(np.arange(110), [*range(N_LABELED), *range(80, 88)]), truth, np.nan)
    fitted = clone(model).set_params(prior={0: 0.36, 1: 0.36, 2: 0.28}).fit(third, y)
    assert fitted.decision_function(third).shape == (110, 3)
    assert (fitted.predict(third) == truth).mean() > 0.9


@every([FIXED[0], FIXED[1], FIXED[-1]])
def test_probabilities_agree_with_predictions(model):
    fitted = clone(model).fit(X, Y)
    probabilities = fitted.predict_proba(X)
    assert_allclose(probabilities.sum(axis=1), 1)
    assert_array_equal(fitted.classes_[probabilities.argmax(axis=1)], fitted.predict(X))


@every(FIXED)
def test_a_greater_prior_means_more_positives(model):
    """Labelled and unlabelled shares differ; only the prior says so."""
    close = rng.normal(size=(120, 2)) + TRUTH[np.arange(120) % N, None]
    y = np.where(np.arange(120) < 30, np.arange(120) % 2, np.nan)
    shares = [(clone(model).set_params(prior=p).fit(close, y).predict(close) == 1).mean() for p in (0.1, 0.9)]
    assert shares[0] < shares[1]


@every(SEARCHING)
def test_the_search_keeps_every_candidate_and_takes_the_best(model):
    fitted = clone(model).fit(X, Y)
    table = fitted.search_
    assert table.weight.shape == tuple(map(len, table.values.values()))
    assert table.weight.size == (6 * 4 if "Laplacian" in name(model) or "Entropy" in name(model) else 6 * 2)
    best = table.rows()[0]
    assert best["weight"] == table.weight.sum() == 1
    for parameter in table.values:
        assert getattr(fitted, f"{parameter}_") == best[parameter]


@every(SEARCHING)
def test_a_held_out_set_is_judged_instead_of_folds(model):
    fitted = clone(model).set_params(cv="never looked at").fit(X, Y, X_val=X[30:60], y_val=TRUTH[30:60])
    best = {k: getattr(fitted, f"{k}_") for k in fitted.search_.values}
    alone = clone(model).set_params(**best).fit(X, Y)
    error = (alone.predict(X[30:60]) != TRUTH[30:60]).mean()
    assert error == pytest.approx(fitted.search_.zero_one.min())
    assert_allclose(alone.decision_function(X), fitted.decision_function(X))


@every(SEARCHING)
def test_a_held_out_set_of_one_class_and_unlabelled_rows_is_judged_by_the_pu_risk(model):
    positive, population = np.arange(41, 60, 2), np.arange(60, N)
    X_val, y_val = X[np.concatenate([positive, population])], np.repeat([1.0, np.nan], [10, 20])
    fitted = clone(model).fit(X, Y, X_val=X_val, y_val=y_val)
    says_yes = fitted.predict(X) == 1
    pu_risk = 2 * 0.5 * np.mean(~says_yes[positive]) + np.mean(says_yes[population]) - 0.5
    assert fitted.search_.zero_one.min() == pytest.approx(pu_risk)
    with pytest.raises(ValueError, match="7"):
        clone(model).fit(X, Y, X_val=X[:2], y_val=[1, 7])


@every(SEARCHING)
def test_the_same_seed_gives_the_same_bits_however_many_workers(model):
    one = clone(model).fit(X, Y)
    two = clone(model).set_params(n_jobs=2).fit(X, Y)
    assert_array_equal(one.decision_function(X), two.decision_function(X))
    assert_array_equal(one.search_.squared, two.search_.squared)


@every(FIXED)
@pytest.mark.parametrize("rows", [X[:0], sparse.csr_matrix(X[:0])], ids=["dense", "sparse"])
def test_no_rows_get_no_answers(model, rows):
    fitted = clone(model).fit(X, Y)
    assert fitted.predict(rows).shape == (0,)


@every(FIXED)
def test_a_fixed_model_needs_no_search(model):
    fitted = clone(model).fit(X, Y)
    assert fitted.search_.weight.tolist() == np.ones(fitted.search_.weight.shape).tolist()
    assert np.isnan(fitted.search_.zero_one).all()


@every(FIXED)
@pytest.mark.parametrize("rows", [X, sparse.csr_matrix(X)], ids=["dense", "sparse"])
def test_a_saved_model_answers_the_same(model, rows):
    skops = pytest.importorskip("skops.io")
    fitted = clone(model).fit(rows, Y)
    expected = fitted.decision_function(X)
    assert_array_equal(pickle.loads(pickle.dumps(fitted)).decision_function(X), expected)
    blob = skops.dumps(fitted)
    trusted = skops.get_untrusted_types(data=blob)
    assert all(kind.startswith(("pnulearn.", "scipy.sparse.")) for kind in trusted)
    assert_array_equal(skops.loads(blob, trusted=trusted).decision_function(X), expected)


@every(FIXED)
def test_no_unlabelled_rows_leave_a_supervised_classifier(model):
    with pytest.warns(UserWarning, match=rf"no unlabelled rows, so {type(model).__name__} is .*unlabeled=\.\.\."):
        fitted = clone(model).fit(X[:N_LABELED], Y[:N_LABELED])
    assert (fitted.predict(X) == TRUTH).mean() > 0.9


@every(FIXED)
def test_one_row_of_each_class_is_enough_to_learn(model):
    y = np.where(np.arange(N) < 2, TRUTH, np.nan)
    assert np.isfinite(clone(model).fit(X, y).decision_function(X)).all()


@every(SEARCHING)
def test_one_row_of_each_class_is_not_enough_to_search(model):
    y = np.where(np.arange(N) < 2, TRUTH, np.nan)
    with pytest.raises(ValueError, match="no labelled rows for validation"):
        clone(model).fit(X, y)


@every(FIXED)
def test_one_class_is_refused_with_a_way_out(model):
    with pytest.raises(ValueError, match=r"only one class.*PNUClassifier"):
        clone(model).fit(X, np.where(TRUTH == 1, 1.0, np.nan))


@every(FIXED)
def test_half_a_held_out_set_is_refused(model):
    with pytest.raises(ValueError, match="Pass both X_val and y_val"):
        clone(model).fit(X, Y, X_val=X)


def test_many_rows_are_no_trouble_for_a_linear_model(monkeypatch):
    def too_large(n_rows):
        raise ValueError("too large")

    monkeypatch.setattr("pnulearn.baselines._base.refuse_beyond_memory", too_large)
    clone(FIXED[1]).fit(X, Y)
    with pytest.raises(ValueError, match="too large"):
        clone(FIXED[0]).fit(X, Y)


@every(FIXED)
@pytest.mark.parametrize(
    "value, error",
    [
        (0.0, ValueError),
        (-1.0, ValueError),
        (np.nan, ValueError),
        (1e31, ValueError),
        ("x", TypeError),
        ([], ValueError),
    ],
)
def test_a_wrong_weight_is_refused(model, value, error):
    name = "alpha" if "alpha" in model.get_params() else "leak"
    with pytest.raises(error, match=rf"{name} must be a number or several between 1e-30 and 1e\+30, got "):
        clone(model).set_params(**{name: value}).fit(X, Y)


@pytest.mark.parametrize("value", [0.0, -1.0, np.inf])
def test_a_wrong_bandwidth_is_refused(value):
    with pytest.raises(ValueError, match="bandwidth must be"):
        SMIRClassifier(bandwidth=value).fit(X, Y)


@every(FIXED)
def test_a_missing_value_is_refused_with_its_place(model):
    rows = X.copy()
    rows[3, 1] = np.nan
    with pytest.raises(ValueError, match="row 3, column 1"):
        clone(model).fit(rows, Y)


def test_an_unknown_kernel_is_refused():
    with pytest.raises(ValueError, match=r"kernel must be one of 'rbf', 'linear', .*, got 'cosine'"):
        LaplacianSVM(kernel="cosine").fit(X, Y)


def test_identical_rows_are_refused_when_a_bandwidth_is_wanted():
    with pytest.raises(ValueError, match="identical"):
        SMIRClassifier(prior=0.5).fit(np.ones((N, 2)), Y)


@every(SEARCHING)
def test_verbose_reports_progress(model, capsys):
    clone(model).set_params(verbose=1).fit(X, Y)
    out, lines = capsys.readouterr()
    assert not out
    lines = lines.splitlines()
    assert any("search 18/18" in line for line in lines)
    assert any("final fit on 80 rows" in line for line in lines)


def test_open_hyper_parameters_take_the_papers_candidates():
    assert candidates("alpha", None) == list(STRENGTHS) == [10.0**k for k in range(-5, 3)]


def test_class_weights_are_uniform_for_the_labelled_share_and_follow_a_known_one():
    codes = np.array([1, 1, 1, 0, -1])
    labeled = BaselineTraining(None, None, codes, np.array([0.25, 0.75]))
    assert_allclose(labeled.balance, 1 / 4)
    known = BaselineTraining(None, None, codes, np.array([0.5, 0.5]))
    assert_allclose(known.balance, [1 / 6, 1 / 6, 1 / 6, 1 / 2])
    assert_array_equal(known.signs, [1, 1, 1, -1, 0])
