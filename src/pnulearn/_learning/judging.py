"""The judge of a fit: what its held-out scores say about the model that was learnt from all rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._intervals.closed_forms import widen_for_bias
from pnulearn._intervals.posterior_grids import ContradictedPrior
from pnulearn._problem.samples import Samples
from pnulearn.metrics._estimate import RiskEstimate
from pnulearn.metrics._rates import count_decisions
from pnulearn.metrics._risk import estimate_risk, posterior_risk
from pnulearn.metrics._scored_rows import EQUAL_COSTS
from pnulearn.priors.estimate import PriorEstimate

# Models that lack a single row hardly differ from the one of all rows, and yet another draw of labels would have led to
# another: counted three times, they widen intervals of risk_ to what they promise (results/prior-cost.md).
FOR_ONE_ROW = 3.0


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

    `final_scores` are those of the model itself on any rows: where folds judged other models, it says how far they
    differ; the share of rows that they call otherwise counts `allowance` times.
    """
    if rows.n_classes > 2 or np.isnan(scores[0]).all():
        return None
    judged = rows.unlabeled[~np.isnan(scores[0, rows.unlabeled])]
    risk = held_out_risk(rows, scores[0], prior, tossed, costs)
    if risk is None or not len(judged):
        return risk
    changed = (final_scores(rows.X[judged])[0] > 0) != (scores[0, judged] > 0)
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
    positive, negative, population = (len(group) > 0 for group in groups)
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
