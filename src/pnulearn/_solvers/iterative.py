"""Losses without a closed form: every mix and alpha is solved iteratively, with warm starts from its neighbours."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from threading import Lock

import numpy as np
from scipy.special import logit

from pnulearn import risks
from pnulearn._arrays import AnyArray
from pnulearn._solvers.candidates import Candidates, FeatureMatrix, Mixes, Training
from pnulearn._solvers.cccp import lowest, minimize_ramp, penalized_value
from pnulearn._solvers.hinge import minimize_pieces
from pnulearn._solvers.newton import SmoothProblem
from pnulearn._solvers.objectives import Minimum, Objective, objective, shares_in_means
from pnulearn._solvers.piecewise_linear import Solution, convex_pieces
from pnulearn._solvers.ridge import natural_unit, quadratic_candidates, squared_candidates
from pnulearn.losses import Loss

FARTHEST = 1.5  # extrapolate at most this many times the distance between the two nearest known tilts
Fit = Minimum | Solution


@dataclass(frozen=True)
class IterativeCandidates:
    """Coefficients (K, C, J, b), intercepts, numbers of iterations and convergence (K, C, J) of every model."""

    coef: AnyArray
    intercept: AnyArray
    n_iter: AnyArray
    converged: AnyArray

    def scores(self, features: AnyArray, products: AnyArray | None = None) -> AnyArray:
        """g on rows of features, shape (K, C, J, n)."""
        return self.coef @ features.T + self.intercept[..., None]

    def average(self, weights: AnyArray) -> tuple[AnyArray, AnyArray]:
        """Σ weights (C, J) × coefficients: shapes (K, b) and (K,)."""
        return np.einsum("kcjb,cj->kb", self.coef, weights), np.einsum("kcj,cj->k", self.intercept, weights)


def candidate_solver(loss: Loss) -> Callable[[Training], Candidates]:
    """The solver for a loss, chosen by the properties that the loss declares."""
    if not loss.trainable:
        raise ValueError(
            f"The {loss.name} loss cannot be trained: it declares none of quadratic=(a, b, c), smooth=True and "
            "kinks=((t, a), ...). Use it to evaluate, and train with another loss."
        )
    _check_facts(loss)
    if loss.quadratic is not None:
        return partial(quadratic_candidates, quadratic=loss.quadratic)
    return partial(iterative_candidates, loss=loss)


class WatchedSolver:
    """A thread-safe solver that records the number of iterations and of fits that did not converge."""

    def __init__(self, solve: Callable[[Training], Candidates]):
        self.solve = solve
        self.n_iter, self.n_fits, self.n_failed = 1, 0, 0
        self._lock = Lock()

    def __call__(self, training: Training) -> Candidates:
        candidates = self.solve(training)
        if isinstance(candidates, IterativeCandidates):
            with self._lock:
                self.n_iter = max(self.n_iter, int(candidates.n_iter.max()))
                self.n_fits += candidates.converged.size
                self.n_failed += int(np.sum(~candidates.converged))
        return candidates


def squashing(loss: Loss) -> Callable[[AnyArray], AnyArray] | None:
    """The map of scores to [−1, 1] under which the squared loss compares candidates of any training loss; None if none.

    Scores of smooth losses are treated as log-odds, those of losses with kinks are clipped.
    """
    if loss.link == "identity":
        return None
    if loss.quadratic is not None:
        return partial(np.multiply, 1 / natural_unit(loss.quadratic))
    return _twice_probability_less_one if loss.smooth else _clip


def _twice_probability_less_one(scores: AnyArray) -> AnyArray:
    return np.tanh(scores / 2)


def _clip(scores: AnyArray) -> AnyArray:
    return np.clip(scores, -1, 1)


def iterative_candidates(training: Training, loss: Loss) -> IterativeCandidates:
    """Fit every candidate of a training problem, for any trainable loss."""
    outputs = [_fit_output(training, loss, k) for k in range(len(training.outputs))]
    shape = (len(outputs), len(training.mixes), len(training.alphas))
    fits = [fit for output in outputs for fit in output]
    return IterativeCandidates(
        np.stack([fit.coef for fit in fits]).reshape(*shape, -1),
        np.array([fit.intercept for fit in fits]).reshape(shape),
        np.array([fit.n_iter for fit in fits]).reshape(shape),
        np.array([fit.converged for fit in fits]).reshape(shape),
    )


def _fit_output(training: Training, loss: Loss, output: int) -> list[Fit]:
    """Fits of one output in the order of mixes, then alphas."""
    own = int(training.outputs[output])
    shares = shares_in_means(training.codes, training.weight, training.population, training.prior, own)
    family = risks.punu if training.mixes.risk == "punu" else risks.pnu
    objectives = [objective(family(training.prior[own], value), loss, shares) for value in training.mixes.values]
    rows = np.flatnonzero(np.any([terms.used for terms in objectives], axis=0))  # PN leaves U out, PU leaves N out
    objectives = [terms.take(rows) for terms in objectives]
    solver = _Solver(loss, training, output, rows)
    fits: dict[tuple[int, int], Fit] = {}
    for alpha in np.argsort(-training.alphas):
        for mix, neighbors in _from_the_middle(training.mixes.tilts):
            near = [(float(training.mixes.tilts[other]), fits[other, alpha]) for other in neighbors]
            fits[mix, alpha] = solver.solve(objectives[mix], mix, alpha, near)
    return [fits[mix, alpha] for mix in range(len(training.mixes)) for alpha in range(len(training.alphas))]


def _from_the_middle(tilts: AnyArray) -> Iterator[tuple[int, list[int]]]:
    """Iterate over (mix, mixes solved before on the same side, nearest first), from PN outwards in both directions."""
    order = np.argsort(tilts)
    middle = int(np.argmin(np.abs(tilts[order])))
    yield int(order[middle]), []
    for side in (order[middle:], order[middle::-1]):
        for place in range(1, len(side)):
            yield int(side[place]), side[:place][::-1].tolist()


def _extrapolate(near: Sequence[tuple[float, Fit]], tilt: float) -> AnyArray | None:
    """A warm start: polynomial extrapolation to this tilt from up to three nearest minimisers.

    If the tilt is too far away, the nearest minimiser itself is returned; None if there is none.
    """
    known = [(place, fit.vector) for place, fit in near if isinstance(fit, Minimum) and fit.vector is not None][:3]
    if not known:
        return None
    if len(known) > 1 and abs(tilt - known[0][0]) > FARTHEST * abs(known[0][0] - known[1][0]):
        known = known[:1]
    total = np.zeros_like(known[0][1])
    for place, vector in known:
        ratios = [(tilt - other) / (place - other) for other, _ in known if other != place]
        total += math.prod(ratios) * vector
    return total


class _Solver:
    """Solves one output's problems; warm starts never change which minimum is found."""

    def __init__(self, loss: Loss, training: Training, output: int, rows: AnyArray):
        self.loss, self.output, self.alphas, self.tilts = loss, output, training.alphas, training.mixes.tilts
        self.matrix = FeatureMatrix(training.features[rows], training.intercept)
        self.smooth = SmoothProblem(self.matrix) if loss.smooth else None
        self.ridge = None if loss.convex else squared_candidates(_in_one_family(training, loss))
        self.shape = len(training.mixes), len(training.alphas)

    def solve(self, objective: Objective, mix: int, alpha: int, known: Sequence[tuple[float, Fit]]) -> Fit:
        """Minimise; `known` are (tilt, solution) for the same alpha on the same side, nearest first."""
        penalty = float(self.alphas[alpha])
        if self.smooth is not None and self.loss.convex:
            return self.smooth.minimize(objective, penalty, _extrapolate(known, float(self.tilts[mix])))
        near = known[0][1] if known and isinstance(known[0][1], Solution) else None
        if self.loss.convex:
            return minimize_pieces(convex_pieces(objective), self.matrix, penalty, near)
        coef, intercept = self._ridge_start(mix, alpha)
        scores = self.matrix.scores(coef, intercept)
        if self.smooth is None:
            return minimize_ramp(objective, self.matrix, penalty, [np.zeros(len(scores)), scores], near)
        scale = float(np.median(np.abs(scores))) or 1.0  # start where the gradient of a bounded loss does not vanish
        starts = [None, (coef / scale, intercept / scale)]
        found = [self.smooth.minimize(objective, penalty, start) for start in starts]
        values = [penalized_value(objective, self.matrix, penalty, fit) for fit in found]
        return found[lowest(values)]

    def _ridge_start(self, mix: int, alpha: int) -> tuple[AnyArray, float]:
        assert self.ridge is not None
        one = np.zeros(self.shape)
        one[mix, alpha] = 1
        coef, intercept = self.ridge.average(one)
        return coef[self.output], float(intercept[self.output])


