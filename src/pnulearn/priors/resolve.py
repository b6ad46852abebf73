"""What `prior=...` and `method=...` mean: nothing, a number, a mapping, the name of a method, an estimator."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from pnulearn._arrays import AnyArray
from pnulearn._parameters import parameters
from pnulearn.priors.bbe import BBEPrior
from pnulearn.priors.dedpul import DEDPULPrior
from pnulearn.priors.em import EMPrior
from pnulearn.priors.energy import EnergyPrior
from pnulearn.priors.estimate import PriorEstimate
from pnulearn.priors.estimator import PriorEstimator, refuse_missing_class
from pnulearn.priors.given import is_vague, read_prior
from pnulearn.priors.kernel_mean import KernelMeanPrior
from pnulearn.priors.km import KMPrior
from pnulearn.priors.pe import PearsonPrior
from pnulearn.priors.penl1 import PenalizedL1Prior
from pnulearn.priors.roc import ROCPrior
from pnulearn.priors.scores import ScorePrior
from pnulearn.priors.tice import TIcEPrior


@parameters
class AutoPrior(PriorEstimator):
    """`ScorePrior` if every class has labelled rows, else `BBEPrior` with a warning about what it assumes."""

    needs_every_class = False
    method = "auto"

    n_bootstrap: Any = None  # as many as the method takes

    def estimate(self, X: Any, codes: AnyArray, weight: AnyArray | None = None, n_classes: int = 2) -> PriorEstimate:
        options = {"confidence": self.confidence, "random_state": self.random_state}
        if self.n_bootstrap is not None:
            options["n_bootstrap"] = self.n_bootstrap
        present = np.unique(codes if weight is None else codes[weight > 0])
        if n_classes > 2 or {0, 1} <= set(present.tolist()):
            return ScorePrior(**options).estimate(X, codes, weight, n_classes)
        warnings.warn(
            "One class has no labelled rows, so the prior is estimated from the other one and U. This rests on the "
            "assumption that no part of the missing class looks like the labelled one (irreducibility), and is too "
            "extreme where it fails. Label a few rows of the missing class or pass the prior as a number.",
            UserWarning,
            stacklevel=3,
        )
        return BBEPrior(**options).estimate(X, codes, weight)


BESIDE_EVIDENCE = 1.5

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
        raise ValueError(
            f"No prior estimator is called {method!r}: method is one of {', '.join(map(repr, METHODS))}, an estimator "
            "from pnulearn.priors, or None."
        )
    kind, fixed = METHODS[method]
    return kind(**fixed, **options)


def resolve_prior(
    prior: Any,
    X: Any,
    codes: AnyArray,
    weight: AnyArray | None = None,
    *,
    classes: ArrayLike,
    random_state: Any = None,
    random_counts: AnyArray | None = None,
) -> PriorEstimate:
    """All that is known about the prior, as a distribution.

    A number, a mapping or a `PriorEstimate` is taken as it is. "labeled" takes the shares among the labelled rows, and
    so does None if there are no unlabelled rows: they are all we know. Otherwise the evidence is put together: what
    the user knows (a range, a distribution), what rows labelled at random say (`random_counts`, of every class), and
    what a method reads off the unlabelled rows (None: `AutoPrior`).

    Parameters
    ----------
    prior : object
        What `prior=` of an estimator may be.
    X : array or sparse matrix (rows, columns)
        Features.
    codes : array of int (rows,)
        The place of each row's class in `classes`, −1 for unlabelled rows.
    weight : array (rows,), optional
        Weights of the rows; one each by default.
    classes : array
        Names of the classes.
    random_state : int, RandomState or None
        Seed; an int makes the result repeatable.
    random_counts : array (classes,), optional
        Labelled rows of every class, if they were drawn at random from the population.
    """
    classes = np.asarray(classes)
    if (isinstance(prior, str) and prior == "labeled") or (prior is None and not (codes < 0).any()):
        return _labeled(codes, weight, len(classes), random_counts)
    is_method = prior is None or isinstance(prior, PriorEstimator) or (isinstance(prior, str) and prior in METHODS)
    if isinstance(prior, str) and not is_method:
        raise ValueError(f"prior={prior!r} is neither a number nor a method: {', '.join(map(repr, METHODS))}.")
    if not is_method and not is_vague(prior):
        return read_prior(prior, classes)
    evidence = [] if is_method else [read_prior(prior, classes)]
    if random_counts is not None and random_counts.any():
        evidence.append(PriorEstimate.of_counts(random_counts))
    method = prior_estimator(prior if is_method else None, random_state=random_state)
    method.refuse_impossible()
    if not evidence:
        if method.needs_every_class:
            refuse_missing_class(codes, weight, classes.tolist())
        return method.estimate(X, codes, weight, len(classes))
    return beside_evidence(evidence, _read_off(method, X, codes, weight, len(classes)))


def beside_evidence(evidence: Sequence[PriorEstimate], read_off: Sequence[PriorEstimate]) -> PriorEstimate:
    """What is known and what a method reads off U, together; the latter is trusted less beside the former.

    A method's interval holds, but its error goes along with those of the model and of the judge, who learn from the
    same few rows, while counts and knowledge do not. Where it has to compete with them, a deviation half as great
    again led to lower errors (results/prior-cost.md).
    """
    return evidence[0].combine(*evidence[1:], *(estimate.widened(BESIDE_EVIDENCE) for estimate in read_off))


def _read_off(
    method: PriorEstimator, X: Any, codes: AnyArray, weight: AnyArray | None, n_classes: int
) -> list[PriorEstimate]:
    """What a method says beside better evidence: nothing where it would have to rest on assumptions, or fails."""
    present = np.unique(codes if weight is None else codes[weight > 0])
    if len(present) < n_classes + 1:
        return []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that a method falls back on another, which then has no weight
        try:
            return [method.estimate(X, codes, weight, n_classes)]
        except ValueError:  # the classes look alike to it
            return []


def _labeled(
    codes: AnyArray, weight: AnyArray | None, n_classes: int, random_counts: AnyArray | None = None
) -> PriorEstimate:
    labeled = codes >= 0
    counts = np.bincount(codes[labeled], None if weight is None else weight[labeled], n_classes)
    shares = counts / counts.sum()
    value = float(shares[1]) if n_classes == 2 else shares
    if random_counts is None or n_classes > 2:
        return PriorEstimate(value, "labeled", value)
    return replace(PriorEstimate.of_counts(random_counts), value=value)
