"""Intervals of error rates and functions of them by inverting score tests: they hold near 0 and 1 and with few rows.

A decision rule has the error rates a = FNR and b = FPR. Errors are counted on P and N, and the share
q = θ (1 − a) + (1 − θ) b of positive predictions on U. Cost, recall, precision, F1 and lift have one thing in common:
all pairs (a, b) that give one value form a line c₁ a + c₂ b = c₀. A value is tested as follows.

1. The most likely pair on its line (restricted maximum likelihood).
2. The statistic is the estimate of c₁ a + c₂ b with the PNU mix of least variance at that pair: the efficient score.
   The mix depends on the tested value, not on the rows, so choosing it costs no coverage.
3. Its mid-p value: errors of P and N are binomial, or normal with a correction for skewness if their variance is large,
   and U is normal with the same correction.

The interval holds all values that are not rejected at either side. An uncertain prior is averaged over: the p-value is
the mean of those under its quantiles, as posterior tail probabilities are. Sizes may be effective sizes, not integers.

References
----------
Rao (1948), Large sample tests of statistical hypotheses. Lancaster (1961), Significance tests in discrete
distributions, JASA 56, for mid-p. Miettinen and Nurminen (1985), Comparative analysis of two rates, Statistics in
Medicine 4, for restricted estimates in intervals of two rates.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import gammaln, ndtr

from pnulearn._arrays import AnyArray
from pnulearn._intervals.closed_forms import ClassPrior, correlated_mover, tail_levels
from pnulearn._intervals.posterior_grids import DecisionRates, weigh_evidence

LATTICE = 17  # numbers of errors of one class that are summed over
NORMAL_FROM = 3.0  # variance of a class's number of errors from which it is treated as normal: 4.6 deviations fit
NEGLIGIBLE = 1e-12  # probability
IMPOSSIBLE = 1e-9  # p-value at the best or the worst possible value
BEYOND_DOUBT = 1e-6  # p-value
HALVINGS = 28  # of a segment; the statistic is orthogonal to the error that is left, so its effect is of second order
COARSE, FINE, REFINEMENTS = 33, 8, 2  # points of the search for the ends
PLACES = np.linspace(0, 1, COARSE)
N_PRIORS, WIDEST = 17, 3.0  # normal deviates whose quantiles represent an uncertain prior
N_QUANTILES = 801
SMALLEST = 1e-12  # error rates are kept this far from 0 and 1
TIE = 1e-7  # relative to the step of one row: a floor for the normal part, so that ties count a half

Line = Callable[[AnyArray, AnyArray], tuple[AnyArray, AnyArray, AnyArray]]


@dataclass(frozen=True)
class Measure:
    """A function of the error rates whose level sets are lines c₁ a + c₂ b = c₀.

    Parameters
    ----------
    line : function
        (value, θ) to (c₀, c₁, c₂), with c₁ and c₂ not negative.
    best, worst : float
        The values of a perfect and of an entirely wrong rule, for every θ. They are the ends of its range.
    """

    line: Line
    best: float
    worst: float

    def of_population(self, prior: Callable[[AnyArray], AnyArray]) -> Measure:
        """The measure in a population whose class prior is this function of the share of positives in U."""
        return replace(self, line=lambda value, of_unlabeled: self.line(value, prior(of_unlabeled)))


def cost_measure(prior: ClassPrior, costs: tuple[float, float] = (1.0, 1.0)) -> Measure:
    """Cost per row, c_fn θ a + c_fp (1 − θ) b; with equal costs of 1 the error rate."""
    shares = prior_nodes(prior)[0]
    most = float(np.max(costs[0] * shares + costs[1] * (1 - shares)))
    return Measure(lambda u, t: (u, costs[0] * t, costs[1] * (1 - t)), 0.0, most)


def _recall(value: AnyArray, prior: AnyArray) -> tuple[AnyArray, AnyArray, AnyArray]:
    return 1 - value, np.ones_like(prior), np.zeros_like(prior)


def _precision(value: AnyArray, prior: AnyArray) -> tuple[AnyArray, AnyArray, AnyArray]:
    return prior * (1 - value), prior * (1 - value), (1 - prior) * value


def _f1(value: AnyArray, prior: AnyArray) -> tuple[AnyArray, AnyArray, AnyArray]:
    return 2 * prior * (1 - value), prior * (2 - value), (1 - prior) * value


RECALL, PRECISION, F1 = (Measure(line, 1.0, 0.0) for line in (_recall, _precision, _f1))


def other_class(measure: Measure) -> Measure:
    """The same measure of the negative class, e.g. the specificity from the recall."""

    def line(value: AnyArray, prior: AnyArray) -> tuple[AnyArray, AnyArray, AnyArray]:
        c0, own, other = measure.line(value, 1 - prior)
        return c0, other, own

    return Measure(line, measure.best, measure.worst)


def lift_measure(prior: ClassPrior, positive: bool = True) -> Measure:
    """Precision of a class divided by its share."""
    shares = prior_nodes(prior)[0] if positive else 1 - prior_nodes(prior)[0]
    measure = Measure(lambda v, t: _precision(v * t, t), 1 / float(shares.min()), 0.0)
    return measure if positive else other_class(measure)


def gain_measure(prior: ClassPrior, positive: bool, costs: tuple[float, float] = (1.0, 1.0)) -> Measure:
    """Cost per row of always predicting one class, the positive one or the other, minus the cost of the rule."""

    def always(share: AnyArray) -> AnyArray:
        return costs[1] * (1 - share) if positive else costs[0] * share

    def line(value: AnyArray, prior: AnyArray) -> tuple[AnyArray, AnyArray, AnyArray]:
        return always(prior) - value, costs[0] * prior, costs[1] * (1 - prior)

    shares = prior_nodes(prior)[0]
    worst = always(shares) - costs[0] * shares - costs[1] * (1 - shares)
    return Measure(line, float(always(shares).max()), float(worst.min()))


def rate_interval(
    share: AnyArray,
    size: AnyArray,
    prior: ClassPrior,
    measure: Measure,
    confidence: float,
    prior_evidence: float = 0.0,
) -> tuple[float, float]:
    """Interval of a function of the error rates of a decision rule.

    Parameters
    ----------
    share : array (3,)
        Error share of P, error share of N, and share of U predicted positive.
    size : array (3,)
        Effective sample sizes of P, N and U. One of them may be 0.
    prior : ClassPrior
        Class prior and its uncertainty.
    measure : Measure
        The function.
    confidence : float
        Confidence level of the interval.
    prior_evidence : float
        Power of the likelihood of the prior, as in `posterior_grids.decision_rates_posterior`.

    Notes
    -----
    An end is the best value if the labelled rows show no error that lowers it, and the worst if all of them are errors,
    unless the test excludes it beyond doubt: many unlabelled rows under a known prior exclude what few labels allow.
    If the rows contradict even the best value (or the worst), the level of that end is lowered to a quarter of its
    p-value, so that the interval is never empty. Assumes independent random rows of each class and of
    the population, and a correct prior.

    Examples
    --------
    >>> from pnulearn.priors import PriorEstimate
    >>> share, size = np.array([0.0, 0.1, 0.38]), np.array([10.0, 10.0, 300.0])
    >>> prior = PriorEstimate.known(0.4)
    >>> low, high = rate_interval(share, size, prior, cost_measure(prior), 0.95)
    >>> round(low, 3), round(high, 3)
    (0.002, 0.201)
    """
    share, size = np.asarray(share, dtype=float), np.asarray(size, dtype=float)
    points, weight = prior_nodes(prior)
    if prior_evidence and size.all():
        logs = prior_evidence * np.array([DecisionRates(share, size, float(point)).agreement for point in points])
        weight = weight * np.exp(logs - logs.max())
    weight = weight / weight.sum()

    def rejected(places: AnyArray) -> AnyArray:
        """Mean p-value against worse values, at places from 0 (best value) to 1 (worst)."""
        values = measure.best + (measure.worst - measure.best) * np.sin(places * np.pi / 2) ** 2
        return np.asarray(
            (weight[:, None] * lower_tail(measure, values, share, size, points[:, None], prior.spread)).sum(axis=0)
        )

    coarse = rejected(PLACES)
    levels = levels_of_ends(float(coarse[0]), float(coarse[-1]), confidence)
    if levels is None:
        return min(measure.best, measure.worst), max(measure.best, measure.worst)
    # U has no weight at the ends themselves, so it is asked next to them.
    too_good, too_bad = coarse[1] > 1 - BEYOND_DOUBT, coarse[-2] < BEYOND_DOUBT
    coarse[0], coarse[-1] = 1.0 if too_good else coarse[0], 0.0 if too_bad else coarse[-1]
    ends = crossings(rejected, coarse, levels)
    best, worst = (measure.line(np.full(len(points), end), points) for end in (measure.best, measure.worst))
    if _all_seen(best, share, size, 0.0) and not too_good:
        ends[0] = 0.0
    if _all_seen(worst, share, size, 1.0) and not too_bad:
        ends[1] = 1.0
    values = measure.best + (measure.worst - measure.best) * np.sin(np.array(ends) * np.pi / 2) ** 2
    return float(values.min()), float(values.max())


def cost_interval(
    share: AnyArray,
    size: AnyArray,
    prior: ClassPrior,
    confidence: float,
    costs: tuple[float, float] = (1.0, 1.0),
    own_prior: bool = False,
) -> tuple[float, float]:
    """`rate_interval` of the error rate, or of the cost per row, with the assumptions of `error_posterior`."""
    share, size, power = weigh_evidence(share, size, prior, own_prior)
    return rate_interval(share, size, prior, cost_measure(prior, costs), confidence, power)


def difference_interval(
    share: AnyArray,
    size: AnyArray,
    prior: ClassPrior,
    confidence: float,
    costs: tuple[float, float] = (1.0, 1.0),
) -> tuple[float, float]:
    """Interval of the cost per row of a first decision rule minus that of a second one on the same rows.

    Parameters
    ----------
    share : array (2, 3)
        Shares of P, N and U that the first rule predicts positive and the second negative, and in row 1 the reverse.
    size : array (2, 3)
        Effective sample sizes of P, N and U, for either row.
    prior : ClassPrior
        Class prior and its uncertainty.
    confidence : float
        Confidence level of the interval.
    costs : (float, float)
        Cost of a false negative and cost of a false positive.

    Notes
    -----
    "Only the first is positive" and "only the second is positive" are decision rules themselves: the difference is the
    gain of the second of them over always predicting negative, minus the gain of the first. Each has a `rate_interval`;
    MOVER joins them, with the correlation of two cells of a multinomial distribution. So few disagreements say as
    little as they do, and U bounds them. Assumes independent random rows and a correct prior.

    References
    ----------
    Newcombe (1998), Improved confidence intervals for the difference between binomial proportions based on paired data.
    Statistics in Medicine 17. Zou and Donner (2008), Statistics in Medicine 27.

    Examples
    --------
    >>> from pnulearn.priors import PriorEstimate
    >>> share, size = np.array([[0.2, 0.0, 0.1], [0.0, 0.05, 0.03]]), np.array([[20.0, 20.0, 500.0]] * 2)
    >>> low, high = difference_interval(share, size, PriorEstimate.known(0.4), 0.95)
    >>> round(low, 3), round(high, 3)
    (-0.159, 0.007)
    """
    measure, theta = gain_measure(prior, False, costs), float(prior.mean)
    gains, seen = [], []
    for called, n in zip(np.asarray(share, dtype=float), np.asarray(size, dtype=float), strict=True):
        errors = np.array([1 - called[0], called[1], called[2]])
        low, high = rate_interval(errors, n, prior, measure, confidence)
        rates = DecisionRates(errors, n, theta).fit()
        value = theta * costs[0] * (1 - rates[0]) - (1 - theta) * costs[1] * rates[1]
        gains.append((low, float(np.clip(value, low, high)), high))
        seen.append(called[2] if n[2] else theta * called[0] + (1 - theta) * called[1])
    (low_a, gain_a, high_a), (low_b, gain_b, high_b) = gains
    odds = [max(part, 0.0) / max(1 - part, SMALLEST) for part in seen]
    correlation = -float(np.sqrt(min(odds[0] * odds[1], 1.0)))
    difference = gain_b - gain_a
    down = correlated_mover(gain_b - low_b, high_a - gain_a, correlation)
    return difference - down, difference + correlated_mover(high_b - gain_b, gain_a - low_a, correlation)


def prior_nodes(prior: ClassPrior) -> tuple[AnyArray, AnyArray]:
    """Quantiles of the prior at evenly spaced normal deviates, and their weights; the prior alone if it is known."""
    if not prior.spread:
        return np.array([float(prior.mean)]), np.ones(1)
    deviates = np.linspace(-WIDEST, WIDEST, N_PRIORS)
    quantiles = prior.points(N_QUANTILES)
    return quantiles[np.minimum((ndtr(deviates) * N_QUANTILES).astype(int), N_QUANTILES - 1)], np.exp(
        -(deviates**2) / 2
    )


def _all_seen(line: Sequence[AnyArray], share: AnyArray, size: AnyArray, errors: float) -> bool:
    """Whether the labelled rows that matter at an end of the range all look like it."""
    matters = [bool((part > 0).any()) for part in line[1:]]
    possible = bool((line[0] >= 0).all() and (line[0] <= line[1] + line[2]).all())
    return possible and all(size[k] > 0 and share[k] == errors for k in (0, 1) if matters[k])


def levels_of_ends(best_tail: float, worst_tail: float, confidence: float) -> tuple[float, float] | None:
    """p-values at the ends of an interval, from those at the best and at the worst possible value.

    If the rows contradict even one of these, the level of that end is lowered to a quarter of its p-value, so that the
    interval is never empty. None if no value agrees with P, N and U under this prior.
    """
    if min(best_tail, 1 - worst_tail) < IMPOSSIBLE:
        return None
    level = tail_levels(confidence)[0]
    return 1 - min(level, (1 - worst_tail) / 4), min(level, best_tail / 4)


def crossings(function: Callable[[AnyArray], AnyArray], coarse: AnyArray, levels: Sequence[float]) -> list[float]:
    """Where a function that falls from 1 to 0 on [0, 1] crosses the upper level first and the lower one last.

    `coarse` has its values at `PLACES`.
    """
    x, y = [PLACES, PLACES], [coarse, coarse]
    for refinement in range(REFINEMENTS + 1):
        for k, level in enumerate(levels):
            above = y[k] > level
            first = int(np.argmin(above)) if not above.all() else len(above)
            last = int(np.flatnonzero(above).max(initial=-1)) + 1
            after = first if k == 0 else last
            inner = slice(max(after - 1, 0), min(after, len(x[k]) - 1) + 1)
            x[k], y[k] = x[k][inner], y[k][inner]
        if refinement < REFINEMENTS:
            x = [np.linspace(part[0], part[-1], FINE) for part in x]
            inside = np.split(function(np.concatenate([part[1:-1] for part in x])), 2)
            y = [np.array([old[0], *new, old[-1]]) for old, new in zip(y, inside, strict=True)]
    return [_interpolate(part, height, level) for part, height, level in zip(x, y, levels, strict=True)]


def _interpolate(places: AnyArray, heights: AnyArray, level: float) -> float:
    """Where the line through two points, the first of them higher, has this level."""
    drop = float(heights[0] - heights[-1])
    share = float(np.clip((heights[0] - level) / drop, 0, 1)) if drop > 0 else 0.5
    return float(places[0] + share * (places[-1] - places[0]))


def lower_tail(
    measure: Measure, value: AnyArray, share: AnyArray, size: AnyArray, prior: AnyArray, spread: float = 0.0
) -> AnyArray:
    """Mid-p value of a value against worse ones: probability of a statistic as good as the observed one or better.

    `value` and `prior` are arrays that broadcast; `share` (3, ...) and `size` (3,) as in `rate_interval`. `spread`, the
    standard deviation of the prior, lowers the weight of U in steps 1 and 2.
    """
    c0, c1, c2 = np.broadcast_arrays(*measure.line(value, prior))
    prior = np.broadcast_to(prior, c0.shape)
    a, b = _most_likely(c0, c1, c2, share, size, prior, spread)
    found = _statistic_tail(c1, c2, a, b, share, size, prior, spread)
    return np.where(c0 < 0, 1.0, np.where(c0 > c1 + c2, 0.0, found))


def _most_likely(
    c0: AnyArray, c1: AnyArray, c2: AnyArray, share: AnyArray, size: AnyArray, prior: AnyArray, spread: float
) -> tuple[AnyArray, AnyArray]:
    """FNR and FPR of largest likelihood on a line inside the unit square; the likelihood is concave on it.

    U counts as the number of rows whose share of positive predictions has the variance that the prior leaves it.
    Otherwise many rows of U under a slightly wrong prior would put errors where the labels show none.
    """
    smoothed_a, smoothed_b, smoothed_q = ((n * part + 1) / (n + 2) for n, part in zip(size, share, strict=True))
    variance, drift = smoothed_q * (1 - smoothed_q), (spread * (1 - smoothed_a - smoothed_b)) ** 2
    of_population = size[2] * variance / (variance + size[2] * drift)
    free_a, free_b = c1 <= 0, c2 <= 0
    c1, c2 = np.where(free_a, 1.0, c1), np.where(free_b, 1.0, c2)
    first = np.where(free_a, 0.0, np.clip(np.where(free_b, c0, c0 - c2) / c1, 0, 1))
    last = np.where(free_a, 1.0, np.clip(c0 / c1, 0, 1))
    top = np.where(free_b, 1.0, np.clip(np.where(free_a, c0, c0 - c1 * first) / c2, 0, 1))
    bottom = np.where(free_b, 0.0, np.clip(np.where(free_a, c0, c0 - c1 * last) / c2, 0, 1))
    across, down = last - first, bottom - top
    place, step = np.full(c0.shape, 0.5), 0.25
    errors_a, errors_b, called = size[0] * share[0], size[1] * share[1], of_population * share[2]
    for _ in range(HALVINGS):
        a, b = _inside(first + place * across), _inside(top + place * down)
        q = prior * (1 - a) + (1 - prior) * b
        of_u = (called - of_population * q) / (q * (1 - q))
        slope = across * ((errors_a - size[0] * a) / (a * (1 - a)) - prior * of_u)
        slope += down * ((errors_b - size[1] * b) / (b * (1 - b)) + (1 - prior) * of_u)
        place += np.copysign(step, slope)
        step /= 2
    return _inside(first + place * across), _inside(top + place * down)


def _inside(rate: AnyArray) -> AnyArray:
    return np.minimum(np.maximum(rate, SMALLEST), 1 - SMALLEST)


def _statistic_tail(
    c1: AnyArray,
    c2: AnyArray,
    a: AnyArray,
    b: AnyArray,
    share: AnyArray,
    size: AnyArray,
    prior: AnyArray,
    spread: float,
) -> AnyArray:
    """Probability that c₁ a + c₂ b is estimated as low as from the observed shares, or lower; ties count a half."""
    q = prior * (1 - a) + (1 - prior) * b
    seen, n = size > 0, np.maximum(size, 1e-9)
    variances = [rate * (1 - rate) / m for rate, m in zip((a, b, q), n, strict=True)]
    mix = (1 - prior) * variances[1] * c2 - prior * variances[0] * c1
    drift = (spread * (1 - a - b)) ** 2
    mix = seen[2] * mix / (variances[2] + drift + prior**2 * variances[0] + (1 - prior) ** 2 * variances[1])
    factors = [seen[0] * (c1 + prior * mix), seen[1] * (c2 - (1 - prior) * mix), mix]
    observed = sum(w * (s - rate) for w, s, rate in zip(factors, share, (a, b, q), strict=True))
    variance, third = mix**2 * variances[2], mix**3 * variances[2] * (1 - 2 * q) / n[2]
    counted = []
    for factor, rate, part, m in zip(factors, (a, b), variances, n, strict=False):
        normal = part * m**2 > NORMAL_FROM
        variance = variance + np.where(normal, factor**2 * part, 0.0)
        third = third + np.where(normal, factor**3 * part * (1 - 2 * rate) / m, 0.0)
        counted.append(~normal)
    tie = TIE * np.max([np.abs(w) / m for w, m in zip(factors, n, strict=True)], axis=0)
    deviation = np.sqrt(np.maximum(variance, np.maximum(tie, 1e-150) ** 2))
    skewness = third / deviation**3
    tail = np.empty(c1.shape)
    for pattern in np.ndindex(2, 2):  # which of P and N are summed over
        chosen = (counted[0] == pattern[0]) & (counted[1] == pattern[1])
        if not chosen.any():
            continue
        places, chance = np.zeros((1, 1)), np.ones((1, 1))
        for k in np.flatnonzero(pattern):
            steps, mass = _lattice((a, b)[k][chosen], float(n[k]))
            kept = (mass > NEGLIGIBLE).any(axis=0)
            steps, mass = factors[k][chosen, None] * steps[:, kept], mass[:, kept]
            places = (places[..., None] + steps[:, None]).reshape(len(steps), -1)
            chance = (chance[..., None] * mass[:, None]).reshape(len(mass), -1)
        z = (observed[chosen, None] - places) / deviation[chosen, None]
        below = ndtr(z) - np.exp(-z * z / 2) / np.sqrt(2 * np.pi) * skewness[chosen, None] * (z * z - 1) / 6
        tail[chosen] = (chance * np.clip(below, 0, 1)).sum(axis=-1)
    return tail


def _lattice(rate: AnyArray, n: float) -> tuple[AnyArray, AnyArray]:
    """Deviations of a binomial share from its mean, and their probabilities, (..., LATTICE); n may be no integer."""
    most = np.ceil(n)
    start = np.clip(np.round(n * rate - LATTICE // 2), 0, max(most - LATTICE + 1, 0))[..., None]
    errors, rate = start + np.arange(LATTICE), rate[..., None]
    possible = errors < n + 1 - 1e-9
    logs = errors * np.log(rate) + (n - errors) * np.log1p(-rate)
    logs -= gammaln(errors + 1) + gammaln(np.where(possible, n - errors + 1, 1.0))
    logs = np.where(possible, logs, -np.inf)
    mass = np.exp(logs - logs.max(axis=-1, keepdims=True))
    mass /= mass.sum(axis=-1, keepdims=True)
    return errors / n - (mass * errors / n).sum(axis=-1, keepdims=True), mass
