"""Estimates from rows drawn with known, unequal and changing probabilities, and the progress of the labelling."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._intervals.closed_forms import mover
from pnulearn._intervals.confidence_sequences import (
    binomial_sequence,
    confidence_sequence,
    labels_for_half_width,
    size_of_half_width,
)
from pnulearn.labeling._draws import Sample
from pnulearn.labeling._learner import HeldOut
from pnulearn.priors import PriorEstimate
from pnulearn.priors._resolve import read_share

# Shares over all rows, estimated from rows drawn with known, unequal and changing probabilities.

METHOD = "rows labelled with known chances"
# Effective sample size of held-out predictions, relative to those of one fixed model: held-out models differ from the
# model, which changes with every fit. Without it intervals at 90 % hold in 93 % of sessions if they are looked at after
# every fifth label, and in fewer if after each (benchmarks/labeling_intervals.py).
HELD_OUT = 0.85


@dataclass(frozen=True)
class Share:
    """A share with an interval.

    Parameters
    ----------
    value : float
        The estimate.
    low : float
        Lower end of the interval.
    high : float
        Upper end.
    n_effective : float
        Effective sample size: the number of rows drawn at random that would give the same precision.
    """

    value: float
    low: float
    high: float
    n_effective: float

    @property
    def half_width(self) -> float:
        """Half of the interval's length."""
        return (self.high - self.low) / 2

    def __str__(self) -> str:
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"


def state_share(value: float, n_effective: float, n_labels: float, confidence: float) -> Share:
    """The share with its interval from a confidence sequence, which is valid simultaneously after every label.

    >>> print(state_share(0.1, 100, 100, 0.95))
    0.100 [0.033, 0.214]
    """
    value = float(np.clip(value, 0, 1))
    low, high = confidence_sequence(value, n_effective, n_labels, confidence)
    return Share(value, low, high, float(n_effective) if n_labels >= 1 and n_effective > 0 else 0.0)


@dataclass(frozen=True)
class Mean:
    """An unbiased estimate of a mean over all rows, and the coefficients of its draws: its variance is Σ a² var(x)."""

    value: float
    coefficients: AnyArray


def martingale_mean(values: AnyArray, sample: Sample) -> Mean:
    """Mean over all rows of what has these values in the rows that were drawn."""
    n_left = sample.n_left
    before = np.concatenate([[0.0], np.cumsum(values)[:-1]])
    total = np.arange(len(values)) + n_left
    z = (before + n_left * values * sample.weight) / total
    b = 1 / (n_left * np.maximum(n_left - 1, 1e-9))  # the last row leaves nothing open
    b = b / b.sum()
    return Mean(float(b @ z), b * n_left / total)


def judge_error(sample: Sample, is_wrong: AnyArray, confidence: float) -> Share:
    """The error of the current model, from held-out predictions of models that are fitted to fewer labels."""
    return judge_share(sample, is_wrong, confidence, precision=HELD_OUT)


def judge_share(
    sample: Sample, has: AnyArray, confidence: float, population: bool = True, precision: float = 1.0
) -> Share:
    """The share of rows with a property, such as a held-out prediction error.

    Given the share μ, x has the variance μ (κ − μ), κ being the mean weight of rows with the property. With few such
    rows κ is shrunk towards the mean weight of all rows, so that observing none does not give zero variance. The
    effective sample size is multiplied by `precision`.
    """

    def judge(rows: AnyArray, has: AnyArray) -> Share:
        part, n = sample[rows], len(rows)
        if not n:
            return Share(np.nan, 0.0, 1.0, 0.0)
        weight = part.weight
        mean = martingale_mean(has, part)
        of_all = max(float(np.mean(weight**2)), 1.0)
        kappa = (weight**2 @ has + of_all) / (weight @ has + 1)
        value = _inside(mean.value, n)
        squares = float(mean.coefficients @ mean.coefficients)
        n_effective = (1 - value) / (max(kappa - value, 1 - value if kappa >= 1 else 1e-3) * max(squares, 1e-12))
        return state_share(mean.value, precision * _of_population(n_effective, part, population), n, confidence)

    return _over_unknown(sample, has, judge, confidence)


