"""The interior point method of `interior` for many problems on the same rows at once, as far as a good guess.

On a few hundred rows most of a step is spent on calling NumPy, and that is shared here: everything but the linear
systems is done for all problems together. Systems may be approximate, since `pivoting.pivot` makes a guess exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._solvers.interior import SHARE_OF_STEP, SMALLEST_WIDTH
from pnulearn._solvers.pieces import Pieces
from pnulearn._solvers.spaces import Space


@dataclass(frozen=True)
class Member:
    """A problem of a batch: its pieces, its penalty, and the space that its systems are solved in."""

    pieces: Pieces
    alpha: float
    space: Space


class InteriorBatch:
    """Iterates of B problems without an intercept.

    Of every kink (B, J, n) there are four positive numbers, as in `InteriorPoint`: u and what is left of its jump, and
    how far the score is above and below the kink. Where there is no jump they are all one and never move.
    """

    def __init__(self, members: Sequence[Member]):
        self.members = list(members)
        self.kinks = np.stack([member.pieces.kinks.T for member in members])
        self.slope = np.stack([member.pieces.slope for member in members])
        self.jumps = np.stack([member.pieces.jumps.T for member in members])
        self.there = (self.jumps > 0).astype(float)
        self._begin()

    @property
    def gap(self) -> AnyArray:
        """The duality gap of every problem, once γ and u agree."""
        return self._gap(self.walls)

    @property
    def state(self) -> AnyArray:
        """Where each score will end (B, n), as `pivoting.pivot` reads it."""
        u, room, above, below = self.walls
        state = 2 * (self.scores[:, None] < self.kinks).sum(axis=1)
        rests = (np.minimum(u, room) > np.maximum(above, below) * (u + room)) & (self.there > 0)
        for number in range(self.kinks.shape[1]):
            state[rests[:, number]] = 2 * number + 1
        return state

    def keep(self, some: AnyArray) -> None:
        """Go on with some of the problems."""
        self.members = [self.members[place] for place in np.flatnonzero(some)]
        self.slope, self.kinks = self.slope[some], self.kinks[some]
        self.jumps, self.there = self.jumps[some], self.there[some]
        self.walls, self.scores, self.gamma = self.walls[:, some], self.scores[some], self.gamma[some]

    def step(self) -> None:
        """Mehrotra's: a prediction towards the solution, then a step corrected for its curvature."""
        u, room, above, below = walls = self.walls
        inverse = self.there / (above / u + below / room)
        systems = _Systems(self.members, inverse.sum(axis=1))
        mismatch = (u * self.there).sum(axis=1) - self.slope - self.gamma
        excess = self.scores[:, None] - self.kinks

        def direction(targets: AnyArray) -> tuple[AnyArray, AnyArray, AnyArray]:
            """Changes that bring above·u and below·room to their targets: of walls, scores and γ."""
            wanted_above, wanted_below = targets / walls[:2]
            pull = wanted_above - wanted_below - excess
            push = (pull * inverse).sum(axis=1) + mismatch
            scores = systems.scores(push)
            du = (pull - scores[:, None]) * inverse
            change = np.stack([du, -du, wanted_above - above * (1 + du / u), wanted_below - below * (1 - du / room)])
            change[2:] *= self.there
            return change, scores, push - systems.give * scores

        guess, _, _ = direction(np.zeros((2, 1, 1, 1)))
        ahead = self._gap(walls + _longest(walls, guess, 1.0)[:, None, None] * guess)
        gap = self.gap
        centre = gap / (2 * self.there.sum(axis=(1, 2))) * (ahead / gap) ** 3
        change, scores, gamma = direction(centre[:, None, None] - guess[:2] * guess[2:])
        length = _longest(walls, change, SHARE_OF_STEP)
        self.walls = walls + length[:, None, None] * change
        self.scores = self.scores + length[:, None] * scores
        self.gamma = self.gamma + length[:, None] * gamma

    def _gap(self, walls: AnyArray) -> AnyArray:
        return (walls[:2] * walls[2:] * self.there).sum(axis=(0, 2, 3))

    def _begin(self) -> None:
        """With ridge fits to rounded corners, as wide as scores would roam if only the penalty held them."""
        unheld = self.jumps.sum(axis=1) / 2 - self.slope
        roam = _Systems(self.members, np.zeros_like(unheld)).scores(unheld)
        width = np.maximum(SMALLEST_WIDTH, np.sqrt(np.abs(roam).mean(axis=1)))[:, None, None]
        stiffness = self.jumps / (2 * width)
        systems = _Systems(self.members, stiffness.sum(axis=1))
        push = (stiffness * (self.kinks + width)).sum(axis=1) - self.slope
        self.scores = systems.scores(push)
        self.gamma = push - systems.give * self.scores
        excess = self.scores[:, None] - self.kinks
        u = np.clip(stiffness * (width - excess), self.jumps / 10, self.jumps * 9 / 10)
        walls = np.stack([u, self.jumps - u, np.maximum(excess, 0) + width / 4, np.maximum(-excess, 0) + width / 4])
        self.walls = np.where(self.there, walls, 1.0)


class _Systems:
    """Newton's equations of every problem: a push on the rows, held back by the penalty and by `give` (B, n)."""

    def __init__(self, members: Sequence[Member], give: AnyArray):
        self.members, self.give = members, give
        self.factors = [one.space.factorize(row, one.alpha) for one, row in zip(members, give, strict=True)]

    def scores(self, push: AnyArray) -> AnyArray:
        """How scores change (B, n)."""
        moved = np.empty_like(push)
        for place, (one, factor) in enumerate(zip(self.members, self.factors, strict=True)):
            gradient = one.space.gradient(push[place], 0.0, np.zeros(one.space.size))
            moved[place] = one.space.scores(one.space.solve(factor, gradient))
        return moved


def _longest(walls: AnyArray, change: AnyArray, share: float) -> AnyArray:
    """Of every problem the greatest step up to 1 that keeps off all walls, times `share` if it is cut short."""
    worst = (-change / walls).max(axis=(0, 2, 3))
    return np.where(worst <= share, 1.0, share / np.maximum(worst, share))
