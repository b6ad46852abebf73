"""The share of positives, or the mean of a numeric label, in a population: few labels, many rows, second opinions.

Rows are put into strata by the predictions of second models (judges). A share is Σ W_k p_k: the size of every stratum
comes from all rows, the share within it from its labels. This needs no calibrated judge, and a judge that knows nothing
costs almost nothing. Means of numeric labels use a regression on the predictions, fitted out of fold.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from pnulearn._arrays import AnyArray, FloatArray, IntArray
from pnulearn._intervals.closed_forms import (
    cluster_design_effect,
    effective_size,
    mover,
    skewed_t_distances,
    wald_interval,
)
from pnulearn._intervals.post_stratification import (
    matched_beta_interval,
    mixture_mass,
    stratified_share,
)
from pnulearn._intervals.posterior_grids import beta_mass
from pnulearn._problem.folds import read_groups
from pnulearn._problem.inputs import read_weights
from pnulearn._problem.labels import UNLABELED, decode_labels, is_missing, refuse_more_than_two
from pnulearn.metrics._estimate import Estimate
from pnulearn.metrics._second_model import LEAST_SHARE, calibrate_opinion
from pnulearn.metrics._strata import encode_helpers, few_cells, is_number, read_helpers, score_ranges, separate_cells
from pnulearn.priors._estimate import PriorEstimate
from pnulearn.priors._resolve import read_prior, read_share

ShareSampling = Literal["random", "by_helper", "by_class"]
FOLDS = 5
LEAST_ROWS = 2
LEAST_EXPLAINED = 0.05  # of the variance of the labels; helpers that explain less are not used


@dataclass(frozen=True)
class ShareEstimate(Estimate):
    """A share or mean in the population, with its standard error and confidence interval.

    Parameters
    ----------
    value : float
        The estimate.
    stderr : float
        Standard error.
    low : float
        Lower end of the interval.
    high : float
        Upper end of the interval.
    n_labels : int
        Number of labelled rows.
    worth : float
        Number of random labels that would give the same standard error without a helper.
    confidence : float
        Confidence level of the interval.

    Examples
    --------
    >>> print(ShareEstimate(0.71, 0.03, 0.65, 0.77, 100, 228.0))
    0.7100 ± 0.0300, 95 % interval 0.6500 to 0.7700 (100 labels, worth 228)
    """

    n_labels: int
    worth: float

    def __str__(self) -> str:
        return f"{super().__str__()} ({self.n_labels} labels, worth {self.worth:.0f})"

    def _facts(self) -> dict[str, str]:
        return super()._facts() | {"labels": f"{self.n_labels}", "worth": f"{self.worth:.0f} labels"}


@dataclass(frozen=True)
class LabeledRows:
    """Labels of some rows of a population, and how they were chosen.

    Parameters
    ----------
    rows : array (labels,)
        Numbers of the labelled rows.
    label : array (labels,)
        Their labels as numbers.
    chance : array (labels,)
        Relative probability with which each of them was chosen.
    weight : array (rows,)
        Weights of all rows in the population.
    group : array (rows,), optional
        Group number of every row.
    """

    rows: IntArray
    label: FloatArray
    chance: FloatArray
    weight: FloatArray
    group: IntArray | None

    def design_effect(self, values: FloatArray, share: FloatArray, rows: AnyArray | slice) -> float:
        return 1.0 if self.group is None else cluster_design_effect(values, share, self.group[rows])

    @property
    def row_size(self) -> float:
        """Kish's effective number of rows."""
        return float(self.weight.sum() ** 2 / (self.weight @ self.weight))


