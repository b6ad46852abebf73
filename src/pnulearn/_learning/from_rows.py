"""From rows in memory to all that a fit leaves behind."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from pnulearn._arrays import AnyArray
from pnulearn._basis.basis import Basis
from pnulearn._basis.kernels import KERNELS, choose_views
from pnulearn._learning.block_search import BlockSearch, block_memory, prefers_blocks, suits_blocks
from pnulearn._learning.calibration import score_calibration
from pnulearn._learning.result import Contest, Learnt
from pnulearn._learning.search import Model, Problem, Road, RowSearch, V, Validated
from pnulearn._learning.selection import SearchTable
from pnulearn._learning.settings import Settings, feasible_risk, refuse_if_too_large
from pnulearn._learning.sparse_search import SparseSearch, prefers_sparse, sparse_memory
from pnulearn._problem.folds import content_splits, never_held_out, own_splits
from pnulearn._problem.row_keys import row_keys
from pnulearn._problem.samples import Samples
from pnulearn._solvers.candidates import Mixes
from pnulearn._solvers.iterative import WatchedSolver, candidate_solver, squashing
from pnulearn._solvers.left_out import can_leave_out, left_out_scores
from pnulearn.losses import Loss
from pnulearn.priors.resolve import resolve_prior


def learn_from_rows(
    settings: Settings,
    samples: Samples,
    classes: AnyArray,
    *,
    held_out: Samples | None = None,
    feature_names: AnyArray | None = None,
) -> Learnt:
    """Search all candidates, judged on the `held_out` rows or else by cross-validation, and assemble the model."""
    solver = WatchedSolver(candidate_solver(settings.loss))
    codes, kept = samples.codes, np.flatnonzero(samples.weight)  # a row of weight zero is as good as absent
    groups = samples.groups
    samples = samples if len(kept) == len(codes) else samples.take(kept)
    keys = row_keys(samples.X, settings.seed, samples.weight)
    risk = feasible_risk(settings.risk, settings.mix, samples, classes)
    settings = settings.for_risk(risk)
    contest = _open_contest(settings, samples, classes, keys, risk)
    squash, shares = squashing(settings.loss), contest.prior.shares
    problem = Problem(
        samples,
        shares,
        contest.basis,
        contest.mixes,
        settings.alphas,
        solver,
        squash,
        held_out=held_out,
        quadratic=settings.loss.quadratic is not None,
    )
    if held_out is None:
        own = own_splits(settings.folds, codes, kept, groups, settings.seed)
        splits = own or content_splits(settings.n_folds, samples, keys, classes, contest.n_candidates)
        problem = replace(problem, splits=splits, tossed=never_held_out(samples.codes, [] if own else splits))
        if settings.leaves_one_out and not own:
            problem = _leaving_one_out(problem, settings.loss, keys)
    with contest.solving():
        search, model = _search(contest, problem)
    validated = samples if held_out is None else held_out
    learnt = contest.conclude(search, model, validated, feature_names)
    _warn_of_unjudged(classes[list(model.tossed)].tolist())
    _warn_if_short(solver, settings)
    if learnt.prior_doubt:
        warnings.warn(learnt.prior_doubt, UserWarning, stacklevel=3)
    calibration = _calibration(settings, learnt, samples, validated, model.validation_scores, shares)
    return replace(learnt, n_iter=solver.n_iter, converged=solver.n_failed == 0, calibration=calibration)


def _leaving_one_out(problem: Problem, loss: Loss, keys: AnyArray) -> Problem:
    """The problem with every row judged by models that lack it alone, where that has a closed form at bearable cost."""
    samples, basis = problem.samples, problem.basis
    if loss.quadratic is None or basis.intercept or not problem.splits or prefers_blocks(samples, basis):
        return problem
    if not can_leave_out(samples.codes, samples.weight, keys, problem.alphas):
        return problem
    return replace(problem, leave_out=partial(left_out_scores, alike=keys, quadratic=loss.quadratic))


def _search(contest: Contest, problem: Problem) -> tuple[SearchTable, Model]:
    """All candidates and what is made of them, from features of all rows at once or, of many rows, block by block."""
    given = problem, contest.settings.n_jobs, contest.settings.verbose
    if problem.quadratic and prefers_sparse(problem.samples, problem.basis):
        return _walk(contest, SparseSearch(*given))
    return _walk(contest, BlockSearch(*given)) if suits_blocks(problem) else _walk(contest, RowSearch(*given))


def _walk(contest: Contest, road: Road[V]) -> tuple[SearchTable, Model]:
    explored = road.explore()
    search = contest.tabulate([result.tally for result in explored if result.tally is not None])
    folds = _cross_weights(contest, explored, road.problem.n_folds) if road.problem.held_out is None else []
    return search, road.assemble(explored, search.weight, folds)


def _open_contest(settings: Settings, samples: Samples, classes: AnyArray, keys: AnyArray, risk: str) -> Contest:
    """The candidates, with the prior and with basis functions chosen by the rows' content."""
    X, codes = samples.X, samples.codes
    basis = choose_views(
        settings.kernel,
        X,
        samples.weight,
        codes >= 0,
        keys,
        centers=settings.centers,
        bandwidth=settings.bandwidth,
        columns=settings.columns,
    )
    _refuse_if_too_large(settings, samples, basis)
    prior = resolve_prior(
        settings.prior,
        X,
        codes,
        samples.weight,
        classes=classes,
        random_state=settings.seed,
        random_counts=samples.random_counts,
    )
    return Contest(settings, classes, prior, basis, Mixes.of(risk, settings.mix))


