"""The risk of any model from its scores on P, N and U, with a standard error and a confidence interval."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from pnulearn._arrays import AnyArray
from pnulearn._intervals.closed_forms import (
    ROUNDING,
    mixture_z,
    mover,
    prior_distances,
    skewed_t_distances,
    widen_for_unseen,
)
from pnulearn._intervals.posterior_grids import error_posterior
from pnulearn._intervals.score_tests import cost_interval
from pnulearn._problem.alignment import refuse_misaligned
from pnulearn._problem.folds import read_groups
from pnulearn._problem.samples import Sampling
from pnulearn.losses import Loss, ZeroOne, as_loss
from pnulearn.metrics._estimate import RiskEstimate
from pnulearn.metrics._population import one_sample, one_sample_risk, prior_with_counts, read_population
from pnulearn.metrics._scored_rows import EQUAL_COSTS, read_costs, read_scores, split_scored_rows
from pnulearn.metrics._second_model import estimate_with_second_model, read_opinions, take_opinions
from pnulearn.metrics._variance import (
    LossSample,
    decision_shares,
    loss_samples,
    observed_covariances,
    reconciled_covariances,
    smoothed_means,
)
from pnulearn.priors._estimate import PriorEstimate
from pnulearn.priors._resolve import read_prior, read_share
from pnulearn.risks import Risk, nu, pn, pnu, pu
from pnulearn.theory import best_mix, forced_mix, heuristic_mix, prior_slope, risk_variance

Mix = float | Literal["optimal", "heuristic"]
N_QUANTILES = 64  # per error rate
LARGEST_Z = 2.5  # a correct prior triggers the warning in about 1 % of calls


def pnu_risk(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    prior: Any = None,
    helper: Any = None,
    sampling: Sampling = "by_class",
    mix: Mix = "optimal",
    loss: str | Loss = "zero_one",
    costs: tuple[float, float] = EQUAL_COSTS,
    confidence: float = 0.95,
    nonnegative: bool = False,
    threshold: float | None = None,
    unlabeled: Any = None,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
    groups: ArrayLike | None = None,
) -> RiskEstimate:
    """Risk of a fixed model in a population with this class prior, from scores on labelled and unlabelled rows.

    The rows must be held out: they must not have been used to fit the model.

    Parameters
    ----------
    y_true : array (rows,)
        Labels. Missing values and the value `unlabeled` mark unlabelled rows.
    y_score : array (rows,)
        Scores g(x), positive for the positive class. For probabilities pass threshold=0.5.
    prior : float, (float, float), distribution or PriorEstimate
        Class prior: share of positives in the population that the unlabelled rows come from. A number is treated as
        exact; a warning is raised if the rows contradict it. An uncertain prior is a 90 % range, a distribution from
        `scipy.stats` or the result of `estimate_prior`; its uncertainty is then included in the standard error and in
        the interval. Optional with sampling="random".
    helper : array (rows,) or (rows, helpers), optional
        Predictions of one or several other models on the same rows, used as control variates: labels, probabilities
        of the positive class or scores. They are calibrated out of fold, so they need not be accurate, and are ignored
        if they do not reduce the variance. They must not depend on the labels of these rows, nor on the evaluated
        model. With a helper the function returns a `HelpedEstimate`.
    sampling : "by_class" or "random"
        Whether labelled rows were sampled per class, or at random from the population. If at random, the class
        counts estimate the prior, or are combined with the given uncertain prior. With labels of one class alone,
        "random" means that the rows are one sample, in which some rows of that class are labelled, so that these are
        not among the unlabelled rows; `prior` is then that of the whole sample, and `mix` has no effect.
    mix : float, "optimal" or "heuristic"
        Weight η of the unlabelled rows in [−1, 1]: 0 uses the labels alone (the PN risk), 1 positive and unlabelled
        rows (PU), −1 negative and unlabelled rows (NU). "optimal" minimises the estimated variance, "heuristic"
        minimises it for equal class variances and unlimited unlabelled rows. Fixed numbers and "heuristic" give an
        unbiased estimate. "optimal" depends on the rows: with ten labels per class and the squared loss, the bias is
        0.07 standard deviations; with other losses, or with fifty labels or more, simulations show none
        (benchmarks/judge_monte_carlo.py). Coverage of the intervals: results/intervals.md.
    loss : str or Loss
        Name of a loss, or a `Loss`.
    costs : (float, float)
        Cost of a false negative and cost of a false positive: weights of the two losses. The risk is then a cost per
        row, c_fn θ FNR + c_fp (1 − θ) FPR for the zero-one loss.
    confidence : float
        Confidence level of the interval.
    nonnegative : bool
        Clip the class risk that is estimated from the unlabelled rows at zero. The result is never negative, but biased
        upwards for models with a small error.
    threshold : float, optional
        Rows with a score above the threshold are predicted positive; a score equal to it is predicted negative.
        Default: 0, with a warning if no score is below 0.
    unlabeled : object, optional
        Value in y that marks unlabelled rows, in addition to missing values.
    pos_label : object, optional
        The positive class. Default: the larger label.
    sample_weight : array (rows,), optional
        Weights of the rows; only proportions matter. For rows sampled with known, unequal probabilities pass
        1 / probability. Standard errors are valid even if weights and errors are correlated, provided that both correct
        and wrong predictions occur.
    groups : array (rows,), optional
        Group of every row (a patient, a document), if rows of one group may be correlated. Standard errors and
        intervals then include the design effect of the groups.

    Examples
    --------
    >>> y = [1, 1, 1, 1, 0, 0, 0, 0] + [None] * 6
    >>> score = [2, 1, 1, -1, -2, -1, -1, 1] + [1, -1, -1, -2, 1, -3]
    >>> print(pnu_risk(y, score, prior=0.4))
    0.2342 ± 0.1747, 95 % interval 0.0436 to 0.5698 (mix 0.14)
    """
    refuse_misaligned(y_true=y_true, y_score=y_score, sample_weight=sample_weight, groups=groups, helper=helper)
    rows = split_scored_rows(y_true, unlabeled, pos_label, sample_weight)
    y_scores = read_scores(y_score, len(rows.weight), threshold)
    scores = rows.take(y_scores)
    apart = None if groups is None else rows.take(read_groups(groups, len(rows.weight)))
    if one_sample(rows, sampling) is not None:
        if helper is not None:
            raise ValueError("helper= needs labelled rows of both classes. Leave it out.")
        population = read_population(prior, sampling, rows, y_scores)
        samples = loss_samples(scores, loss, rows.weights, apart)
        return one_sample_risk(population, samples, as_loss(loss), confidence, read_costs(costs))
    class_prior, costs = prior_with_counts(prior, sampling, rows, apart), read_costs(costs)
    _warn_of_contradicted_prior(scores, rows.weights, class_prior)
    plain = estimate_risk(
        scores,
        class_prior,
        mix,
        loss,
        confidence,
        weights=rows.weights,
        groups=apart,
        nonnegative=nonnegative,
        costs=costs,
    )
    if helper is None:
        return plain
    if mix != "optimal" or nonnegative:
        raise ValueError("helper= chooses the mix itself: omit mix and nonnegative.")
    opinions = read_opinions(helper, rows.classes, len(rows.weight))
    kind = "rate" if isinstance(as_loss(loss), ZeroOne) else "mean"
    samples = loss_samples(scores, loss, rows.weights, apart)
    return estimate_with_second_model(plain, samples, take_opinions(opinions, rows.rows), class_prior, kind, costs)


def estimate_risk(
    scores: Sequence[ArrayLike],
    prior: Any,
    mix: Mix = "optimal",
    loss: str | Loss = "zero_one",
    confidence: float = 0.95,
    *,
    weights: Sequence[ArrayLike] | None = None,
    groups: Sequence[AnyArray] | None = None,
    nonnegative: bool = False,
    costs: tuple[float, float] = EQUAL_COSTS,
    own_prior: bool = False,
) -> RiskEstimate:
    """`pnu_risk` for scores that are already split into P, N and U.

    Parameters
    ----------
    scores : sequence of three arrays
        Scores g on P, on N and on U.
    prior : float, (float, float), distribution or PriorEstimate
        Class prior: share of positives in the population that the unlabelled rows come from. It may be uncertain; see
        `pnu_risk`.
    mix : float or str
        Weight η of U in [−1, 1], or the name of a rule that chooses it, as in `pnu_risk`.
    loss : str or Loss
        Name of a loss, or a `Loss`.
    confidence : float
        Confidence level of the interval.
    weights : sequence of three arrays, optional
        Weights of the rows of P, N and U.
    groups : sequence of three arrays, optional
        Group number of every row of P, N and U.
    nonnegative : bool
        Clip the class risk estimated from U at zero.
    costs : (float, float)
        Weights of the losses of positive and of negative rows, as in `pnu_risk`.
    own_prior : bool
        Whether the model was trained with this prior, so that its predictions on U carry no information about it.
    """
    loss, class_prior, costs = as_loss(loss), read_prior(prior), read_costs(costs)
    read_share(confidence, "confidence")
    samples = loss_samples(scores, loss, weights, groups)
    theta = float(class_prior.mean)
    eta = choose_mix(samples, theta, mix, class_prior.spread, costs)
    linear = estimate_linear_risk(pnu(theta, eta).at_costs(costs), samples, eta, confidence)
    slope = prior_slope(eta, np.asarray(costs) * smoothed_means(samples, theta))
    stderr = float(np.hypot(linear.stderr, class_prior.spread * slope))
    lowest, highest = _range(loss, costs, nonnegative)
    value = _nonnegative_value(theta, eta, samples, costs) if nonnegative else linear.value
    value = float(np.clip(value, lowest, highest))
    if isinstance(loss, ZeroOne):
        low, high = cost_interval(
            *decision_shares(used_samples(samples, eta)), class_prior, confidence, costs, own_prior
        )
        if class_prior.spread and not own_prior:
            value = float(np.clip(value, low, high))
    else:
        own = (linear.value - linear.low, linear.high - linear.value)
        down, up = mover([own, prior_distances(slope, class_prior, confidence)])
        low, high = max(value - down, lowest), value + up
    return RiskEstimate(value, stderr, min(low, value), max(high, value), eta, confidence=confidence)


def _range(loss: Loss, costs: tuple[float, float], nonnegative: bool) -> tuple[float, float]:
    """Smallest and largest possible risk; a loss that bounds the zero-one loss is not negative."""
    least = 0.0 if nonnegative or loss.zero_one_factor is not None else -np.inf
    return least, max(costs) if isinstance(loss, ZeroOne) else np.inf


def unclipped_risk(
    scores: Sequence[ArrayLike],
    prior: Any,
    mix: Mix,
    loss: str | Loss,
    *,
    weights: Sequence[ArrayLike] | None = None,
    groups: Sequence[AnyArray] | None = None,
    nonnegative: bool = False,
    costs: tuple[float, float] = EQUAL_COSTS,
) -> float:
    """The value of `estimate_risk` before it is clipped to its range; it is unbiased at a fixed mix."""
    class_prior, samples = read_prior(prior), loss_samples(scores, loss, weights, groups)
    theta = float(class_prior.mean)
    eta = choose_mix(samples, theta, mix, class_prior.spread, costs)
    risk = pnu(theta, eta).at_costs(costs)
    _refuse_empty(risk, samples)
    return _nonnegative_value(theta, eta, samples, costs) if nonnegative else float(sum(class_parts(risk, samples)))


def choose_mix(
    samples: Sequence[LossSample],
    prior: float,
    mix: Mix,
    prior_sd: float = 0.0,
    costs: tuple[float, float] = EQUAL_COSTS,
) -> float:
    """The mix as a number. "optimal" and "heuristic" use PN, PU or NU if U, N or P is empty.

    "optimal" includes the uncertainty of the prior, so its estimated variance never exceeds that of the PN risk.
    """
    if isinstance(mix, Real) and -1 <= float(mix) <= 1:
        return float(mix)
    if mix not in ("optimal", "heuristic"):
        raise ValueError(f"mix must be a number in [-1, 1], 'optimal' or 'heuristic', got {mix!r}.")
    sizes = [sample.size for sample in samples]
    forced = forced_mix(*sizes)
    if forced is not None:
        return forced
    if mix == "heuristic":
        return heuristic_mix(prior, *sizes[:2])
    means = np.asarray(costs) * smoothed_means(samples, prior) if prior_sd else None
    return best_mix(prior, reconciled_covariances(samples, prior) * np.outer(costs, costs), prior_sd, means)


def estimate_linear_risk(risk: Risk, samples: Sequence[LossSample], mix: float, confidence: float) -> RiskEstimate:
    """Value, standard error and interval of a linear combination of the mean losses of three samples.

    Each sample has a skewness-corrected t interval, those of P and N widened for an error that the sample may lack;
    MOVER combines them.
    """
    _refuse_empty(risk, samples)
    value = float(sum(class_parts(risk, samples)))
    covariances = observed_covariances(samples)
    parts = []
    for weights, sample, covariance, own in zip(risk.table, samples, covariances, (0, 1, None), strict=True):
        if weights.any():
            stderr, losses = float(np.sqrt(weights @ covariance @ weights)), sample.losses @ weights
            distances = skewed_t_distances(losses, sample.share, sample.size, stderr, confidence)
            if own is not None:
                wrong, plausible = _wrong_rows(sample, own)
                unseen = (wrong @ weights, plausible)
                distances = widen_for_unseen(distances, losses, sample.share, sample.size, unseen, confidence)
            parts.append(distances)
    down, up = mover(parts)
    stderr = float(np.sqrt(risk_variance(risk, covariances)))
    return RiskEstimate(value, stderr, value - down, value + up, mix, confidence=confidence)


def _wrong_rows(sample: LossSample, own: int) -> tuple[AnyArray, AnyArray]:
    """The losses of a class's rows if all of them were errors, and how plausible that is of each by its own score.

    An error is the more plausible, the less the loss would rise: rows near the boundary.
    """
    right, wrong = np.sort(sample.losses[:, :2], axis=1).T
    losses = np.column_stack([wrong, right] if own == 0 else [right, wrong])
    least = ROUNDING * float(wrong.max()) + np.finfo(float).tiny
    return losses, sample.share * (right + least) / (wrong + least)


def used_samples(samples: Sequence[LossSample], mix: float) -> list[LossSample]:
    """The samples with the unused one emptied: U at mix 0, N at mix 1, P at mix −1."""
    unused = {0.0: 2, 1.0: 1, -1.0: 0}.get(mix)
    return [LossSample.of(s.losses[:0]) if index == unused else s for index, s in enumerate(samples)]


def posterior_risk(
    scores: Sequence[ArrayLike],
    prior: PriorEstimate,
    confidence: float = 0.95,
    *,
    weights: Sequence[ArrayLike],
    groups: Sequence[AnyArray] | None = None,
    costs: tuple[float, float] = EQUAL_COSTS,
) -> RiskEstimate:
    """Posterior mean of the error rate, or cost per row, of a model that was trained with this prior.

    P or N may be empty. Unlike the unbiased estimate, it is never negative and always lies within its interval.

    Parameters
    ----------
    scores : sequence of three arrays
        Scores g on P, on N and on U.
    prior : PriorEstimate
        Class prior and its uncertainty.
    confidence : float
        Confidence level of the interval.
    weights : sequence of three arrays
        Weights of the rows of P, N and U.
    groups : sequence of three arrays, optional
        Group number of every row of P, N and U.
    costs : (float, float)
        Cost of a false negative and cost of a false positive.
    """
    samples = loss_samples(scores, "zero_one", weights, groups)
    share, size = decision_shares(samples)
    values, probability = error_posterior(share, size, prior, N_QUANTILES, costs, own_prior=True)
    value = float(values @ probability)
    stderr = float(np.sqrt(probability @ (values - value) ** 2))
    low, high = cost_interval(share, size, prior, confidence, costs, own_prior=True)
    mix = choose_mix(samples, float(prior.mean), "optimal", prior.spread, costs)
    return RiskEstimate(value, stderr, min(low, value), max(high, value), mix, confidence=confidence)


def class_parts(risk: Risk, samples: Sequence[LossSample]) -> AnyArray:
    """Risk of the positive class, θ E_P[ℓ(g)], and of the negative class, from the two columns of the table."""
    return np.einsum("ci,ci->i", risk.table, [sample.mean for sample in samples])


def _nonnegative_value(prior: float, mix: float, samples: Sequence[LossSample], costs: tuple[float, float]) -> float:
    """The non-negative PNU risk: both class risks of its PU (or NU) part are clipped at zero."""
    share, other = abs(mix), pu(prior) if mix > 0 else nu(prior)
    parts = [(1 - share) * class_parts(pn(prior).at_costs(costs), samples)]
    parts.append(share * class_parts(other.at_costs(costs), samples))
    return float(np.maximum(parts, 0).sum())


def _refuse_empty(risk: Risk, samples: Sequence[LossSample]) -> None:
    for name, weights, sample in zip(("positive", "negative", "unlabeled"), risk.table, samples, strict=True):
        if weights.any() and not sample.size:
            raise ValueError(f"This risk needs {name} rows and found none: {risk}. Use mix='optimal'.")


@dataclass(frozen=True)
class PriorContradiction:
    """A prior that the rows contradict.

    Parameters
    ----------
    given : float
        The prior.
    suggested : float
        The prior estimated from the rows.
    distance : float
        Difference in standard errors.
    """

    given: float
    suggested: float
    distance: float

    def __str__(self) -> str:
        return (
            f"prior={self.given:g} was given, but the unlabelled rows suggest about {self.suggested:.2f} "
            f"({self.distance:.1f} standard errors apart). If the labelled rows are typical of their classes, check "
            "the prior"
        )


def contradict_prior(
    values: Sequence[AnyArray], weights: Sequence[AnyArray], prior: float
) -> PriorContradiction | None:
    """z test of a prior by the means of any function on P, N and U (`mixture_z`); None if it is not applicable."""
    found = mixture_z(values, weights, prior)
    return None if found is None else PriorContradiction(prior, *found)


def _warn_of_contradicted_prior(scores: Sequence[AnyArray], weights: Sequence[AnyArray], prior: PriorEstimate) -> None:
    """Warn if a prior given as a number is far from the one estimated from predictions on P, N and U."""
    if prior.spread:
        return
    called = [1.0 * (g > 0) for g in scores]
    found = contradict_prior(called, weights, float(prior.mean)) or _exceed_bound(scores, weights, float(prior.mean))
    if found is not None and found.distance > LARGEST_Z:
        warnings.warn(f"{found}, or pass what is known about it, e.g. as a range.", UserWarning, stacklevel=3)


def _exceed_bound(scores: Sequence[AnyArray], weights: Sequence[AnyArray], prior: float) -> PriorContradiction | None:
    """z test of a prior by labelled rows of one class and U: its share of U is predicted as this class, or more."""
    share, size = decision_shares(loss_samples(scores, weights=weights))
    if not size[2] or bool(size[0]) == bool(size[1]):
        return None
    k = 0 if size[0] else 1
    of_class = prior if k == 0 else 1 - prior
    hits, called = 1 - share[k], share[2] if k == 0 else 1 - share[2]
    smoothed = (size * share + 1) / (size + 2)
    variance = smoothed * (1 - smoothed) / (size + 2)
    z = (of_class * hits - called) / float(np.sqrt(of_class**2 * variance[k] + variance[2]))
    if z <= 0:
        return None
    bound = called / hits
    return PriorContradiction(prior, float(bound if k == 0 else 1 - bound), float(z))
