"""Posterior draws with Dirichlet weights, and intervals and bands computed from them.

Arrays of draws hold the estimate in row 0 and the draws below. The seed is fixed, so results are reproducible.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pnulearn._arrays import AnyArray, FloatArray
from pnulearn._intervals.closed_forms import ClassPrior, tail_levels

SEED = 0
JEFFREYS = 0.5  # pseudo-counts of Jeffreys' prior
N_PRIORS = 25  # quantiles that represent an uncertain class prior
ROUNDS = 10  # of iteratively reweighted least squares
N_SCORE_DRAWS, N_CONFUSION_DRAWS, N_DECISION_DRAWS = 1000, 2000, 4000
MOST_THRESHOLDS = 200
# The estimated best threshold is selected among many (winner's curse), so others are excluded only at a stricter level
# than a single test needs. Coverage on phoneme and spambase, overall and in the worst of 36: 1/2 gives .95 and .6,
# 1/5 gives .98 and .83, 1/10 gives .99 and .93.
STRICTER_LEVEL = 1 / 10
ROUNDING = 1e-12


@dataclass(frozen=True)
class RowWeights:
    """Row weights of a sample: column 0 holds the data, the other columns bootstrap replicates.

    Parameters
    ----------
    share : array (rows, 1 + n_bootstrap)
        Weights; columns sum to one.
    apart : array (1 + n_bootstrap,)
        Probability that two rows drawn with these weights are different rows. Copies of a row count as different rows.
    """

    share: AnyArray
    apart: AnyArray


def bayesian_bootstrap(weight: AnyArray, n_bootstrap: int, rng: np.random.Generator) -> RowWeights:
    """Bayesian bootstrap of one sample: Dirichlet weights instead of multinomial counts.

    Parameters
    ----------
    weight : array (rows,)
        Weights of the rows.
    n_bootstrap : int
        Number of replicates.
    rng : Generator
        Random number generator.

    Notes
    -----
    A row of weight w counts as w copies: its draw is a Gamma(w) variable, the sum of w standard exponentials, and two
    random picks from it are the same copy with probability 1/w in the data and 2/(w + 1) in a replicate. Weights below
    one are not counts; they scale a single draw. Assumes independent rows. P, N and U are resampled separately, because
    their sizes carry no information.

    References
    ----------
    Rubin (1981), The Bayesian bootstrap. Annals of Statistics 9.
    """
    copies = np.maximum(weight, 1.0)[:, None]
    scale = weight[:, None] / copies
    replicates = scale * rng.standard_gamma(copies, size=(len(weight), n_bootstrap))
    weights = np.column_stack([weight, replicates])
    same = np.column_stack([1 / copies, np.repeat(2 / (copies + 1), n_bootstrap, axis=1)])
    share = weights / weights.sum(axis=0)
    return RowWeights(share, 1 - (share**2 * same).sum(axis=0))


def robust_deviation(replicates: AnyArray) -> float:
    """Half of the central 68 % range: a standard deviation that is robust to the heavy tails of ratios."""
    low, high = np.quantile(replicates, [0.16, 0.84])
    return float(high - low) / 2


def dirichlet_concentration(shares: AnyArray, replicates: AnyArray) -> float:
    """Concentration of a Dirichlet distribution with the replicates' variance, summed over classes (moment matching).

    Never less than that of Jeffreys' prior.
    """
    total = float(np.sum(shares * (1 - shares)) / max(replicates.var(axis=0).sum(), 1e-12))
    return max(total - 1, JEFFREYS * len(shares))


def percentile_interval(draws: AnyArray, confidence: float) -> tuple[AnyArray, AnyArray]:
    """Percentile interval of draws (first axis), widened if needed to contain the estimate in row 0.

    Assumes that the draws are centred on the estimate and have its sampling variance.

    References
    ----------
    Efron and Tibshirani (1993), An Introduction to the Bootstrap.
    """
    low, high = np.quantile(draws[1:], tail_levels(confidence), axis=0)
    return np.minimum(low, draws[0]), np.maximum(high, draws[0])


def rank_envelope(draws: FloatArray, confidence: float) -> tuple[FloatArray, FloatArray]:
    """Simultaneous band that contains a share `confidence` of whole curves (draws, points), by pointwise ranks.

    Notes
    -----
    A draw leaves the band of rank k if any of its points is among the k lowest or highest. Assumes that
    the draws are distributed like the curve.

    References
    ----------
    Myllymäki et al. (2017), Global envelope tests for spatial processes. JRSS B 79.
    """
    n, ordered = len(draws), np.sort(draws, axis=0)
    pairs = list(zip(ordered.T, draws.T, strict=True))
    lowest = np.array([np.searchsorted(column, values, "left") for column, values in pairs])
    highest = np.array([np.searchsorted(column, values, "right") - 1 for column, values in pairs])
    depth = np.minimum(highest, n - 1 - lowest).min(axis=0)  # tied values get the depth of the innermost one
    cut = int(np.sort(depth)[int((1 - confidence) * n)])
    return ordered[cut], ordered[n - 1 - cut]


def curve_band(curves: FloatArray, confidence: float) -> tuple[FloatArray, FloatArray]:
    """`rank_envelope` of curves (1 + draws, points), widened if needed to contain the estimate in row 0."""
    low, high = rank_envelope(curves[1:], confidence)
    return np.minimum(low, curves[0]), np.maximum(high, curves[0])


def mean_distance_interval(
    low: FloatArray, high: FloatArray, target: FloatArray, share: FloatArray
) -> tuple[float, float]:
    """Smallest and largest mean distance between `target` and a curve within a band: interval of a calibration error.

    A projection of a simultaneous band, so its coverage is at least that of the band.

    References
    ----------
    Scheffé (1959), The Analysis of Variance, for projections of simultaneous regions.
    """
    least = share @ np.maximum(np.maximum(low - target, target - high), 0)
    return float(least), float(share @ np.maximum(target - low, high - target))


def least_cost_set(cost: FloatArray, confidence: float) -> AnyArray:
    """Confidence set of the least-cost threshold: indices of those not significantly worse than the estimated best.

    Parameters
    ----------
    cost : array (1 + draws, thresholds)
        Cost at every threshold.
    confidence : float
        Confidence level of the set.

    Notes
    -----
    A threshold is excluded if its cost exceeds that of the estimated best in nearly all draws, at a level stricter than
    1 − confidence. Conservative.

    References
    ----------
    Hansen, Lunde and Nason (2011), The model confidence set. Econometrica 79, for the idea.
    """
    gap = cost - cost[:, [int(np.argmin(cost[0]))]]
    least = np.quantile(gap[1:], STRICTER_LEVEL * (1 - confidence), axis=0)
    return np.flatnonzero(np.minimum(least, gap[0]) <= ROUNDING)


@dataclass(frozen=True)
class ScoreDraws:
    """FNR and FPR, (1 + draws, thresholds), if rows with a score above a threshold are predicted positive.

    Each draw has its own prior. Thresholds increase; the first is below every score, the last at or above. `perfect`
    says whether every labelled positive row scores above every labelled negative one.
    """

    thresholds: FloatArray
    fnr: FloatArray
    fpr: FloatArray
    prior: FloatArray
    perfect: bool = False

    @property
    def recall(self) -> FloatArray:
        """True positive rate."""
        return 1 - self.fnr

    @property
    def precision(self) -> FloatArray:
        """Share of positives among rows above a threshold; 1 if no row lies above it."""
        true, false = self.prior[:, None] * self.recall, (1 - self.prior[:, None]) * self.fpr
        called = true + false
        return np.where(called > 0, true / np.where(called > 0, called, 1.0), 1.0)

    def cost(self, costs: tuple[float, float]) -> FloatArray:
        """Cost per row of the population, (1 + draws, thresholds)."""
        prior = self.prior[:, None]
        return costs[0] * prior * self.fnr + costs[1] * (1 - prior) * self.fpr


def draw_scores(
    scores: Sequence[AnyArray], prior: ClassPrior, weights: Sequence[AnyArray], pseudo_rows: float = 0.0
) -> ScoreDraws:
    """Joint posterior draws of both error rates at all thresholds.

    Parameters
    ----------
    scores : sequence of three arrays
        Scores of P, N and U; U may be empty.
    prior : ClassPrior
        Class prior and its uncertainty.
    weights : sequence of three arrays
        Weights of the rows.
    pseudo_rows : float
        Weight of pseudo-observations added to P and to N with the distribution of U, so that every range of scores has
        positive probability in both classes.

    Notes
    -----
    Bayesian bootstrap with one row beyond one end, by the toss of a coin for every draw and sample: the share of rows
    above any one threshold has the two Beta distributions whose quantiles are the ends of Clopper and Pearson's
    interval, mixed half and half. P, N and U are drawn separately. P and N are then adjusted, in proportion to their
    variances, so that U is their mixture (generalised least squares). This corresponds to the optimal PNU mix at each
    threshold. A class without labelled rows is what U leaves over: (U − θ P) / (1 − θ), made monotone. Assumes
    independent rows.
    """
    if sum(len(group) > 0 for group in scores) < 2:
        raise ValueError("Curves need two of positive, negative and unlabelled rows, in at least one labelled class.")
    cuts = _choose_thresholds(scores)
    counts = [_count(g, w, cuts) for g, w in zip(scores, weights, strict=True)]
    rng, theta = np.random.default_rng(SEED), _draw_prior(prior, N_SCORE_DRAWS)
    usual = counts[2] if counts[2].any() else counts[0] + counts[1]
    added = pseudo_rows * usual / usual.sum()
    below = [_cumulate(count, rng, more) for count, more in zip(counts, (added, added, 0.0), strict=True)]
    if len(scores[0]) and len(scores[1]):
        positive, negative = _agree(below, counts, theta[:, None]) if len(scores[2]) else (below[0], below[1])
    else:
        positive, negative = _complete(below, theta[:, None], missing=1 if len(scores[0]) else 0)
    both = bool(len(scores[0]) and len(scores[1]))
    return ScoreDraws(cuts, positive, 1 - negative, theta, both and bool(scores[0].min() > scores[1].max()))


def draw_bins(
    scores: Sequence[AnyArray], prior: ClassPrior, weights: Sequence[AnyArray], edges: AnyArray
) -> FloatArray:
    """Posterior draws of the share of positives among rows between two edges, (1 + draws, bins).

    As `draw_scores`, but in half of the draws a class has one more row in every bin, so that it may have no rows in a
    bin, or all of them. The estimate has one pseudo-observation per class, spread over the bins like U.
    """
    counts = np.array([_count(g, w, edges)[1:-1] for g, w in zip(scores, weights, strict=True)])
    usual = counts[2] if counts[2].any() else counts[0] + counts[1]
    smoothed = counts + np.array([1.0, 1.0, 0.0])[:, None] * usual / usual.sum()
    rng, theta = np.random.default_rng(SEED), _draw_prior(prior, N_SCORE_DRAWS)[:, None]
    masses = []
    for count, seen, added in zip(smoothed, counts, (1.0, 1.0, 0.0), strict=True):
        has_more = rng.random((N_SCORE_DRAWS, 1)) < 0.5
        rows = np.vstack([count, rng.standard_gamma(seen + added * has_more)])
        masses.append(rows / np.maximum(rows.sum(axis=1, keepdims=True), 1e-300))
    if not counts[0].any():
        masses[0] = np.clip((masses[2] - (1 - theta) * masses[1]) / theta, 0, None)
    elif not counts[1].any():
        masses[1] = np.clip((masses[2] - theta * masses[0]) / (1 - theta), 0, None)
    complete = counts[0].any() and counts[1].any() and counts[2].any()
    positive, negative = _adjust(masses, smoothed.sum(axis=1), theta) if complete else masses[:2]
    true, false = (np.clip(part, 1e-9, None) for part in (theta * positive, (1 - theta) * negative))
    return true / (true + false)


def _draw_prior(prior: ClassPrior, n_draws: int) -> FloatArray:
    """The mean of the prior, followed by its quantiles, repeated cyclically, (1 + draws,)."""
    points = prior.points(N_PRIORS)
    return np.append(float(prior.mean), points[np.arange(n_draws) % len(points)])


def _choose_thresholds(scores: Sequence[AnyArray]) -> FloatArray:
    """Distinct scores, or 200 evenly spaced ones if there are more, preceded by a value below all scores."""
    values = np.unique(np.concatenate([scores[0], scores[1], scores[2]]))
    if len(values) > MOST_THRESHOLDS:
        values = values[np.linspace(0, len(values) - 1, MOST_THRESHOLDS).astype(int)]
    return np.append(np.nextafter(values[0], -np.inf), values)


def _count(scores: AnyArray, weight: AnyArray, thresholds: AnyArray) -> FloatArray:
    """Effective number of rows between thresholds, and beyond the last one, (thresholds + 1,)."""
    if not len(scores):
        return np.zeros(len(thresholds) + 1)
    size = weight.sum() ** 2 / (weight**2).sum()
    place = np.searchsorted(thresholds, scores, "left")
    return np.bincount(place, weights=weight, minlength=len(thresholds) + 1) * size / weight.sum()


def _cumulate(count: FloatArray, rng: np.random.Generator, pseudo_rows: FloatArray | float) -> FloatArray:
    """Share of the sample at or below each threshold, (1 + draws, thresholds)."""
    rows = np.repeat((count + pseudo_rows)[None], N_SCORE_DRAWS, axis=0)
    rows[np.arange(N_SCORE_DRAWS), np.where(rng.random(N_SCORE_DRAWS) < 0.5, 0, -1)] += 1
    drawn = np.cumsum(rng.standard_gamma(rows), axis=1)
    seen = np.cumsum(count) / max(count.sum(), 1e-300)
    return np.vstack([seen[:-1], drawn[:, :-1] / drawn[:, -1:]])


def _agree(
    below: Sequence[FloatArray], counts: Sequence[FloatArray], prior: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """P and N adjusted so that U is their mixture, monotone and within [0, 1]."""
    adjusted = _adjust(below, np.array([count.sum() for count in counts]), prior)
    positive, negative = (np.maximum.accumulate(np.clip(part, 0, 1), axis=1) for part in adjusted)
    return positive, negative


def _complete(below: Sequence[FloatArray], prior: FloatArray, missing: int) -> tuple[FloatArray, FloatArray]:
    """P and N, where the `missing` one (0 for P, 1 for N) follows from the other and U, monotone and within [0, 1]."""
    own, other = (1 - prior, prior) if missing else (prior, 1 - prior)
    rest = np.clip((below[2] - other * below[1 - missing]) / own, 0, 1)
    upwards = np.maximum.accumulate(rest, axis=1)
    downwards = np.minimum.accumulate(rest[:, ::-1], axis=1)[:, ::-1]
    found = (upwards + downwards) / 2
    return (below[0], found) if missing else (found, below[1])


def _adjust(shares: Sequence[FloatArray], sizes: FloatArray, prior: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Adjust P and N so that U is their mixture, in proportion to their variances.

    Each draw has the variance p (1 − p) / n of its own shares; the estimate in row 0 has that of Laplace's shares.
    """
    variance = []
    for size, part in zip(sizes, shares, strict=True):
        rate = np.vstack([(size * part[:1] + 1) / (size + 2), part[1:]])
        variance.append(rate * (1 - rate) / size)
    gap = shares[2] - prior * shares[0] - (1 - prior) * shares[1]
    total = prior**2 * variance[0] + (1 - prior) ** 2 * variance[1] + variance[2]
    gap = np.where(total > 0, gap / np.where(total > 0, total, 1.0), 0.0)
    return shares[0] + prior * variance[0] * gap, shares[1] + (1 - prior) * variance[1] * gap