def pnu_share(
    y: ArrayLike,
    *,
    helper: Any = None,
    sampling: ShareSampling | ArrayLike = "random",
    prior: Any = None,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    confidence: float = 0.95,
    unlabeled: Any = None,
    pos_label: Any = None,
) -> ShareEstimate:
    """Share of positives in the population: few labels, many rows and one or more second opinions on all of them.

    For example the share of good answers of a language model, from human labels of some answers and the verdict of a
    judge model on every answer. The judge may be biased, constant or always wrong: its verdicts only sort the rows into
    strata, and the labels say what share of each stratum is positive.

    Parameters
    ----------
    y : array (rows,)
        Labels. Missing values and the value `unlabeled` mark unlabelled rows.
    helper : array (rows,), (rows, helpers), data frame or mapping, optional
        Predictions of one or several second models for all rows, labelled ones included: verdicts in any words,
        probabilities, grades or scores. They must not have been fitted to these labels.
    sampling : "random", "by_helper", "by_class" or array (rows,)
        How the labelled rows were chosen. "random": at random from the rows. "by_helper": at rates that depend on the
        helper, e.g. more of what the judge calls bad; the rates need not be known. "by_class": separately per class, at
        unknown rates; labels then only say how often the helper errs. An array: the probability with which every row
        was chosen; unlabelled rows may have NaN.
    prior : (float, float), distribution or PriorEstimate, optional
        What else is known about the share: a 90 % range, a distribution from `scipy.stats` or an estimate from other
        rows.
    groups : array (rows,), optional
        Group of every row (a conversation, a user), if rows of one group may be correlated.
    sample_weight : array (rows,), optional
        Weights of the rows in the population; only proportions matter. Not for rates of labelling: see `sampling`.
    confidence : float
        Confidence level of the interval.
    unlabeled : object, optional
        Value in y that marks unlabelled rows, in addition to missing values.
    pos_label : object, optional
        The positive class. Default: the larger label.

    Returns
    -------
    ShareEstimate
        The share with its interval, and how many random labels alone would be as good.

    Notes
    -----
    Post-stratification: θ = Σ W_k p_k over strata of equal or similar predictions. The interval is that of a Beta
    distribution with the mean and variance of the posterior. With scores or many combinations of predictions the strata
    are replaced by a logistic regression, fitted out of fold, and a helper that explains next to nothing is not used.
    Coverage and width against other packages are in results/share.md.

    Examples
    --------
    >>> y = [1] * 24 + [0] * 4 + [1] * 2 + [0] * 10 + [None] * 400
    >>> verdict = ["good"] * 28 + ["bad"] * 12 + ["good"] * 290 + ["bad"] * 110
    >>> print(pnu_share(y, helper=verdict))
    0.6657 ± 0.0588, 95 % interval 0.5446 to 0.7742 (40 labels, worth 62)
    """
    return share_with_influence(
        y,
        helper=helper,
        sampling=sampling,
        prior=prior,
        groups=groups,
        sample_weight=sample_weight,
        confidence=confidence,
        unlabeled=unlabeled,
        pos_label=pos_label,
    )[0]


def share_with_influence(
    y: ArrayLike,
    *,
    helper: Any = None,
    sampling: ShareSampling | ArrayLike = "random",
    prior: Any = None,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    confidence: float = 0.95,
    unlabeled: Any = None,
    pos_label: Any = None,
) -> tuple[ShareEstimate, FloatArray]:
    """`pnu_share`, and the influence of every row on the estimate (zeros if labels were gathered by class)."""
    read_share(confidence, "confidence")
    labels = decode_labels(y, unlabeled, pos_label)
    refuse_more_than_two(labels.classes)
    n_rows = len(labels.codes)
    weight = read_weights(sample_weight, n_rows)
    rows = np.flatnonzero((labels.codes != UNLABELED) & (weight > 0))
    design, chance = read_share_sampling(sampling, rows, n_rows)
    if design != "random" and helper is None:
        raise ValueError(f"sampling={design!r} needs helper=: the predictions of a second model for every row.")
    known = _read_knowledge(prior)
    group = None if groups is None else read_groups(groups, n_rows)
    data = LabeledRows(rows, labels.codes[rows].astype(float), chance, weight, group)
    if not len(rows):
        raise ValueError("y holds no labelled row with positive weight. Label some rows, at random if possible.")
    if helper is None:
        return estimate_share(data, np.zeros(n_rows, dtype=int), known, confidence)
    columns = read_helpers(helper, n_rows)
    opinions = encode_helpers(columns, rows, data.label)
    if design == "by_class":
        return _share_by_class(data, labels.codes, opinions, known, confidence), np.zeros(n_rows)
    if design == "by_helper":
        return estimate_share(data, _chosen_strata(opinions, data, columns), known, confidence)
    return best_share(data, opinions, known, confidence)


def best_share(
    data: LabeledRows, opinions: FloatArray, known: PriorEstimate | None, confidence: float
) -> tuple[ShareEstimate, FloatArray]:
    """The share with the helper, and the influence of every row.

    Few different predictions give strata; many, as of scores or several helpers, a regression. Strata are used whatever
    the labels say: taking the narrower interval of two would cover less (90 % instead of 93 % in the worst case).
    """
    strata = few_cells(opinions, data.rows)
    if strata is None and data.label.min() < data.label.max():
        helped = regress_share(data, opinions, known, confidence)
        if helped is not None:
            return helped
    strata = np.zeros(len(opinions), dtype=int) if strata is None else strata
    return estimate_share(data, strata, known, confidence)


