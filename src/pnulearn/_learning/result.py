"""Shared by all ways of fitting: the candidate grid, the weights of candidates, and the fit result."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from pnulearn._arrays import AnyArray
from pnulearn._intervals.closed_forms import widen_for_bias
from pnulearn._intervals.posterior_grids import ContradictedPrior
from pnulearn._kernels.basis import Basis
from pnulearn._kernels.centers import GIVEN
from pnulearn._kernels.registry import KERNELS
from pnulearn._learning.search import Model
from pnulearn._learning.selection import SearchTable, Tally, average_weights, best_candidate
from pnulearn._learning.settings import Settings
from pnulearn._problem.samples import Samples
from pnulearn._solvers.candidates import Mixes
from pnulearn.losses import as_loss
from pnulearn.metrics._estimate import RiskEstimate
from pnulearn.metrics._population import one_sample_risk, population_of_sample
from pnulearn.metrics._rates import count_decisions
from pnulearn.metrics._risk import contradict_prior, estimate_risk, posterior_risk
from pnulearn.metrics._scored_rows import EQUAL_COSTS
from pnulearn.metrics._variance import loss_samples
from pnulearn.priors._estimate import PriorEstimate
from pnulearn.priors._one_sample import OneSample

# A fitted classifier lacks these attributes if the value is None. Other attributes may be None.
OPTIONAL = frozenset({"validation_scores", "judging_scores", "feature_names_in"})
# Leave-one-out models hardly differ from the final model, so their disagreement understates the variation between draws
# of labels. A factor of three gives intervals of risk_ their nominal coverage (results/prior-cost.md).
LEAVE_ONE_OUT_FACTOR = 3.0
LARGEST_Z = 2.0


@dataclass(frozen=True, eq=False)
class FitResult:
    """The fitted attributes of a `PNUClassifier`, here without the trailing underscore.

    `function` holds the attributes named by the kernel (`Basis.name_learnt`): `coef_`, `intercept_`, ...
    """

    classes: AnyArray
    prior: Any
    prior_interval: tuple[Any, Any] | None
    prior_estimate: PriorEstimate
    risk_used: str
    search: SearchTable
    bandwidth: float
    mix: float
    alpha: float
    risk: RiskEstimate | None
    function: dict[str, AnyArray]
    n_features_in: int
    feature_names_in: AnyArray | None = None
    validation_scores: AnyArray | None = None
    judging_scores: AnyArray | None = None
    calibration: AnyArray | None = None
    n_iter: int = 1
    converged: bool = True
    prior_doubt: str | None = None
    decisions: AnyArray | None = None
    columns: str = "given"

    def attributes(self) -> dict[str, Any]:
        """Attribute names with the trailing underscore, and their values."""
        values = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "function"}
        there = {f"{name}_": value for name, value in values.items() if value is not None or name not in OPTIONAL}
        return there | self.function


def estimate_model_risk(
    rows: Samples,
    scores: AnyArray,
    final_scores: Callable[[AnyArray], AnyArray],
    prior: PriorEstimate,
    never_validated: Sequence[int] = (),
    costs: tuple[float, float] = EQUAL_COSTS,
    allowance: float = 1.0,
) -> RiskEstimate | None:
    """The PNU zero-one risk, or cost, of a binary model from held-out `scores` (K, n); NaN marks rows without a score.

    `final_scores` returns the final model's scores, (n,) or (n, 1), of any rows. The held-out scores come from models
    fitted on fewer rows; the interval is widened by `allowance` times the share of rows on which they decide
    differently from the final model.
    """
    if rows.n_classes > 2 or np.isnan(scores[0]).all():
        return None
    judged = rows.unlabeled[~np.isnan(scores[0, rows.unlabeled])]
    risk = held_out_risk(rows, scores[0], prior, never_validated, costs)
    if risk is None or not len(judged):
        return risk
    changed = (np.ravel(final_scores(_safe_indexing(rows.X, judged))) > 0) != (scores[0, judged] > 0)
    return allow_for_changes(risk, allowance * max(costs) * float(np.average(changed, weights=rows.weight[judged])))


def held_out_risk(
    rows: Samples,
    scores: AnyArray,
    prior: PriorEstimate,
    never_validated: Sequence[int] = (),
    costs: tuple[float, float] = EQUAL_COSTS,
) -> RiskEstimate | None:
    """The risk estimated from held-out scores (n,), with an interval.

    The value is the posterior mean if there are `never_validated` classes, of which no row was held out, or if the
    prior was estimated from labels drawn at random. In the second case the estimate at the mean prior is too low by 1
    to 2 percentage points with few labels, because the model was fitted with the same estimated prior. If labels were
    drawn by class, the posterior mean is too high instead, so the plug-in estimate is used (results/prior-cost.md). For
    labels of one class in a random sample, `one_sample_risk` gives the value.
    """
    sample = OneSample.of(rows.codes, rows.weight, rows.random_counts)
    split = rows.split() if sample is None else (*rows.split()[:2], rows.unlabeled)
    groups = [group[~np.isnan(scores[group])] for group in split]
    positive, negative, population = map(len, groups)
    if not ((positive and negative) or ((positive or negative) and population)):
        return None
    parts, weights = [scores[group] for group in groups], [rows.weight[group] for group in groups]
    alike = None if rows.groups is None else [rows.groups[group] for group in groups]
    if sample is not None:
        samples = loss_samples(parts, weights=weights, groups=alike)
        with suppress(ContradictedPrior):
            return one_sample_risk(population_of_sample(prior, sample), samples, as_loss("zero_one"), costs=costs)
    if never_validated or (prior.spread and rows.random_counts is not None):
        with suppress(ContradictedPrior):
            return posterior_risk(parts, prior, weights=weights, groups=alike, costs=costs)
    return estimate_risk(parts, prior, weights=weights, groups=alike, costs=costs, own_prior=True)


def allow_for_changes(risk: RiskEstimate, changed: float) -> RiskEstimate:
    """Widen the interval for a final model that decides differently on a share `changed` of the population.

    Cross-validation evaluates models fitted on a part of the labels. The error of the final model differs from theirs
    by at most that share.

    >>> print(allow_for_changes(RiskEstimate(0.2, 0.05, 0.1, 0.3, 0.0), 0.1))
    0.2000 ± 0.0764, 95 % interval 0.0490 to 0.3510 (mix 0.00)
    """
    low, high, deviation = widen_for_bias(risk.value, risk.low, risk.high, changed, risk.confidence)
    stderr = float(np.hypot(risk.stderr, deviation))
    return replace(risk, stderr=stderr, low=max(low, min(risk.low, 0.0)), high=high)


def count_held_out(rows: Samples, scores: AnyArray) -> AnyArray | None:
    """Decision counts of every class and of the population by held-out scores (K, n); None without scores."""
    scored = np.isfinite(scores.sum(axis=0))
    if not scored.any():
        return None
    called = (scores[0] > 0).astype(int) if rows.n_classes == 2 else np.nan_to_num(scores).argmax(axis=0)
    groups = [np.flatnonzero(rows.codes == code) for code in range(rows.n_classes)]
    return count_decisions([g[scored[g]] for g in (*groups, rows.population)], called, rows.n_classes, rows.weight)


def doubt_prior(rows: Samples, scores: AnyArray, prior: float) -> str | None:
    """A warning message if held-out scores (n,) contradict the prior, else None; NaN marks rows without a score.

    Scores are clipped to [−1, 1], the range of 2 P(+|x) − 1.
    """
    g = np.clip(scores, -1, 1)
    groups = [group[~np.isnan(g[group])] for group in rows.split()]
    found = contradict_prior([g[group] for group in groups], [rows.weight[group] for group in groups], prior)
    if found is None or found.distance <= LARGEST_Z:
        return None
    return f"{found}, or leave it out to have it estimated."


@dataclass(frozen=True, eq=False)
class CandidateGrid:
    """The candidates of a fit, bandwidth × mix × alpha, with the settings, classes, prior and basis they share."""

    settings: Settings
    classes: AnyArray
    prior: PriorEstimate
    basis: Basis
    mixes: Mixes

    @property
    def n_candidates(self) -> int:
        return len(self.basis.bandwidths) * len(self.mixes) * len(self.settings.alphas)

    def tabulate(self, tallies: Sequence[Tally]) -> SearchTable:
        """Validation results and weights from one tally per bandwidth; `tallies` is empty if no rows were held out.

        If errors were not counted (NaN), the squared loss replaces them.
        """
        values = {"bandwidth": self.basis.bandwidths, "mix": self.mixes.values, "alpha": self.settings.alphas}
        if not tallies:
            zero_one = squared = np.zeros(tuple(map(len, values.values())))
            n_labels = 0.0
        else:
            zero_one = np.stack([tally.zero_one(self.prior.shares) for tally in tallies])
            squared = np.stack([tally.squared(self.prior.shares) for tally in tallies])
            n_labels = tallies[0].effective_labels(self.prior.shares)
        errors, settings = squared if np.isnan(zero_one).any() else zero_one, self.settings
        if settings.selection == "average":
            weight = average_weights(errors, squared, n_labels, shares=self.mixes.shares)
        else:
            order = {"alphas": settings.alphas, "mixes": self.mixes.values}
            weight = best_candidate(errors, squared, n_labels, tie_break=settings.tie_break, **order)
        return SearchTable(values, zero_one, squared, weight, self.basis.representations)

    def conclude(
        self, search: SearchTable, model: Model, validated: Samples, feature_names: AnyArray | None = None
    ) -> FitResult:
        """The fit result: the model, the candidate of greatest weight, and the risk on the `validated` rows."""
        bandwidth, mix, alpha = search.best
        scores = model.validation_scores
        if not np.isfinite([model.coef.sum(), model.intercept.sum(), search.weight.sum()]).all():
            raise self._unsolvable()
        judging = scores if model.judging_scores is None else model.judging_scores
        function = self.basis.name_learnt(model.used, model.coef, model.intercept)
        doubted = self.prior.is_known and len(self.classes) == 2
        doubt = doubt_prior(validated, judging[0], float(self.prior)) if doubted else None
        return FitResult(
            classes=self.classes,
            prior=self.prior.value,
            prior_interval=self.prior.interval,
            prior_estimate=self.prior,
            risk_used=self.mixes.risk,
            search=search,
            bandwidth=float(self.basis.bandwidths[bandwidth]),
            mix=float(self.mixes.values[mix]),
            alpha=float(self.settings.alphas[alpha]),
            columns=GIVEN if search.columns is None else search.columns[bandwidth],
            risk=estimate_model_risk(
                validated,
                judging,
                partial(KERNELS[self.settings.kernel].scores, function),
                self.prior,
                model.never_validated,
                allowance=LEAVE_ONE_OUT_FACTOR if model.leave_one_out else 1.0,
            ),
            decisions=count_held_out(validated, judging),
            prior_doubt=doubt,
            n_features_in=validated.X.shape[1],
            feature_names_in=feature_names,
            validation_scores=scores[0] if len(self.classes) == 2 else scores.T,
            judging_scores=judging[0] if len(self.classes) == 2 else judging.T,
            function=function,
        )

    @contextmanager
    def solving(self) -> Iterator[None]:
        """Turn a LinAlgError into a ValueError that names the alphas and bandwidths."""
        try:
            yield
        except np.linalg.LinAlgError as error:
            raise self._unsolvable() from error

    def _unsolvable(self) -> ValueError:
        alphas, bandwidths = self.settings.alphas, self.basis.bandwidths
        found = f"alpha from {alphas.min():g} to {alphas.max():g}"
        if self.basis.has_bandwidth:
            found += f", bandwidth from {bandwidths.min():g} to {bandwidths.max():g}"
        return ValueError(
            f"The fit did not give finite numbers ({found}). Pass a greater alpha, e.g. alpha=1e-5, standardise the "
            "columns of X, e.g. with sklearn.preprocessing.StandardScaler, and leave out extreme bandwidths and sample "
            "weights."
        )
