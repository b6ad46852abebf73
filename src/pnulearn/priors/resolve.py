"""What `prior=...` and `method=...` mean: nothing, a number, a mapping, the name of a method, an estimator."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from pnulearn.priors.auto import AutoPrior
from pnulearn.priors.bbe import BBEPrior
from pnulearn.priors.dedpul import DEDPULPrior
from pnulearn.priors.em import EMPrior
from pnulearn.priors.energy import EnergyPrior
from pnulearn.priors.estimate import PriorEstimate
from pnulearn.priors.estimator import PriorEstimator
from pnulearn.priors.kernel_mean import KernelMeanPrior
from pnulearn.priors.km import KMPrior
from pnulearn.priors.pe import PearsonPrior
from pnulearn.priors.penl1 import PenalizedL1Prior
from pnulearn.priors.roc import ROCPrior
from pnulearn.priors.scores import ScorePrior
from pnulearn.priors.tice import TIcEPrior

# name -> (class, fixed options); the first six need every class, the others one class and U
METHODS: dict[str, tuple[type[PriorEstimator], dict[str, Any]]] = {
    "scores": (ScorePrior, {}),
    "energy": (EnergyPrior, {}),
    "energy_v": (EnergyPrior, {"bias_correction": False}),
    "kernel_mean": (KernelMeanPrior, {}),
    "em": (EMPrior, {}),
    "km1": (KMPrior, {"variant": 1}),
    "km2": (KMPrior, {"variant": 2}),
    "roc": (ROCPrior, {}),
    "bbe": (BBEPrior, {}),
    "dedpul": (DEDPULPrior, {}),
    "pe": (PearsonPrior, {}),
    "penl1": (PenalizedL1Prior, {}),
    "tice": (TIcEPrior, {}),
}


def estimate_prior(
    X: Any,
    y: ArrayLike,
    method: str | PriorEstimator | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    unlabeled: Any = None,
    pos_label: Any = None,
    confidence: float = 0.9,
    random_state: Any = None,
    **options: Any,
) -> PriorEstimate:
    """Class prior(s) of the unlabelled rows with an interval.

    `method` is the name of a method, an estimator from `pnulearn.priors`, or None for the default (`AutoPrior`);
    `options` go to the method.

    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(2, 1, (30, 2)), rng.normal(0, 1, (30 + 140, 2)), rng.normal(2, 1, (60, 2))])
    >>> y = np.array([1] * 30 + [0] * 30 + [-1] * 200)
    >>> print(estimate_prior(X, y, "energy", unlabeled=-1, random_state=0))
    0.3 [0.2, 0.3] (energy, 90% interval)
    """
    common = {"unlabeled": unlabeled, "pos_label": pos_label, "confidence": confidence, "random_state": random_state}
    return prior_estimator(method, **common, **options).fit(X, y, sample_weight).estimate_


def prior_estimator(method: str | PriorEstimator | None, **options: Any) -> PriorEstimator:
    """An unfitted estimator from a name, a copy of an estimator with these options, or the default."""
    if method is None:
        return AutoPrior(**options)
    if isinstance(method, PriorEstimator):
        return clone(method).set_params(**options)
    if not isinstance(method, str) or method not in METHODS:
        raise ValueError(f"No prior estimator is called {method!r}. Choose one of {', '.join(map(repr, METHODS))}.")
    kind, fixed = METHODS[method]
    return kind(**fixed, **options)


def resolve_prior(
    prior: Any, X: Any, codes: NDArray, weight: NDArray | None = None, *, classes: ArrayLike, random_state: Any = None
) -> PriorEstimate:
    """The prior as an estimate, whichever way it was given: None, a number, a mapping, a method, an estimator.

    "labeled" takes the shares among the labelled rows, and so does None if there are no unlabelled rows: they are all
    we know. A given prior has a zero-width interval. `classes` are the class names in the order of the codes.
    """
    classes = np.asarray(classes)
    if (isinstance(prior, str) and prior == "labeled") or (prior is None and not (codes < 0).any()):
        return _labeled(codes, weight, len(classes))
    if prior is None or isinstance(prior, PriorEstimator) or (isinstance(prior, str) and prior in METHODS):
        return prior_estimator(prior, random_state=random_state).estimate(X, codes, weight, len(classes))
    if isinstance(prior, Mapping):
        return _given(_shares(prior, classes))
    if len(classes) > 2:
        raise ValueError(
            f"y has {len(classes)} classes, so prior must name a share for each: "
            f"prior={{{', '.join(f'{name!r}: ...' for name in classes.tolist())}}}. Got {prior!r}."
        )
    return _given(_probability(prior))


def _labeled(codes: NDArray, weight: NDArray | None, n_classes: int) -> PriorEstimate:
    labeled = codes >= 0
    counts = np.bincount(codes[labeled], None if weight is None else weight[labeled], n_classes)
    shares = counts / counts.sum()
    value, unknown = (float(shares[1]), np.nan) if n_classes == 2 else (shares, np.full(n_classes, np.nan))
    return PriorEstimate(value, unknown, unknown, np.nan, "labeled", value)


def _given(value: Any) -> PriorEstimate:
    return PriorEstimate(value, value, value, 1.0, "given", value)


def _probability(prior: Any) -> float:
    """A number strictly between 0 and 1."""
    if isinstance(prior, str):
        raise ValueError(f"prior={prior!r} is neither a number nor a method: {', '.join(map(repr, METHODS))}.")
    if not isinstance(prior, numbers.Real) or isinstance(prior, bool):
        raise TypeError(f"prior must be a number between 0 and 1, a mapping or a method, got {prior!r}.")
    value = float(prior)
    if not 0 < value < 1:
        hint = f" Did you mean {value / 100:g}?" if 1 < value < 100 else ""
        raise ValueError(f"prior must lie strictly between 0 and 1, got {prior!r}.{hint}")
    return value


def _shares(prior: Mapping[Any, Any], classes: NDArray) -> Any:
    """Shares in the order of the classes: every class has one, and they add up to one."""
    names = classes.tolist()
    unknown = [name for name in prior if name not in names]
    if unknown:
        raise ValueError(f"prior names {unknown[0]!r}, which is not a class of y: {names}.")
    given = {name: _probability(prior[name]) for name in names if name in prior}
    missing = [name for name in names if name not in given]
    if missing:
        raise ValueError(f"prior has no share for class {missing[0]!r}; every class of {names} needs one.")
    shares = np.array([given[name] for name in names])
    if not np.isclose(shares.sum(), 1, atol=1e-6):
        raise ValueError(f"The shares in prior add up to {shares.sum():g}, not to 1: {dict(prior)!r}.")
    return float(shares[1] / shares.sum()) if len(names) == 2 else shares / shares.sum()
