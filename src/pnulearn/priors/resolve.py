"""What `prior=...` and `method=...` mean: nothing, a number, a mapping, the name of a method, an estimator."""

from __future__ import annotations

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
from pnulearn.priors.given import read_shares
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

    Parameters
    ----------
    X : array, sparse matrix or data frame (rows, columns)
        Features.
    y : array (rows,)
        Labels; missing values and `unlabeled` mark unlabelled rows.
    method : str or estimator, optional
        Name of a method, or an estimator from `pnulearn.priors`.
    sample_weight : array (rows,), optional
        Weights of the rows; one each by default.
    unlabeled : object, optional
        The value in y that marks unlabelled rows; missing values always do.
    pos_label : object, optional
        The positive class, by default the greater label.
    confidence : float
        Probability that the interval is to hold the truth with.
    random_state : int, RandomState or None
        Seed; an int makes the result repeatable.
    **options : object
        Parameters of the method.

    Examples
    --------
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

    Parameters
    ----------
    prior : object
        None, a number, a mapping, "labeled", a method's name or an estimator.
    X : array, sparse matrix or data frame (rows, columns)
        Features.
    codes : array (rows,)
        Class codes: −1 unlabelled, 1 positive, 0 negative, or the class number.
    weight : array (rows,), optional
        Weights of the rows.
    classes : array
        All labels, in the order of the codes.
    random_state : int, RandomState or None
        Seed; an int makes the result repeatable.
    """
    classes = np.asarray(classes)
    if (isinstance(prior, str) and prior == "labeled") or (prior is None and not (codes < 0).any()):
        return _labeled(codes, weight, len(classes))
    if prior is None or isinstance(prior, PriorEstimator) or (isinstance(prior, str) and prior in METHODS):
        return prior_estimator(prior, random_state=random_state).estimate(X, codes, weight, len(classes))
    if isinstance(prior, str):
        raise ValueError(f"prior={prior!r} is neither a number nor a method: {', '.join(map(repr, METHODS))}.")
    shares = read_shares(prior, classes)
    return _given(float(shares[1]) if len(classes) == 2 else shares)


def _labeled(codes: NDArray, weight: NDArray | None, n_classes: int) -> PriorEstimate:
    labeled = codes >= 0
    counts = np.bincount(codes[labeled], None if weight is None else weight[labeled], n_classes)
    shares = counts / counts.sum()
    value, unknown = (float(shares[1]), np.nan) if n_classes == 2 else (shares, np.full(n_classes, np.nan))
    return PriorEstimate(value, unknown, unknown, np.nan, "labeled", value)


def _given(value: Any) -> PriorEstimate:
    return PriorEstimate(value, value, value, 1.0, "given", value)
