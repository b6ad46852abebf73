"""Intervals and variances in closed form.

Some functions return *distances*, how far the two ends lie below and above the estimate, because intervals of
independent parts are joined by their distances (`mover`).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any, Protocol

import numpy as np
from scipy.special import betaincinv, expit, logit, ndtr, ndtri, stdtrit

from pnulearn._arrays import AnyArray

BORROWED_ROWS = 5.0  # measured: 2 leaves more bias at ten labels, 10 changes nothing
# Which of the pairs (P, N), (P, U), (U, N) the rows of P, N and U are part of.
PAIRS_OF_SAMPLE = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1]], dtype=float)
AUC_PSEUDO_ROWS = 0.5  # rows added to every sample, half of them winning all of their pairs and half none
AUC_FEWER_PSEUDO_ROWS = 0.1  # measured: without them intervals from five labels of each class cover 88 %
LEAST_SHARE = 0.02  # the variance of an estimated prior is worked out no nearer than this to 0 and 1
ROUNDING = 1e-9  # relative: weights that differ by less are equal


class ClassPrior(Protocol):
    """What interval formulas read of a class prior; `pnulearn.priors.PriorEstimate` has it."""

    @property
    def mean(self) -> Any: ...
    @property
    def spread(self) -> float: ...
    @property
    def shares(self) -> AnyArray: ...
    @property
    def concentration(self) -> float | None: ...
    def points(self, n_points: int) -> AnyArray: ...
    def within(self, confidence: float) -> tuple[Any, Any]: ...


def tail_levels(confidence: float) -> list[float]:
    """Levels of the two quantiles between which an equal-tailed interval lies.

    >>> tail_levels(0.5)
    [0.25, 0.75]
    """
    return [(1 - confidence) / 2, (1 + confidence) / 2]


def wald_interval(center: float, stderr: float, confidence: float) -> tuple[float, float]:
    """Wald interval, center ± z stderr.

    Assumes an estimate that is normal around the truth with a known standard error.
    """
    half = float(ndtri((1 + confidence) / 2)) * stderr
    return center - half, center + half


def logit_interval(center: float, stderr: float, confidence: float) -> tuple[float, float]:
    """Wald interval on the logit scale, for a proportion or an AUC.

    Notes
    -----
    The delta method gives the logit the standard error stderr / (p (1 − p)). Assumes that the logit of the estimate is
    normal; p must lie strictly between 0 and 1, and so do the ends.

    References
    ----------
    Pepe (2003), The Statistical Evaluation of Medical Tests for Classification and Prediction.

    Examples
    --------
    >>> low, high = logit_interval(0.9, 0.05, 0.95)
    >>> round(low, 3), round(high, 3)
    (0.752, 0.964)
    """
    low, high = expit(wald_interval(float(logit(center)), stderr / (center * (1 - center)), confidence))
    return float(low), float(high)


def jeffreys_distances(share: float, n: float, confidence: float, factor: float = 1.0) -> tuple[float, float]:
    """Jeffreys interval of a multiple of a binomial proportion, as distances.

    Parameters
    ----------
    share : float
        Observed proportion.
    n : float
        Rows, or the effective number of rows.
    confidence : float
        Of the interval.
    factor : float
        What the proportion is multiplied by; a negative one exchanges the distances.

    Notes
    -----
    Equal-tailed interval of the posterior Beta(½ + errors, ½ + n − errors). The lower end is 0 where no row errs, the
    upper end 1 where all do. Assumes independent rows; the cover then varies around the nominal one with n and p.

    References
    ----------
    Brown, Cai and DasGupta (2001), Interval estimation for a binomial proportion. Statistical Science 16.

    Examples
    --------
    >>> down, up = jeffreys_distances(0.0, 10, 0.95)
    >>> down, round(up, 3)
    (0.0, 0.217)
    """
    low, high = betaincinv(n * share + 0.5, n * (1 - share) + 0.5, tail_levels(confidence))
    down, up = max(share - float(low), 0.0) * (share > 0), max(float(high) - share, 0.0) * (share < 1)
    return (factor * down, factor * up) if factor > 0 else (-factor * up, -factor * down)


def effective_jeffreys_interval(value: float, expected: float, stderr: float, confidence: float) -> tuple[float, float]:
    """Jeffreys interval at the effective sample size, for a proportion with any standard error.

    Parameters
    ----------
    value : float
        The estimate.
    expected : float
        A smoothed estimate, from which the effective size p (1 − p) / stderr² is worked out.
    stderr : float
        Standard error.
    confidence : float
        Of the interval.

    Notes
    -----
    Assumes that the estimate varies as the proportion of so many independent rows would. The ends stay in [0, 1] and
    enclose the estimate, clipped to [0, 1].
    With three errors expected in 70 rows 95 % intervals cover in 90 %.

    References
    ----------
    Korn and Graubard (1998), Confidence intervals for proportions with small expected number of positive counts
    estimated from survey data. Survey Methodology 24. (They take Clopper and Pearson's interval.)

    Examples
    --------
    >>> low, high = effective_jeffreys_interval(0.1, 0.1, 0.03, 0.95)
    >>> round(low, 3), round(high, 3)
    (0.053, 0.17)
    """
    expected = float(np.clip(expected, stderr**2, 1 - stderr**2))
    n = max(expected * (1 - expected) / stderr**2, 1.0)
    share = float(np.clip(value, 0, 1))
    down, up = jeffreys_distances(share, n, confidence)
    return share - down, share + up


def skewed_t_distances(
    values: AnyArray, share: AnyArray, n: float, stderr: float, confidence: float
) -> tuple[float, float]:
    """Student's t interval of a mean with a correction for skewness, as distances.

    Parameters
    ----------
    values : array (rows,)
        What the mean is taken of.
    share : array (rows,)
        Weights of the rows, which sum to one.
    n : float
        Effective number of rows.
    stderr : float
        Standard error of the mean.
    confidence : float
        Of the interval.

    Notes
    -----
    stderr (t ∓ c) with c = skewness (1 + 2 t²) / (6 √n), the first term of the Edgeworth expansion of Student's
    statistic: a few rows with great values that were not drawn would have raised the mean. c is kept within ± t / 2.
    Assumes independent rows with a finite third moment. Of 20 exponential values 95 % intervals cover in 92.2 %, those
    without the correction in 91.4 %.

    References
    ----------
    Hall (1992), The Bootstrap and Edgeworth Expansion. Johnson (1978), Modified t tests and confidence intervals for
    asymmetrical populations. JASA 73.
    """
    t = float(stdtrit(max(n - 1, 1), (1 + confidence) / 2))
    centered = values - share @ values
    variance = float(share @ centered**2)
    skewness = float(share @ centered**3) / variance**1.5 if variance else 0.0
    shift = float(np.clip(skewness * (1 + 2 * t**2) / (6 * np.sqrt(n)), -t / 2, t / 2))
    return stderr * (t - shift), stderr * (t + shift)


def mover(parts: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """MOVER (method of variance estimates recovery): the interval of a sum of independent parts, as distances.

    Notes
    -----
    Distances add up in squares, downwards and upwards apart, so that the asymmetry of the parts is kept. Assumes that
    the parts are independent and that each part's own interval covers.

    References
    ----------
    Zou and Donner (2008), Construction of confidence limits about effect measures: a general approach. Statistics in
    Medicine 27.

    Examples
    --------
    >>> mover([(3.0, 0.0), (4.0, 1.0)])
    (5.0, 1.0)
    """
    down, up = np.sqrt(np.square(np.asarray(parts)).sum(axis=0))
    return float(down), float(up)


def prior_distances(slope: float, prior: ClassPrior, confidence: float) -> tuple[float, float]:
    """What an uncertain class prior adds to an estimate that is linear in it, as distances: a part for `mover`.

    Assumes that the interval of the prior covers, and that its error is independent of those of the other parts.
    """
    moves = sorted(slope * (end - prior.mean) for end in prior.within(confidence)) if prior.spread else (0.0, 0.0)
    return -min(moves[0], 0.0), max(moves[1], 0.0)


def widen_for_bias(
    value: float, low: float, high: float, most_bias: float, confidence: float
) -> tuple[float, float, float]:
    """An interval that allows for a bias of unknown sign and size: its ends, and the standard deviation that it adds.

    Notes
    -----
    A bias anywhere between −b and b, all values alike, has the standard deviation b / √3; its Wald interval is joined
    to the given one by `mover`. Assumes that the bias is independent of the estimate's error. This is how type B
    uncertainty is treated in metrology.

    References
    ----------
    JCGM 100:2008, Guide to the Expression of Uncertainty in Measurement, 4.3.7.

    Examples
    --------
    >>> low, high, deviation = widen_for_bias(0.2, 0.1, 0.3, 0.1, 0.95)
    >>> round(low, 4), round(high, 4), round(deviation, 4)
    (0.049, 0.351, 0.0577)
    """
    deviation = most_bias / float(np.sqrt(3))
    half = wald_interval(0.0, deviation, confidence)[1]
    down, up = mover([(value - low, high - value), (half, half)])
    return value - down, value + up, deviation


def t_half_width(stderr: float, freedom: float, confidence: float) -> float:
    """Half of the width of Student's t interval with these degrees of freedom."""
    return stderr * float(stdtrit(freedom, (1 + confidence) / 2))


def welch_freedom(variances: AnyArray, freedoms: AnyArray, total: float | None = None) -> float:
    """Welch and Satterthwaite's degrees of freedom of a sum of independent means.

    Parameters
    ----------
    variances : array (samples,)
        Estimated variances of the means.
    freedoms : array (samples,)
        Their degrees of freedom, n − 1.
    total : float, optional
        Variance of the sum, if it has parts beside the means; Σ variances by default.

    Returns
    -------
    float
        (Σ v)² / Σ (v² / freedom); infinite if all variances are zero.

    Notes
    -----
    Assumes independent samples with about normal means.

    References
    ----------
    Satterthwaite (1946), Biometrics Bulletin 2. Welch (1947), Biometrika 34.
    """
    curvature = sum(v**2 / freedom for v, freedom in zip(variances, freedoms, strict=True))
    total = sum(variances) if total is None else total
    return float(total**2 / curvature) if curvature > 0 else inf


def borrowed_variance(values: AnyArray, usual: AnyArray) -> float:
    """Variance of a mean, with the values of other rows as pseudo-observations.

    Parameters
    ----------
    values : array (rows,)
        What the mean is taken of.
    usual : array (others,)
        Values of rows that are drawn from a similar population, usually U. They count as `BORROWED_ROWS` rows.

    Notes
    -----
    A dozen rows with equal values have an estimated variance of zero and are not certain. An empirical Bayes variance:
    assumes that `usual` rows vary about as much as these. Where differences of few rows all have one sign, t intervals
    with this variance cover less often than promised: 85 % at twelve rows of which 15 % differ.
    """
    share = np.repeat([1.0, BORROWED_ROWS], [len(values), len(usual)])
    share[len(values) :] /= max(len(usual), 1)
    rows, share = np.append(values, usual), share / share.sum()
    return float(share @ (rows - share @ rows) ** 2) / max(len(values) - 1, 1)


def effective_size(values: AnyArray, share: AnyArray) -> float:
    """Effective sample size of a weighted mean: rows of equal weight that would leave it as uncertain.

    Parameters
    ----------
    values : array (rows,)
        What the mean is taken of.
    share : array (rows,)
        Weights of the rows, which sum to one.

    Notes
    -----
    Variance of one value over the linearised variance of the mean, Σ share² (value − mean)². It holds however weights
    and values are related; Kish's 1 / Σ share² assumes that they are not. Two pseudo-rows, one at either end of the
    values, have the greatest weight seen: a few rows without an error do not prove that errors have small weights.
    Assumes independent rows.

    References
    ----------
    Kish (1965), Survey Sampling. Binder (1983), On the variances of asymptotically normal estimators from complex
    surveys. International Statistical Review 51.
    """
    if np.ptp(share) <= ROUNDING * share.max():
        return float(len(share))
    ends = [values.min(), values.max()] if np.ptp(values) else values[0] + np.array([-1.0, 1.0])
    share = np.append(share, np.full(2, share.max()))
    share = share / share.sum()
    centered = np.append(values, ends)
    centered = centered - share @ centered
    return float(share @ centered**2) / float(share**2 @ centered**2)


def cluster_design_effect(values: AnyArray, share: AnyArray, group: AnyArray) -> float:
    """Design effect of clusters, at least 1: by how much similar rows within groups increase the variance of a mean.

    Notes
    -----
    Cluster-robust over row-wise variance: Σ over groups of (Σ share (value − mean))² over Σ share² (value − mean)²,
    times g / (g − 1) for g groups. Assumes independent groups.

    References
    ----------
    Kish (1965), Survey Sampling. Liang and Zeger (1986), Longitudinal data analysis using generalized linear models.
    Biometrika 73.
    """
    centered = share * (values - share @ values)
    alone = float(centered @ centered)
    number = np.unique(group, return_inverse=True)[1]
    together = np.bincount(number, weights=centered)
    n_groups = len(together)
    if alone <= 0 or n_groups == len(group):
        return 1.0
    if n_groups == 1:
        return float(len(group))
    return max(float(together @ together) / alone * n_groups / (n_groups - 1), 1.0)


def delong_covariance(wins: Sequence[AnyArray], pseudo_rows: float) -> AnyArray:
    """DeLong's covariance (3, 3) of the shares of pairs (P, N), (P, U) and (U, N) that their first row wins.

    Parameters
    ----------
    wins : sequence of three arrays (rows, 3)
        For every row of P, N and U, the share of its pairs of each kind that the first row of the pair wins.
    pseudo_rows : float
        Weight of two rows added to every sample, one that wins all of its pairs and one that wins none.

    Notes
    -----
    Σ over samples of the rows' covariance over n, the variance of a U-statistic. Assumes independent rows and enough of
    them for its first-order term.

    References
    ----------
    DeLong, DeLong and Clarke-Pearson (1988), Comparing the areas under two or more correlated receiver operating
    characteristic curves. Biometrics 44.
    """
    total = np.zeros((3, 3))
    for rows, part in zip(wins, PAIRS_OF_SAMPLE, strict=True):
        if not len(rows):
            continue
        rows = np.vstack([rows, 0 * part, part])
        share = np.repeat([1.0, pseudo_rows / 2], [len(rows) - 2, 2])
        centered = rows - share @ rows / share.sum()
        total += (share[:, None] * centered).T @ centered / share.sum() / max(len(rows) - 3 + pseudo_rows, 1)
    return total


def auc_stderr(weights: AnyArray, wins: Sequence[AnyArray]) -> float:
    """Standard error of a weighted sum of the three shares of pairs, by DeLong's covariance.

    Five rows in nearly perfect order vary little, and in perfect order not at all, without being certain: a few
    pseudo-rows count where they add variance, more where the rows alone have none.
    """
    seen, smoothed, most = (
        float(weights @ delong_covariance(wins, pseudo) @ weights)
        for pseudo in (0.0, AUC_FEWER_PSEUDO_ROWS, AUC_PSEUDO_ROWS)
    )
    return float(np.sqrt(max(seen, smoothed) if seen else most))


def auc_interval(value: float, stderr: float, n_labels: int, confidence: float) -> tuple[float, float]:
    """Logit interval of an AUC, which encloses the estimate even where that lies outside [0, 1].

    The centre is kept one standard error, and at least half a labelled row, away from 0 and 1, where the logit scale
    ends. Assumes what `logit_interval` does; near 1 that is too pessimistic.
    """
    edge = max(stderr, 0.5 / n_labels)
    low, high = logit_interval(float(np.clip(value, edge, 1 - edge)), stderr, confidence)
    return min(low, value), max(high, value)


def ratio_deviation(prior: float, variances: AnyArray, gap: float, sizes: AnyArray) -> float:
    """Standard deviation of an estimated class prior θ = (mean_U − mean_N) / (mean_P − mean_N), by the delta method.

    Parameters
    ----------
    prior : float
        The estimate.
    variances : array (3,)
        Variances of the means over N, P and U.
    gap : float
        mean_P − mean_N.
    sizes : array (2,)
        Rows of N and P.

    Notes
    -----
    The second term is added because held-out rows are scored by models that lack them, which moves the ratio by about
    one row of n in either class. Assumes independent samples and a gap that is large against its error.

    References
    ----------
    Forman (2008), Quantifying counts and costs via classification. Data Mining and Knowledge Discovery 17, for the
    estimate.

    Examples
    --------
    >>> round(ratio_deviation(0.5, np.array([0.01, 0.01, 0.0]), 1.0, np.array([10, 10])), 3)
    0.1
    """
    theta = float(np.clip(prior, LEAST_SHARE, 1 - LEAST_SHARE))
    factors = np.array([1 - theta, theta, 1.0]) ** 2
    one_row = factors[:2] @ (1 / np.asarray(sizes, dtype=float) ** 2)
    return float(np.sqrt(factors @ variances / gap**2 + one_row))


def mixture_z(values: Sequence[AnyArray], weights: Sequence[AnyArray], prior: float) -> tuple[float, float] | None:
    """z test of a class prior: the prior that agrees with the means of P, N and U, and the distance in standard errors.

    Parameters
    ----------
    values : sequence of three arrays
        Any function of the rows of P, N and U that is greater for positive rows.
    weights : sequence of three arrays
        Weights of the rows.
    prior : float
        The prior θ under test.

    Returns
    -------
    (float, float) or None
        None if a sample has fewer than two rows or the function does not tell the classes apart.

    Notes
    -----
    C = mean_U − θ mean_P − (1 − θ) mean_N has mean zero under the right θ. Its variance allows for one row more or less
    in either class, as `ratio_deviation` does. Assumes that labelled rows are typical of their classes.

    Examples
    --------
    >>> values = [np.repeat([1.0, 0.0], pair) for pair in ((27, 3), (3, 27), (340, 660))]
    >>> round(mixture_z(values, [np.ones(len(part)) for part in values], 0.6)[0], 3)
    0.3
    """
    if min(map(len, values)) < 2:
        return None
    means, variances = zip(*map(_weighted_mean, values, weights), strict=True)
    sizes = np.array([weight.sum() for weight in weights[:2]])
    gap, factors = means[0] - means[1], np.array([prior, 1 - prior])
    excess = means[2] - factors @ means[:2]
    variance = variances[2] + factors**2 @ (np.array(variances[:2]) + gap**2 / sizes**2)
    if gap <= 0 or variance <= 0:
        return None
    return float(np.clip((means[2] - means[1]) / gap, 0, 1)), abs(excess) / float(np.sqrt(variance))


def _weighted_mean(values: AnyArray, weight: AnyArray) -> tuple[float, float]:
    """A weighted mean and its variance at Kish's effective size."""
    share = weight / weight.sum()
    mean = float(share @ values)
    size = 1 / float(share @ share)
    return mean, float(share @ (values - mean) ** 2) / max(size - 1, 1)


def power_of_z_test(difference: float, variance: float, confidence: float) -> float:
    """Probability that a Wald interval of that confidence lies on the right side of zero (two-sided z test).

    Assumes a normal estimate; the negligible probability of the wrong side is left out.

    >>> round(power_of_z_test(2.8, 1.0, 0.95), 2)
    0.8
    """
    return float(ndtr(difference / np.sqrt(variance) - ndtri((1 + confidence) / 2)))


def dkw_half_width(n: float, level: float) -> float:
    """Dvoretzky-Kiefer-Wolfowitz band: how far an empirical distribution function may be from the true one, anywhere.

    Holds with probability 1 − level at least, for every n. Assumes independent rows.

    References
    ----------
    Massart (1990), The tight constant in the Dvoretzky-Kiefer-Wolfowitz inequality. Annals of Probability 18.
    """
    return float(np.sqrt(np.log(2 / level) / (2 * n)))