def judge_class(
    sample: Sample, code: int, confidence: float, held: HeldOut | None = None, population: bool = True
) -> Share:
    """The share of a class over all rows, from labels and, if available, held-out predictions as control variate."""
    is_class = sample.codes == code
    if held is None or not held.trust or not len(sample):
        return judge_share(sample, is_class, confidence, population)
    held = held.spread(sample.is_known)

    def judge(rows: AnyArray, is_class: AnyArray) -> Share:
        part, n = sample[rows], len(rows)
        surprise = is_class - held.said[rows, code]
        mean = martingale_mean(surprise, part)
        value = mean.value + float(held.everywhere[rows, code].mean())
        squares = mean.coefficients**2
        # one pseudo-observation with the largest possible error, since models are overconfident on unseen rows
        variance = float(squares @ (surprise * part.weight - mean.value) ** 2 + squares.mean())
        n_effective = _inside(value, n) * (1 - _inside(value, n)) / variance
        return state_share(value, _of_population(n_effective, part, population), n, confidence)

    return _over_unknown(sample, is_class, judge, confidence)


def _over_unknown(
    sample: Sample, has: AnyArray, judge: Callable[[AnyArray, AnyArray], Share], confidence: float
) -> Share:
    """The share of rows with a property; rows that were put off have it at one end of the interval, not at the other.

    So the interval holds whatever they are, also if the person who labels puts off the rows that a model gets wrong.
    """
    known, everyone, has = np.flatnonzero(sample.is_known), np.arange(len(sample)), np.asarray(has, dtype=float)
    found = judge(known, has[known])
    if len(known) in (0, len(sample)):
        return found
    least, most = (judge(everyone, np.where(sample.is_known, has, filled)) for filled in (0.0, 1.0))
    low, high = min(found.low, least.low), max(found.high, most.high)
    return restate(float(np.clip(found.value, low, high)), low, high, len(known), confidence)


def restate(value: float, low: float, high: float, n_labels: int, confidence: float) -> Share:
    """A share with a wider interval than its labels alone give, and the effective sample size of that width."""
    return Share(value, low, high, size_of_half_width(value, (high - low) / 2, n_labels, confidence))


def judge_prior(
    sample: Sample, n_classes: int, confidence: float, held: HeldOut | None = None, population: bool = True
) -> list[Share]:
    """The shares of all classes."""
    return [judge_class(sample, code, confidence, held, population) for code in range(n_classes)]


# Wrong answers: a few rows are asked twice.


