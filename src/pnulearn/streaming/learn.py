"""From statistics to a fitted classifier."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnulearn._learning.moment_prior import prior_from_moments
from pnulearn._learning.moment_search import Fits, MomentProblem, assemble_moments, explore_moments, usable_folds
from pnulearn._learning.parameters import feasible_risk
from pnulearn._learning.search import Problem
from pnulearn._learning.selection import SearchTable
from pnulearn._problem.samples import Samples
from pnulearn._solvers.candidates import ALPHAS, Mixes
from pnulearn._solvers.ridge import squared_candidates
from pnulearn._statistics.design import Design
from pnulearn._statistics.statistics import PNUStatistics
from pnulearn.streaming.planning import check_one_pass
from pnulearn.streaming.sample import RowSample

Recount = Callable[[list[Fits]], list[Fits]]


def fit_statistics(
    estimator: Any, statistics: PNUStatistics, *, sample: RowSample | None = None, recount: Recount | None = None
) -> Any:
    """Fit a PNUClassifier from statistics; it is then like any other.

    Candidates are told apart by the squared-loss PNU risk, or by the zero-one risk too if `recount` (a second pass)
    counts errors. The `sample` of rows, if there is one, gives the validation risk with its standard error.

    Parameters
    ----------
    estimator : PNUClassifier
        The classifier.
    statistics : PNUStatistics
        Statistics of all rows.
    sample : RowSample, optional
        Rows for the validation risk.
    recount : callable, optional
        A second pass that counts the errors of all candidates.
    """
    check_one_pass(estimator)
    design = statistics.design
    estimator.classes_ = design.classes
    _set_features(estimator, design)
    counted = _counted(statistics, estimator.sampling)
    risk = feasible_risk(estimator.risk, estimator.mix, counted, design.classes)
    prior = _learn_prior(estimator, statistics, counted, sample)
    alphas = ALPHAS if estimator.alpha is None else np.atleast_1d(np.asarray(estimator.alpha, dtype=float))
    problem = MomentProblem(statistics, prior, Mixes.of(risk, estimator.mix), alphas, estimator.sampling)
    fits = explore_moments(problem, estimator.n_jobs)
    fits = fits if recount is None else recount(fits)
    rows = _rows(statistics, sample, estimator.sampling)
    as_rows = Problem(rows, prior, design.basis, problem.mixes, alphas, squared_candidates)
    estimator.search_ = _table(problem, fits, estimator._weigher(as_rows), statistics)
    model = assemble_moments(problem, estimator.search_.weight, estimator.n_jobs)
    scores = _out_of_fold(problem, fits, estimator.search_.weight, rows, sample)
    estimator._keep(as_rows, replace(model, validation_scores=scores))
    estimator.n_iter_, estimator.converged_, estimator.calibration_ = 1, True, None  # as for the squared loss in memory
    del estimator.validation_scores_  # of a sample, which the user has never seen
    return estimator


def _set_features(estimator: Any, design: Design) -> None:
    estimator.n_features_in_ = design.n_features
    if design.columns is not None:
        estimator.feature_names_in_ = np.array(design.columns, dtype=object)
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_


def _counted(statistics: PNUStatistics, sampling: Any) -> Samples:
    """The groups that have rows, each as one row with the weight of all, for checks that only look at counts."""
    counts = statistics.counts
    codes = np.append(np.arange(len(counts) - 1), -1)
    present = np.flatnonzero(counts)
    return Samples(
        np.zeros((len(present), 1)), codes[present], counts[present].astype(float), len(counts) - 1, sampling
    )


def _learn_prior(estimator: Any, statistics: PNUStatistics, counted: Samples, sample: RowSample | None) -> NDArray:
    """Class shares in code order: as given, from all rows' moments, or by another method from the sample."""
    counts, given = statistics.counts, isinstance(estimator.prior, numbers.Real | Mapping)
    if estimator.prior is None and counts.all() and usable_folds(statistics).any():
        estimate = prior_from_moments(statistics, statistics.design.seed, estimator.n_jobs)
        estimator.prior_, estimator.prior_interval_ = estimate.value, (estimate.low, estimate.high)
        return np.array([1 - estimate.value, estimate.value]) if np.ndim(estimate.value) == 0 else estimate.value
    if given or (estimator.prior is None and not counts[-1]):
        return estimator._learn_prior(counted, statistics.design.seed)
    if sample is None:
        raise ValueError(
            f"prior={estimator.prior!r} cannot be estimated from these statistics: a class has no labelled rows, or "
            "the method needs rows. Pass the prior as a number, or fit from files."
        )
    return estimator._learn_prior(_rows(statistics, sample, estimator.sampling), statistics.design.seed)


