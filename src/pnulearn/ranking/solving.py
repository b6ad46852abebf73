"""Coefficients of every mix and penalty on one sample of rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import minimize

from pnulearn._arrays import AnyArray
from pnulearn.losses import Loss
from pnulearn.ranking.pairs import Moments, is_possible, pair_weights, quadratic_risk, smooth_risk

LEAST_CURVATURE = 1e-9  # of the greatest; below it there is no minimum worth the name
MOST_STEPS = 200


def solve_candidates(
    features: AnyArray, samples: Sequence[AnyArray], prior: float, mixes: AnyArray, alphas: AnyArray, loss: Loss
) -> AnyArray:
    """Minimisers (mixes, alphas, b) of  risk + alpha ‖w‖², NaN where it has none.

    U takes part with negative weights, so the risk itself may fall for ever: then only a greater alpha has a minimum.
    """
    groups = [features[rows] for rows in samples]
    sizes = [len(group) for group in groups]
    moments = [Moments.of(group) for group in groups]
    coef = np.full((len(mixes), len(alphas), features.shape[1]), np.nan)
    for place, mix in enumerate(mixes):
        weights = pair_weights(prior, float(mix))
        if not is_possible(weights, sizes):
            continue
        coef[place] = _solve_penalties(*quadratic_risk(moments, weights), alphas)
        if loss.quadratic is None:
            coef[place] = [
                _descend(loss, groups, weights, float(alpha), start)
                for alpha, start in zip(alphas, coef[place], strict=True)
            ]
    return coef


def _solve_penalties(H: AnyArray, h: AnyArray, alphas: AnyArray) -> AnyArray:
    """(H + 4 alpha I) w = h for every alpha by one eigendecomposition."""
    values, vectors = np.linalg.eigh(H)  # SciPy's default, evr, gives up on matrices with many values close together
    curvature = values + 4 * alphas[:, None]
    curvature[curvature.min(axis=1) < LEAST_CURVATURE * np.abs(values).max()] = np.nan
    solution: AnyArray = (vectors.T @ h / curvature) @ vectors.T
    return solution


def _descend(loss: Loss, groups: Sequence[AnyArray], weights: AnyArray, alpha: float, start: AnyArray) -> AnyArray:
    """A minimum near the squared loss's, which is the only one if nothing is subtracted."""

    def value_and_slope(w: AnyArray) -> tuple[float, AnyArray]:
        value, slopes = smooth_risk(loss, [group @ w for group in groups], weights)
        slope = sum((group.T @ part for group, part in zip(groups, slopes, strict=True)), start=2 * alpha * w)
        return value + alpha * float(w @ w), slope

    start = np.nan_to_num(start)
    found = minimize(value_and_slope, start, jac=True, method="L-BFGS-B", options={"maxiter": MOST_STEPS})
    solution: AnyArray = found.x
    return solution
