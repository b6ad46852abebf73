"""Sparse rows that are never made dense give what dense rows give."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

import pnulearn
from pnulearn import PNUClassifier
from pnulearn._solvers import sparse_ridge
from pnulearn._solvers.candidates import ALPHAS, Mixes, Training
from pnulearn._solvers.ridge import squared_candidates


def text_like(n=120, d=400, n_classes=2, seed=0, labeled=60):
    """Rows of a dozen words each, of which some are commoner in one class, with length one."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(n_classes, size=n)
    words = rng.integers(d, size=(n, 12))
    own = rng.random((n, 12)) < 0.3
    words[own] = (truth[:, None] * 7 + rng.integers(7, size=(n, 12)))[own]
    X = sparse.csr_matrix((np.ones(words.size), words.ravel(), np.arange(0, words.size + 1, 12)), shape=(n, d))
    X.sum_duplicates()
    X = sparse.diags(1 / np.sqrt(X.multiply(X).sum(axis=1).A1)) @ X
    y = truth.astype(float)
    y[labeled:] = np.nan
    return X.tocsr(), y, truth


def training_of(risk="pnu", n_classes=2, sampling="by_class", weighted=False):
    X, y, _ = text_like(n_classes=n_classes)
    rng = np.random.default_rng(1)
    codes = np.where(np.isnan(y), -1, y).astype(int)
    population = np.arange(len(codes)) if sampling == "random" else np.flatnonzero(codes < 0)
    weight = rng.integers(1, 4, len(codes)).astype(float) if weighted else np.ones(len(codes))
    prior = np.array([0.7, 0.3]) if n_classes == 2 else np.array([0.5, 0.3, 0.2])
    rows = rng.permutation(len(codes))[:100]
    inside = np.flatnonzero(np.isin(rows, population))
    mixes = Mixes.of(risk, None)
    return Training(X, codes[rows], weight[rows], inside, prior, mixes, ALPHAS, True, rows=rows)


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"risk": "pn"},
        {"risk": "punu"},
        {"risk": "pu"},
        {"n_classes": 3},
        {"sampling": "random", "weighted": True},
    ],
    ids=str,
)
def test_every_candidate_is_that_of_dense_rows(given):
    training = training_of(**given)
    dense = squared_candidates(replace(training, table=training.table.toarray()))
    found = squared_candidates(training)
    X = training.table[:50]
    assert_allclose(found.scores(X), dense.scores(X.toarray()), atol=1e-6)
    weight = np.random.default_rng(0).random((len(training.mixes), len(ALPHAS)))
    for one, other in zip(found.average(weight), dense.average(weight), strict=True):
        assert_allclose(one, other, atol=1e-5)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("held_out", [False, True])
def test_a_classifier_chooses_the_sparse_search_with_the_same_answer(monkeypatch, n_classes, held_out):
    X, y, _ = text_like(n_classes=n_classes)
    more = dict(zip(("X_val", "y_val"), text_like(seed=5, n_classes=n_classes)[:2], strict=True)) if held_out else {}
    prior = 0.4 if n_classes == 2 else {0: 0.5, 1: 0.3, 2: 0.2}
    model = PNUClassifier(kernel="linear", prior=prior, random_state=0, mix=[-0.4, 0.0, 0.3], cv=3)
    dense = model.fit(X, y, **more).decision_function(X), model.search_.squared, model.validation_scores_, model.risk_
    monkeypatch.setattr("pnulearn._kernels.basis.DENSE_AT_MOST", 0)
    monkeypatch.setattr("pnulearn._kernels.linear.dense", None)
    found = model.fit(X, y, **more).decision_function(X), model.search_.squared, model.validation_scores_, model.risk_
    for one, other in zip(found[:3], dense[:3], strict=True):
        assert_allclose(one, other, atol=1e-6)
    if n_classes == 2:
        assert found[3].value == pytest.approx(dense[3].value, abs=1e-9)


def test_probabilities_saving_and_export_are_those_of_a_linear_model(monkeypatch, tmp_path):
    monkeypatch.setattr("pnulearn._kernels.basis.DENSE_AT_MOST", 0)
    X, y, truth = text_like(n=300, labeled=100)
    model = PNUClassifier(kernel="linear", prior=0.5, random_state=0).fit(X, y)
    assert np.mean(model.predict(X[100:]) == truth[100:]) > 0.8
    probability = model.predict_proba(X)
    assert_allclose(probability.sum(axis=1), 1)
    model.save(tmp_path / "m.pnu")
    assert_allclose(pnulearn.load(tmp_path / "m.pnu").decision_function(X), model.decision_function(X))
    pytest.importorskip("onnx", reason="the ONNX export needs onnx")
    from onnx.reference import ReferenceEvaluator

    from pnulearn.onnx import to_onnx

    _, score, shares = ReferenceEvaluator(to_onnx(model).SerializeToString()).run(None, {"X": X.toarray()})
    assert_allclose(score, model.decision_function(X), atol=1e-9)
    assert_allclose(shares, probability, atol=1e-9)


def test_systems_that_do_not_converge_are_said(monkeypatch):
    monkeypatch.setattr(sparse_ridge, "MAX_STEPS", 2)
    with pytest.warns(ConvergenceWarning, match="did not converge"):
        squared_candidates(training_of())
