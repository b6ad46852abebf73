"""Parameters written once: what a class inherits, what it changes, and what it says of them."""

import inspect
from dataclasses import field
from typing import Any

import pytest
from sklearn.base import BaseEstimator, clone

from pnulearn._parameters import parameters


@parameters
class Parent(BaseEstimator):
    """A line.

    Parameters
    ----------
    seed : int
        Where to start.
    jobs : int
        Threads,
        more or less.

    Attributes
    ----------
    found_
        What was found.
    """

    seed: Any = None
    jobs: int = 1


@parameters
class Child(Parent):
    """Another line.

    Parameters
    ----------
    first, second : float
        Two numbers.
    jobs : int
        Processes.

    Examples
    --------
    >>> 1 + 1
    2
    """

    first: float = field(default=1.0, kw_only=False)
    second: float = 2.0
    jobs: int = 3


@parameters
class Silent(Child):
    """Nothing of its own."""


def test_the_signature_holds_inherited_and_own_parameters_with_the_nearest_default():
    found = inspect.signature(Child).parameters
    assert {name: p.default for name, p in found.items()} == {"first": 1.0, "seed": None, "jobs": 3, "second": 2.0}
    assert [name for name, p in found.items() if p.kind is not p.KEYWORD_ONLY] == ["first"]


def test_parameters_are_kept_as_they_are_given():
    seed = [1, 2]
    estimator = Child(5.0, seed=seed)
    assert estimator.seed is seed
    assert estimator.get_params() == {"first": 5.0, "second": 2.0, "seed": seed, "jobs": 3}
    assert clone(estimator).get_params() == estimator.get_params()
    assert repr(estimator) == "Child(first=5.0, seed=[1, 2])"
    assert estimator != Child(5.0, seed=seed)  # identity, as for every estimator
    with pytest.raises(TypeError, match="thrid"):
        Child(thrid=1)


def test_each_parameter_is_described_once_and_the_nearest_description_holds():
    assert Child.__doc__ == (
        "Another line.\n\nParameters\n----------\nfirst, second : float\n    Two numbers.\njobs : int\n    Processes.\n"
        "seed : int\n    Where to start.\n\nExamples\n--------\n>>> 1 + 1\n2"
    )
    assert Silent.__doc__.startswith("Nothing of its own.\n\nParameters\n----------\nfirst, second : float\n")
    assert "Examples" not in Silent.__doc__
