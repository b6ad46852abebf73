r"""Squared loss: leave-one-out scores in closed form, from one factorisation of all rows.

With the notation of `ridge`, row i contributes a_i φ_i φ_i′ to the matrix A of a grid point and β_i φ_i to the
right-hand side. Without the row, the other rows of its class are scaled by c = n/(n − 1), which gives A_c and b_c.
With h = φ_i′ A_c⁻¹ φ_i, the Sherman-Morrison formula gives

    g₋ᵢ(x_i) = φ_i′ (A_c − a φ_i φ_i′)⁻¹ (b_c − β φ_i) = (φ_i′ A_c⁻¹ b_c − β h) / (1 − a h).

Labelled rows are a low-rank part of A, and scaling a class only changes their weights W: with B = s G_U + p I, F′ the
labelled rows and K = F′B⁻¹F, F′A⁻¹F = K (I + W K)⁻¹. When a row of U is left out, the other rows of U are scaled by c
on the right-hand side only. Without that scaling, the score of a nearly constant model would depend on which row is
missing. Equal rows are left out together: they have the same φ, and their a and β are summed.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._solvers.candidates import Training
from pnulearn._solvers.low_rank import Axes, rows_times, weighted_grams
from pnulearn._solvers.ridge import RidgeCandidates, arrange, natural_unit

EXACT = 64  # distinct rows of U whose leverage is exact; that of the others is scaled by the average ratio
LEAST_PENALTY = 1e-6  # below, leverages may be so close to 1 that leave-one-out scores are rounding errors
MOST_LABELED = 200  # above, a small system per grid point costs more than k-fold cross-validation
ROUNDING = 1e-7  # relative to a model's scores: smaller leave-one-out scores are set to zero
LEAST_CLASS = 0.75  # minimum weight of a class without its heaviest row, after scaling by n/(n − 1)


def left_out_scores(
    training: Training, alike: AnyArray, quadratic: tuple[float, float, float]
) -> tuple[AnyArray, RidgeCandidates]:
    """Leave-one-out scores (K, C, J, n), and the candidates fitted on all rows, under ℓ(m) = a m² + b m + c.

    Rows with the same number in `alike` are equal. For the loss see `ridge.quadratic_candidates`.
    """
    unit, alphas = natural_unit(quadratic), training.alphas / (4 * quadratic[0])
    problem = LeftOut(replace(training, alphas=alphas), alike)
    return unit * problem.scores(), problem.candidates.times(unit)


def can_leave_out(codes: AnyArray, weight: AnyArray, alike: AnyArray, alphas: AnyArray) -> bool:
    """Whether the closed form applies: there are few labels, and no row has too much of its class's weight.

    >>> rows = np.arange(4)
    >>> can_leave_out(rows % 2, np.ones(4), rows, np.ones(1)), can_leave_out(rows % 2, rows + 0.1, rows, np.ones(1))
    (True, False)
    """
    if np.sum(codes >= 0) > MOST_LABELED or alphas.min() < LEAST_PENALTY:
        return False
    for code in np.unique(codes[codes >= 0]):
        _, number = np.unique(alike[codes == code], return_inverse=True)
        mass = np.bincount(number, weights=weight[codes == code])
        if len(mass) > 1 and len(mass) / (len(mass) - 1) * (1 - mass.max() / mass.sum()) < LEAST_CLASS:
            return False
    return True


class LeftOut:
    """Leave-one-out for one training problem without intercept; equal rows share a number in `alike`.

    Attributes
    ----------
    points
        s and p = 4 λ of every grid point, λ varying fastest.
    codes, q, signs
        of the labelled rows: class, θ_c × the row's share of its class's weight, and ±1 for every output (r, K).
    u
        the share of every row in U's weight: zero for rows that do not represent the population.
    scale
        c of U.
    kinds
        indices of distinct unlabelled rows, and for every unlabelled row the number of its distinct row.
    turned
        all rows in the eigenbasis of G_U, the diagonal of B⁻¹ in it (points, b), and the mean of U.
    gram
        K (points, r, r), and F′B⁻¹ m_U (points, r).
    """

    def __init__(self, training: Training, alike: AnyArray):
        self.training, self.alike = training, alike
        labeled, population = training.labeled, training.population
        self.shares = np.unique(training.mixes.shares)
        s, p = np.repeat(self.shares, len(training.alphas)), np.tile(4 * training.alphas, len(self.shares))
        self.points = s, p
        self.codes, weight = training.codes[labeled], training.weight[labeled]
        mass = np.bincount(self.codes, weights=weight, minlength=len(training.prior))
        self.q = training.prior[self.codes] * weight / mass[self.codes]
        self.signs = np.where(self.codes[:, None] == training.outputs, 1.0, -1.0)
        self.u = np.zeros(len(training.codes))
        self.u[population] = training.weight[population]
        self.u /= max(self.u.sum(), np.finfo(float).tiny)
        n_kinds = len(np.unique(alike[population]))
        self.scale = n_kinds / max(n_kinds - 1, 1)
        unlabeled = np.flatnonzero(training.codes < 0)
        _, first, number = np.unique(alike[unlabeled], return_index=True, return_inverse=True)
        self.kinds = unlabeled[first], number
        of_u = training.features_of(population) * np.sqrt(self.u[population])[:, None]
        values, self.axes = np.linalg.eigh(of_u.T @ of_u)
        rows, inverse = training.features @ self.axes, 1 / (np.outer(s, np.maximum(values, 0)) + p[:, None])
        mean = self.u @ rows
        self.turned = rows, inverse, mean
        self.gram = weighted_grams(rows[labeled], inverse), (inverse * mean) @ rows[labeled].T

    def scores(self) -> AnyArray:
        """Leave-one-out scores (K, C, J, n); NaN for a class with a single distinct row."""
        mixes, n = self.training.mixes, len(self.training.codes)
        place = np.searchsorted(self.shares, mixes.shares)
        n_parts = len(self.training.outputs) + 1  # every output at t = 0, then the slope in t
        parts = np.full((n_parts, len(self.points[0]), n), np.nan)
        whole = parts.copy()
        for code in np.unique(self.codes):
            self._leave_labeled(parts, whole, code)
        self._leave_unlabeled(parts, whole)
        grid = parts.reshape(n_parts, len(self.shares), -1, n)
        scores = grid[:-1, place] + mixes.tilts[:, None, None] * grid[-1, place]
        # The leave-one-out score of a row far from all others is zero up to the rounding error of a difference between
        # two numbers as large as the scores of the model fitted with the row.
        size = np.sqrt(np.nanmean(np.square(whole), axis=2)).reshape(n_parts, len(self.shares), -1)
        known = size[:-1, place] + np.abs(mixes.tilts)[:, None] * size[-1, place]
        scores[np.abs(scores) <= ROUNDING * known[..., None]] = 0.0
        return scores

    def _leave_labeled(self, parts: AnyArray, whole: AnyArray, code: int) -> None:
        """Leave out the rows of a class; `whole` gets their scores by models fitted with them and the class scaled."""
        own = np.flatnonzero(self.codes == code)
        rows = self.training.labeled[own]
        kinds = len(np.unique(self.alike[rows]))
        if kinds < 2:
            return
        q = np.where(self.codes == code, kinds / (kinds - 1), 1.0) * self.q
        of_u = self.scale if self.u[rows].any() else 1.0
        s, _ = self.points
        K, mu = self.gram
        W = (1 - s)[:, None] * q
        H = np.linalg.solve(np.eye(len(q)) + K * W[:, None, :], K[:, :, own])  # columns of K (I + W K)⁻¹
        right = np.column_stack([q[:, None] * self.signs, q])  # of every output and of the slope
        g = np.moveaxis(H.swapaxes(1, 2) @ right, 2, 0)
        g[-1] -= of_u * (mu[:, own] - ((W * mu)[:, None, :] @ H)[:, 0])
        whole[:, :, rows] = g
        parts[:, :, rows] = self._without(g, H[:, own, np.arange(len(own))], rows, q, of_u)

    @cached_property
    def solved(self) -> tuple[AnyArray, AnyArray, AnyArray]:
        """Solutions for all rows, indices of some distinct unlabelled rows, and the labels' part in their leverage.

        The first is A⁻¹ times the right-hand sides in the eigenbasis of G_U (points, K + 2, b): b0 of every output,
        then Σ θ_c m_c and m_U, whose difference is b1. The last (points, checked) is what labelled rows subtract from
        the leverage. The rows are evenly spaced by length, so that order, seed and repetitions have no influence. Ties
        of length, which are frequent for discrete columns, are broken by the product with U's mean. Both are rounded,
        since their last digits differ between machines.
        """
        (rows, inverse, mean), (s, _), (K, mu) = self.turned, self.points, self.gram
        some = rows[self.kinds[0]]
        lengths = np.square(some).sum(axis=1)
        places = np.unique(np.linspace(0, len(lengths) - 1, EXACT).astype(int)) if len(lengths) else slice(0)
        checked = np.lexsort([_rounded(some @ mean), _rounded(lengths)])[places]
        F, W, n_outputs = rows[self.training.labeled], (1 - s)[:, None] * self.q, self.signs.shape[1]
        near = (F * inverse[:, None, :]) @ some[checked].T  # F′B⁻¹φ of the checked rows (points, r, checked)
        right = np.empty((len(s), len(self.q), n_outputs + 2 + len(checked)))
        right[:, :, :n_outputs] = self.q[:, None] * self.signs
        right[:, :, n_outputs], right[:, :, n_outputs + 1] = self.q, W * mu
        np.multiply(W[:, :, None], near, out=right[:, :, n_outputs + 2 :])
        y = np.linalg.solve(np.eye(len(self.q)) + W[:, :, None] * K, right)
        along = rows_times(np.ascontiguousarray(y[:, :, : n_outputs + 2].swapaxes(1, 2)), F)
        along[:, -1] = mean - along[:, -1]
        along *= inverse[:, None, :]
        return along, checked, np.sum(near * y[:, :, n_outputs + 2 :], axis=1)

    @property
    def candidates(self) -> RidgeCandidates:
        """The candidates fitted on all rows."""
        mixes = self.training.mixes
        along = self.solved[0]
        coefficients = along[:, :-1].copy()
        coefficients[:, -1] -= along[:, -1]
        grid = arrange(self.shares, self.training.alphas, None, coefficients, Axes(self.axes), None)
        return RidgeCandidates(grid, np.searchsorted(self.shares, mixes.shares), mixes.tilts)

    def _leave_unlabeled(self, parts: AnyArray, whole: AnyArray) -> None:
        """Leave out the unlabelled rows."""
        unlabeled = np.flatnonzero(self.training.codes < 0)
        g = np.moveaxis(rows_times(self.solved[0], self.turned[0][unlabeled].T), 1, 0)
        g[-2] -= self.scale * g[-1]
        whole[:, :, unlabeled] = g[:-1]
        parts[:, :, unlabeled] = self._without(g[:-1], self._leverage(), unlabeled, self.q, self.scale)

    def _leverage(self) -> AnyArray:
        """φ′A⁻¹φ of the unlabelled rows (points, n): φ′B⁻¹φ minus the labelled rows' part."""
        (rows, inverse, _), (first, number), (_, checked, taken) = self.turned, self.kinds, self.solved
        whole = inverse @ np.square(rows[first]).T
        if len(checked) == len(first):
            whole[:, checked] -= taken
        else:
            whole *= 1 - (taken.sum(axis=1) / whole[:, checked].sum(axis=1))[:, None]
        return whole[:, number]

    def _without(self, g: AnyArray, leverage: AnyArray, rows: AnyArray, q: AnyArray, of_u: float) -> AnyArray:
        """Leave-one-out scores (K + 1, points, n) of these rows from their scores g and leverages by the full fit."""
        s, _ = self.points
        every = np.zeros((len(self.training.outputs) + 2, len(self.training.codes)))  # β of outputs, q, U's share
        every[:-2, self.training.labeled] = (q[:, None] * self.signs).T
        every[-2, self.training.labeled], every[-1] = q, self.u
        _, number = np.unique(self.alike, return_inverse=True)
        total = np.array([np.bincount(number, weights=one)[number[rows]] for one in every])
        taken = np.concatenate([total[:-2], [total[-2] - of_u * total[-1]]])  # of every output, and of the slope
        part = np.outer(1 - s, total[-2]) + np.outer(s, total[-1])
        return (g - taken[:, None] * leverage) / (1 - part * leverage)


def _rounded(values: AnyArray) -> AnyArray:
    """Values relative to the largest, rounded to nine digits."""
    return np.round(values / np.abs(values).max(initial=np.finfo(float).tiny), 9)