def read_share_sampling(sampling: Any, rows: IntArray, n_rows: int) -> tuple[ShareSampling, FloatArray]:
    """The design, and the relative probability with which each labelled row was chosen."""
    if isinstance(sampling, str):
        if sampling == "single_set":
            sampling = "random"
        if sampling not in ("random", "by_helper", "by_class"):
            raise ValueError(
                "sampling must be 'random', 'by_helper' (labels chosen by the helper's predictions), 'by_class' or an "
                f"array with the probability of every row, got {sampling!r}."
            )
        return sampling, np.ones(len(rows))
    chance = np.asarray(sampling, dtype=float)
    if chance.shape != (n_rows,):
        raise ValueError(f"sampling must have one probability for each of the {n_rows} rows, got shape {chance.shape}.")
    chosen = chance[rows]
    if not ((chosen > 0) & (chosen <= 1)).all():
        row = rows[int(np.argmin((chosen > 0) & (chosen <= 1)))]
        raise ValueError(f"sampling[{row}] is {chance[row]:g}: labelled rows need a probability above 0 and up to 1.")
    return "random", chosen


def _read_knowledge(prior: Any) -> PriorEstimate | None:
    if prior is None:
        return None
    known = read_prior(prior)
    if not known.spread:
        raise ValueError(
            f"prior={prior!r} fixes the share that is to be estimated. Pass a range such as (0.6, 0.9), or omit it."
        )
    return known


def _chosen_strata(opinions: FloatArray, data: LabeledRows, columns: dict[str, AnyArray]) -> IntArray:
    """Strata if labels were chosen by the helper: every combination of predictions, or ranges of a score."""
    strata = separate_cells(opinions)
    if strata is None:
        return score_ranges(opinions, data.rows, data.label, data.weight)
    empty = np.setdiff1d(strata[data.weight > 0], strata[data.rows])
    if len(empty):
        row = int(np.flatnonzero(strata == empty[0])[0])
        found = ", ".join(f"{name}={column[row]!s}" for name, column in columns.items())
        share = float(data.weight[strata == empty[0]].sum() / data.weight.sum())
        raise ValueError(
            f"No row with {found} is labelled, which is {share:.1%} of all rows. With sampling='by_helper' every "
            "prediction needs labels: label some of these rows."
        )
    return strata


def estimate_share(
    data: LabeledRows, strata: IntArray, known: PriorEstimate | None, confidence: float
) -> tuple[ShareEstimate, FloatArray]:
    """The share from labels in given strata, and the influence of every row on it."""
    n_strata = int(strata.max()) + 1
    size = np.bincount(strata, weights=data.weight, minlength=n_strata) / data.weight.sum()
    share, n, pull = labels_of_strata(data, strata, n_strata)
    found = stratified_share(share * n, n, size, _effective_rows(data, share[strata]))
    value = min(float(size @ np.where(n > 0, share, found.strata_mean)), 1.0)
    estimate = conclude_share(value, found.mean, found.variance, len(data.rows), known, confidence)
    if known is None and share[n > 0].max() == 0:
        estimate = replace(estimate, low=0.0)
    if known is None and share[n > 0].min() == 1:
        estimate = replace(estimate, high=1.0)
    influence = data.weight / data.weight.sum() * (share[strata] - value)
    influence[data.rows] += size[strata[data.rows]] * pull
    return estimate, influence


