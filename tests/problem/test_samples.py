"""Rows by what is known of them: counts by class and by how they were drawn."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression

from pnulearn import AutoPNU, PNUClassifier, PriorAdjusted, advise, pnu_risk
from pnulearn._problem.samples import Samples, read_sampling
from pnulearn.labeling import Labeler
from pnulearn.metrics import labels_for_width

CODES = np.array([1, 0, -1, 1, 0, -1, 0])
WEIGHT = np.array([1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0])
RANDOM = np.array([True, False, True, False, True, True, False])  # two of them without a label


def test_rows_fall_into_positive_negative_and_unlabelled():
    positive, negative, population = Samples(None, CODES, WEIGHT).split()
    assert_array_equal(positive, [0, 3])
    assert_array_equal(negative, [1, 4, 6])
    assert_array_equal(population, [2, 5])
    assert_array_equal(Samples(None, CODES, WEIGHT, sampling="random").split()[2], np.arange(7))


@pytest.mark.parametrize(
    ("sampling", "at_random", "expected"),
    [
        ("by_class", None, None),
        ("by_class", np.zeros(7, dtype=bool), None),
        ("by_class", RANDOM, [16, 1]),
        ("random", None, [82, 9]),
        ("random", RANDOM, [82, 9]),
    ],
)
def test_labels_drawn_at_random_are_counted_by_class(sampling, at_random, expected):
    samples = Samples(None, CODES, WEIGHT, sampling=sampling, at_random=at_random)
    assert_array_equal(samples.counts, [82, 9])
    found = samples.random_counts
    if expected is None:
        assert found is None
    else:  # weighted shares of fewer rows than there are, because the weights are very unequal
        assert_allclose(found / found.sum(), np.array(expected) / sum(expected))
        assert 1 < found.sum() < 5


OLDER = {"single_set": "random", "case_control": "by_class"}


@pytest.mark.parametrize("older", OLDER)
def test_older_words_of_sampling_mean_the_same_everywhere(older):
    rng = np.random.default_rng(0)
    truth = np.arange(90) % 3 == 0
    X = rng.normal(size=(90, 2)) + 2 * truth[:, None]
    y = np.where(np.arange(90) < 40, truth, np.nan)
    scores = X[:, 0] - 1

    def answers(word):
        common = {"sampling": word, "random_state": 0, "prior": (0.2, 0.5)}
        yield from PNUClassifier(kernel="linear", alpha=0.1, **common).fit(X, y).decision_function(X)
        yield from PriorAdjusted(LogisticRegression(), cv=2, **common).fit(X, y).decision_function(X)
        yield from AutoPNU(("logistic",), cv=2, **common).fit(X, y).decision_function(X)
        yield pnu_risk(y, scores, prior=(0.2, 0.5), sampling=word).value
        yield labels_for_width(0.2, 0.3, sampling=word).total
        yield advise(20, 20, 100, 0.3, width=0.2, sampling=word).needed.total
        yield Labeler(X, y, sampling=word).n_answers

    assert list(answers(older)) == list(answers(OLDER[older]))


@pytest.mark.parametrize("word", ["some", None, 1])
def test_other_words_of_sampling_are_refused(word):
    with pytest.raises(ValueError, match=r"sampling must be 'random'.*else 'by_class'; got"):
        read_sampling(word)
