"""scikit-learn's own checks, for every classifier of the package."""

import warnings

import pytest
from sklearn.utils.estimator_checks import check_estimator

from pnulearn import PNUClassifier


@pytest.mark.parametrize("estimator", [PNUClassifier(), PNUClassifier(kernel="linear")], ids=str)
def test_scikit_learn_finds_nothing_to_complain_about(estimator):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the checks fit fully labelled data, which we warn about
        results = check_estimator(estimator, on_fail=None)
    assert [r["check_name"] for r in results if r["status"] not in ("passed", "skipped")] == []
