"""The population of the metrics: which prior the unlabelled rows have, and which one the whole population.

They differ for positive and unlabelled rows of one sample (`priors._one_sample`): there both error rates are estimated
from P and from U with U's own share of positives, and rates of the population from the rates and its class prior.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._intervals.closed_forms import effective_counts, wald_interval
from pnulearn._intervals.posterior_grids import N_PRIORS, DecisionRates, decision_rates_posterior
from pnulearn._intervals.score_tests import cost_measure, rate_interval
from pnulearn._problem.samples import BY_CLASS, Sampling, read_sampling
from pnulearn.losses import Loss, ZeroOne
from pnulearn.metrics._estimate import RiskEstimate, estimate_from_posterior
from pnulearn.metrics._scored_rows import ScoredRows
from pnulearn.metrics._variance import LossSample, decision_shares
from pnulearn.priors._estimate import PriorEstimate
from pnulearn.priors._one_sample import OneSample
from pnulearn.priors._resolve import AutoPrior, read_prior


@dataclass(frozen=True)
class Population:
    """The class prior of the unlabelled rows, and how that of the population follows from it.

    Parameters
    ----------
    of_unlabeled : PriorEstimate
        The share of positives among the unlabelled rows.
    sample : OneSample or None
        The sample, if U lacks the labelled rows.
    known : float or None
        The class prior of the population, if it is known exactly and differs from that of U.
    """

    of_unlabeled: PriorEstimate
    sample: OneSample | None = None
    known: float | None = None

    def prior(self, of_unlabeled: Any) -> Any:
        """The class prior of the population for these shares of positives among the unlabelled rows."""
        if self.sample is None:
            return of_unlabeled
        return self.sample.of_table(of_unlabeled) if self.known is None else 0.0 * of_unlabeled + self.known

    @property
    def of_table(self) -> PriorEstimate:
        """The class prior of the population."""
        if self.sample is None:
            return self.of_unlabeled
        return self.sample.prior_of_table(self.of_unlabeled) if self.known is None else PriorEstimate.known(self.known)

    @property
    def mean(self) -> float:
        """The mean class prior of the population."""
        return float(self.prior(float(self.of_unlabeled.mean)))


def one_sample(rows: ScoredRows, sampling: Sampling) -> OneSample | None:
    """The sample, if labels are random and of one class; else None."""
    if read_sampling(sampling) == BY_CLASS:
        return None
    positive, negative, unlabeled = rows.weights
    codes = np.repeat([1, 0, -1], [len(positive), len(negative), len(unlabeled)])
    counts = np.array([negative.sum(), positive.sum()])
    return OneSample.of(codes, np.concatenate([positive, negative, unlabeled]), counts)


def read_population(
    prior: Any,
    sampling: Sampling,
    rows: ScoredRows,
    scores: AnyArray | None = None,
    groups: Sequence[AnyArray] | None = None,
) -> Population:
    """The population of a prior that is given, counted on random labels, or estimated from scores of one sample."""
    sample = one_sample(rows, sampling)
    if sample is None:
        return Population(prior_with_counts(prior, sampling, rows, groups))
    if prior is None:
        return Population(_prior_from_scores(rows, scores), sample)
    return population_of_sample(read_prior(prior), sample)


def prior_with_counts(
    prior: Any, sampling: Sampling, rows: ScoredRows, groups: Sequence[AnyArray] | None = None
) -> PriorEstimate:
    """The given class prior, combined with the class counts if labels were drawn at random."""
    by_class = read_sampling(sampling) == "by_class"
    if prior is None and by_class:
        raise ValueError(
            "prior is needed: the share of positives in the population, e.g. prior=0.3 or prior=(0.2, 0.4). "
            + (
                "If labelled and unlabelled rows are one random sample, pass sampling='random' instead."
                if len(rows.rows[0]) and len(rows.rows[1])
                else "Labelled rows of one class alone do not tell it: estimate_prior gives a range."
            )
        )
    if by_class:
        return read_prior(prior)
    codes, weight = np.repeat([0, 1], [len(rows.rows[1]), len(rows.rows[0])]), rows.weights
    together = None if groups is None else np.concatenate([groups[1], groups[0]])
    counted = PriorEstimate.of_counts(effective_counts(codes, np.concatenate([weight[1], weight[0]]), 2, together))
    if prior is None:
        return counted
    given = read_prior(prior)
    return given.combine(counted) if given.spread else given


def population_of_sample(prior: PriorEstimate, sample: OneSample) -> Population:
    """The population of one sample with a given class prior."""
    return Population(sample.prior_of_unlabeled(prior), sample, float(prior) if prior.mass is None else None)


def _prior_from_scores(rows: ScoredRows, scores: AnyArray | None) -> PriorEstimate:
    """The share of positives in U by the default method, with the scores as the only column."""
    if scores is None:
        raise ValueError("prior is needed: the share of positives in the population, e.g. prior=(0.2, 0.4).")
    groups = rows.rows
    used = np.concatenate(groups)
    codes = np.repeat([1, 0, -1], [len(group) for group in groups])
    if np.ptp(scores[used]) == 0:
        raise ValueError("prior is needed, because all scores are equal: e.g. prior=0.3 or prior=(0.2, 0.4).")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the warning below says it
        found = AutoPrior(random_state=0).estimate(scores[used, None], codes, rows.weight[used])
    warnings.warn(
        "With labelled rows of one class the prior is estimated from the scores, which is rough. Pass prior=..., e.g. "
        "prior=model.prior_estimate_ or a range.",
        UserWarning,
        stacklevel=4,
    )
    return found


def one_sample_risk(
    population: Population,
    samples: list[LossSample],
    loss: Loss,
    confidence: float = 0.95,
    costs: tuple[float, float] = (1.0, 1.0),
) -> RiskEstimate:
    """The PU (or NU) risk of one sample, never negative for losses that are not.

    With θ = s + (1 − s) q the risk is θ E_P[ℓ(g)] + (1 − s) (E_U[ℓ(−g)] − q E_P[ℓ(−g)]), whose samples P and U are
    independent. The zero-one risk comes from the joint posterior of q and both error rates.
    """
    sample = population.sample
    assert sample is not None
    mix = 1.0 if sample.positive else -1.0
    theta, q = population.mean, float(population.of_unlabeled.mean)
    if isinstance(loss, ZeroOne):
        shares = decision_shares(samples)
        fnr, fpr = DecisionRates(*shares, q).fit()
        qs, rates, probability = decision_rates_posterior(*shares, population.of_unlabeled)
        priors = population.prior(qs)
        values = costs[0] * priors * rates[0] + costs[1] * (1 - priors) * rates[1]
        value = float(costs[0] * theta * fnr + costs[1] * (1 - theta) * fpr)
        measure = cost_measure(population.of_table, costs).of_population(population.prior)
        interval = rate_interval(*shares, population.of_unlabeled, measure, confidence)
        found = estimate_from_posterior(value, values, probability, confidence, interval)
        return RiskEstimate(found.value, found.stderr, found.low, found.high, mix, confidence=confidence)
    labeled, unlabeled = samples[0 if sample.positive else 1], samples[2]
    of_class, of_other = (
        (0, 1) if sample.positive else (1, 0)
    )  # columns: losses as the labelled class, and as the other
    rest = (1 - sample.share) * costs[of_other] * unlabeled.losses[:, of_other]
    values, variances = [], []
    for point in population.of_unlabeled.points(N_PRIORS).tolist():
        of_table, of_rest = population.prior(point), point
        if not sample.positive:
            of_table, of_rest = 1 - of_table, 1 - of_rest
        rows = costs[of_class] * of_table * labeled.losses[:, of_class]
        rows = rows - costs[of_other] * (1 - sample.share) * of_rest * labeled.losses[:, of_other]
        values.append(float(labeled.share @ rows + unlabeled.share @ rest))
        variances.append(_variance(labeled, rows) + _variance(unlabeled, rest))
    value, stderr = float(np.mean(values)), float(np.sqrt(np.mean(variances) + np.var(values)))
    low, high = wald_interval(value, stderr, confidence)
    if min(float(part.losses.min()) for part in (labeled, unlabeled)) >= 0:
        value, low, high = max(value, 0.0), max(low, 0.0), high - min(value, 0.0)
    return RiskEstimate(value, stderr, low, high, mix, confidence=confidence)


def _variance(sample: LossSample, values: AnyArray) -> float:
    """Variance of the mean of one value per row."""
    mean = float(sample.share @ values)
    return float(sample.share @ (values - mean) ** 2) / max(sample.size - 1, 1.0)