def labels_of_strata(data: LabeledRows, strata: IntArray, n_strata: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Weighted share of positives and effective number of labels by stratum; influence of each label on its stratum."""
    share, n = np.zeros(n_strata), np.zeros(n_strata)
    stratum, weight = strata[data.rows], data.weight[data.rows] / data.chance
    residual, pull = np.zeros(len(data.rows)), np.zeros(len(data.rows))
    for k in range(n_strata):
        own = stratum == k
        if own.any():
            w = weight[own] / weight[own].sum()
            share[k], n[k] = float(w @ data.label[own]), effective_size(data.label[own], w)
            residual[own] = data.label[own] - share[k]
            pull[own] = w * residual[own]
    return share, n / data.design_effect(residual, weight / weight.sum(), data.rows), pull


def regress_share(
    data: LabeledRows, opinions: FloatArray, known: PriorEstimate | None, confidence: float
) -> tuple[ShareEstimate, FloatArray] | None:
    """The share by a logistic regression on the predictions, fitted out of fold, and the influence of every row.

    None if the regression explains less than `LEAST_EXPLAINED` of the variance of held-out labels.
    Mean of p over all rows plus mean of y − p over the labelled rows. One pseudo-observation, half positive, is added
    to the mean and one squared residual of 1 to the variance, which is what Jeffreys' prior adds with two strata.
    """
    share = data.weight[data.rows] / data.chance
    share, population = share / share.sum(), data.weight / data.weight.sum()
    on_labeled, on_all = _calibrate_out_of_fold(data, opinions, share)
    residual = data.label - on_labeled
    value = float(population @ on_all + share @ residual)
    centered = residual - share @ residual
    if share @ centered**2 > (1 - LEAST_EXPLAINED) * float(share @ (data.label - share @ data.label) ** 2):
        return None
    n = effective_size(residual, share) / data.design_effect(centered, share, data.rows)
    variance = (n * float(share @ centered**2) + 1) / (n + 1) ** 2
    level = float(population @ on_all)
    variance += float(population @ (on_all - level) ** 2) / _effective_rows(data, on_all)
    mean = float(np.clip(value * n + 0.5, 0.5, n + 0.5)) / (n + 1)
    estimate = conclude_share(
        float(np.clip(value, 0, 1)), mean, min(variance, mean * (1 - mean) / 3), len(data.rows), known, confidence
    )
    influence = population * (on_all - level)
    influence[data.rows] += share * centered
    return estimate, influence


def _calibrate_out_of_fold(data: LabeledRows, opinions: FloatArray, share: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Probabilities: out of fold for labelled rows, the mean over folds for all rows."""
    on_labeled, on_all = np.zeros(len(data.rows)), np.zeros(len(opinions))
    for kept in _folds(opinions[data.rows], data.label):
        parts = [data.rows[kept & (data.label == k)] for k in (1, 0)]
        if not min(map(len, parts)):
            level = float(share[kept] @ data.label[kept] / share[kept].sum())
            on_labeled[~kept] = level
            on_all += level / FOLDS
            continue
        weights = [share[kept & (data.label == k)] for k in (1, 0)]
        prior = float(np.clip(weights[0].sum() / (weights[0].sum() + weights[1].sum()), LEAST_SHARE, 1 - LEAST_SHARE))
        fitted = calibrate_opinion([*(opinions[part] for part in parts), opinions], [*weights, data.weight], prior)
        on_labeled[~kept] = fitted(opinions[data.rows[~kept]])
        on_all += fitted(opinions) / FOLDS
    return on_labeled, on_all


def _folds(features: FloatArray, label: FloatArray) -> Iterator[AnyArray]:
    """Labelled rows to fit to, for every fold. Folds follow from the content of rows; similar rows are kept apart."""
    order = np.lexsort((label, *features.T))
    fold = np.empty(len(order), dtype=int)
    fold[order] = np.arange(len(order)) % FOLDS
    for k in range(FOLDS):
        yield fold != k


def _effective_rows(data: LabeledRows, values: FloatArray) -> float:
    """Effective number of rows for the mean of these values over all rows."""
    return data.row_size / data.design_effect(values, data.weight / data.weight.sum(), slice(None))


def conclude_share(
    value: float, mean: float, variance: float, n_labels: int, known: PriorEstimate | None, confidence: float
) -> ShareEstimate:
    """An estimate from mean and variance of a posterior, combined with other knowledge of the share."""
    if known is not None:
        rows = mean * (1 - mean) / variance - 1
        mass = beta_mass(positive=mean * rows - 0.5, negative=(1 - mean) * rows - 0.5)
        return share_of_prior(PriorEstimate.of_mass(mass, "labels").combine(known), n_labels, confidence)
    low, high = matched_beta_interval(mean, variance, confidence)
    return ShareEstimate(
        value,
        float(np.sqrt(variance)),
        min(low, value),
        max(high, value),
        n_labels,
        mean * (1 - mean) / variance - 2,
        confidence=confidence,
    )


def share_of_prior(found: PriorEstimate, n_labels: int, confidence: float) -> ShareEstimate:
    """An estimate from a distribution of the share."""
    value, variance = float(found.value), found.spread**2
    low, high = found.within(confidence)
    worth = max(value * (1 - value) / variance - 2, 0.0)
    return ShareEstimate(value, found.spread, float(low), float(high), n_labels, worth, confidence=confidence)


def _share_by_class(
    data: LabeledRows, codes: IntArray, opinions: FloatArray, known: PriorEstimate | None, confidence: float
) -> ShareEstimate:
    if data.group is not None:
        raise ValueError("groups= is not supported with sampling='by_class'. Leave groups out.")
    rest = np.flatnonzero((codes == UNLABELED) & (data.weight > 0))
    positive, negative = (data.rows[data.label == k] for k in (1, 0))
    for name, group in (("positive", positive), ("negative", negative), ("unlabelled", rest)):
        if not len(group):
            raise ValueError(
                f"sampling='by_class' needs positive, negative and unlabelled rows; {name} ones are missing."
            )
    strata = few_cells(opinions, data.rows)
    if strata is None:
        strata = score_ranges(opinions, data.rows, data.label, data.weight)
    counts = [_effective_counts(strata, data.weight, group) for group in (positive, negative, rest)]
    mass, best = mixture_mass(*counts)
    found = PriorEstimate(best, "helper", best, mass=mass)
    return share_of_prior(found if known is None else found.combine(known), len(data.rows), confidence)


def _effective_counts(strata: IntArray, weight: FloatArray, rows: IntArray) -> FloatArray:
    """Rows by stratum, scaled to Kish's effective size."""
    w = weight[rows]
    return np.bincount(strata[rows], weights=w, minlength=int(strata.max()) + 1) * w.sum() / (w @ w)


def pnu_mean(
    y: ArrayLike,
    *,
    helper: Any = None,
    sampling: ShareSampling | ArrayLike = "random",
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    confidence: float = 0.95,
    unlabeled: Any = None,
) -> ShareEstimate:
    """Mean of a numeric label in the population, e.g. of a rating from 1 to 5: few labels and second opinions.

    Parameters
    ----------
    y : array (rows,)
        Numbers. Missing values and the value `unlabeled` mark unlabelled rows.
    helper : array (rows,), (rows, helpers), data frame or mapping, optional
        Predictions of one or several second models for all rows: grades, scores or words. They must not have been
        fitted to these labels.
    sampling : "random", "by_helper" or array (rows,)
        How the labelled rows were chosen, as in `pnu_share`.
    groups : array (rows,), optional
        Group of every row, if rows of one group may be correlated.
    sample_weight : array (rows,), optional
        Weights of the rows in the population.
    confidence : float
        Confidence level of the interval.
    unlabeled : object, optional
        Value in y that marks unlabelled rows, in addition to missing values.

    Returns
    -------
    ShareEstimate
        The mean with its interval, and how many random labels alone would be as good.

    Notes
    -----
    The regression estimator of survey sampling: mean of ŷ over all rows plus mean of y − ŷ over the labelled rows. ŷ is
    a linear regression of the label on the predictions, fitted out of fold. With labels at random it is
    prediction-powered inference with the best weight. A helper that explains less than 5 % of the variance of held-out
    labels is not used.

    References
    ----------
    Cassel, Särndal and Wretman (1976), Biometrika 63. Angelopoulos, Duchi and Zrnic (2023), PPI++.

    Examples
    --------
    >>> y = [5, 4, 4, 2, 1, 3, 5, 4] + [None] * 92
    >>> grade = [5, 4, 5, 2, 2, 3, 5, 4] + [1, 3, 4, 5] * 23
    >>> print(pnu_mean(y, helper=grade))
    3.1117 ± 0.2391, 95 % interval 2.3581 to 3.4886 (8 labels, worth 32)
    """
    read_share(confidence, "confidence")
    values, rows = _read_numbers(y, unlabeled)
    weight = read_weights(sample_weight, len(values))
    rows = rows[weight[rows] > 0]
    if len(rows) < LEAST_ROWS:
        raise ValueError(f"y holds {len(rows)} labelled rows; a mean with an interval needs {LEAST_ROWS} or more.")
    design, chance = read_share_sampling(sampling, rows, len(values))
    if design == "by_class":
        raise ValueError("sampling='by_class' is for classes. Pass the probability of every row, or 'by_helper'.")
    group = None if groups is None else read_groups(groups, len(values))
    data = LabeledRows(rows, values[rows], chance, weight, group)
    if helper is None:
        if design == "by_helper":
            raise ValueError("sampling='by_helper' needs helper=: the predictions of a second model for every row.")
        return _mean(data, np.zeros((len(values), 0)), confidence)
    columns = read_helpers(helper, len(values))
    features = _mean_features(columns)
    if design == "by_helper":
        strata = _chosen_strata(features, replace(data, label=np.zeros(len(rows))), columns)
        rate = np.bincount(strata[rows], minlength=strata.max() + 1) / np.bincount(strata, weights=weight)
        return _mean(replace(data, chance=rate[strata[rows]]), features, confidence)
    return _mean(data, features, confidence)


def _read_numbers(y: Any, unlabeled: Any) -> tuple[FloatArray, IntArray]:
    cells = np.asarray(y).ravel().tolist()
    missing = np.array([is_missing(cell) or (unlabeled is not None and cell == unlabeled) for cell in cells])
    try:
        values = np.array([np.nan if gone else float(cell) for cell, gone in zip(cells, missing, strict=True)])
    except (TypeError, ValueError):
        strange = next(cell for cell, gone in zip(cells, missing, strict=True) if not gone and isinstance(cell, str))
        raise ValueError(f"y holds {strange!r}, which is not a number. For classes use pnu_share.") from None
    if np.isinf(values).any():
        raise ValueError("y holds infinite values; a mean needs finite ones.")
    return values, np.flatnonzero(~missing)


def _mean_features(columns: dict[str, AnyArray]) -> FloatArray:
    """Standardised numbers, and an indicator column for every category but the first."""
    parts: list[FloatArray] = []
    for column in columns.values():
        if is_number(column):
            values = column.astype(float)
            parts.append((values - values.mean()) / (values.std() or 1.0))
        else:
            codes = np.unique(column.astype(str), return_inverse=True)[1]
            parts.extend((codes == k).astype(float) - np.mean(codes == k) for k in range(1, codes.max() + 1))
    return np.column_stack([np.zeros((len(next(iter(columns.values()))), 0)), *parts])


def _mean(data: LabeledRows, features: FloatArray, confidence: float) -> ShareEstimate:
    """The regression estimate, or the mean of labels alone if the features explain next to nothing."""
    share = data.weight[data.rows] / data.chance
    share = share / share.sum()
    on_labeled, on_all = _predict_out_of_fold(data, features, share)
    residual, population = data.label - on_labeled, data.weight / data.weight.sum()
    centered = residual - share @ residual
    variance = float(share @ (data.label - share @ data.label) ** 2)
    if features.shape[1] and share @ centered**2 > (1 - LEAST_EXPLAINED) * variance:
        return _mean(data, features[:, :0], confidence)
    n = effective_size(residual, share) / data.design_effect(centered, share, data.rows)
    n = max(n - features.shape[1], LEAST_ROWS)
    own = float(np.sqrt(share @ centered**2 / (n - 1)))
    spread = float(population @ (on_all - population @ on_all) ** 2)
    other = float(np.sqrt(spread / _effective_rows(data, on_all)))
    value = float(population @ on_all + share @ residual)
    half = wald_interval(0.0, other, confidence)[1]
    down, up = mover([skewed_t_distances(residual, share, n, own, confidence), (half, half)])
    stderr = float(np.hypot(own, other))
    worth = variance / stderr**2 + 1 if stderr > 0 else float(len(data.rows))
    return ShareEstimate(value, stderr, value - down, value + up, len(data.rows), worth, confidence=confidence)


def _predict_out_of_fold(data: LabeledRows, features: FloatArray, share: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Predictions of a linear regression: out of fold for labelled rows, the mean over folds for all rows."""
    on_labeled, on_all = np.zeros(len(data.rows)), np.zeros(len(features))
    if not features.shape[1]:
        return on_labeled, on_all
    own = features[data.rows]
    for kept in _folds(own, data.label):
        slopes = _regress(own[kept], data.label[kept], share[kept])
        on_labeled[~kept] = own[~kept] @ slopes
        on_all += features @ slopes / FOLDS
    return on_labeled, on_all


def _regress(features: FloatArray, label: FloatArray, share: FloatArray) -> FloatArray:
    """Slopes of a weighted linear regression with an intercept, shrunk by the weight of one row."""
    w = share / share.sum()
    centered = features - w @ features
    gram = (centered.T * w) @ centered + np.eye(features.shape[1]) / len(label)
    return np.asarray(np.linalg.solve(gram, (centered.T * w) @ (label - w @ label)))
