"""Interpretation of `prior=...` and `method=...`: None, a number, a mapping, the name of a method or an estimator."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils.validation import check_consistent_length

from pnulearn._arrays import AnyArray
from pnulearn._intervals.posterior_grids import distribution_mass
from pnulearn._parameters import parameters
from pnulearn._problem.alignment import refuse_misaligned
from pnulearn._problem.folds import read_groups
from pnulearn._problem.inputs import read_features, read_weights
from pnulearn._problem.labels import UNLABELED, decode_labels
from pnulearn._problem.samples import BY_CLASS, RANDOM, Samples, Sampling, read_sampling
from pnulearn.priors._bbe import BBEPrior
from pnulearn.priors._cells import cell_prior
from pnulearn.priors._combined import BOUND, CombinedPrior
from pnulearn.priors._dedpul import DEDPULPrior
from pnulearn.priors._em import EMPrior
from pnulearn.priors._energy import EnergyPrior
from pnulearn.priors._estimate import PriorEstimate
from pnulearn.priors._estimator import PriorEstimator, refuse_missing_class
from pnulearn.priors._kernel_mean import KernelMeanPrior
from pnulearn.priors._km import KMPrior
from pnulearn.priors._one_sample import OneSample
from pnulearn.priors._pe import PearsonPrior
from pnulearn.priors._penl1 import PenalizedL1Prior
from pnulearn.priors._roc import ROCPrior
from pnulearn.priors._scores import ScorePrior
from pnulearn.priors._tice import TIcEPrior

BESIDE_EVIDENCE = 1.5


def read_prior(prior: Any, classes: AnyArray | None = None) -> PriorEstimate:
    """Any form of a given prior as an estimate; `classes` are needed to read a mapping.

    >>> print(read_prior((0.1, 0.3)))
    0.19 [0.10, 0.30] (between 0.1 and 0.3, 90% interval)
    """
    if isinstance(prior, PriorEstimate):
        return _fitting(prior, classes)
    if is_vague(prior):
        if classes is not None and len(classes) > 2:
            raise ValueError(
                f"y has {len(classes)} classes, but a range or a distribution is for two classes only. Pass "
                "a mapping from class to share."
            )
        return _from_range(prior) if isinstance(prior, tuple) else _from_distribution(prior)
    if isinstance(prior, Mapping) and classes is None:
        raise TypeError(f"prior must be a number between 0 and 1 here, got {prior!r}.")
    if classes is None:
        return PriorEstimate.known(read_share(prior))
    shares = read_shares(prior, classes)
    return PriorEstimate.known(float(shares[1]) if len(classes) == 2 else shares)


def is_vague(prior: Any) -> bool:
    """Whether this is a range or a distribution, which is combined with estimates from data."""
    return isinstance(prior, tuple) or hasattr(prior, "cdf")


def _from_range(prior: Any) -> PriorEstimate:
    if len(prior) != 2:
        raise ValueError(f"A range for prior needs two ends, e.g. prior=(0.1, 0.3), got {prior!r}.")
    low, high = (read_share(end, "Both ends of prior") for end in prior)
    if not low < high:
        raise ValueError(f"The lower end of prior must come first, e.g. prior=(0.1, 0.3), got {prior!r}.")
    return PriorEstimate.of_range(low, high)


def _from_distribution(prior: Any) -> PriorEstimate:
    name = getattr(getattr(prior, "dist", None), "name", type(prior).__name__)
    return PriorEstimate.of_mass(distribution_mass(prior), f"a {name} distribution")


def _fitting(prior: PriorEstimate, classes: AnyArray | None) -> PriorEstimate:
    n_shares = len(prior.shares)
    n_classes = 2 if classes is None else len(classes)
    if n_shares != n_classes:
        raise ValueError(f"The estimate given as prior is for {n_shares} classes, but there are {n_classes}.")
    return prior


def read_share(value: Any, name: str = "prior") -> float:
    """A number strictly between 0 and 1.

    >>> read_share(0.3)
    0.3
    """
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be a number between 0 and 1, got {value!r}.")
    share = float(value)
    if not 0 < share < 1:
        hint = f" Did you mean {share / 100:g}?" if 2 <= share < 100 else ""
        raise ValueError(f"{name} must lie strictly between 0 and 1, got {value!r}.{hint}")
    return share


def read_shares(prior: Any, classes: AnyArray) -> AnyArray:
    """The share of every class, in the order of the classes, from the share of the positive one or from a mapping."""
    if isinstance(prior, Mapping):
        return _from_mapping(prior, classes.tolist())
    if len(classes) > 2:
        raise ValueError(
            f"y has {len(classes)} classes, so prior must name a share for each: "
            f"prior={{{', '.join(f'{name!r}: ...' for name in classes.tolist())}}}. Got {prior!r}."
        )
    share = read_share(prior)
    return np.array([1 - share, share])


def _from_mapping(prior: Mapping[Any, Any], names: list[Any]) -> AnyArray:
    """Check that every class has a share and that the shares sum to one."""
    unknown = [name for name in prior if name not in names]
    if unknown:
        raise ValueError(f"prior names {unknown[0]!r}, which is not a class of y: {names}.")
    given = {name: read_share(prior[name]) for name in names if name in prior}
    missing = [name for name in names if name not in given]
    if missing:
        raise ValueError(f"prior has no share for class {missing[0]!r}; every class of {names} needs one.")
    shares = np.array([given[name] for name in names])
    if not np.isclose(shares.sum(), 1, atol=1e-6):
        raise ValueError(f"The shares in prior add up to {shares.sum():g}, not to 1: {dict(prior)!r}.")
    return shares / shares.sum()


@parameters
class AutoPrior(PriorEstimator):
    """`ScorePrior` if every class has labelled rows, else `CombinedPrior` with a warning about its assumption.

    Two classes whose rows take few distinct values (verdicts, grades, a few categories) are compared by the shares of
    these values in P, N and U, without a model.
    """

    needs_every_class = False
    method = "auto"

    n_bootstrap: Any = None  # the default of each method

    def estimate(self, X: Any, codes: AnyArray, weight: AnyArray | None = None, n_classes: int = 2) -> PriorEstimate:
        options = {"confidence": self.confidence, "random_state": self.random_state}
        if self.n_bootstrap is not None:
            options["n_bootstrap"] = self.n_bootstrap
        present = np.unique(codes if weight is None else codes[weight > 0])
        if n_classes > 2 or {0, 1} <= set(present.tolist()):
            if n_classes == 2 and UNLABELED in present and self.n_bootstrap != 0:
                found = cell_prior(X, codes, weight, self.confidence)
                if found is not None:
                    return found
            return ScorePrior(**options).estimate(X, codes, weight, n_classes)
        warnings.warn(
            "One class has no labelled rows, so the prior is estimated from the other one and U. This assumes that "
            "no part of the missing class is distributed like the labelled one (irreducibility); otherwise only one "
            'end of the interval, the bound away from that class, holds, and prior="bound" uses that one alone. '
            "Label a few rows of the missing class, or pass the prior as a number or a range.",
            UserWarning,
            stacklevel=3,
        )
        return CombinedPrior(**options).estimate(X, codes, weight)


# name -> (class, fixed options); the first five need labels of every class, the others of one class only
METHODS: dict[str, tuple[type[PriorEstimator], dict[str, Any]]] = {
    "scores": (ScorePrior, {}),
    "energy": (EnergyPrior, {}),
    "energy_v": (EnergyPrior, {"bias_correction": False}),
    "kernel_mean": (KernelMeanPrior, {}),
    "em": (EMPrior, {}),
    "km1": (KMPrior, {"variant": 1}),
    "km2": (KMPrior, {"variant": 2}),
    "roc": (ROCPrior, {}),
    "combined": (CombinedPrior, {}),
    BOUND: (CombinedPrior, {"irreducible": False}),
    "bbe": (BBEPrior, {}),
    "dedpul": (DEDPULPrior, {}),
    "pe": (PearsonPrior, {}),
    "penl1": (PenalizedL1Prior, {}),
    "tice": (TIcEPrior, {}),
}


def from_one_class(estimate: PriorEstimate) -> bool:
    """Whether a method estimated it from the labelled rows of one class and U alone."""
    return estimate.method in METHODS and not METHODS[estimate.method][0].needs_every_class


def estimate_prior(
    X: Any,
    y: ArrayLike,
    method: str | PriorEstimator | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    sampling: Sampling = BY_CLASS,
    unlabeled: Any = None,
    pos_label: Any = None,
    confidence: float = 0.9,
    random_state: Any = None,
    **options: Any,
) -> PriorEstimate:
    """Class prior(s) of the population with an interval.

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
    groups : array (rows,), optional
        Group of every row, if rows of one group may be correlated; only with sampling="random", where labels are
        counted.
    sampling : "by_class" or "random"
        "by_class": labelled rows were drawn by class, and the unlabelled rows represent the population. "random": all
        rows do. Labels of both classes then count as random ones; labels of one class alone are a part of the class,
        which the unlabelled rows lack.
    unlabeled : object, optional
        The value in y that marks unlabelled rows; missing values always do.
    pos_label : object, optional
        The positive class, by default the greater label.
    confidence : float
        Confidence level of the interval.
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
    estimator = prior_estimator(method, **common, **options)
    if read_sampling(sampling) == BY_CLASS:
        if groups is not None:
            raise ValueError("groups= counts labels drawn at random: pass sampling='random' too, or leave groups out.")
        return estimator.fit(X, y, sample_weight).estimate_
    refuse_misaligned(X=X, y=y, sample_weight=sample_weight, groups=groups)
    X, labels = read_features(estimator, X, reset=True), decode_labels(y, unlabeled, pos_label)
    check_consistent_length(X, labels.codes)
    weight = read_weights(sample_weight, X.shape[0])
    apart = None if groups is None else read_groups(groups, X.shape[0])
    samples = Samples(X, labels.codes, weight, len(labels.classes), RANDOM, groups=apart)
    found = resolve_prior(
        estimator,
        X,
        labels.codes,
        weight,
        classes=labels.classes,
        random_state=random_state,
        random_counts=samples.random_counts,
    )
    return found.with_confidence(confidence)


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
    """The prior as a distribution, from all evidence.

    A number, a mapping or a `PriorEstimate` is used as it is. "labeled" means the shares among the labelled rows, and
    so does None if there are no unlabelled rows. Otherwise all evidence is combined: the user's range or distribution,
    the counts of rows labelled at random (`random_counts`), and the estimate of a method from the unlabelled rows
    (None: `AutoPrior`). If labels of one class alone were drawn at random, their counts are no evidence, and the share
    of positives among the unlabelled rows is turned into that of the table (`OneSample`).

    Parameters
    ----------
    prior : object
        The parameter `prior` of an estimator.
    X : array or sparse matrix (rows, columns)
        Features.
    codes : array of int (rows,)
        Index of each row's class in `classes`, −1 for unlabelled rows.
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
    sample = OneSample.of(codes, weight, random_counts)
    if (isinstance(prior, str) and prior == "labeled") or (prior is None and not (codes < 0).any()):
        return _labeled(codes, weight, len(classes), random_counts)
    is_method = prior is None or isinstance(prior, PriorEstimator) or (isinstance(prior, str) and prior in METHODS)
    if isinstance(prior, str) and not is_method:
        raise ValueError(f"prior={prior!r} is neither a number nor a method: {', '.join(map(repr, METHODS))}.")
    if not is_method and (sample is not None or not is_vague(prior)):
        given = read_prior(prior, classes)
        return given if sample is None else sample.restrict(given)
    evidence = [] if is_method else [read_prior(prior, classes)]
    if random_counts is not None and random_counts.any() and sample is None:
        evidence.append(PriorEstimate.of_counts(random_counts))
    if random_counts is not None and weight is not None:  # design weights: their unit means nothing
        weight = weight / weight[weight > 0].mean()
    method = prior_estimator(prior if is_method else None, random_state=random_state)
    method.refuse_impossible()
    if not evidence:
        if method.needs_every_class:
            refuse_missing_class(codes, weight, classes.tolist())
        found = method.estimate(X, codes, weight, len(classes))
        return found if sample is None else sample.prior_of_table(found)
    return combine_evidence(evidence, _method_estimate(method, X, codes, weight, len(classes)))


def combine_evidence(evidence: Sequence[PriorEstimate], estimated: Sequence[PriorEstimate]) -> PriorEstimate:
    """Combine given evidence with a method's estimates from U, whose standard deviation is widened.

    The errors of a method are correlated with those of the model and of its validation, because all use the same few
    rows; those of counts and of the user's knowledge are not. In combination, 1.5 times the standard deviation gave
    lower error rates (results/prior-cost.md).
    """
    return evidence[0].combine(*evidence[1:], *(estimate.widened(BESIDE_EVIDENCE) for estimate in estimated))


def _method_estimate(
    method: PriorEstimator, X: Any, codes: AnyArray, weight: AnyArray | None, n_classes: int
) -> list[PriorEstimate]:
    """A method's estimate to combine with other evidence; none if a class has no labelled rows, or if it fails."""
    present = np.unique(codes if weight is None else codes[weight > 0])
    if len(present) < n_classes + 1:
        return []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # about falling back on another method, which then has no weight
        try:
            return [method.estimate(X, codes, weight, n_classes)]
        except ValueError:  # the method cannot separate the classes
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
