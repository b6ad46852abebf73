"""Numbers: what is accepted, what is refused, and that the refusal says what is needed."""

from fractions import Fraction
from math import inf, nan

import numpy as np
import pytest

from pnulearn._numbers import read_count, read_number, read_numbers


@pytest.mark.parametrize("value", [0, 1, 0.5, np.float32(0.5), np.int64(1), Fraction(1, 4)])
def test_numbers_in_the_span_come_back_as_floats(value):
    found = read_number("delta", value, 0, 1)
    assert found == value
    assert type(found) is float


@pytest.mark.parametrize("value", [True, "0.5", None, 1j, [0.5], np.array([0.5])])
def test_what_is_no_number_is_a_type_error(value):
    with pytest.raises(TypeError, match=r"delta must be a number between 0 and 1, got "):
        read_number("delta", value, 0, 1)


@pytest.mark.parametrize("value", [-0.1, 1.1, nan, inf, -inf])
def test_numbers_outside_are_refused(value):
    with pytest.raises(ValueError, match=r"delta must be a number between 0 and 1, got "):
        read_number("delta", value, 0, 1)


@pytest.mark.parametrize("value", [0, 1])
def test_ends_that_do_not_belong_are_refused(value):
    with pytest.raises(ValueError, match=r"delta must be a number strictly between 0 and 1, got "):
        read_number("delta", value, 0, 1, ends=False)
    assert read_number("delta", 0.5, 0, 1, ends=False) == 0.5


def test_open_spans_are_said_as_people_say_them():
    with pytest.raises(ValueError, match=r"^c must be a number, at least 0, got -1\.$"):
        read_number("c", -1, 0)
    with pytest.raises(ValueError, match=r"^c must be a number greater than 0, got 0\.$"):
        read_number("c", 0, 0, ends=False)
    with pytest.raises(ValueError, match=r"^c must be a number, got inf\.$"):
        read_number("c", inf)


def test_a_prior_in_percent_gets_a_hint_and_nothing_else_does():
    with pytest.raises(ValueError, match=r"Did you mean 0\.3\?$"):
        read_number("prior", 30, 0, 1)
    for name, value in [("prior", 100), ("prior", -30), ("delta", 30)]:
        with pytest.raises(ValueError, match=r"got -?\d+\.$"):
            read_number(name, value, 0, 1)


@pytest.mark.parametrize("value", [3, np.int64(7)])
def test_counts_come_back_as_int(value):
    assert read_count("n", value, 3) == value
    assert type(read_count("n", value, 3)) is int


@pytest.mark.parametrize("value", [True, 3.0, "3", None])
def test_what_does_not_count_is_a_type_error(value):
    with pytest.raises(TypeError, match=r"n must be a whole number, at least 1, got "):
        read_count("n", value)


def test_too_few_are_refused():
    with pytest.raises(ValueError, match=r"n must be a whole number, at least 3, got 2\."):
        read_count("n", 2, 3)
    assert read_count("n", 1) == 1


@pytest.mark.parametrize("value", [0.5, [0.1, 0.5], (1,), np.array([0.1, 1.0])])
def test_one_number_or_several_come_back_as_an_array(value):
    assert read_numbers("delta", value, 0.1, 1).tolist() == np.atleast_1d(value).tolist()


@pytest.mark.parametrize("value", [0, 0.05, 1.1, nan, inf, [0.5, 2], [], [[0.5]]])
def test_one_wrong_number_is_enough_to_refuse_several(value):
    with pytest.raises(ValueError, match=r"^delta must be a number or several between 0\.1 and 1, got "):
        read_numbers("delta", value, 0.1, 1)


def test_zero_is_allowed_where_that_is_said_and_the_reason_told():
    assert read_numbers("delta", [0, 0.5], 0.1, 1, zero=True).tolist() == [0, 0.5]
    with pytest.raises(
        ValueError, match=r"^delta must be a number or several that are 0 or lie between 0\.1 and 1, got -1\.$"
    ):
        read_numbers("delta", -1, 0.1, 1, zero=True)
    with pytest.raises(TypeError, match=r"between 0\.1 and 1, or it has no end, got 'x'\.$"):
        read_numbers("delta", "x", 0.1, 1, why="or it has no end")