@dataclass(frozen=True)
class AnswerErrors:
    """How often an answer is wrong, from rows that were asked twice.

    Every answer is assumed to be wrong with the same probability, independently of the row and of other answers, and a
    wrong one to be any other class.

    Parameters
    ----------
    n_repeated : int
        Rows that were asked twice.
    n_different : int
        Rows with two different answers.
    rate : Share
        The probability that an answer is wrong; its interval is valid simultaneously after every repeated row.
    n_classes : int
        How many classes there are.
    """

    n_repeated: int
    n_different: int
    rate: Share
    n_classes: int

    @classmethod
    def of(cls, repeated: Sequence[tuple[int, int]], n_classes: int, confidence: float) -> AnswerErrors | None:
        """From first and second answers; None if no row was asked twice.

        >>> AnswerErrors.of([(0, 0)] * 19 + [(0, 1)], 2, 0.95).rate.value.__round__(3)
        0.026

        Parameters
        ----------
        repeated : sequence of (int, int)
            The first and the second answer to every row that was asked twice.
        n_classes : int
            How many classes there are.
        confidence : float
            Of the interval.
        """
        if not repeated:
            return None
        n, n_different = len(repeated), sum(first != second for first, second in repeated)
        coincide = 1 / (n_classes - 1)

        def rate(different: float) -> float:
            """ε with 1 − (1 − ε)² − ε² / (K − 1) = P(two answers differ)."""
            return (1 - float(np.sqrt(max(1 - (1 + coincide) * different, 0.0)))) / (1 + coincide)

        low, high = binomial_sequence(n_different, n, confidence)
        return cls(n, n_different, Share(rate(n_different / n), rate(low), rate(high), float(n)), n_classes)

    def correct(self, share: Share, n_labels: int, confidence: float, is_class: bool = False) -> Share:
        """A share of errors, or of a class, corrected for wrong answers.

        A share μ appears as μ (1 − ε) + (1 − μ) ε for two classes. For the lower end the uncertainties of the appearing
        share and of ε are joined by MOVER. The upper end is that for the least ε, because a rate from few repeated rows
        may be too high by chance, and the estimate then far too low.

        Parameters
        ----------
        share : Share
            As it appears.
        n_labels : int
            Labels so far.
        confidence : float
            Of its interval.
        is_class : bool
            Whether it is the share of a class.
        """
        if not np.isfinite(share.value):
            return share
        coincide = 1 / (self.n_classes - 1)
        raised = coincide if is_class else 1.0

        def true(seen: float, rate: float) -> float:
            return (seen - raised * rate) / max(1 - (1 + coincide) * rate, 1e-9)

        rate = self.rate
        value, of_rate = true(share.value, rate.value), [true(share.value, end) for end in (rate.low, rate.high)]
        down, _ = mover([(value - true(share.low, rate.value), 0.0), (value - min(value, *of_rate), 0.0)])
        high = max(true(share.high, end) for end in (rate.low, rate.high))
        value, low, high = np.clip([value, value - down, high], 0, 1).tolist()
        return restate(value, low, high, n_labels, confidence)


# The shares as a prior.


def as_prior(shares: list[Share]) -> PriorEstimate | None:
    """The shares as a prior distribution for classifiers; None without data."""
    size = float(np.mean([share.n_effective for share in shares]))
    if not size > 0:
        return None
    values = np.array([share.value for share in shares])
    estimate = PriorEstimate.of_counts(size * values / max(values.sum(), 1e-9))
    return PriorEstimate(
        estimate.value, METHOD, estimate.raw, estimate.confidence, estimate.mass, estimate.concentration
    )


def _inside(value: float, n: int) -> float:
    """The share, clipped away from 0 and 1 by what n rows can distinguish."""
    return float(np.clip(value, 0.5 / (n + 1), 1 - 0.5 / (n + 1)))


def _of_population(n_effective: float, sample: Sample, population: bool) -> float:
    """Evidence about the rows' population, of which all rows of the table are themselves a sample."""
    n_rows = sample.n_left[0]
    return 1 / (1 / n_effective + 1 / n_rows) if population else n_effective


# Progress of the labelling: estimates, their precision, and the expected effect of more labels.

NEXT = 10  # labels that the forecast is about


@dataclass(frozen=True)
class Goal:
    """Target half-widths of the confidence intervals; None for no target.

    Parameters
    ----------
    error : float or None
        Of the error.
    prior : float or None
        Of every class's share.
    """

    error: float | None = 0.05
    prior: float | None = None

    @classmethod
    def of(cls, wished: float | Goal) -> Goal:
        """A goal from a half-width or a `Goal`; raises if a half-width is not between 0 and 1.

        Parameters
        ----------
        wished : float or Goal
            The half-width of the error's interval, or of more.
        """
        goal = wished if isinstance(wished, Goal) else cls(error=read_share(wished, "goal"))
        for width in (goal.error, goal.prior):
            if width is not None and not 0 < width < 1:
                raise ValueError(f"A half-width lies between 0 and 1, such as 0.05 for plus or minus 5 %; got {width}.")
        return goal