def draw_confusion(table: FloatArray, prior: ClassPrior) -> FloatArray:
    """Posterior draws of the confusion matrix, as shares of the population, (1 + draws, classes, classes).

    Parameters
    ----------
    table : array (classes + 1, classes)
        Row counts by true class, unlabelled rows last, and predicted class.
    prior : ClassPrior
        Class shares and their uncertainty.

    Notes
    -----
    The estimate is that of maximum likelihood, by iteratively reweighted least squares. In every draw, predictions
    within each class are Dirichlet with one row more: by the toss of a coin a right prediction in every class, or a
    wrong one in every class. So a recall has the two Beta distributions of Clopper and Pearson's ends, and a model
    that never errs on labelled rows may have no errors. The shares u of predictions on U estimate Σ shares_k rates_k:
    with covariances S_k of the draw's own rates and S_U of u, rates move by shares_k S_k (Σ shares_j² S_j + S_U)⁻¹
    (u − Σ shares_j rates_j), generalised least squares. Covariances of the counts instead would be smallest where
    errors are few by chance. Assumes independent rows.
    """
    rng = np.random.default_rng(SEED)
    shares = _draw_shares(prior, N_CONFUSION_DRAWS, rng)
    labeled, unlabeled = table[:-1], table[-1]
    rates = _draw_rates(labeled, N_CONFUSION_DRAWS, rng)
    if unlabeled.any():
        called = rng.dirichlet(unlabeled + JEFFREYS / len(unlabeled), N_CONFUSION_DRAWS)
        covariances = _covariance_of_shares(rates) / (labeled.sum(axis=1)[:, None, None] + 1)
        total = (
            np.einsum("dk,dkij->dij", shares[1:] ** 2, covariances) + _covariance_of_shares(called) / unlabeled.sum()
        )
        rates = _agree_with_unlabeled(rates, covariances, total, called, shares[1:])
    return shares[:, :, None] * np.concatenate([_fit_rates(table, prior.shares)[None], rates])


