"""What WellSVM and S4VM promise alike: labels, search, saving, errors, cost."""

import pickle
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

from pnulearn.baselines import S4VM, WellSVM
from pnulearn.baselines import _base as cost

rng = np.random.default_rng(0)
N_LABELED, N = 16, 80
TRUTH = np.arange(N) % 2
X = rng.normal(size=(N, 2)) + 3 * TRUTH[:, None] - 1.5
Y = np.where(np.arange(N) < N_LABELED, TRUTH, np.nan)

FIXED = [
    WellSVM(C_unlabeled=0.1, bandwidth=1.0, prior=0.5),
    WellSVM(C_unlabeled=0.1, kernel="linear", prior=0.5),
    S4VM(C_unlabeled=0.1, bandwidth=1.0, prior=0.5, n_starts=20, random_state=0),
    S4VM(C_unlabeled=0.1, kernel="linear", prior=0.5, n_starts=20, random_state=0),
]
SEARCHING = [
    WellSVM(C_unlabeled=[0.01, 1.0], cv=3, prior=0.5, random_state=0),
    S4VM(C_unlabeled=[0.01, 1.0], cv=3, prior=0.5, n_starts=10, random_state=0),
]


def every(models):
    return pytest.mark.parametrize("model", models, ids=lambda m: f"{type(m).__name__}-{m.kernel}")


@every(FIXED[::2])
def test_scikit_learn_accepts_it(model):
    """No expected failures."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the checks fit {−1, 1} without unlabelled rows
        for result in check_estimator(clone(model).set_params(prior=None), on_fail=None):
            assert result["status"] in ("passed", "skipped"), result


@every(FIXED + SEARCHING)
def test_it_learns_two_blobs(model):
    fitted = clone(model).fit(X, Y)
    assert (fitted.predict(X) == TRUTH).mean() > 0.9
    assert_array_equal(fitted.predict(X) == 1, fitted.decision_function(X) > 0)
    assert_array_equal(fitted.transduction_[:N_LABELED], TRUTH[:N_LABELED])
    assert (fitted.transduction_ == TRUTH).mean() > 0.9


@every(FIXED)
def test_the_name_of_the_marker_and_of_the_classes_does_not_matter(model):
    scores = clone(model).fit(X, Y).decision_function(X)
    marked = np.where(np.isnan(Y), -1, Y).astype(int)
    assert_array_equal(clone(model).set_params(unlabeled=-1).fit(X, marked).decision_function(X), scores)
    words = np.array(["spam" if v == 1 else "ham" if v == 0 else None for v in Y], dtype=object)
    named = clone(model).set_params(pos_label="spam").fit(X, words)
    assert_array_equal(named.decision_function(X), scores)
    assert set(named.predict(X)) == set(named.transduction_) == {"spam", "ham"}


@every(FIXED)
def test_sparse_rows_give_the_same_answers(model):
    dense = clone(model).fit(X, Y)
    thin = clone(model).fit(sparse.csr_matrix(X), Y)
    assert_array_equal(thin.predict(sparse.csr_matrix(X)), dense.predict(X))


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
def test_more_than_two_classes_are_refused_with_a_way_out(model):
    with pytest.raises(ValueError, match=r"Only binary classification.*3 classes.*PNUClassifier"):
        clone(model).fit(X, np.where(np.isnan(Y), np.nan, np.arange(N) % 3))


@every(FIXED)
def test_one_class_is_refused_with_a_way_out(model):
    with pytest.raises(ValueError, match=r"only one class.*PNUClassifier"):
        clone(model).fit(X, np.where(TRUTH == 1, 1.0, np.nan))


@every(FIXED)
def test_no_unlabelled_rows_leave_a_supervised_classifier(model):
    with pytest.warns(UserWarning, match=rf"no unlabelled rows, so {type(model).__name__} is .*unlabeled=\.\.\."):
        fitted = clone(model).fit(X[:N_LABELED], Y[:N_LABELED])
    assert (fitted.predict(X) == TRUTH).mean() > 0.9


@every(FIXED)
def test_one_row_of_each_class_is_enough_to_learn(model):
    y = np.where(np.arange(N) < 2, TRUTH, np.nan)
    assert np.isfinite(clone(model).fit(X, y).decision_function(X)).all()


@every(FIXED)
def test_repeated_rows_are_harmless(model):
    fitted = clone(model).fit(np.repeat(X[:30], 3, axis=0), np.repeat(Y[:30], 3))
    assert (fitted.predict(X) == TRUTH).mean() > 0.9


@every(FIXED)
def test_a_greater_prior_means_more_positives(model):
    close = rng.normal(size=(120, 2)) + TRUTH[np.arange(120) % N, None] - 0.5
    y = np.where(np.arange(120) < 30, np.arange(120) % 2, np.nan)
    shares = [(clone(model).set_params(prior=p).fit(close, y).transduction_ == 1).mean() for p in (0.2, 0.8)]
    assert shares[0] < shares[1]


@every(SEARCHING)
def test_the_search_tries_every_candidate(model):
    fitted = clone(model).fit(X, Y)
    assert fitted.search_.zero_one.size == 6 * 2
    assert fitted.C_unlabeled_ in (0.01, 1.0)
    assert fitted.search_.zero_one.min() < 0.1


@every(SEARCHING)
def test_the_same_seed_gives_the_same_bits(model):
    one = clone(model).fit(X, Y)
    two = clone(model).fit(X, Y)
    assert_array_equal(one.decision_function(X), two.decision_function(X))
    assert_allclose(one.search_.zero_one, two.search_.zero_one, rtol=0)


@every(FIXED)
def test_what_a_fit_will_cost_is_said_before_it_starts(model, capsys):
    clone(model).set_params(verbose=1).fit(X, Y)
    assert "One fit on 80 rows will take about" in capsys.readouterr().err.splitlines()[0]


@every([WellSVM(prior=0.5), S4VM(prior=0.5)])
def test_a_fit_of_five_thousand_rows_is_announced_by_a_warning(model, monkeypatch):
    """On a slow machine, and without the wait: the first kernel matrix is never built."""
    monkeypatch.setattr(cost, "flops_per_second", lambda: 5e9)
    monkeypatch.setattr(type(model), "_training", lambda *_: pytest.fail("the warning comes too late"))
    rows = np.random.default_rng(0).normal(size=(5050, 2))
    y = np.where(np.arange(5050) < 50, np.arange(5050) % 2, np.nan)
    with (
        pytest.warns(UserWarning, match=r"One fit on 5050 rows will take about [\d.]+ min and 1 GB\."),
        pytest.raises(pytest.fail.Exception),
    ):
        clone(model).fit(rows, y)


@every(FIXED)
@pytest.mark.parametrize("name", ["C", "C_unlabeled"])
@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, "much", []])
def test_a_wrong_cost_is_refused(model, name, value):
    with pytest.raises(TypeError if isinstance(value, str) else ValueError, match=f"{name} must be"):
        clone(model).set_params(**{name: value}).fit(X, Y)
