"""Grid search over bandwidth × mix × alpha from sufficient statistics alone.

The training moments of a fold are the total minus the fold's. The squared loss of g = w′φ + w0 needs only the sums of
g and g² over held-out rows, which follow from the fold's moments M of (φ, 1).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._learning.search import Model
from pnulearn._learning.selection import Tally
from pnulearn._machine import map_in_threads
from pnulearn._moments import PNUStatistics, unpack
from pnulearn._problem.samples import Sampling
from pnulearn._solvers.candidates import Mixes, find_used
from pnulearn._solvers.moments import LabeledMoments, Moments
from pnulearn._solvers.ridge import RidgeCandidates, moment_grid
from pnulearn._solvers.ridge_problem import Population


@dataclass(frozen=True)
class MomentProblem:
    """Statistics and the candidates to be compared."""

    statistics: PNUStatistics
    prior: AnyArray
    mixes: Mixes
    alphas: AnyArray
    sampling: Sampling = "by_class"

    @property
    def outputs(self) -> AnyArray:
        """The class of each output: the positive class of two, or every class."""
        return np.array([1]) if len(self.prior) == 2 else np.arange(len(self.prior))

    def groups(self, sums: AnyArray) -> AnyArray:
        """Packed sums of every class and of the rows that represent the population."""
        if self.sampling == "random":
            return np.concatenate([sums[:-1], sums.sum(axis=0, keepdims=True)])
        return sums


@dataclass(frozen=True)
class Fits:
    """One bandwidth: the candidates fitted without each fold and their tally; None if no rows can be held out."""

    candidates: tuple[RidgeCandidates | None, ...]
    tally: Tally | None
    by_fold: tuple[Tally | None, ...] = ()  # before errors were counted

    def tally_without(self, fold: int) -> Tally | None:
        """The tallies of all folds but one, None if there are none."""
        others = [tally for number, tally in enumerate(self.by_fold) if number != fold and tally is not None]
        return sum(others[1:], start=others[0]) if others else None


def explore_moments(problem: MomentProblem, n_jobs: int | None = None) -> list[Fits]:
    """Cross-validate every candidate by the squared loss."""
    bandwidths = range(len(problem.statistics.design.basis.bandwidths))
    return map_in_threads(_explore, [(problem, index) for index in bandwidths], n_jobs)


def assemble_moments(problem: MomentProblem, weight: AnyArray, n_jobs: int | None = None) -> Model:
    """The weighted sum of all candidates fitted on all rows: one coefficient vector per bandwidth of nonzero weight."""
    places = np.flatnonzero(weight.any(axis=(1, 2)))
    parts = map_in_threads(_final, [(problem, int(index), weight[index]) for index in places], n_jobs)
    coefs, intercepts = zip(*parts, strict=True)
    return Model(places, np.stack(coefs, axis=1), np.sum(intercepts, axis=0), np.zeros((len(problem.outputs), 0)))


def fit_candidates(problem: MomentProblem, sums: AnyArray) -> RidgeCandidates:
    """Fit every mix and alpha from packed sums (groups, ·) of the training rows."""
    groups = problem.groups(sums)
    present = np.flatnonzero(groups[:-1, -1] > 0)
    scale = problem.prior[present] / groups[present, -1]
    whole = unpack(scale @ groups[present])
    signs = np.where(present == problem.outputs[:, None], 1.0, -1.0)  # (K, classes)
    means = np.stack([unpack(groups[k])[-1] for k in present]) * scale[:, None]  # θ_c (m_c, 1)
    signed = signs @ means
    labeled = LabeledMoments(whole[:-1, :-1], whole[:-1, -1], signed[:, :-1], float(whole[-1, -1]), signed[:, -1])
    shares, place = np.unique(problem.mixes.shares, return_inverse=True)
    centre = 2 * problem.prior[problem.outputs] - 1 if problem.statistics.design.basis.intercept else None
    population = _population(groups[-1]) if shares.any() else None
    grid = moment_grid(labeled, population, shares, problem.alphas, centre)
    return RidgeCandidates(grid, place, problem.mixes.tilts)


def tally_of_moments(candidates: RidgeCandidates, groups: AnyArray) -> Tally:
    """Sums of g and g² from the rows' packed moments (groups, ·); zero-one votes are unknown (NaN)."""
    grid, tilt = candidates.grid, candidates.tilts[:, None]
    assert grid.frame is None
    base = np.concatenate([grid.base, grid.base_intercept[..., None]], axis=-1)  # (K, S, J, b + 1)
    slope = np.concatenate([grid.slope, grid.slope_intercept[..., None]], axis=-1)
    first, second = [], []
    for packed in groups:
        M = unpack(packed)
        base_M, slope_M = base @ M, slope @ M
        constant, linear, square = _products(base, base_M), _products(slope, base_M), _products(slope, slope_M)
        constant, linear, square = (part[..., candidates.place, :] for part in (constant, linear, square))
        first.append(base_M[..., -1][:, candidates.place] + tilt * slope_M[..., -1][candidates.place])
        second.append(constant + 2 * tilt * linear + tilt**2 * square)
    sums = np.stack(first, axis=-1), np.stack(second, axis=-1)
    return Tally(groups[:, -1].copy(), np.full(sums[0].shape, np.nan), *sums)


def _products(a: AnyArray, b: AnyArray) -> AnyArray:
    return np.einsum("...b,...b->...", a, b)


def _population(packed: AnyArray) -> Population:
    full = unpack(packed)
    return Population(moments=Moments(float(full[-1, -1]), full[:-1, -1], full[:-1, :-1]))


def _explore(problem: MomentProblem, index: int) -> Fits:
    sums = problem.statistics.sums[:, index]
    total = sums.sum(axis=0)
    if not can_validate(problem.statistics):
        return Fits((None,) * len(sums), None)
    fitted = [fit_candidates(problem, total - fold) for fold in sums]
    tallies = [tally_of_moments(one, problem.groups(fold)) for one, fold in zip(fitted, sums, strict=True)]
    return Fits(tuple(fitted), sum(tallies[1:], start=tallies[0]), tuple(tallies))


def can_validate(statistics: PNUStatistics) -> bool:
    """Whether cross-validation is possible: every non-empty group has rows in at least two folds.

    A group that lies in one fold is missing from that fold's training rows.
    """
    in_folds = (statistics.sums[:, 0, :, -1] > 0.5).sum(axis=0)
    return bool((in_folds != 1).all())


def _final(problem: MomentProblem, index: int, weight: AnyArray) -> tuple[AnyArray, AnyArray]:
    mixes, alphas = find_used(weight)
    problem = replace(problem, mixes=problem.mixes.take(mixes), alphas=problem.alphas[alphas])
    weight = weight[np.ix_(mixes, alphas)]
    return fit_candidates(problem, problem.statistics.sums[:, index].sum(axis=0)).average(weight)
