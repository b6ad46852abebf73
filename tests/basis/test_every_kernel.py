"""What holds for every kernel in the registry, whatever it computes."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.metrics.pairwise import laplacian_kernel, polynomial_kernel, rbf_kernel
from sklearn.utils.estimator_checks import check_estimator
from tests.problems import mixture

import pnulearn
from pnulearn import PNUClassifier
from pnulearn._kernels.registry import KERNELS, choose_basis
from pnulearn.streaming import fit_files

RNG = np.random.default_rng(0)
SCIKIT_LEARN = {
    "rbf": lambda X, C, σ: rbf_kernel(X, C, gamma=0.5 / σ**2),
    "linear": lambda X, C, σ: X - X.mean(axis=0),
    "laplace": lambda X, C, σ: laplacian_kernel(X, C, gamma=1 / σ),
    "polynomial": lambda X, C, σ: polynomial_kernel(X - C.mean(axis=0), C - C.mean(axis=0), 3, gamma=σ**-2, coef0=1),
}


@pytest.fixture
def problem():
    X, y, _ = mixture(400)
    return np.round(X, 3), y


def small(kernel, **changes):
    settings = {"prior": 0.4, "mix": [0.0, 0.5], "alpha": [0.01, 1.0], "centers": 20, "cv": 2, "random_state": 0}
    return PNUClassifier(kernel=kernel, **settings | changes)


@pytest.mark.parametrize("kernel", KERNELS)
def test_features_are_those_of_scikit_learn(kernel, problem):
    X, _ = problem
    basis = choose_basis(kernel, X, np.ones(400, dtype=bool), np.arange(400), X[:9], [1.7])
    assert_allclose(basis.features(basis.prepare(X), 0), SCIKIT_LEARN[kernel](X, X[:9], 1.7), atol=1e-10)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("loss", ["squared", "logistic", "double_hinge", "ramp", "sigmoid"])
def test_every_loss_learns(kernel, loss, problem):
    X, y = problem
    model = small(kernel, loss=loss, alpha=0.01, bandwidth=3.0).fit(X, y)
    known = ~np.isnan(y)
    assert model.score(X[known], y[known]) > 0.8


@pytest.mark.parametrize("kernel", KERNELS)
def test_sparse_rows_give_the_same_scores(kernel, problem):
    X, y = problem
    dense, thin = small(kernel).fit(X, y), small(kernel).fit(sparse.csr_matrix(X), y)
    assert_allclose(thin.decision_function(sparse.csr_matrix(X)), dense.decision_function(X), atol=1e-8)


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_file_keeps_the_model(kernel, problem, tmp_path):
    X, y = problem
    model = small(kernel).fit(X, y)
    model.save(tmp_path / "m.pnu")
    assert_allclose(pnulearn.load(tmp_path / "m.pnu").decision_function(X), model.decision_function(X), rtol=0)


@pytest.mark.parametrize("kernel", KERNELS)
def test_one_pass_and_batches_learn_from_the_same_moments(kernel, problem):
    """With one candidate nothing is selected, so all three roads must end at the same model."""
    X, y = problem
    one = {"mix": 0.5, "alpha": 0.01, "bandwidth": 3.0, "centers": X[:20]}
    wanted = small(kernel, **one).fit(X, y).decision_function(X)
    passed = fit_files(small(kernel, **one), (X, y), dtype="float64").decision_function(X)
    batches = small(kernel, **one).partial_fit(X[:250], y[:250], [0, 1]).partial_fit(X[250:], y[250:])
    assert_allclose(passed, wanted, atol=1e-6)
    assert_allclose(batches.decision_function(X), wanted, atol=1e-6)


@pytest.mark.thorough
@pytest.mark.parametrize("kernel", KERNELS)
def test_scikit_learn_accepts_the_estimator(kernel):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_estimator(PNUClassifier(kernel=kernel, alpha=[0.01, 1.0], cv=2))


@pytest.mark.parametrize("kernel", [name for name in KERNELS if KERNELS[name].has_bandwidth])
def test_threads_and_shared_exponentials_change_no_prediction(kernel):
    """Against a sum over bandwidths and centres that is written out; threads must not change a bit."""
    X, rows = RNG.normal(size=(9, 3)), RNG.normal(size=(5000, 3))
    bandwidths = 1.3 * np.array([1 / 8, 1 / 4, 1 / 2, 1.0, 3 / 2, 2.0])
    coef = RNG.normal(size=(2, 6, 9))
    learnt = {"centers_": X, "bandwidths_": bandwidths, "coef_": coef, "intercept_": np.array([0.5, -1.0])}
    found = KERNELS[kernel].scores(learnt, rows, n_jobs=1)
    features = [KERNELS[kernel].gram(rows, X, bandwidth) for bandwidth in bandwidths]
    wanted = sum(features[k] @ coef[:, k].T for k in range(6)) + learnt["intercept_"]
    assert_allclose(found, wanted, rtol=1e-11, atol=1e-11)
    assert_array_equal(KERNELS[kernel].scores(learnt, rows, n_jobs=3), found)
