"""Local minima of the entropy-regularised logistic objective."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

from pnulearn._arrays import AnyArray
from pnulearn.baselines.entropy.confidence import ConfidenceObjective, Points

MOST_STEPS = 50
SHORTEST = 0.5**10  # part of a Newton step


def minimize_confidence(
    objective: ConfidenceObjective,
    starts: AnyArray,
    alphas: AnyArray,
    mus: AnyArray,
    tolerance: float = 1e-8,
    parents: AnyArray | None = None,
) -> AnyArray:
    """Local minima near `starts`: Newton steps, or L-BFGS where they are dear or lead nowhere.

    `tolerance` bounds the gradient in units of `scale`; its square is about how far the value is from the minimum.
    `parents[i]`, unless negative, is the problem at whose minimum problem i starts instead.
    """
    parents = np.full(len(starts), -1) if parents is None else parents
    tolerances, scale = tolerance * np.maximum(1.0, mus), objective.scale(alphas, mus)
    found, steps = starts.copy(), np.zeros(len(starts), int)
    running = np.flatnonzero(parents < 0)
    points, moved = objective.at(starts[running], alphas[running], mus[running]), np.ones(len(running), bool)
    while len(running):
        steep = np.abs(points.gradient * scale[running]).max(axis=1) >= tolerances[running]
        going = steep & moved & (steps[running] < MOST_STEPS)
        if going.all():
            steps[running] += 1
            points, moved = _advance(objective, points, objective.newton_directions(points))
        else:
            found[running] = points.w
            for i in running[steep & ~going]:
                found[i] = _descend(objective, found[i], scale[i], alphas[[i]], mus[[i]], tolerances[i])
            ended = np.zeros(len(starts), bool)
            ended[running[~going]] = True
            followers = np.flatnonzero((parents >= 0) & ended[parents])
            found[followers] = found[parents[followers]]
            points = points[going] + objective.at(found[followers], alphas[followers], mus[followers])
            running = np.append(running[going], followers)
            moved = np.ones(len(running), bool)
    return found


def _advance(
    objective: ConfidenceObjective, points: Points, directions: AnyArray, step: float = 1.0
) -> tuple[Points, AnyArray]:
    """Every point moved in its direction, half as far until that pays; and which of them have moved."""
    moved = objective.at(points.w + step * directions, points.alpha, points.mu)
    promised = 1e-4 * step * np.einsum("ij,ij->i", points.gradient, directions)
    paid = moved.value <= points.value + promised
    if not paid.all():
        moved[~paid] = points[~paid]
        again = ~paid & np.isfinite(promised)  # without a direction there is nothing to halve
        if step > SHORTEST and again.any():
            moved[again], paid[again] = _advance(objective, points[again], directions[again], step / 2)
    return moved, paid


def _descend(
    objective: ConfidenceObjective, start: AnyArray, scale: AnyArray, alpha: AnyArray, mu: AnyArray, tolerance: float
) -> AnyArray:
    def scaled(v: AnyArray) -> tuple[float, AnyArray]:
        point = objective.at((v * scale)[None], alpha, mu)
        return float(point.value[0]), point.gradient[0] * scale

    options = {"maxiter": 1000, "gtol": tolerance, "ftol": tolerance**2, "maxcor": 20}
    return minimize(scaled, start / scale, jac=True, method="L-BFGS-B", options=options).x * scale