@dataclass(frozen=True)
class LabelingProgress:
    """Estimates after a number of labels.

    The intervals are confidence sequences: with the stated confidence they are valid after every label simultaneously,
    so one may look after every label and stop at any time.

    Parameters
    ----------
    n_labels : int
        Answers used to evaluate the model: those of drawn rows, not labels that existed before.
    counts : dict
        Labels of every class, labels from before included.
    error : Share or None
        The model's error in the population; None if no rows are drawn at random, so that it cannot be estimated.
    prior : dict
        The share of every class in the population; empty likewise.
    confidence : float
        Of the intervals.
    goal : Goal
        The target half-widths.
    n_left : int
        Rows that were neither labelled nor asked.
    n_more : int or None
        About how many labels more reach the goal; None if more than all rows that are left.
    after_ten : float or None
        The half-width of the error's interval that is expected after ten more labels.
    model : classifier or None
        The model that was evaluated; None while it is the baseline "always the most frequent class".
    prior_estimate : PriorEstimate or None
        The shares as a distribution, as classifiers take it.
    n_open : int
        Rows that were drawn and put off. They count as unknown: the intervals hold whatever they are.
    answer_errors : AnswerErrors or None
        How often answers are wrong, which the intervals allow for; None if no row was asked twice.
    """

    n_labels: int
    counts: dict[Hashable, int]
    error: Share | None
    prior: dict[Hashable, Share]
    confidence: float
    goal: Goal
    n_left: int = 0
    n_more: int | None = None
    after_ten: float | None = None
    model: Any = field(default=None, repr=False)
    prior_estimate: PriorEstimate | None = field(default=None, repr=False)
    n_open: int = 0
    answer_errors: AnswerErrors | None = None

    @property
    def meaning(self) -> str:
        """What the interval of the error means, in plain words; empty without an estimate."""
        if self.error is None or not np.isfinite(self.error.value):
            return ""
        whose = "the current model" if self.model is not None else "always answering the most frequent class"
        words = [
            f"If you label like this in a hundred projects, the true error of {whose}, in all rows of this kind, stays "
            f"between the two ends from the first label to the last in about {100 * self.confidence:.0f} of them. So "
            "you may look after every answer and stop whenever you like."
        ]
        if self.n_open:
            rows = (
                "1 row that was put off counts" if self.n_open == 1 else f"{self.n_open} rows that were put off count"
            )
            words.append(f"{rows} as unknown, so the interval is wider until answered.")
        checked = self.answer_errors
        if checked is None:
            words.append("All answers are taken to be right: a wrong answer looks like an error of the model.")
        else:
            words.append(
                f"Of {checked.n_repeated} rows that were asked twice, {checked.n_different} had two different answers. "
                f"So up to {100 * checked.rate.high:.0f} % of the answers may be wrong; the interval allows for that."
            )
        return " ".join(words)

    @property
    def is_enough(self) -> bool:
        """Whether the intervals have reached the target width."""
        return self.n_more == 0

    def knowing(
        self, error: Share, prior: dict[Hashable, Share], prior_estimate: PriorEstimate | None
    ) -> LabelingProgress:
        """A copy with these estimates of error and class shares.

        Parameters
        ----------
        error : Share
            The model's error.
        prior : dict
            The share of every class.
        prior_estimate : PriorEstimate or None
            The shares as a distribution.
        """
        return replace(self, error=error, prior=prior, prior_estimate=prior_estimate).aimed(self.goal)

    def aimed(self, goal: Goal) -> LabelingProgress:
        """A copy with another goal and the forecast for it.

        Parameters
        ----------
        goal : Goal
            The target half-widths.
        """
        more, later = forecast(self, goal)
        return replace(self, goal=goal, n_more=more, after_ten=later)


def forecast(progress: LabelingProgress, goal: Goal) -> tuple[int | None, float | None]:
    """Labels until the goal is reached (None: never), and the error's half-width after ten more."""
    n_labels, n_left, error, confidence = progress.n_labels, progress.n_left, progress.error, progress.confidence
    if not n_labels or error is None:
        return None, None
    needs = [
        labels_for_half_width(share.value, share.n_effective, n_labels, width, confidence, n_left)
        for width, shares in ((goal.error, [error]), (goal.prior, list(progress.prior.values())))
        if width is not None
        for share in shares
    ]
    more = None if not needs or None in needs else max(need for need in needs if need is not None)
    n = n_labels + min(NEXT, n_left)
    later = state_share(error.value, error.n_effective * n / n_labels, n, confidence)
    return more, later.half_width