def _in_one_family(training: Training, loss: Loss) -> Training:
    """For symmetric losses PUNU at γ equals PNU at 1 − 2γ, so both start from the same squared-loss solution."""
    if loss.gap != "constant":
        return training
    return replace(training, mixes=Mixes.of("pnu", training.mixes.tilts.tolist()))


def _check_facts(loss: Loss) -> None:
    """Check the declared properties of a loss numerically on a few margins.

    A false declaration would silently give a wrong classifier.
    """
    margin = np.linspace(-3, 3, 25) + 0.01
    value, mirrored = loss(margin), loss(-margin)
    true = {"linear": np.allclose(value - mirrored, -margin), "constant": np.allclose(value + mirrored, 1)}
    if loss.gap is not None and not true[loss.gap]:
        wanted = {"linear": "ℓ(m) − ℓ(−m) = −m", "constant": "ℓ(m) + ℓ(−m) = 1"}[loss.gap]
        raise ValueError(f"The {loss.name} loss declares gap={loss.gap!r}, but {wanted} does not hold for it.")
    if loss.quadratic is not None:
        a, b, c = loss.quadratic
        if not (a > 0 > b and np.allclose(value, a * margin**2 + b * margin + c)):
            raise ValueError(
                f"The {loss.name} loss declares quadratic={loss.quadratic}, but is not a m² + b m + c with a > 0 > b."
            )
    if loss.link is not None:
        share = np.linspace(0.1, 0.9, 9)
        best = 2 * share - 1 if loss.link == "identity" else logit(share)
        if not np.allclose(share * loss.derivative(best), (1 - share) * loss.derivative(-best)):
            raise ValueError(
                f"The {loss.name} loss declares link={loss.link!r}, which does not minimise P ℓ(g) + (1 − P) ℓ(−g)."
            )
    if loss.kinks is not None:
        drawn = sum(jump * np.maximum(0, kink - margin) for kink, jump in loss.kinks)
        if not np.allclose(value, drawn):
            raise ValueError(f"The {loss.name} loss declares kinks={loss.kinks}, but it is not Σ a max(0, t − m).")
