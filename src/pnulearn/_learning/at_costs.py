"""Cost-sensitive learning: false negatives and false positives have different costs.

With C = c_fn θ + c_fp (1 − θ) and θ' = c_fn θ / C, the cost per row c_fn θ E_P[ℓ(g)] + c_fp (1 − θ) E_N[ℓ(−g)] is C
times the risk in a population with prior θ', in which the more costly class is more frequent. That population is
represented by the rows of U plus copies of the labelled rows of the more costly class, which are treated as unlabelled
and weighted to reach θ'. Every search backend therefore supports costs without changes. If positives are more costly,
the PU part is the table `pu(θ).at_costs(costs)` divided by C.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from pnulearn._arrays import AnyArray
from pnulearn._kernels.registry import KERNELS
from pnulearn._learning.from_rows import learn_from_rows
from pnulearn._learning.result import FitResult, count_held_out, doubt_prior, estimate_model_risk
from pnulearn._learning.settings import Settings
from pnulearn._problem.folds import Split, content_splits, own_splits
from pnulearn._problem.labels import UNLABELED
from pnulearn._problem.row_keys import row_keys
from pnulearn._problem.samples import Samples
from pnulearn.metrics._scored_rows import weighted_prior
from pnulearn.priors._resolve import resolve_prior

Costs = tuple[float, float]


def learn_at_costs(
    settings: Settings,
    samples: Samples,
    classes: AnyArray,
    costs: Costs,
    *,
    held_out: Samples | None = None,
    feature_names: AnyArray | None = None,
) -> FitResult:
    """Fit with `learn_from_rows` at these costs; `risk` is the cost per row, `prior` that of the population."""
    _refuse_unsuited(samples, classes)
    kept = np.flatnonzero(samples.weight)
    rows = samples.take(kept)
    prior = resolve_prior(
        settings.prior,
        rows.X,
        rows.codes,
        rows.weight,
        classes=classes,
        random_state=settings.seed,
        random_counts=rows.random_counts,
    )
    theta = float(prior)
    cv: Any = settings.cv
    if held_out is None:
        keys = row_keys(rows.X, settings.seed, rows.weight)
        splits = own_splits(settings.folds, samples.codes, kept, samples.groups, settings.seed)
        splits = splits or content_splits(settings.n_folds, rows, keys, classes, 2)
        cv = [_with_copies(split, copied_rows(rows, costs), len(kept)) for split in splits]
    inner = replace(settings, prior=weighted_prior(theta, costs), cv=cv, costs=None)
    moved = None if held_out is None else weigh_population(held_out, theta, costs)
    with warnings.catch_warnings():
        # The inner fit would check the reweighted prior θ'. The original prior is checked below instead.
        warnings.filterwarnings("ignore", message="prior=.* was given, but")
        learnt = learn_from_rows(
            inner, weigh_population(rows, theta, costs), classes, held_out=moved, feature_names=feature_names
        )
    judged = rows if held_out is None else held_out
    learnt = _keep_rows(learnt, len(judged.codes))
    scores = None if learnt.judging_scores is None else learnt.judging_scores[None]
    doubt = doubt_prior(judged, scores[0], theta) if prior.is_known and scores is not None else None
    if doubt:
        warnings.warn(doubt, UserWarning, stacklevel=3)
    final_scores = partial(KERNELS[settings.kernel].scores, learnt.function)
    return replace(
        learnt,
        prior=prior.value,
        prior_interval=prior.interval,
        prior_estimate=prior,
        prior_doubt=doubt,
        risk=None if scores is None else estimate_model_risk(judged, scores, final_scores, prior, costs=costs),
        decisions=None if scores is None else count_held_out(judged, scores),
    )


def weigh_population(rows: Samples, prior: float, costs: Costs) -> Samples:
    """The rows plus unlabelled copies of the more costly class's labelled rows, weighted to reach the prior θ'."""
    copied = copied_rows(rows, costs)
    if not len(copied):
        return replace(rows, at_random=None, groups=None)
    share = prior if costs[0] > costs[1] else 1 - prior
    more = abs(costs[0] - costs[1]) / min(costs) * share * rows.weight[rows.population].sum()
    weight = more * rows.weight[copied] / rows.weight[copied].sum()
    X = (
        sparse.vstack([rows.X, rows.X[copied]]).tocsr()
        if sparse.issparse(rows.X)
        else np.vstack([rows.X, rows.X[copied]])
    )
    codes = np.append(rows.codes, np.full(len(copied), UNLABELED))
    return Samples(X, codes, np.append(rows.weight, weight), rows.n_classes, rows.sampling)


def copied_rows(rows: Samples, costs: Costs) -> AnyArray:
    """Indices of the more costly class's labelled rows; empty if costs are equal or there is no population sample."""
    dearer = int(costs[0] > costs[1])
    none = costs[0] == costs[1] or not len(rows.population)
    return np.zeros(0, dtype=int) if none else np.flatnonzero(rows.codes == dearer)


def _with_copies(split: Split, copied: AnyArray, n_rows: int) -> Split:
    """The split extended by the copies; each copy is in the same part as its original row."""
    train, test = (np.append(part, n_rows + np.flatnonzero(np.isin(copied, part))) for part in split)
    return train, test


def _keep_rows(learnt: FitResult, n_rows: int) -> FitResult:
    """The fit result with the scores of the copies removed."""
    seen, judging = (
        None if part is None else part[:n_rows] for part in (learnt.validation_scores, learnt.judging_scores)
    )
    return replace(learnt, validation_scores=seen, judging_scores=judging)


def _refuse_unsuited(samples: Samples, classes: AnyArray) -> None:
    if len(classes) > 2:
        raise ValueError(f"costs are for two classes, a missed positive and a false alarm; y has {len(classes)}.")
    few = [str(name) for name, code in zip(classes.tolist(), (0, 1), strict=True) if np.sum(samples.codes == code) < 2]
    if few:
        raise ValueError(f"costs need two labelled rows of each class; class {few[0]!r} has fewer. Label one more.")