def _rows(statistics: PNUStatistics, sample: RowSample | None, sampling: Any) -> Samples:
    """The sample, weighted so that each group has its true share of all rows; no rows if there is none."""
    n_classes = len(statistics.design.classes)
    if sample is None:
        return Samples(np.zeros((0, statistics.design.n_features)), np.zeros(0, int), np.zeros(0), n_classes, sampling)
    groups = np.where(sample.codes < 0, n_classes, sample.codes)
    drawn = np.bincount(groups, minlength=n_classes + 1)
    weight = statistics.counts[groups] / drawn[groups]
    return Samples(sample.X, sample.codes, weight, n_classes, sampling)


def _table(
    problem: MomentProblem, fits: list[Fits], weigh: Callable[..., NDArray], statistics: PNUStatistics
) -> SearchTable:
    """Validation results and weights of every candidate; without counted errors the squared loss stands in for them."""
    values = {"bandwidth": statistics.design.basis.bandwidths, "mix": problem.mixes.values, "alpha": problem.alphas}
    tallies = [one.tally for one in fits if one.tally is not None]
    shape = tuple(map(len, values.values()))
    if not tallies:
        _refuse_no_validation(statistics, int(np.prod(shape)))
        nothing = np.zeros(shape)
        return SearchTable(values, nothing, nothing, np.ones(shape))
    squared = np.stack([tally.squared(problem.prior) for tally in tallies])
    zero_one = np.stack([tally.zero_one(problem.prior) for tally in tallies])
    judged = squared if np.isnan(zero_one).any() else zero_one
    weight = weigh(judged, squared, tallies[0].effective_labels(problem.prior))
    return SearchTable(values, zero_one, squared, weight)


def _refuse_no_validation(statistics: PNUStatistics, n_candidates: int) -> None:
    if n_candidates > 1:
        lonely = statistics.design.classes[int(np.argmin(statistics.counts[:-1]))]
        raise ValueError(
            f"Class {lonely!r} has too few labelled rows to validate with. Fix mix, alpha and bandwidth, or label more."
        )


def _out_of_fold(
    problem: MomentProblem, fits: list[Fits], weight: NDArray, rows: Samples, sample: RowSample | None
) -> NDArray:
    """Scores (K, n) of the sample's rows by the weighted candidates that did not see their fold, NaN without any."""
    scores = np.full((len(problem.outputs), len(rows.codes)), np.nan)
    if sample is None:
        return scores
    basis, folds = problem.statistics.design.basis, sample.folds(problem.statistics.design)
    prepared = basis.prepare(rows.X)
    for fold in np.unique(folds):
        members = np.flatnonzero(folds == fold)
        used = [index for index in np.flatnonzero(weight.any(axis=(1, 2))) if fits[index].candidates[fold] is not None]
        parts = [(index, fits[index].candidates[fold].average(weight[index])) for index in used]
        if parts:
            scores[:, members] = sum(
                coef @ basis.features(prepared[members], int(index)).T + intercept[:, None]
                for index, (coef, intercept) in parts
            )
    return scores
