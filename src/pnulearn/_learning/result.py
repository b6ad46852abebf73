"""What every way of learning shares: the candidates, how they are weighed, and what is concluded from it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any

import numpy as np

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
from pnulearn.metrics._estimate import RiskEstimate
from pnulearn.metrics._rates import count_decisions
from pnulearn.metrics._risk import contradict_prior, estimate_risk, posterior_risk
from pnulearn.metrics._scored_rows import EQUAL_COSTS
from pnulearn.priors._estimate import PriorEstimate

# A fitted classifier has no such attribute where the value is None; elsewhere None is an answer.
OPTIONAL = frozenset({"validation_scores", "judging_scores", "feature_names_in"})
# Models that lack a single row hardly differ from the one of all rows, and yet another draw of labels would have led to
# another: counted three times, they widen intervals of risk_ to what they promise (results/prior-cost.md).
FOR_ONE_ROW = 3.0
LARGEST_Z = 2.0


@dataclass(frozen=True, eq=False)
class FitResult:
    """Every attribute of a fitted `PNUClassifier` that ends in an underscore, without it.

    `function` holds those that the kernel itself names, as `Basis.name_learnt` gives them: `coef_`, `intercept_`, ...
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
        """Names with the underscore, and values."""
        values = {field.name: getattr(self, field.name) for field in fields(self) if field.name != "function"}
        there = {f"{name}_": value for name, value in values.items() if value is not None or name not in OPTIONAL}
        return there | self.function


def judge_model(
    rows: Samples,
    scores: AnyArray,
    final_scores: Callable[[AnyArray], AnyArray],
    prior: PriorEstimate,
    tossed: Sequence[int] = (),
    costs: tuple[float, float] = EQUAL_COSTS,
    allowance: float = 1.0,
) -> RiskEstimate | None:
    """The PNU zero-one risk, or cost, of a model of two classes, from held-out `scores` (K, n); NaN marks rows without.

    `final_scores` gives those of the model itself, (n,) or (n, 1), on any rows: where folds judged other models, it
    says how far they differ; the share of rows that they call otherwise counts `allowance` times.
    """
    if rows.n_classes > 2 or np.isnan(scores[0]).all():
        return None
    judged = rows.unlabeled[~np.isnan(scores[0, rows.unlabeled])]
    risk = held_out_risk(rows, scores[0], prior, tossed, costs)
    if risk is None or not len(judged):
        return risk
    changed = (np.ravel(final_scores(rows.X[judged])) > 0) != (scores[0, judged] > 0)
    return allow_for_changes(risk, allowance * max(costs) * float(np.average(changed, weights=rows.weight[judged])))


def held_out_risk(
    rows: Samples,
    scores: AnyArray,
    prior: PriorEstimate,
    tossed: Sequence[int] = (),
    costs: tuple[float, float] = EQUAL_COSTS,
) -> RiskEstimate | None:
    """The risk of whatever gave the scores (n,).

    If a class was `tossed`, being never held out, or if the prior was counted from labels drawn at random, it is the
    one expected under the posterior that the interval comes from. In the second case the estimate at the mean prior is
    too low by 1 to 2 points with few labels: the model follows the prior that is believed in, and is judged as if that
    were right. Where labels were gathered by class the posterior says too much instead (results/prior-cost.md).
    """
    groups = [group[~np.isnan(scores[group])] for group in rows.split()]
    positive, negative, population = map(len, groups)
    if not ((positive and negative) or ((positive or negative) and population)):
        return None
    parts, weights = [scores[group] for group in groups], [rows.weight[group] for group in groups]
    alike = None if rows.groups is None else [rows.groups[group] for group in groups]
    if tossed or (prior.spread and rows.random_counts is not None):
        with suppress(ContradictedPrior):
            return posterior_risk(parts, prior, weights=weights, groups=alike, costs=costs)
    return estimate_risk(parts, prior, weights=weights, groups=alike, costs=costs, own_prior=True)


def allow_for_changes(risk: RiskEstimate, changed: float) -> RiskEstimate:
    """The interval for a model that decides otherwise on a share `changed` of the population than those judged.

    Folds judge models that lack a part of the labels. The error of the model from all rows may be higher or lower by
    that share at most.

    >>> print(allow_for_changes(RiskEstimate(0.2, 0.05, 0.1, 0.3, 0.0), 0.1))
    0.2000 ± 0.0764, 95 % interval 0.0490 to 0.3510 (mix 0.00)
    """
    low, high, deviation = widen_for_bias(risk.value, risk.low, risk.high, changed, risk.confidence)
    stderr = float(np.hypot(risk.stderr, deviation))
    return replace(risk, stderr=stderr, low=max(low, min(risk.low, 0.0)), high=high)


def count_held_out(rows: Samples, scores: AnyArray) -> AnyArray | None:
    """What rows of every class, and those that stand for the population, are called by held-out scores (K, n)."""
    scored = np.isfinite(scores.sum(axis=0))
    if not scored.any():
        return None
    called = (scores[0] > 0).astype(int) if rows.n_classes == 2 else np.nan_to_num(scores).argmax(axis=0)
    groups = [np.flatnonzero(rows.codes == code) for code in range(rows.n_classes)]
    return count_decisions([g[scored[g]] for g in (*groups, rows.population)], called, rows.n_classes, rows.weight)


def doubt_prior(rows: Samples, scores: AnyArray, prior: float) -> str | None:
    """A sentence if held-out scores (n,) contradict the prior, else None; NaN marks rows without a score.

    Scores are cut at ±1, where a row is as clear as can be.
    """
    g = np.clip(scores, -1, 1)
    groups = [group[~np.isnan(g[group])] for group in rows.split()]
    found = contradict_prior([g[group] for group in groups], [rows.weight[group] for group in groups], prior)
    if found is None or found.distance <= LARGEST_Z:
        return None
    return f"{found}, or leave it out to have it estimated."


@dataclass(frozen=True, eq=False)
class CandidateGrid:
    """The candidates of a fit, bandwidth × mix × alpha, and what is settled before any of them is tried."""

    settings: Settings
    classes: AnyArray
    prior: PriorEstimate
    basis: Basis
    mixes: Mixes

    @property
    def n_candidates(self) -> int:
        return len(self.basis.bandwidths) * len(self.mixes) * len(self.settings.alphas)

    def tabulate(self, tallies: Sequence[Tally]) -> SearchTable:
        """Validation results and weights, from a tally per bandwidth, or none if nothing could be held out.

        Where errors were not counted (NaN), the squared loss stands in for them.
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
        """What was learnt: the model, the candidate with most weight, and the risk on the `validated` rows."""
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
            risk=judge_model(
                validated,
                judging,
                partial(KERNELS[self.settings.kernel].scores, function),
                self.prior,
                model.tossed,
                allowance=FOR_ONE_ROW if model.lacks_one else 1.0,
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
        """Matrices that cannot be inverted are a matter of penalties and scales, and are said to be so."""
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
            f"The fit did not give finite numbers ({found}). Pass a greater alpha, e.g. alpha=1e-5, bring the columns "
            "of X to a common scale, e.g. with sklearn.preprocessing.StandardScaler, and leave out extreme bandwidths "
            "and sample weights."
        )
