"""WellSVM as a classifier; its algorithm is tested in test_label_generation.py."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.svm import LinearSVC
from tests.problems import load_arrays

from pnulearn.baselines._wellsvm import WellSVM

rng = np.random.default_rng(0)
TRUTH = np.arange(90) % 2
X = rng.normal(size=(90, 2)) + 2 * TRUTH[:, None] - 1
Y = np.where(np.arange(90) < 30, TRUTH, np.nan)


@pytest.mark.parametrize("share", [0.25, 0.5, 0.75])
def test_the_prior_is_the_share_of_positives_among_the_unlabelled_rows(share):
    fitted = WellSVM(C_unlabeled=0.1, bandwidth=1.0, prior=share).fit(X, Y)
    assert (fitted.transduction_[30:] == 1).mean() == share


def test_the_labelled_share_is_the_original_choice():
    fitted = WellSVM(C_unlabeled=0.1, bandwidth=1.0, prior="labeled").fit(X[5:], Y[5:])
    assert np.sum(fitted.transduction_[25:] == 1) == np.ceil(60 * 13 / 25)


def test_without_cost_on_the_unlabelled_rows_it_is_the_supervised_svm():
    fitted = WellSVM(C=1.0, C_unlabeled=1e-9, kernel="linear", prior=0.5).fit(X, Y)
    supervised = LinearSVC(C=0.5, fit_intercept=False, dual=True, tol=1e-10, max_iter=100_000).fit(X[:30], TRUTH[:30])
    assert_allclose(fitted.decision_function(X), supervised.decision_function(X), atol=1e-5)


def test_its_labels_are_those_of_its_own_scores():
    """The transduction is the top half of the scores: the last retraining changed nothing."""
    fitted = WellSVM(C_unlabeled=0.1, bandwidth=1.0, prior=0.5).fit(X, Y)
    scores = fitted.decision_function(X[30:])
    assert_array_equal(fitted.transduction_[30:] == 1, scores > np.median(scores))


def test_one_class_for_all_unlabelled_rows_is_worth_a_warning():
    with pytest.warns(UserWarning, match=r"0\.999 positives gives all 60 unlabelled rows one class"):
        WellSVM(C_unlabeled=0.1, bandwidth=1.0, prior=0.999).fit(X, Y)


@pytest.mark.parametrize("name", ["banana", "spambase", "waveform"])
@pytest.mark.parametrize("key, share", [("WellSVM", 0.7), ("WellSVM_lr05", 0.5)])
def test_it_errs_as_rssl_does_on_the_same_split(shared, name, key, share):
    """RSSL generates labels in another way, so values differ; errors on the 1000 test rows are within one point."""
    data, oracle = load_arrays(shared / "data" / f"{name}.npz"), load_arrays(shared / "oracle" / f"rssl_{name}.npz")
    scaled = data["X"].astype(float)
    width = np.ptp(scaled, axis=0)
    scaled = (scaled - scaled.min(axis=0)) / np.where(width > 0, width, 1)
    labeled, unlabeled, test = oracle["idx_l"], oracle["idx_u"], oracle["idx_t"]
    y = np.concatenate([data["y"][labeled].astype(float), np.full(len(unlabeled), np.nan)])
    bandwidth = 1 / np.sqrt(2 * float(oracle[f"sigma_{key}"]))
    fitted = WellSVM(C=1.0, C_unlabeled=0.1, bandwidth=bandwidth, prior=share)
    fitted.fit(scaled[np.concatenate([labeled, unlabeled])], y)
    ours = np.mean(fitted.predict(scaled[test]) != data["y"][test])
    theirs = np.mean(np.where(oracle[f"dvt_{key}"] > 0, 1, -1) != data["y"][test])
    assert abs(ours - theirs) <= 0.01
