"""Grid search over bandwidth x mix x alpha by the PNU risk, with one factorisation per bandwidth and fold."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from joblib import effective_n_jobs

from pnulearn._arrays import AnyArray
from pnulearn._kernels.basis import Basis
from pnulearn._learning.progress import Done, announce_duration, report_progress
from pnulearn._learning.selection import Tally, membership
from pnulearn._machine import keep_freed_memory, map_in_threads
from pnulearn._problem.folds import Split
from pnulearn._problem.samples import Samples, population_of
from pnulearn._solvers.candidates import Candidates, Mixes, Training, find_used
from pnulearn._solvers.low_rank import Reduced, reduce_features
from pnulearn._solvers.moments import Moments
from pnulearn.metrics._variance import LAPLACE_ROWS

ROW_CHUNK = 4096
PROBE_FROM = 500  # models; the duration is predicted for larger grids only
SCORES_KEPT = 2**18  # two megabytes for a bandwidth and fold


@dataclass(frozen=True)
class Problem:
    """The training rows, the candidates, and how to validate them: by splits of these rows or on a held-out set."""

    samples: Samples
    prior: AnyArray
    basis: Basis
    mixes: Mixes
    alphas: AnyArray
    solve: Callable[[Training], Candidates]
    squash: Callable[[AnyArray], AnyArray] | None = None
    splits: Sequence[Split] = ()
    held_out: Samples | None = None
    quadratic: bool = False  # whether the loss is quadratic, so that moments are sufficient
    never_validated: tuple[int, ...] = ()  # classes that no split holds out
    leave_out: Callable[[Training], tuple[AnyArray, Candidates]] | None = None  # leave-one-out scores and final fit

    @cached_property
    def prepared(self) -> AnyArray:
        return self.basis.prepare(self.samples.X)

    @cached_property
    def groups(self) -> AnyArray:
        """The weight of every row in every group, (n, groups)."""
        samples = self.samples
        return membership(samples.codes, samples.weight, samples.n_classes, samples.population)

    @cached_property
    def held_out_prepared(self) -> AnyArray:
        assert self.held_out is not None
        return self.basis.prepare(self.held_out.X)

    @property
    def holds_each_row_out_once(self) -> bool:
        """Whether the test sets partition the rows and each training set is the rest."""
        n = len(self.samples.codes)
        tested = np.bincount(np.concatenate([np.arange(0), *(test for _, test in self.splits)]), minlength=n)
        return bool((tested == 1).all()) and all(len(train) + len(test) == n for train, test in self.splits)

    @property
    def n_folds(self) -> int:
        return len(self.splits) if self.held_out is None else 1

    def training(
        self,
        table: AnyArray,
        rows: AnyArray | None = None,
        moments: Moments | None = None,
        products: AnyArray | None = None,
    ) -> Training:
        """These rows of a table of features, all by default, with the candidates to fit."""
        rows = np.arange(len(self.samples.codes)) if rows is None else rows
        codes = self.samples.codes[rows]
        weight, population = self.samples.weight[rows], population_of(codes, self.samples.sampling)
        candidates = self.prior, self.mixes, self.alphas, self.basis.intercept
        return Training(table, codes, weight, population, *candidates, moments, products, rows)


@dataclass(frozen=True)
class ValidatedSplit:
    """One bandwidth on one split: the tally, and either the scores of the held-out rows or the fitted candidates.

    If there are few held-out rows, their scores take less memory than the candidates, which are then dropped.
    """

    tally: Tally
    scores: AnyArray | None
    fit: Candidates | None

    def mixed_scores(self, weight: AnyArray, features: AnyArray) -> AnyArray:
        """Scores (K, n) of the held-out rows, averaged over candidates with `weight` (C, J)."""
        if self.scores is not None:
            return np.tensordot(self.scores, weight, axes=((1, 2), (0, 1)))
        assert self.fit is not None
        coef, intercept = self.fit.average(weight)
        return coef @ features.T + intercept[:, None]


@dataclass(frozen=True)
class Explored:
    """One bandwidth after validation: its coordinates and the result of every split."""

    reduced: Reduced
    judged: list[ValidatedSplit]
    final: Candidates | None = None  # fitted on all rows, if validation computed them anyway

    @property
    def tally(self) -> Tally | None:
        """Pooled over the splits."""
        return self.tally_without(None) if self.judged else None

    def tally_without(self, fold: int | None) -> Tally:
        """Pooled over all splits but one."""
        tallies = [one.tally for number, one in enumerate(self.judged) if number != fold]
        return sum(tallies[1:], start=tallies[0])


@dataclass(frozen=True)
class Model:
    """The chosen function g = Σ over bandwidths of φ′coef + intercept: coef (K, used, b), intercept (K,)."""

    used: AnyArray  # indices of the bandwidths of nonzero weight
    coef: AnyArray
    intercept: AnyArray
    validation_scores: AnyArray  # (K, n): out-of-fold, or on the held-out rows; NaN where a row was never held out
    judging_scores: AnyArray | None = None  # the same with candidate weights from the other folds only
    never_validated: tuple[int, ...] = ()  # classes with labelled rows none of which could be held out
    leave_one_out: bool = False  # whether rows were scored by leave-one-out rather than k-fold


class SearchBackend(Protocol):
    """A search of a problem's candidates: `explore` validates all, `assemble` averages them by their weights."""

    @property
    def problem(self) -> Problem: ...

    def explore(self) -> list[Any]: ...

    def assemble(self, explored: list[Any], weight: AnyArray, fold_weights: Sequence[AnyArray] = ()) -> Model: ...


