"""Candidate search for data whose feature matrix does not fit in memory.

Features are recomputed block by block: once for the moments of U in every fold, once to validate all candidates and
once for the scores of the final model. The result equals that of `search`. Memory does not grow with rows × basis
functions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._kernels.basis import Basis
from pnulearn._learning.moment_search import Fits
from pnulearn._learning.progress import report_progress
from pnulearn._learning.search import Model, Problem
from pnulearn._learning.selection import Tally, membership
from pnulearn._machine import map_in_threads
from pnulearn._problem.samples import Samples
from pnulearn._solvers.candidates import Training, find_used
from pnulearn._solvers.moments import LabeledMoments, Moments, MomentSums
from pnulearn._solvers.ridge import RidgeCandidates

BLOCK_ROWS = 4096
T = TypeVar("T", Moments, Tally)
MANY_LABELS = 2  # labelled rows per basis function above which labelled rows are reduced to moments too


def block_memory(n_classes: int, n_folds: int, basis: Basis) -> int:
    """Bytes needed for the sums and a few blocks."""
    sums = n_folds * len(basis.bandwidths) * (1 + n_classes) * basis.size**2
    return 8 * (sums + 8 * BLOCK_ROWS * basis.size)


class BlockSearch:
    """Search backend that processes rows block by block. Results do not depend on the number of threads."""

    def __init__(self, problem: Problem, n_jobs: int | None = None, verbose: int = 0):
        self.problem, self.n_jobs = problem, n_jobs
        samples = problem.samples
        whole = [np.arange(len(samples.codes))]
        self._folds = whole if problem.held_out is not None else [test for _, test in problem.splits]
        self._bandwidths = range(len(problem.basis.bandwidths))
        self._done = report_progress(2 * len(self._folds), "folds read", verbose)
        self._groups = membership(samples.codes, samples.weight, samples.n_classes, samples.population)
        self._many_labels = len(samples.labeled) > MANY_LABELS * problem.basis.size
        self._labeled = [] if self._many_labels else self._labeled_features()
        self._sums: list[list[list[Moments]]] = []  # by fold, bandwidth and group
        self._totals: list[list[Moments]] = []

    def explore(self) -> list[Fits]:
        """Validate all candidates of every bandwidth."""
        self._sums = map_in_threads(self._collect, [(rows,) for rows in self._folds], self.n_jobs)
        self._totals = [
            [_add([fold[index][group] for fold in self._sums]) for group in range(len(self._sums[0][0]))]
            for index in self._bandwidths
        ]
        folds = range(len(self._folds))
        fitted = map_in_threads(self._fit, [(index, fold) for index in self._bandwidths for fold in folds], self.n_jobs)
        fits = [tuple(fitted[index * len(folds) : (index + 1) * len(folds)]) for index in self._bandwidths]
        judged = map_in_threads(self._validate, [([one[fold] for one in fits], fold) for fold in folds], self.n_jobs)
        tallies = list(zip(*judged, strict=True))
        return [Fits(one, _add(list(of_folds)), of_folds) for one, of_folds in zip(fits, tallies, strict=True)]

    def assemble(self, explored: list[Fits], weight: AnyArray, fold_weights: Sequence[AnyArray] = ()) -> Model:
        """The weighted sum of all candidates; see `search.assemble`."""
        used = np.flatnonzero(weight.any(axis=(1, 2)))
        parts = map_in_threads(
            self._final, [(explored[index], int(index), weight[index]) for index in used], self.n_jobs
        )
        coefs, intercepts = zip(*parts, strict=True)
        tasks = [(explored, fold, [weight, *fold_weights[fold : fold + 1]]) for fold in range(len(self._folds))]
        by_fold = map_in_threads(self._scores, tasks, self.n_jobs)
        if self.problem.held_out is not None:
            scores = by_fold[0]
        else:
            scores = np.empty((*by_fold[0].shape[:2], len(self.problem.samples.codes)))
            for rows, part in zip(self._folds, by_fold, strict=True):
                scores[:, :, rows] = part
        return Model(
            used,
            np.stack(coefs, axis=1),
            np.sum(intercepts, axis=0),
            scores[0],
            scores[1] if len(scores) > 1 else None,
        )

    def _labeled_features(self) -> list[AnyArray]:
        """Features of the labelled rows under every bandwidth."""
        basis, samples = self.problem.basis, self.problem.samples
        prepared = basis.prepare(samples.X[samples.labeled])
        return [basis.features(prepared, index) for index in self._bandwidths]

    def _collect(self, rows: AnyArray) -> list[list[Moments]]:
        """Moments of the population, and of every class if there are many labels, for each bandwidth."""
        weights = self._groups if self._many_labels else self._groups[:, -1:]
        size = self.problem.basis.size
        sums = [[MomentSums(size) for _ in range(weights.shape[1])] for _ in self._bandwidths]
        rows = rows[weights[rows].any(axis=1)]
        rows = rows[np.argsort(self.problem.samples.codes[rows], kind="stable")]  # so that few blocks mix two groups
        for block, index, features in self._features(self.problem.samples.X, rows, self._bandwidths):
            for one, weight in zip(sums[index], weights[block].T, strict=True):
                members = np.flatnonzero(weight)
                one.add(*((features, weight) if len(members) == len(weight) else (features[members], weight[members])))
        self._report()
        return [[one.moments() for one in of_bandwidth] for of_bandwidth in sums]

    def _features(
        self, X: AnyArray, rows: AnyArray, indices: Sequence[int]
    ) -> Iterator[tuple[AnyArray, int, AnyArray]]:
        """Iterate over (row indices, bandwidth index, features) by blocks of rows."""
        basis = self.problem.basis
        for start in range(0, len(rows), BLOCK_ROWS):
            block = rows[start : start + BLOCK_ROWS]
            for index, features in basis.every_features(basis.prepare(X[block]), indices):
                yield block, index, features

    def _fit(self, index: int, fold: int | None) -> RidgeCandidates:
        """Fit every candidate on all rows except those of the fold."""
        fitted = self.problem.solve(self._training(index, fold if self.problem.held_out is None else None))
        assert isinstance(fitted, RidgeCandidates)
        return fitted.lifted()

    def _training(self, index: int, fold: int | None) -> Training:
        problem, samples = self.problem, self.problem.samples
        groups = self._totals[index]
        if fold is not None:
            groups = [total - part for total, part in zip(groups, self._sums[fold][index], strict=True)]
        outputs = np.array([1]) if len(problem.prior) == 2 else np.arange(len(problem.prior))
        labeled = LabeledMoments.of(groups[:-1], problem.prior, outputs) if self._many_labels else None
        inside = np.ones(len(samples.labeled), dtype=bool)
        if fold is not None:
            inside = ~np.isin(samples.labeled, self._folds[fold])
        rows = samples.labeled[inside]
        return Training(
            np.empty((0, problem.basis.size)) if self._many_labels else self._labeled[index],
            samples.codes[rows],
            samples.weight[rows],
            rows[:0],
            problem.prior,
            problem.mixes,
            problem.alphas,
            problem.basis.intercept,
            groups[-1],
            rows=np.flatnonzero(inside),
            labeled_moments=labeled,
        )

    def _held_out(self, fold: int) -> tuple[Samples, AnyArray, AnyArray]:
        """Samples, row indices and group weights of the rows that validate a fold's candidates."""
        held_out = self.problem.held_out
        if held_out is None:
            return self.problem.samples, self._folds[fold], self._groups
        groups = membership(held_out.codes, held_out.weight, held_out.n_classes, held_out.population)
        return held_out, np.arange(len(held_out.codes)), groups

    def _validate(self, fits: list[RidgeCandidates], fold: int) -> list[Tally]:
        """One tally of the held-out rows per bandwidth."""
        samples, rows, groups = self._held_out(fold)
        tallies: list[list[Tally]] = [[] for _ in fits]
        for block, index, features in self._features(samples.X, rows, self._bandwidths):
            tallies[index].append(Tally.of(fits[index].scores(features), groups[block], self.problem.squash))
        self._report()
        return [_add(of_bandwidth) for of_bandwidth in tallies]

    def _final(self, fits: Fits, index: int, weight: AnyArray) -> tuple[AnyArray, AnyArray]:
        """Coefficients (K, b) and intercepts (K,) fitted on all rows."""
        if self.problem.held_out is not None and fits.candidates[0] is not None:
            return fits.candidates[0].average(weight)
        needed = find_used(weight)
        return self.problem.solve(self._training(index, None).only(*needed)).average(weight[np.ix_(*needed)])

    def _scores(self, fits: list[Fits], fold: int, weights: list[AnyArray]) -> AnyArray:
        """Scores (weights, K, n) of the held-out rows: one weighted average of the candidates per array of weights."""
        samples, rows, _ = self._held_out(fold)
        parts = {
            int(index): [fits[index].candidates[fold].average(weight[index]) for weight in weights]  # type: ignore[union-attr]
            for index in np.flatnonzero(np.any([weight.any(axis=(1, 2)) for weight in weights], axis=0))
        }
        coef = {index: np.stack([coef for coef, _ in of_weights]) for index, of_weights in parts.items()}
        intercept = sum(np.stack([intercept for _, intercept in of_weights]) for of_weights in parts.values())
        scores = np.repeat(np.asarray(intercept)[:, :, None], len(rows), axis=2)
        place = np.empty(len(samples.codes), dtype=int)
        place[rows] = np.arange(len(rows))
        for block, index, features in self._features(samples.X, rows, list(parts)):
            scores[:, :, place[block]] += coef[index] @ features.T
        return scores

    def _report(self) -> None:
        if self._done:
            self._done()


def _add(parts: Sequence[T]) -> T:
    return sum(parts[1:], start=parts[0])
