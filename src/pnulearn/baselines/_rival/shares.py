"""The share of each class in the population, as the user states it or as the data tells it."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnulearn._problem.samples import Samples
from pnulearn.priors import energy_prior


def class_shares(prior: Any, samples: Samples, classes: NDArray) -> NDArray:
    """Population share of every class, in code order; sums to one.

    `prior` is "labeled" (the shares among the labelled rows, as the rivals' original codes do), a number (the share
    of the positive class), a mapping from class to share, or None (estimated from the unlabelled rows).
    """
    labeled = samples.counts / samples.counts.sum()
    if isinstance(prior, str):
        if prior != "labeled":
            raise ValueError(f"prior must be 'labeled', a number between 0 and 1, a mapping or None, got {prior!r}.")
        return labeled
    if prior is None:
        return _estimated(samples) if len(samples.population) else labeled
    if isinstance(prior, Mapping):
        return _from_mapping(prior, classes)
    if not isinstance(prior, Real) or not 0 < float(prior) < 1:
        hint = f" Did you mean {float(prior) / 100:g}?" if isinstance(prior, Real) and 1 < float(prior) < 100 else ""
        raise ValueError(f"prior is the share of the positive class, between 0 and 1; got {prior!r}.{hint}")
    if len(classes) != 2:
        raise ValueError(f"y has {len(classes)} classes: prior must map each of {classes.tolist()} to its share.")
    return np.array([1 - float(prior), float(prior)])


def _from_mapping(prior: Mapping, classes: NDArray) -> NDArray:
    if set(prior) != set(classes.tolist()):
        raise ValueError(f"prior has the classes {sorted(prior)}, y has {classes.tolist()}: name each of them once.")
    shares = np.array([float(prior[name]) for name in classes.tolist()])
    if not (shares > 0).all() or not np.isclose(shares.sum(), 1):
        raise ValueError(f"The class shares in prior must be positive and sum to 1, got {dict(prior)}.")
    return shares


def _estimated(samples: Samples) -> NDArray:
    """By energy distance between the classes and U."""
    estimate = energy_prior(samples.X, samples.codes, n_classes=samples.n_classes, n_bootstrap=0).value
    return np.array([1 - estimate, estimate]) if samples.n_classes == 2 else np.asarray(estimate)