def _fit_rates(table: FloatArray, shares: FloatArray) -> FloatArray:
    """Maximum-likelihood rates (classes, classes) of predictions within classes, as `DecisionRates.fit`."""
    sizes = table.sum(axis=1)
    seen = rates = table[:-1] / sizes[:-1, None]
    for _ in range(ROUNDS if sizes[-1] else 0):
        expected = (sizes[:-1, None] * rates + 1 / len(rates)) / (sizes[:-1, None] + 1)
        covariances = _covariance_of_shares(expected) / sizes[:-1, None, None]
        total = np.einsum("k,kij->ij", shares**2, covariances) + _covariance_of_shares(shares @ expected) / sizes[-1]
        agreed = _agree_with_unlabeled(*(x[None] for x in (seen, covariances, total, table[-1] / sizes[-1], shares)))
        rates = agreed[0]
    return rates


def draw_decisions(table: AnyArray, prior: ClassPrior) -> tuple[AnyArray, AnyArray]:
    """Posterior draws of class shares (K, draws) and of rates of predicted within true classes (K, K, draws).

    `table` as in `draw_confusion`; its last row, U, is not used.
    """
    rng = np.random.default_rng(SEED)
    shares = _draw_shares(prior, N_DECISION_DRAWS, rng)[1:].T
    return shares, _draw_rates(table[:-1], N_DECISION_DRAWS, rng).transpose(1, 2, 0)