def _refuse_if_too_large(settings: Settings, samples: Samples, basis: Basis) -> None:
    """Before any work, by what the road that will be taken needs."""
    n, n_bandwidths = len(samples.codes), len(basis.bandwidths)
    if settings.loss.quadratic is not None and prefers_sparse(samples, basis):
        n_shares = len(np.unique(Mixes.of(settings.risk, settings.mix).shares))
        needed = sparse_memory(samples, n_shares * len(settings.alphas))
    elif settings.loss.quadratic is not None and settings.counts_folds and prefers_blocks(samples, basis):
        needed = block_memory(samples.n_classes, settings.n_folds, basis) + 32 * n
    else:
        needed = 8 * n * basis.size * (n_bandwidths + 2)
    refuse_if_too_large(needed, f"{n} rows x {basis.size} basis functions", basis)


def _cross_weights(contest: Contest, explored: Sequence[Validated], n_folds: int) -> list[AnyArray]:
    """For every fold the candidates' weights as the other folds alone would have them: no row judges its own choice."""
    if n_folds < 2:
        return []
    tallies = [[result.tally_without(fold) for result in explored] for fold in range(n_folds)]
    return [contest.tabulate([tally for tally in without if tally is not None]).weight for without in tallies]


def _calibration(
    settings: Settings, learnt: Learnt, samples: Samples, validated: Samples, scores: AnyArray, shares: AnyArray
) -> AnyArray | None:
    """Log-odds from scores that were not seen in training; from all rows if there was nothing to validate with."""
    if np.isnan(scores).all():
        validated, scores = samples, KERNELS[settings.kernel].scores(SimpleNamespace(**learnt.function), samples.X).T
    return score_calibration(settings.loss, scores, validated, shares)


def _warn_of_unjudged(names: list[Any]) -> None:
    if names:
        warnings.warn(
            f"Class {names[0]!r} has a single labelled row, which every fold has to learn from. How often rows of this "
            "class are taken for another one is known from the unlabelled rows alone, so risk_ has a wide interval. "
            "Label one more.",
            UserWarning,
            stacklevel=4,
        )


def _warn_if_short(solver: WatchedSolver, settings: Settings) -> None:
    if solver.n_failed:
        warnings.warn(
            f"{solver.n_failed} of {solver.n_fits} fits stopped short of their tolerance, where the objective is all "
            f"but flat. Leave out the smallest alpha ({np.min(settings.alphas):g}), or bring the columns of X to a "
            "common scale.",
            ConvergenceWarning,
            stacklevel=4,
        )
