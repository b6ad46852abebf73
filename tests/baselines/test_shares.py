"""Class shares from what the user says, or from the data."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pnulearn._problem.samples import Samples
from pnulearn.baselines._rival.shares import class_shares

rng = np.random.default_rng(0)


def problem(share=0.8, n_unlabeled=400, n_classes=2):
    codes = np.repeat([0, 1], [30, 10])
    truth = np.concatenate([codes, (rng.random(n_unlabeled) < share).astype(int)])
    X = rng.normal(size=(len(truth), 2)) + 4 * truth[:, None]
    return Samples(X, np.concatenate([codes, np.full(n_unlabeled, -1)]), np.ones(len(truth)), n_classes)


BINARY = np.array(["no", "yes"])


def test_labeled_is_the_share_among_labelled_rows():
    assert_allclose(class_shares("labeled", problem(), BINARY), [0.75, 0.25])


def test_a_number_is_the_share_of_the_positive_class():
    assert_allclose(class_shares(0.3, problem(), BINARY), [0.7, 0.3])


def test_a_mapping_names_every_class():
    assert_allclose(class_shares({"yes": 0.3, "no": 0.7}, problem(), BINARY), [0.7, 0.3])


def test_none_is_estimated_from_the_unlabelled_rows_not_from_the_labelled_share():
    assert class_shares(None, problem(0.8), BINARY)[1] == pytest.approx(0.8, abs=0.07)


def test_without_unlabelled_rows_none_is_the_labelled_share():
    assert_allclose(class_shares(None, problem(n_unlabeled=0), BINARY), [0.75, 0.25])


@pytest.mark.parametrize(
    "prior, message",
    [
        (50, "between 0 and 1; got 50. Did you mean 0.5"),
        (0.0, "between 0 and 1"),
        (1.0, "between 0 and 1"),
        (float("nan"), "between 0 and 1"),
        ("known", "'labeled', a number"),
        ([0.5], "between 0 and 1"),
        ({"yes": 0.4}, "name each of them once"),
        ({"yes": 0.4, "no": 0.7}, "sum to 1"),
        ({"yes": 0.0, "no": 1.0}, "positive"),
    ],
)
def test_a_wrong_prior_is_refused_with_the_remedy(prior, message):
    with pytest.raises(ValueError, match=message):
        class_shares(prior, problem(), BINARY)


def test_one_number_cannot_describe_three_classes():
    samples = Samples(np.zeros((3, 1)), np.arange(3), np.ones(3), 3)
    with pytest.raises(ValueError, match=r"must map each of \['a', 'b', 'c'\]"):
        class_shares(0.3, samples, np.array(["a", "b", "c"]))
