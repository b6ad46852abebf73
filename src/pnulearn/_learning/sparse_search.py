"""Candidate search for a linear model on sparse X, which is never made dense."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._kernels.linear import LinearBasis
from pnulearn._learning.moment_search import Fits
from pnulearn._learning.progress import report_progress
from pnulearn._learning.search import Model, Problem
from pnulearn._learning.selection import Tally, membership
from pnulearn._machine import map_in_threads
from pnulearn._problem.samples import Samples
from pnulearn._solvers.candidates import find_used
from pnulearn._solvers.ridge import RidgeCandidates

ROWS_AT_ONCE = 4096


def sparse_memory(samples: Samples, n_points: int) -> int:
    """Bytes for the dual solutions and work arrays of one fold: proportional to rows, not to columns."""
    return 8 * 12 * n_points * len(samples.codes)


class SparseSearch:
    """Search backend by conjugate gradients in the dual; see `_solvers.sparse_ridge`."""

    def __init__(self, problem: Problem, n_jobs: int | None = None, verbose: int = 0):
        self.problem, self.n_jobs = problem, n_jobs
        self._done = report_progress(max(1, problem.n_folds), "folds searched", verbose)

    def explore(self) -> list[Fits]:
        """Validate all candidates."""
        found = map_in_threads(self._explore_fold, [(fold,) for fold in range(self.problem.n_folds)], self.n_jobs)
        if not found:
            return [Fits((), None)]
        fits, tallies = zip(*found, strict=True)
        return [Fits(fits, sum(tallies[1:], start=tallies[0]), tallies)]

    def assemble(self, explored: list[Fits], weight: AnyArray, fold_weights: Sequence[AnyArray] = ()) -> Model:
        """The weighted sum of all candidates; see `search.assemble`."""
        fits, problem = explored[0], self.problem
        if problem.held_out is None:
            needed = find_used(weight[0])
            final = problem.solve(problem.training(problem.samples.X).only(*needed))
            coef, intercept = final.average(weight[0][np.ix_(*needed)])
        else:
            assert fits.candidates[0] is not None
            coef, intercept = fits.candidates[0].average(weight[0])
        judging = self._scores(fits, fold_weights, len(coef)) if len(fold_weights) else None
        assert isinstance(problem.basis, LinearBasis)
        return Model(
            np.zeros(1, dtype=int),
            coef[:, None],
            intercept + coef @ problem.basis.origin,  # `Model` expects the intercept for rows minus the origin
            self._scores(fits, [weight] * problem.n_folds, len(coef)),
            judging,
        )

    def _explore_fold(self, fold: int) -> tuple[RidgeCandidates, Tally]:
        train, samples = self._training_rows(fold), self._held_out(fold)[0]
        fit = self.problem.solve(self.problem.training(self.problem.samples.X, train))
        assert isinstance(fit, RidgeCandidates)
        groups = membership(samples.codes, samples.weight, samples.n_classes, samples.population)
        tallies = [
            Tally.of(fit.scores(samples.X[part]), groups[part], self.problem.squash)
            for part in (slice(k, k + ROWS_AT_ONCE) for k in range(0, len(samples.codes), ROWS_AT_ONCE))
        ]
        if self._done:
            self._done()
        return fit, sum(tallies[1:], start=tallies[0])

    def _training_rows(self, fold: int) -> AnyArray:
        return np.arange(len(self.problem.samples.codes)) if self.problem.held_out else self.problem.splits[fold][0]

    def _held_out(self, fold: int) -> tuple[Samples, AnyArray]:
        """The rows that validate a fold, and their indices."""
        if self.problem.held_out is not None:
            return self.problem.held_out, np.arange(len(self.problem.held_out.codes))
        rows = self.problem.splits[fold][1]
        return self.problem.samples.take(rows), rows

    def _scores(self, fits: Fits, weights: Sequence[AnyArray], n_outputs: int) -> AnyArray:
        """Out-of-fold scores (K, n) with the candidate weights of each fold; NaN for rows never held out."""
        samples = self.problem.samples if self.problem.held_out is None else self.problem.held_out
        scores = np.full((n_outputs, len(samples.codes)), np.nan)
        for fold, (fit, weight) in enumerate(zip(fits.candidates, weights, strict=True)):
            assert fit is not None
            coef, intercept = fit.average(weight[0])
            held_out, rows = self._held_out(fold)
            scores[:, rows] = (held_out.X @ coef.T).T + intercept[:, None]
        return scores