@dataclass(frozen=True)
class RowSearch:
    """Search backend that keeps the features of all rows in memory."""

    problem: Problem
    n_jobs: int | None = None
    verbose: int = 0

    def explore(self) -> list[Explored]:
        """Validate all candidates of every bandwidth. The result does not depend on n_jobs."""
        keep_freed_memory()
        problem, n_jobs = self.problem, self.n_jobs
        bandwidths, folds = range(len(problem.basis.bandwidths)), range(problem.n_folds)
        done = report_progress(len(bandwidths) * (1 if problem.leave_out else len(folds)), "grids solved", self.verbose)
        if problem.leave_out:
            return map_in_threads(_explore_leave_one_out, [(problem, index, done) for index in bandwidths], n_jobs)
        places = map_in_threads(_prepare, [(problem, index) for index in bandwidths], n_jobs)
        if done and folds and not problem.quadratic:
            _predict_duration(problem, places, n_jobs, self.verbose)
        judged = map_in_threads(_validate, [(problem, place, fold, done) for place in places for fold in folds], n_jobs)
        return [
            Explored(place.reduced, judged[index * len(folds) : (index + 1) * len(folds)])
            for index, place in enumerate(places)
        ]

    def assemble(self, explored: list[Explored], weight: AnyArray, fold_weights: Sequence[AnyArray] = ()) -> Model:
        """The weighted sum of all candidates: one coefficient vector per bandwidth of nonzero weight.

        `fold_weights` are the candidate weights with which each fold is evaluated, if they differ from `weight`.
        """
        problem = self.problem
        bandwidths = np.flatnonzero(weight.any(axis=(1, 2)))
        tasks = [(problem, explored[index], index, weight[index]) for index in bandwidths]
        coefs, intercepts, scores = zip(*map_in_threads(_assemble_bandwidth, tasks, self.n_jobs), strict=True)
        return Model(
            bandwidths,
            np.stack(coefs, axis=1),
            np.sum(intercepts, axis=0),
            np.sum(scores, axis=0),
            _judging_scores(problem, explored, fold_weights) if len(fold_weights) else None,
            problem.never_validated,
            problem.leave_out is not None,
        )


def _judging_scores(problem: Problem, explored: list[Explored], fold_weights: Sequence[AnyArray]) -> AnyArray:
    """Out-of-fold scores (K, n) with the candidate weights of each fold; NaN for rows never held out."""
    n_outputs = 1 if len(problem.prior) == 2 else len(problem.prior)
    scores = np.full((n_outputs, len(problem.samples.codes)), np.nan)
    for fold, (weight, (_, test)) in enumerate(zip(fold_weights, problem.splits, strict=True)):
        scores[:, test] = 0.0
        for own, result in zip(weight, explored, strict=True):
            if own.any():
                scores[:, test] += result.judged[fold].mixed_scores(own, result.reduced.coordinates[test])
    return scores


@dataclass(frozen=True)
class _Place:
    """Data shared by the folds of one bandwidth: its coordinates, and U's moments for every fold if they are cheap."""

    index: int
    reduced: Reduced
    moments: list[Moments | None]


