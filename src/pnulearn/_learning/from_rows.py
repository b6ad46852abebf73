"""Fitting from rows in memory."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from pnulearn._arrays import AnyArray
from pnulearn._kernels.basis import Basis, stays_sparse
from pnulearn._kernels.linear import LinearBasis
from pnulearn._kernels.registry import KERNELS, choose_views
from pnulearn._learning.block_search import BlockSearch, block_memory
from pnulearn._learning.calibration import score_calibration
from pnulearn._learning.result import CandidateGrid, FitResult
from pnulearn._learning.search import Model, Problem, RowSearch, SearchBackend
from pnulearn._learning.selection import SearchTable
from pnulearn._learning.settings import Settings, feasible_risk, refuse_if_too_large
from pnulearn._learning.sparse_search import SparseSearch, sparse_memory
from pnulearn._problem.folds import content_splits, never_held_out, own_splits, warn_never_held_out
from pnulearn._problem.row_keys import fold_keys, row_keys
from pnulearn._problem.samples import Samples
from pnulearn._solvers.candidates import Mixes
from pnulearn._solvers.iterative import WatchedSolver, candidate_solver, squashing
from pnulearn._solvers.leave_one_out import can_leave_out, left_out_scores
from pnulearn.losses import Loss
from pnulearn.priors._resolve import resolve_prior

KEPT_AT_MOST = 2**22  # size of a feature matrix that is kept in memory: 32 MB per bandwidth
TALL = 3  # rows per basis function above which summing moments by block is worthwhile


def learn_from_rows(
    settings: Settings,
    samples: Samples,
    classes: AnyArray,
    *,
    held_out: Samples | None = None,
    feature_names: AnyArray | None = None,
) -> FitResult:
    """Validate all candidates on the `held_out` rows, or else by cross-validation, and assemble the final model."""
    solver = WatchedSolver(candidate_solver(settings.loss))
    codes, kept = samples.codes, np.flatnonzero(samples.weight)  # rows of weight zero are dropped
    groups = samples.groups
    samples = samples if len(kept) == len(codes) else samples.take(kept)
    keys = row_keys(samples.X, settings.seed, samples.weight)
    risk = feasible_risk(settings.risk, settings.mix, samples, classes)
    settings = settings.for_risk(risk)
    basis = choose_views(
        settings.kernel,
        samples.X,
        samples.weight,
        samples.codes >= 0,
        keys,
        centers=settings.centers,
        bandwidth=settings.bandwidth,
        columns=settings.columns,
    )
    way = choose_search(samples, basis) if settings.loss.quadratic is not None else RowSearch
    _refuse_if_too_large(settings, samples, basis, way)
    prior = resolve_prior(
        settings.prior,
        samples.X,
        samples.codes,
        samples.weight,
        classes=classes,
        random_state=settings.seed,
        random_counts=samples.random_counts,
    )
    candidate_grid = CandidateGrid(settings, classes, prior, basis, Mixes.of(risk, settings.mix))
    problem = Problem(
        samples,
        prior.shares,
        basis,
        candidate_grid.mixes,
        settings.alphas,
        solver,
        squashing(settings.loss),
        held_out=held_out,
        quadratic=settings.loss.quadratic is not None,
    )
    if held_out is None:
        own = own_splits(settings.folds, codes, kept, groups, settings.seed)
        keys = fold_keys(keys, samples.codes, samples.weight)
        splits = own or content_splits(settings.n_folds, samples, keys, classes, candidate_grid.n_candidates)
        problem = replace(problem, splits=splits, never_validated=() if own else never_held_out(samples.codes, splits))
        if way is BlockSearch and not problem.holds_each_row_out_once:
            way = RowSearch
        elif way is RowSearch and settings.leaves_one_out and not own:
            problem = _leave_one_out(problem, settings.loss, keys)
    with candidate_grid.solving():
        search, model = _search(candidate_grid, way(problem, settings.n_jobs, settings.verbose))
    validated = samples if held_out is None else held_out
    learnt = candidate_grid.conclude(search, model, validated, feature_names)
    if model.never_validated:
        warn_never_held_out(classes[list(model.never_validated)].tolist())
    if solver.n_failed:
        _warn_not_converged(solver, settings)
    if learnt.prior_doubt:
        warnings.warn(learnt.prior_doubt, UserWarning, stacklevel=3)
    learnt = replace(learnt, n_iter=solver.n_iter, converged=solver.n_failed == 0)
    scores = model.validation_scores
    judged = not np.isnan(scores).all()
    if not judged:
        validated, scores = samples, KERNELS[settings.kernel].scores(learnt.function, samples.X).T
    calibration = score_calibration(settings.loss, scores, validated, prior.shares, held_out=judged)
    return replace(learnt, calibration=calibration)


def choose_search(samples: Samples, basis: Basis) -> type[RowSearch] | type[BlockSearch] | type[SparseSearch]:
    """The search backend for a quadratic loss.

    `SparseSearch` keeps a large sparse X sparse, `BlockSearch` sums moments of many rows by block, `RowSearch` keeps
    all features in memory.
    """
    n, b = len(samples.codes), basis.size
    if isinstance(basis, LinearBasis) and stays_sparse(samples.X):
        return SparseSearch
    many = n * b > KEPT_AT_MOST and n > TALL * b and len(samples.population) >= 2 * b
    return BlockSearch if many else RowSearch


def _leave_one_out(problem: Problem, loss: Loss, keys: AnyArray) -> Problem:
    """The problem with leave-one-out validation, if that has a closed form that is cheap enough; else unchanged."""
    samples = problem.samples
    if loss.quadratic is None or problem.basis.intercept or not problem.splits:
        return problem
    if not can_leave_out(samples.codes, samples.weight, keys, problem.alphas):
        return problem
    return replace(problem, leave_out=partial(left_out_scores, alike=keys, quadratic=loss.quadratic))


def _search(candidate_grid: CandidateGrid, backend: SearchBackend) -> tuple[SearchTable, Model]:
    """Validate all candidates, compute their weights and assemble the model.

    Each fold is evaluated with candidate weights from the other folds only, as in nested cross-validation.
    """
    explored, n_folds = backend.explore(), backend.problem.n_folds
    search = candidate_grid.tabulate([result.tally for result in explored if result.tally is not None])
    fold_weights = []
    if backend.problem.held_out is None and n_folds > 1:
        for fold in range(n_folds):
            others = [result.tally_without(fold) for result in explored]
            fold_weights.append(candidate_grid.tabulate([tally for tally in others if tally is not None]).weight)
    return search, backend.assemble(explored, search.weight, fold_weights)


def _refuse_if_too_large(settings: Settings, samples: Samples, basis: Basis, way: type[Any]) -> None:
    """Raise MemoryError before the search starts if it would need too much memory."""
    n = len(samples.codes)
    if way is SparseSearch:
        n_shares = len(np.unique(Mixes.of(settings.risk, settings.mix).shares))
        needed = sparse_memory(samples, n_shares * len(settings.alphas))
    elif way is BlockSearch and settings.counts_folds:
        needed = block_memory(samples.n_classes, settings.n_folds, basis) + 32 * n
    else:
        needed = 8 * n * basis.size * (len(basis.bandwidths) + 2)
    refuse_if_too_large(needed, f"{n} rows x {basis.size} basis functions", basis)


def _warn_not_converged(solver: WatchedSolver, settings: Settings) -> None:
    warnings.warn(
        f"{solver.n_failed} of {solver.n_fits} fits did not converge. Leave out the smallest alpha "
        f"({np.min(settings.alphas):g}), or standardise the columns of X, e.g. with "
        "sklearn.preprocessing.StandardScaler.",
        ConvergenceWarning,
        stacklevel=4,
    )
