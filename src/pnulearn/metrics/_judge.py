"""Is a judge any good? Its error rates, agreement and bias in the population, from few labels and all verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv

from pnulearn._arrays import AnyArray, FloatArray, IntArray
from pnulearn._intervals.posterior_draws import JEFFREYS
from pnulearn._problem.folds import read_groups
from pnulearn._problem.inputs import read_weights
from pnulearn._problem.labels import UNLABELED, decode_labels, refuse_more_than_two
from pnulearn.metrics._estimate import Estimate, estimate_from_posterior
from pnulearn.metrics._share import LabeledRows, ShareSampling, labels_of_strata, read_share_sampling
from pnulearn.metrics._strata import read_helpers
from pnulearn.priors._resolve import read_share

N_QUANTILES = 81  # of the share of positives in either verdict
N_SIZES = 9  # of the share of positive verdicts, which all rows estimate
MEASURES = ("sensitivity", "specificity", "precision", "agreement", "kappa", "bias")


@dataclass(frozen=True)
class JudgeQuality:
    """How well verdicts agree with labels in the population.

    Parameters
    ----------
    sensitivity : Estimate
        Share of positives that the judge calls positive.
    specificity : Estimate
        Share of negatives that the judge calls negative.
    precision : Estimate
        Share of positives among positive verdicts.
    agreement : Estimate
        Share of rows on which judge and labels agree.
    kappa : Estimate
        Cohen's kappa: agreement beyond chance, 0 for a judge that guesses and 1 for a perfect one.
    bias : Estimate
        Share of positive verdicts minus share of positives; above 0 the judge is too generous.
    n_labels : int
        Labelled rows.
    disagreements : array
        Numbers of the labelled rows on which the judge is wrong: rows to look at.
    groups : mapping
        The same for every value of `by`.
    """

    sensitivity: Estimate
    specificity: Estimate
    precision: Estimate
    agreement: Estimate
    kappa: Estimate
    bias: Estimate
    n_labels: int
    disagreements: IntArray
    groups: Mapping[Any, JudgeQuality] = field(default_factory=dict)

    def __str__(self) -> str:
        lines = [f"{name:12} {getattr(self, name)}" for name in MEASURES]
        lines.append(f"wrong in {len(self.disagreements)} of {self.n_labels} labelled rows")
        for name, part in self.groups.items():
            lines.append(f"{name}: agreement {part.agreement} ({part.n_labels} labels)")
        return "\n".join(lines)


def judge_quality(
    y: ArrayLike,
    verdict: ArrayLike,
    *,
    sampling: ShareSampling | ArrayLike = "random",
    by: ArrayLike | None = None,
    pos_verdict: Any = None,
    groups: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    confidence: float = 0.95,
    unlabeled: Any = None,
    pos_label: Any = None,
) -> JudgeQuality:
    """Sensitivity, specificity, precision, agreement, Cohen's kappa and bias of a judge, with intervals.

    Parameters
    ----------
    y : array (rows,)
        Labels. Missing values and the value `unlabeled` mark unlabelled rows.
    verdict : array (rows,)
        The judge's verdict on every row: two different values.
    sampling : "random", "by_helper" or array (rows,)
        How the labelled rows were chosen: at random, at rates that depend on the verdict, or with these probabilities;
        as in `pnu_share`.
    by : array (rows,), optional
        A category of every row (the system, the language, the month), for which all is estimated separately too.
    pos_verdict : object, optional
        The verdict that means "positive". Default: the positive class if verdicts are class labels, else the larger.
    groups : array (rows,), optional
        Group of every row, if rows of one group may be correlated.
    sample_weight : array (rows,), optional
        Weights of the rows in the population.
    confidence : float
        Confidence level of the intervals.
    unlabeled : object, optional
        Value in y that marks unlabelled rows, in addition to missing values.
    pos_label : object, optional
        The positive class. Default: the larger label.

    Notes
    -----
    The share of positives among rows of either verdict has the posterior Beta(½ + positives, ½ + negatives), and the
    share of positive verdicts is known from all rows. Every measure is a function of these three numbers; its interval
    is that of its posterior. So labels may be chosen by verdict without a bias.

    Examples
    --------
    >>> y = ["good"] * 24 + ["bad"] * 4 + ["good"] * 2 + ["bad"] * 10 + [None] * 400
    >>> verdict = ["pass"] * 28 + ["fail"] * 12 + ["pass"] * 290 + ["fail"] * 110
    >>> found = judge_quality(y, verdict, pos_label="good")
    >>> print(found.sensitivity)
    0.9306 ± 0.0407, 95 % interval 0.8290 to 0.9840
    >>> found.disagreements.tolist()
    [24, 25, 26, 27, 28, 29]
    """
    read_share(confidence, "confidence")
    labels = decode_labels(y, unlabeled, pos_label)
    refuse_more_than_two(labels.classes)
    n_rows = len(labels.codes)
    positive = _positive_verdicts(verdict, pos_verdict, labels.classes, n_rows)
    weight = read_weights(sample_weight, n_rows)
    rows = np.flatnonzero((labels.codes != UNLABELED) & (weight > 0))
    if not len(rows):
        raise ValueError("y holds no labelled row with positive weight. Label some rows, at random if possible.")
    design, chance = read_share_sampling(sampling, rows, n_rows)
    if design == "by_class":
        raise ValueError(
            "sampling='by_class' does not say how common the classes are. Pass the probability with which every "
            "labelled row was chosen, or label rows at random or by verdict."
        )
    group = None if groups is None else read_groups(groups, n_rows)
    data = LabeledRows(rows, labels.codes[rows].astype(float), chance, weight, group)
    whole = _judge(data, positive, confidence)
    if by is None:
        return whole
    return replace(whole, groups=_judge_groups(data, positive, by, confidence))


def _positive_verdicts(verdict: Any, pos_verdict: Any, classes: AnyArray, n_rows: int) -> IntArray:
    (column,) = read_helpers({"verdict": verdict}, n_rows).values()
    found = np.unique(column.astype(str) if column.dtype.kind == "O" else column).tolist()
    if len(found) > 2:
        raise ValueError(
            f"verdict has {len(found)} different values, e.g. {found[0]} and {found[1]}; two are needed. "
            "For scores pass verdict=score > threshold."
        )
    if pos_verdict is None:
        shared = set(found) <= set(np.asarray(classes).tolist())
        pos_verdict = np.asarray(classes).tolist()[1] if shared else found[-1]
    elif pos_verdict not in found:
        raise ValueError(f"pos_verdict={pos_verdict!r} is not among the verdicts: {found}.")
    return np.asarray(column == pos_verdict).astype(int)


def _judge_groups(data: LabeledRows, positive: IntArray, by: ArrayLike, confidence: float) -> dict[Any, JudgeQuality]:
    (column,) = read_helpers({"by": by}, len(positive)).values()
    parts = {}
    for value in np.unique(column.astype(str) if column.dtype.kind == "O" else column).tolist():
        inside = column == value
        own = inside[data.rows]
        if own.any():
            weight = np.where(inside, data.weight, 0.0)
            part = LabeledRows(data.rows[own], data.label[own], data.chance[own], weight, data.group)
            parts[value] = _judge(part, positive, confidence)
    return parts


def _judge(data: LabeledRows, positive: IntArray, confidence: float) -> JudgeQuality:
    share, n, _ = labels_of_strata(data, positive, 2)
    called = float(data.weight @ positive / data.weight.sum())
    draws, probability = _posterior(share, n, called, data.row_size)
    likely = np.where(n > 0, share, 0.5)
    best = _measure(np.array([called]), likely[[0]], likely[[1]])
    values = _measure(*draws)
    wrong = data.rows[positive[data.rows] != data.label]
    sensitivity, specificity, precision, agreement, kappa, bias = (
        estimate_from_posterior(float(best[m][0]), values[m], probability, confidence) for m in MEASURES
    )
    return JudgeQuality(sensitivity, specificity, precision, agreement, kappa, bias, len(data.rows), wrong)


def _posterior(
    share: FloatArray, n: FloatArray, called: float, n_rows: float
) -> tuple[tuple[FloatArray, FloatArray, FloatArray], FloatArray]:
    """Points of the posterior, all with the same probability: share of positive verdicts, of positives in either."""
    levels = (np.arange(N_QUANTILES) + 0.5) / N_QUANTILES
    sizes = (np.arange(N_SIZES) + 0.5) / N_SIZES
    parts = [betaincinv(n_rows * called + JEFFREYS, n_rows * (1 - called) + JEFFREYS, sizes)]
    parts += [betaincinv(k + JEFFREYS, m - k + JEFFREYS, levels) for k, m in zip(share * n, n, strict=True)]
    grid = np.meshgrid(*parts, indexing="ij")
    size = grid[0].size
    return (grid[0].ravel(), grid[1].ravel(), grid[2].ravel()), np.full(size, 1 / size)


def _measure(called: FloatArray, in_negative: FloatArray, in_positive: FloatArray) -> dict[str, FloatArray]:
    """Measures from the share of positive verdicts and the shares of positives in negative and positive verdicts."""
    found, missed = called * in_positive, (1 - called) * in_negative
    share = found + missed
    rejected = (1 - called) - missed
    agreement, chance = found + rejected, called * share + (1 - called) * (1 - share)
    return {
        "sensitivity": found / np.where(share > 0, share, 1.0),
        "specificity": rejected / np.where(share < 1, 1 - share, 1.0),
        "precision": in_positive,
        "agreement": agreement,
        "kappa": np.where(chance < 1, (agreement - chance) / np.where(chance < 1, 1 - chance, 1.0), 0.0),
        "bias": called - share,
    }
