"""Sample size planning: labels needed for an interval of a given width, or to detect a difference of two models."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from numbers import Real
from typing import Any

import numpy as np
from scipy.stats import binom

from pnulearn._intervals.closed_forms import power_of_z_test
from pnulearn._intervals.post_stratification import matched_beta_interval, stratified_share
from pnulearn._intervals.posterior_grids import ContradictedPrior, error_posterior, weighted_interval
from pnulearn._numbers import read_count
from pnulearn._problem.samples import Sampling, read_sampling
from pnulearn.metrics._judge import JudgeQuality
from pnulearn.priors._estimate import PriorEstimate
from pnulearn.priors._resolve import read_prior, read_share
from pnulearn.theory import Psi

MOST_LABELS = 100_000
N_OUTCOMES = 4  # quantiles of the number of errors in each class that represent its distribution
N_QUANTILES = 40


@dataclass(frozen=True)
class LabelsNeeded:
    """Number of labels needed to reach a goal; `str()` describes it in one sentence.

    Parameters
    ----------
    n_positive : int
        Labelled positive rows in total; the expected number if labels are drawn at random.
    n_negative : int
        Labelled negative rows in total.
    sampling : str
        "by_class" or "random".
    reached : float
        Expected width of the interval with this number of labels, or the power of the comparison.
    wish : str
        The goal, in words.
    """

    n_positive: int
    n_negative: int
    sampling: Sampling
    reached: float
    wish: str

    @property
    def total(self) -> int:
        """Labels of both classes."""
        return self.n_positive + self.n_negative

    def __str__(self) -> str:
        number = (
            f"{self.total} labels drawn at random"
            if self.sampling == "random"
            else f"{self.n_positive} labelled positive and {self.n_negative} labelled negative rows"
        )
        return f"{self.wish}: {number} in all."


def labels_for_width(
    width: float,
    prior: Any,
    *,
    error_rates: tuple[float, float] = (0.2, 0.2),
    n_unlabeled: int = 0,
    sampling: Sampling = "by_class",
    helper: tuple[float, float] | JudgeQuality | None = None,
    confidence: float = 0.95,
) -> LabelsNeeded:
    """Labels needed for an expected width (upper minus lower end) of the interval of the error rate.

    Parameters
    ----------
    width : float
        Desired width, e.g. 0.05.
    prior : float, (float, float), distribution or PriorEstimate
        Class prior: share of positives in the population. If it is uncertain, the desired width may be out of reach
        with labels gathered by class; labels drawn at random also estimate the prior.
    error_rates : (float, float)
        Assumed false negative rate and false positive rate of the model.
    n_unlabeled : int
        Number of unlabelled rows.
    sampling : "by_class" or "random"
        Equally many labels of both classes, or labels drawn at random from the population.
    helper : (float, float) or JudgeQuality, optional
        Sensitivity and specificity of a second model whose predictions are known for all rows (`helper` of `pnu_risk`):
        two numbers, or what `judge_quality` found on the labels so far. Its errors are assumed to be independent of the
        model's within a class. Requires unlabelled rows. With labels by class the numbers are cautious: intervals come
        out about 15 % narrower than asked, because what the prior and the class counts add is left out.
    confidence : float
        Confidence level of the interval.

    Examples
    --------
    >>> print(labels_for_width(0.1, 0.3, n_unlabeled=2000))
    95 % interval of the error no wider than 0.1: 79 labelled positive and 79 labelled negative rows in all.
    >>> print(labels_for_width(0.1, 0.3, n_unlabeled=2000, helper=(0.9, 0.9)))
    95 % interval of the error no wider than 0.1: 66 labelled positive and 66 labelled negative rows in all.
    """
    class_prior, wish = read_prior(prior), read_share(width, "width")
    rates, n_unlabeled = read_error_rates(error_rates), read_count("n_unlabeled", n_unlabeled, 0)
    sampling = read_sampling(sampling)
    read_share(confidence, "confidence")

    second = None if helper is None else _read_judge(helper, "helper")
    if second is not None and not n_unlabeled:
        raise ValueError("helper= needs unlabelled rows: pass n_unlabeled=..., the number of rows that it predicts.")

    def expected(n: int) -> float:
        alone = expected_width(n, class_prior, rates, n_unlabeled, sampling, confidence)
        if second is None:
            return alone
        return min(alone, _helped_width(n, float(class_prior.mean), rates, second, n_unlabeled, sampling, confidence))

    n = _first(lambda n: expected(n) <= wish) if expected(MOST_LABELS) <= wish else None
    if n is None:
        raise ValueError(
            f"No number of labels reaches a width of {wish:g}: {MOST_LABELS:,} labels give a width of "
            f"{expected(MOST_LABELS):.3f}, because the prior is not known well enough. Draw labels at random, or pass "
            "a narrower prior."
        )
    text = f"{100 * confidence:g} % interval of the error no wider than {wish:g}"
    return _needed(n, float(class_prior.mean), sampling, expected(n), text)


def labels_for_share(
    width: float,
    share: float,
    *,
    judge: tuple[float, float] | JudgeQuality | None = None,
    n_rows: int | None = None,
    confidence: float = 0.95,
) -> LabelsNeeded:
    """Random labels that `pnu_share` needs for an expected width (upper minus lower end) of the interval of the share.

    Parameters
    ----------
    width : float
        Desired width, e.g. 0.1.
    share : float
        Expected share of positives, e.g. the value of `pnu_share` on the labels so far.
    judge : (float, float) or JudgeQuality, optional
        Sensitivity and specificity of a judge whose verdicts are known for all rows: two numbers, or what
        `judge_quality` found on the labels so far. Default: no judge.
    n_rows : int, optional
        Number of all rows, labelled or not. Default: unlimited.
    confidence : float
        Confidence level of the interval.

    Examples
    --------
    >>> print(labels_for_share(0.1, 0.7))
    95 % interval of the share no wider than 0.1: 321 labels drawn at random in all.
    >>> print(labels_for_share(0.1, 0.7, judge=(0.9, 0.8)))
    95 % interval of the share no wider than 0.1: 169 labels drawn at random in all.
    """
    wish, theta = read_share(width, "width"), read_share(share, "share")
    read_share(confidence, "confidence")
    rows = float("inf") if n_rows is None else float(read_count("n_rows", n_rows, 1))
    size, positive = np.array([1.0]), np.array([theta])
    if judge is not None:
        sensitivity, specificity = _read_judge(judge, "judge")
        called = theta * sensitivity + (1 - theta) * (1 - specificity)
        size = np.array([called, 1 - called])
        positive = np.array([theta * sensitivity, theta * (1 - sensitivity)]) / size

    def expected(n: int) -> float:
        found = stratified_share(n * size * positive, n * size, size, rows)
        low, high = matched_beta_interval(found.mean, found.variance, confidence)
        return high - low

    n = _first(lambda n: expected(n) <= wish) if expected(MOST_LABELS) <= wish else None
    if n is None or n > rows:
        raise ValueError(
            f"No number of labels reaches a width of {wish:g} with {rows:g} rows: all of them give about "
            f"{expected(int(min(rows, MOST_LABELS))):.3f}. Collect more rows, or accept a wider interval."
        )
    text = f"{100 * confidence:g} % interval of the share no wider than {wish:g}"
    return _needed(n, theta, "random", expected(n), text)


def expected_width(
    n: int,
    class_prior: PriorEstimate,
    error_rates: tuple[float, float],
    n_unlabeled: int,
    sampling: Sampling,
    confidence: float,
) -> float:
    """Expected width of the interval with n labels per class, or n random labels: a mean over error counts."""
    theta = float(class_prior.mean)
    sizes = np.array([n * theta, n * (1 - theta)]) if sampling == "random" else np.array([n, n], dtype=float)
    sizes = np.maximum(np.round(sizes), 1)
    if sampling == "random" and class_prior.spread:
        class_prior = class_prior.combine(PriorEstimate.of_counts(sizes[::-1]))
    called = theta * (1 - error_rates[0]) + (1 - theta) * error_rates[1]
    outcomes = [_typical_shares(int(size), rate) for size, rate in zip(sizes, error_rates, strict=True)]
    widths = []
    for fnr, fpr in product(*outcomes):
        share, size = np.array([fnr, fpr, called]), np.array([*sizes, n_unlabeled], dtype=float)
        try:
            errors, probability = error_posterior(share, size, class_prior, N_QUANTILES)
        except ContradictedPrior:  # these error counts contradict the predictions on U
            continue
        low, high = weighted_interval(errors, probability, confidence)
        widths.append(high - low)
    return float(np.mean(widths)) if widths else 1.0


def _read_judge(judge: Any, name: str) -> tuple[float, float]:
    """Sensitivity and specificity, away from 0 and 1."""
    rates = (judge.sensitivity.value, judge.specificity.value) if isinstance(judge, JudgeQuality) else judge
    if isinstance(judge, JudgeQuality):
        rates = tuple(float(np.clip(rate, 1e-6, 1 - 1e-6)) for rate in rates)
    return read_error_rates(rates, name)


def _helped_width(
    n: int,
    theta: float,
    rates: tuple[float, float],
    second: tuple[float, float],
    n_unlabeled: int,
    sampling: Sampling,
    confidence: float,
) -> float:
    """Expected width of the interval with a second model's predictions: strata of both models' predictions.

    n labels of each class count as the number of random labels that give the same variance without a second model.
    """
    called = {1: (1 - rates[0], second[0]), 0: (rates[1], 1 - second[1])}  # probabilities of a positive prediction
    sizes, wrong = [], []
    for first, other in product((1, 0), repeat=2):
        mass = {
            y: weight * (a if first else 1 - a) * (b if other else 1 - b)
            for (y, (a, b)), weight in zip(called.items(), (theta, 1 - theta), strict=True)
        }
        sizes.append(mass[0] + mass[1])
        wrong.append(mass[1 - first] / sizes[-1])
    size, share, labels = np.array(sizes), np.array(wrong), float(n)
    if sampling == "by_class":
        mean, (fnr, fpr) = float(size @ share), rates
        labels *= mean * (1 - mean) / (theta**2 * fnr * (1 - fnr) + (1 - theta) ** 2 * fpr * (1 - fpr))
    found = stratified_share(labels * size * share, labels * size, size, labels + n_unlabeled)
    low, high = matched_beta_interval(found.mean, found.variance, confidence)
    return high - low


def _typical_shares(n: int, rate: float) -> list[float]:
    levels = (np.arange(N_OUTCOMES) + 0.5) / N_OUTCOMES
    return (binom.ppf(levels, n, rate) / n).tolist()


def labels_for_difference(
    difference: float,
    prior: Any,
    *,
    disagreement: float,
    n_unlabeled: int = 0,
    sampling: Sampling = "by_class",
    power: float = 0.8,
    confidence: float = 0.95,
) -> LabelsNeeded:
    """Labels that `compare` needs to detect this difference of two error rates.

    Parameters
    ----------
    difference : float
        Difference of the two error rates, e.g. 0.03.
    prior : float, (float, float), distribution or PriorEstimate
        Class prior: share of positives in the population.
    disagreement : float
        Share of rows on which the two models disagree. Unlabelled rows suffice to measure it.
    n_unlabeled : int
        Number of unlabelled rows.
    sampling : "by_class" or "random"
        Equally many labels of both classes, or labels drawn at random from the population.
    power : float
        Probability of detecting the difference.
    confidence : float
        Confidence level of the interval of the difference.

    Examples
    --------
    >>> print(labels_for_difference(0.05, 0.5, disagreement=0.1))
    A difference of 0.05 found with probability 0.8: 154 labelled positive and 154 labelled negative rows in all.
    """
    gap, share = read_share(difference, "difference"), read_share(disagreement, "disagreement")
    if gap > share:
        raise ValueError(
            f"difference={gap:g} is more than disagreement={share:g}: models that disagree on so few rows cannot "
            "differ so much in their errors."
        )
    n_unlabeled = read_count("n_unlabeled", n_unlabeled, 0)
    theta, level = float(read_prior(prior).mean), read_share(power, "power")
    sampling = read_sampling(sampling)
    confidence = read_share(confidence, "confidence")

    def reached(n: int) -> float:
        one = max(share - gap**2, 1e-12)
        if sampling == "random":
            variance = one / n
        else:
            psi = Psi(theta**2 * one / n, (1 - theta) ** 2 * one / n, one / n_unlabeled if n_unlabeled else np.inf)
            variance = psi.variance(psi.best_mix)
        return power_of_z_test(gap, variance, confidence)

    n = _first(lambda n: reached(n) >= level)
    if n is None:
        raise ValueError(f"More than {MOST_LABELS:,} labels would be needed to find a difference of {gap:g}.")
    return _needed(n, theta, sampling, reached(n), f"A difference of {gap:g} found with probability {level:g}")


def _first(enough: Callable[[int], bool]) -> int | None:
    """Smallest sufficient number of labels, by doubling and bisection; None if it exceeds `MOST_LABELS`."""
    high = 2
    while not enough(high):
        if high >= MOST_LABELS:
            return None
        high = min(2 * high, MOST_LABELS)
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _needed(n: int, prior: float, sampling: Sampling, reached: float, wish: str) -> LabelsNeeded:
    if sampling == "random":
        positive = round(n * prior)
        return LabelsNeeded(positive, n - positive, sampling, reached, wish)
    return LabelsNeeded(n, n, sampling, reached, wish)


def read_error_rates(rates: Any, name: str = "error_rates") -> tuple[float, float]:
    """Two validated rates, such as the false negative rate and the false positive rate."""
    if np.shape(rates) != (2,) or not all(isinstance(rate, Real) and 0 < float(rate) < 1 for rate in rates):
        raise ValueError(f"{name} must be two shares strictly between 0 and 1, got {rates!r}.")
    return float(rates[0]), float(rates[1])