def _predict_duration(problem: Problem, places: list[_Place], n_jobs: int | None, verbose: int) -> None:
    """Report the expected duration of an iterative search, measured on the models of one mix."""
    n_models = len(problem.mixes) * len(problem.alphas) * len(places) * problem.n_folds
    if n_models <= PROBE_FROM:
        return
    place = places[len(places) // 2]
    train = problem.splits[0][0] if problem.splits else np.arange(len(place.reduced.coordinates))
    training = problem.training(place.reduced.coordinates, train, products=place.reduced.products)
    some = training.only(np.array([len(problem.mixes) // 2]), np.arange(len(problem.alphas)))
    start = time.perf_counter()
    problem.solve(some)
    seconds = (time.perf_counter() - start) / len(problem.alphas) * n_models / effective_n_jobs(n_jobs)
    advice = (
        "loss='squared' is many times faster; fewer values of mix, alpha and bandwidth, or fewer centers, help too."
    )
    announce_duration(seconds, f"{n_models:,} models of {len(train):,} rows", advice, verbose)


def _prepare(problem: Problem, index: int) -> _Place:
    reduced = reduce_features(problem.basis.features(problem.prepared, index))
    return _Place(index, reduced, _fold_moments(problem, reduced.coordinates))


def _validate(problem: Problem, place: _Place, fold: int, done: Done | None) -> ValidatedSplit:
    """Fit the candidates of one bandwidth on one training fold, or on all rows, and tally the held-out rows."""
    reduced = place.reduced
    if problem.held_out is not None:
        fit = problem.solve(problem.training(reduced.coordinates, products=reduced.products))
        features = _held_out_features(problem, reduced, place.index)
        rows = problem.held_out
        groups = membership(rows.codes, rows.weight, rows.n_classes, rows.population)
        tally, _ = _tally(fit, features, groups, problem.squash)
        judged = ValidatedSplit(tally, None, fit)
    else:
        train, test = problem.splits[fold]
        fit = problem.solve(problem.training(reduced.coordinates, train, place.moments[fold], reduced.products))
        products = reduced.products_of(test, train)
        tally, scores = _tally(fit, reduced.coordinates[test], problem.groups[test], problem.squash, products)
        judged = ValidatedSplit(_add_pseudo_observations(problem, tally), scores, fit if scores is None else None)
    if done:
        done()
    return judged


def _explore_leave_one_out(problem: Problem, index: int, done: Done | None) -> Explored:
    """One bandwidth validated by leave-one-out; results are tallied by fold to weight candidates without a fold."""
    assert problem.leave_out is not None
    reduced = reduce_features(problem.basis.features(problem.prepared, index))
    scores, final = problem.leave_out(problem.training(reduced.coordinates, products=reduced.products))
    judged = []
    for _, test in problem.splits:
        own = scores[..., test]
        tally = Tally.of(own, problem.groups[test], problem.squash)
        judged.append(
            ValidatedSplit(_add_pseudo_observations(problem, tally) if problem.never_validated else tally, own, None)
        )
    if done:
        done()
    return Explored(reduced, judged, final)


def _add_pseudo_observations(problem: Problem, tally: Tally) -> Tally:
    """Add pseudo-observations at chance level for the classes that no split holds out."""
    return (
        tally.with_pseudo_observations(problem.never_validated, LAPLACE_ROWS / problem.n_folds)
        if problem.never_validated
        else tally
    )


def _held_out_features(problem: Problem, reduced: Reduced, index: int) -> AnyArray:
    return reduced.project(problem.basis.features(problem.held_out_prepared, index))


def _assemble_bandwidth(
    problem: Problem, result: Explored, index: int, weight: AnyArray
) -> tuple[AnyArray, AnyArray, AnyArray]:
    """Coefficients (K, b), intercepts (K,) from all rows, and this bandwidth's part of the validation scores (K, n)."""
    Z = result.reduced.coordinates
    if problem.held_out is not None:
        fit = result.judged[0].fit
        assert fit is not None
        coef, intercept = fit.average(weight)
        scores = result.judged[0].mixed_scores(weight, _held_out_features(problem, result.reduced, index))
    else:
        if result.final is not None:
            coef, intercept = result.final.average(weight)
        else:
            needed = find_used(weight)
            training = problem.training(Z, products=result.reduced.products)
            coef, intercept = problem.solve(training.only(*needed)).average(weight[np.ix_(*needed)])
        scores = np.full((len(coef), len(Z)), np.nan)
        for judged, (_, test) in zip(result.judged, problem.splits, strict=True):
            scores[:, test] = judged.mixed_scores(weight, Z[test])
    return result.reduced.lift(coef), intercept, scores


def _fold_moments(problem: Problem, Z: AnyArray) -> list[Moments | None]:
    """U's moments for every training fold (total minus fold), if U has at least twice as many rows as Z columns."""
    samples, population = problem.samples, problem.samples.population
    partition = all(len(train) + len(test) == len(Z) for train, test in problem.splits)
    if len(population) < 2 * Z.shape[1] or not partition or not problem.splits:
        return [None] * len(problem.splits)
    in_population = np.zeros(len(Z), dtype=bool)
    in_population[population] = True
    parts = [test[in_population[test]] for _, test in problem.splits]
    folds = [Moments.of(Z[rows], samples.weight[rows]) for rows in parts]
    whole = problem.holds_each_row_out_once
    total = sum(folds[1:], start=folds[0]) if whole else Moments.of(Z[population], samples.weight[population])
    return [total - fold for fold in folds]


def _tally(
    fit: Candidates,
    features: AnyArray,
    groups: AnyArray,
    squash: Callable[[AnyArray], AnyArray] | None,
    products: AnyArray | None = None,
) -> tuple[Tally, AnyArray | None]:
    """The tally of all candidates on these rows, and their scores (K, C, J, n) unless that array is too large."""
    if len(features) <= ROW_CHUNK:
        scores = fit.scores(features, products)
        return Tally.of(scores, groups, squash), scores if scores.size <= SCORES_KEPT else None
    tallies = [
        Tally.of(fit.scores(features[chunk], None if products is None else products[chunk]), groups[chunk], squash)
        for chunk in (slice(start, start + ROW_CHUNK) for start in range(0, len(features), ROW_CHUNK))
    ]
    return sum(tallies[1:], start=tallies[0]), None
