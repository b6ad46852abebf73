"""Rows by what is known of them: counts by class and by how they were drawn."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pnulearn._problem.samples import Samples

CODES = np.array([1, 0, -1, 1, 0, -1, 0])
WEIGHT = np.array([1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0])
RANDOM = np.array([True, False, True, False, True, True, False])  # two of them without a label


def test_rows_fall_into_positive_negative_and_unlabelled():
    positive, negative, population = Samples(None, CODES, WEIGHT).split()
    assert_array_equal(positive, [0, 3])
    assert_array_equal(negative, [1, 4, 6])
    assert_array_equal(population, [2, 5])
    assert_array_equal(Samples(None, CODES, WEIGHT, sampling="single_set").split()[2], np.arange(7))


@pytest.mark.parametrize(
    ("sampling", "at_random", "expected"),
    [
        ("case_control", None, None),
        ("case_control", np.zeros(7, dtype=bool), None),
        ("case_control", RANDOM, [16, 1]),
        ("single_set", None, [82, 9]),
        ("single_set", RANDOM, [82, 9]),
    ],
)
def test_labels_drawn_at_random_are_counted_by_class(sampling, at_random, expected):
    samples = Samples(None, CODES, WEIGHT, sampling=sampling, at_random=at_random)
    assert_array_equal(samples.counts, [82, 9])
    found = samples.random_counts
    assert (found is None) if expected is None else found.tolist() == expected