def _draw_rates(counts: FloatArray, n_draws: int, rng: np.random.Generator) -> FloatArray:
    """Rates of predictions within classes, (draws, classes, classes), with one row that is right or wrong by a toss."""
    right = np.eye(len(counts))
    toss = rng.random(n_draws)[:, None, None] < 0.5
    drawn = rng.standard_gamma(counts + np.where(toss, right, (1 - right) / (len(counts) - 1)))
    return drawn / np.maximum(drawn.sum(axis=2, keepdims=True), 1e-300)


def _draw_shares(prior: ClassPrior, n_draws: int, rng: np.random.Generator) -> FloatArray:
    """Class shares: the point estimate, then draws, (1 + draws, classes)."""
    shares = np.repeat(prior.shares[None], n_draws + 1, axis=0)
    if prior.concentration is not None:
        shares[1:] = rng.dirichlet(prior.shares * prior.concentration, n_draws).clip(1e-12)
    elif prior.spread:
        theta = _draw_prior(prior, n_draws)
        shares[:] = np.column_stack([1 - theta, theta])
    return shares


def _agree_with_unlabeled(
    rates: FloatArray, covariances: FloatArray, total: FloatArray, called: FloatArray, shares: FloatArray
) -> FloatArray:
    """Rates (draws, classes, classes) moved so that Σ shares_k rates_k is nearer to the shares called on U."""
    gap = called - np.einsum("dk,dkj->dj", shares, rates)
    move = np.einsum("dkij,djl,dl->dki", covariances, np.linalg.pinv(total, rcond=1e-9, hermitian=True), gap)
    rates = np.clip(rates + shares[:, :, None] * move, 0, None)
    return rates / np.maximum(rates.sum(axis=2, keepdims=True), 1e-300)


def _covariance_of_shares(share: FloatArray) -> FloatArray:
    """Covariance (..., classes, classes) of one multinomial row."""
    return share[..., :, None] * (np.eye(share.shape[-1]) - share[..., None, :])
