"""Decision values against RSSL (R) on fixed splits; the tolerances are those stated with the oracle."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from tests.problems import load_arrays

from pnulearn.baselines import EntropyRegularizedClassifier, LaplacianSVM
from pnulearn.baselines._base import gram
from pnulearn.baselines._lapsvm import deformed_once, hinge_machine, neighbor_graph

SETS = ("banana", "spambase", "waveform")


@pytest.fixture(scope="module", params=SETS)
def case(request, shared):
    data = load_arrays(shared / "data" / f"{request.param}.npz")
    oracle = load_arrays(shared / "oracle" / f"rssl_{request.param}.npz")
    X = data["X"].astype(float)
    span = np.ptp(X, axis=0)
    X = (X - X.min(axis=0)) / np.where(span > 0, span, 1)
    labeled, unlabeled = oracle["idx_l"], oracle["idx_u"]
    rows = X[np.concatenate([labeled, unlabeled])]
    y = np.concatenate([(data["y"][labeled] > 0).astype(float), np.full(len(unlabeled), np.nan)])
    return request.param, oracle, rows, y, X[oracle["idx_t"]], X[unlabeled]


def bandwidth(oracle):
    return float(1 / np.sqrt(2 * oracle["sigma_LapSVM"]))


def compare(model, key, case, tolerance):
    _, oracle, rows, y, test, unlabeled = case
    model.fit(rows, y)
    assert_allclose(model.decision_function(test), oracle[f"dvt_{key}"], atol=tolerance)
    assert_allclose(model.decision_function(unlabeled), oracle[f"dvu_{key}"], atol=tolerance)


@pytest.mark.parametrize(
    "key, alpha, manifold, normalized",
    [
        ("LapSVM_l4_g10", 1e-4, 10.0, False),
        ("LapSVM_l4_g10_norm", 1e-4, 10.0, True),
        ("LapSVM", 1e-2, 1e-2, False),
        ("LapSVM_l4", 1e-4, 1e-2, False),
    ],
)
def test_laplacian_svm(case, key, alpha, manifold, normalized):
    if case[0] == "spambase" and normalized:
        pytest.skip("RSSL joins duplicated rows to themselves; see the next test")
    options = {"loss": "hinge", "graph": "binary", "normalized": normalized, "prior": "labeled"}
    model = LaplacianSVM(alpha=alpha, manifold=manifold, bandwidth=bandwidth(case[1]), **options)
    compare(model, key, case, 5e-3 if case[0] == "banana" else 1e-4)


def test_laplacian_svm_on_rssls_own_graph(case):
    """Five rows of spambase have twins, and RSSL's graph then has loops, which only the normalised Laplacian sees.
    With that graph our solver agrees on all three sets."""
    name, oracle, rows, y, test, _ = case
    graph = oracle["W_LapSVM"].astype(float)
    ours = neighbor_graph(rows, 6, "binary").toarray()
    assert_array_equal(ours - np.diag(np.diag(ours)), graph - np.diag(np.diag(graph)))
    assert np.trace(graph) == (5 if name == "spambase" else 0)
    degree = graph.sum(axis=1)
    bent = sparse.csr_matrix((np.diag(degree) - graph) / np.sqrt(np.outer(degree, degree))) / len(rows) ** 2
    labeled = np.flatnonzero(~np.isnan(y))
    kernel = gram("rbf", rows, rows, bandwidth(oracle))
    deformed, expand = deformed_once(kernel, bent, labeled, 1e-4, 10.0)
    beta, bias = hinge_machine(deformed, 2 * y[labeled] - 1, np.full(50, 1 / 50))
    scores = gram("rbf", test, rows, bandwidth(oracle)) @ expand(beta) + bias
    assert_allclose(scores, oracle["dvt_LapSVM_l4_g10_norm"], atol=5e-3 if name == "banana" else 1e-4)


@pytest.mark.parametrize("C", [1, 100])
def test_supervised_limit_of_the_laplacian_svm(case, C):
    options = {"loss": "hinge", "manifold": 0.0, "prior": "labeled"}
    model = LaplacianSVM(alpha=1 / (2 * C * 50), bandwidth=bandwidth(case[1]), **options)
    compare(model, f"SVM_C{C}", case, 1e-4)


@pytest.mark.parametrize("key, weight", [("LR_reg", 0.0), ("ER_reg", 0.1)])
def test_entropy_regularisation(case, key, weight):
    """RSSL sums where we average: 0.1 |w|² over 50 labelled rows, 0.1 Σ_U H over 300 / 50."""
    model = EntropyRegularizedClassifier(kernel="linear", alpha=0.1 / 50, entropy=weight * 300 / 50, prior="labeled")
    compare(model, key, case, 5e-3)
    assert_allclose(np.append(model.intercept_, model.coef_), case[1][f"w_{key}"].ravel(), atol=5e-3)
