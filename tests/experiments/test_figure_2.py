"""Choosing by PN and by PNU risk."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from experiments import datasets, figure_2
from experiments.figure_1 import mix_for, zero_one_covariances
from experiments.trials import Settings
from pnulearn import PNUClassifier
from pnulearn._kernels.centers import median_distance
from pnulearn._kernels.gaussian import BANDWIDTH_FACTORS
from pnulearn._solvers.candidates import ALPHAS


def test_candidates_are_the_classifiers_one_would_fit_one_by_one():
    X, y = datasets.load_data("generated-banana")
    rows = np.concatenate([np.flatnonzero(y == 1)[:10], np.flatnonzero(y == -1)[:10]])
    truth = (y == 1).astype(float)
    votes = figure_2.candidate_votes(X[rows], truth[rows], 0.3, X[:200])
    unit = median_distance(X[rows])
    for alpha, bandwidth in [(0, 0), (3, 2), (7, 5)]:
        model = PNUClassifier(
            "pn", prior=0.3, centers="labeled", alpha=ALPHAS[alpha], bandwidth=unit * BANDWIDTH_FACTORS[bandwidth]
        ).fit(X[rows], truth[rows])
        assert_array_equal(votes[alpha * len(BANDWIDTH_FACTORS) + bandwidth], model.predict(X[:200]) == 1)


@pytest.mark.parametrize("method", ["estimated", "finite"])
def test_the_mix_of_a_candidate_is_that_of_the_theory_for_its_smoothed_rates(method):
    rates = np.array([0.3, 0.1])
    smooth = (rates * 10 + 1) / 12
    theory = mix_for("finite" if method == "finite" else "asymptotic", 0.4, zero_one_covariances(smooth, 0.4, 60))
    assert_allclose(figure_2.validation_mix(method, *rates[:, None], 0.4, 60), theory)


def test_at_prior_one_half_the_heuristic_changes_nothing():
    cell = {"set": "generated-banana", "prior": 0.5, "weights": "labeled", "trial": 0}
    (row,) = figure_2.run(cell, ["heuristic"], Settings())
    assert set(row["error_pnu"]) == {row["error_pn"]}


def test_rates_count_each_class_apart():
    votes = np.array([[True, False, True, False], [True, True, False, False]])
    p, n = figure_2.error_rates(votes, np.array([1, 1, 0, 0]))
    assert_allclose(p, [0.5, 0])
    assert_allclose(n, [0.5, 0])
