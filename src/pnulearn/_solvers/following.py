"""From the minimiser of one piecewise linear problem to that of another, along all problems in between.

While the second problem is blended in, multipliers and scores move in straight lines; what happens on the way is that a
score reaches a kink or that a multiplier leaves its range. Few scores rest on kinks, so that each such event is a small
system. Rows that meet their kinks in the same moment may stop it, and then another method has to do.
"""

from __future__ import annotations

from contextlib import suppress
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError
from scipy.linalg.lapack import dposv

from pnulearn._arrays import AnyArray
from pnulearn._solvers.feature_matrix import FeatureMatrix
from pnulearn._solvers.pieces import Pieces, Solution

MOST_EVENTS = 150  # from about there on interior points are faster, as they are
MOST_RESTING = 0.25  # with more of the rows than this on kinks
FEWEST_FEATURES = 60  # and for models narrower than this
MOST_ROWS = 2000  # whose inner products are kept
JITTER = 1e-13


def follow(near: Solution, pieces: Pieces, matrix: FeatureMatrix, alpha: float) -> AnyArray | None:
    """The state of every row at the minimiser of `pieces`, or None if the way there is barred or too long."""
    before, (n, width) = near.pieces, matrix.features.shape
    if before is None or matrix.intercept or n > MOST_ROWS or width < FEWEST_FEATURES or not _joined(before, pieces):
        return None
    if np.count_nonzero(near.state % 2) > MOST_RESTING * n:
        return None
    path = _Path(before, pieces, matrix.gram, 2 * alpha, near.beta.copy(), near.state.copy())
    with np.errstate(divide="ignore", invalid="ignore"), suppress(LinAlgError):
        for _ in range(MOST_EVENTS):
            if path.advance():
                return path.state
    return None


def _joined(before: Pieces, after: Pieces) -> bool:
    """Whether only the sizes of slopes and jumps differ, and no row begins to take part."""
    same = before.kinks.shape == after.kinks.shape and np.array_equal(before.kinks, after.kinks)
    return same and not (after.jumps.any(axis=1) & ~before.jumps.any(axis=1)).any()


class _Event(NamedTuple):
    """What ends a straight part of the way: how far off it is, and by how much the state of which row changes."""

    distance: float
    row: int = -1
    change: int = 0


class _Path:
    """Where the way has led so far: multipliers β, scores and states with the share `blend` of the second problem."""

    def __init__(
        self, before: Pieces, after: Pieces, gram: AnyArray, scale: float, beta: AnyArray, state: AnyArray
    ) -> None:
        self.gram, self.scale, self.beta, self.state = gram, scale, beta, state
        self.levels, self.drift = before.levels, after.levels - before.levels
        self.blend = 0.0
        self.scores = gram @ beta / scale
        ends = np.full((len(state), 1), np.inf)
        self.kinks = np.hstack([ends, before.kinks, -ends])
        rows, place = np.arange(len(state)), state // 2
        self.free = state % 2 == 0
        # of rows that lie between kinks the two kinks, of resting ones the range of β and how it moves
        self.above, self.below = self.kinks[rows, place], self.kinks[rows, place + 1]
        self.range = np.zeros((4, len(state)))
        for row in np.flatnonzero(~self.free).tolist():
            self._enter(row)
        self.pull = gram @ np.where(self.free, self.drift[rows, place], 0.0)  # how all scores move while none rests

    def advance(self) -> bool:
        """Go on to the next event, or to the end, which is then told."""
        resting = np.flatnonzero(~self.free)
        moves, speed = self._directions(resting)
        event = self._arrival(speed)
        if len(resting):
            event = min(event, self._departure(resting, moves))
        step = min(event.distance, 1 - self.blend)
        self.scores += step * speed
        if len(resting):
            self.beta[resting] += step * moves
        self.blend += step
        if event.distance > step or self.blend >= 1:
            return True
        self._turn(event)
        return False

    def _directions(self, resting: AnyArray) -> tuple[AnyArray, AnyArray]:
        """How multipliers of resting rows and all scores change, so that the former's scores stay."""
        if not len(resting):
            return np.zeros(0), self.pull / self.scale
        rows = self.gram.take(resting, axis=0)
        system = rows.take(resting, axis=1)
        system.flat[:: len(system) + 1] *= 1 + JITTER * len(system)
        _, moves, failed = dposv(system, -self.pull[resting], overwrite_a=1)
        if failed:
            raise LinAlgError("scores rest that cannot be told apart")
        return moves, (self.pull + moves @ rows) / self.scale

    def _arrival(self, speed: AnyArray) -> _Event:
        """The first score to reach a kink."""
        ahead = np.where(speed > 0, self.above, self.below)
        ahead -= self.scores
        ahead /= speed
        distance = np.where(self.free & (speed != 0), ahead, np.inf)
        row = int(distance.argmin())
        return _Event(max(float(distance[row]), 0.0), row, -1 if speed[row] > 0 else 1)

    def _departure(self, resting: AnyArray, moves: AnyArray) -> _Event:
        """The first multiplier to leave its range, which moves as well."""
        low, high, low_drift, high_drift = self.range.take(resting, axis=1)
        beta, rates = self.beta[resting], np.concatenate([low_drift - moves, moves - high_drift])
        room = np.concatenate([beta - low - self.blend * low_drift, high + self.blend * high_drift - beta])
        distance = np.where(rates > 0, np.maximum(room, 0) / rates, np.inf)
        first = int(distance.argmin())
        down = first < len(resting)
        return _Event(float(distance[first]), int(resting[first % len(resting)]), -1 if down else 1)

    def _turn(self, event: _Event) -> None:
        """A score comes to rest, or a multiplier stays behind at the end of its range."""
        row = event.row
        if self.free[row]:
            place = self.state[row] // 2
            self.pull -= self.drift[row, place] * self.gram[row]
            self.beta[row] = self.levels[row, place] + self.blend * self.drift[row, place]
            self.state[row] += event.change
            self.free[row] = False
            self._enter(row)
        else:
            self.state[row] += event.change
            place = self.state[row] // 2
            self.free[row] = True
            self.above[row], self.below[row] = self.kinks[row, place], self.kinks[row, place + 1]
            self.pull += self.drift[row, place] * self.gram[row]

    def _enter(self, row: int) -> None:
        place = self.state[row] // 2
        self.range[:2, row] = self.levels[row, place : place + 2]
        self.range[2:, row] = self.drift[row, place : place + 2]
