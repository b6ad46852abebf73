"""Learning at costs: the same model as the table of weights gives by another route, and a cheaper one than without."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pnulearn import PNUClassifier
from pnulearn.risks import pn, pu

PRIOR, ALPHA = 0.3, 0.1


def problem(seed, n=20, n_unlabeled=300, gap=1.0):
    rng = np.random.default_rng(seed)
    truth = np.append(np.repeat([1, 0], n), rng.random(n_unlabeled) < PRIOR).astype(float)
    X = rng.normal(size=(len(truth), 2)) + gap * (truth[:, None] - 0.5)
    return X, np.where(np.arange(len(truth)) < 2 * n, truth, np.nan), truth


def minimise(table, X, y):
    """Coefficients and intercept that minimise the squared-loss risk of a table of weights, by normal equations."""
    Z = np.column_stack([X, np.ones(len(X))])
    groups = [Z[y == 1], Z[y == 0], Z[np.isnan(y)]]
    A, b = np.diag([ALPHA, ALPHA, 0.0]), np.zeros(3)
    for (own, mirrored), rows in zip(table, groups, strict=True):
        A += (own + mirrored) / 4 * rows.T @ rows / len(rows)
        b += (own - mirrored) / 4 * rows.mean(axis=0)
    return np.linalg.solve(A, b)


@pytest.mark.parametrize("costs", [(5.0, 1.0), (1.5, 1.0), (1.0, 3.0)])
@pytest.mark.parametrize("risk", ["pn", "pu"])
def test_the_model_is_the_minimum_of_the_table_at_these_costs(costs, risk):
    """A cost of C times as much needs C times the penalty; U of the dearer negatives is completed by rows of N."""
    X, y, _ = problem(0)
    total = costs[0] * PRIOR + costs[1] * (1 - PRIOR)
    model = PNUClassifier(risk, kernel="linear", prior=PRIOR, alpha=ALPHA / total, cv=3, random_state=0, costs=costs)
    model.fit(X, y)
    found = np.append(model.coef_.ravel(), model.intercept_)
    table = (pn if risk == "pn" else pu)(PRIOR).at_costs(costs).table
    if risk == "pu" and costs[1] > costs[0]:  # (c_fp − c_fn) (U − θ P) is written as (c_fp − c_fn) (1 − θ) N
        more = costs[1] - costs[0]
        table += more * np.array([[0, PRIOR], [0, 1 - PRIOR], [0, -1]])
    assert_allclose(found, minimise(table, X, y), rtol=1e-6)


def test_decisions_cost_less_and_the_cost_is_judged():
    costs, spent = (6.0, 1.0), []
    for seed in range(6):
        X, y, _ = problem(seed)
        fresh, _, truth = problem(100 + seed, n_unlabeled=4000)
        fresh, truth = fresh[40:], truth[40:]
        row = []
        for given in (None, costs):
            model = PNUClassifier(kernel="linear", prior=PRIOR, cv=3, random_state=0, costs=given).fit(X, y)
            called = model.predict(fresh)
            row.append(costs[0] * np.mean((truth == 1) & (called == 0)) + np.mean((truth == 0) & (called == 1)))
        spent.append((*row, model.risk_.low <= row[1] <= model.risk_.high))
        assert model.prior_ == PRIOR
        assert len(model.validation_scores_) == len(y)
    plain, weighted, held = np.mean(spent, axis=0)
    assert weighted < 0.8 * plain
    assert held > 0.6


def test_equal_costs_are_no_costs():
    X, y, _ = problem(1)
    options = {"kernel": "linear", "prior": PRIOR, "cv": 3, "random_state": 0}
    one, other = PNUClassifier(**options).fit(X, y), PNUClassifier(**options, costs=(2, 2)).fit(X, y)
    assert_allclose(one.coef_, other.coef_, rtol=1e-6)
    assert_allclose(other.risk_.value, 2 * one.risk_.value)


def test_what_costs_cannot_be_used_for_is_said():
    X, y, _ = problem(2)
    with pytest.raises(ValueError, match="two positive numbers"):
        PNUClassifier(costs=(1, 0)).fit(X, y)
    with pytest.raises(ValueError, match="costs are for two classes"):
        PNUClassifier(costs=(2, 1)).fit(X, np.where(np.arange(len(y)) < 60, np.arange(len(y)) % 3, np.nan))
    with pytest.raises(ValueError, match="costs need two labelled rows"):
        PNUClassifier(costs=(2, 1)).fit(X[19:], y[19:])
    with pytest.raises(ValueError, match="costs need all rows at once"):
        PNUClassifier(kernel="linear", costs=(2, 1)).partial_fit(X, y, classes=[0, 1])
