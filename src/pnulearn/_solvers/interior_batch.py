"""The interior point method of `interior` for many problems on the same rows at once, as far as a good guess.

On a few hundred rows most of a step is spent on calling NumPy, and that is shared here: everything but the linear
systems is done for all problems together. Systems may be approximate and all numbers are single precision, since
`pivoting.pivot` makes a guess exact. What single precision cannot hold is not a number from then on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._solvers.blurred import BlurredRows
from pnulearn._solvers.interior import SHARE_OF_STEP, SMALLEST_WIDTH
from pnulearn._solvers.pieces import Pieces

SIGNS = np.array([1.0, -1.0], dtype=np.float32)[:, None, None, None]  # as u grows its room shrinks


@dataclass(frozen=True)
class Member:
    """A problem of a batch: its pieces, its penalty, and the rows as its systems see them."""

    pieces: Pieces
    alpha: float
    rows: BlurredRows


class InteriorBatch:
    """Iterates of B problems without an intercept.

    Of every kink (J, B, n) there are four positive numbers, as in `InteriorPoint`: u and what is left of its jump, and
    how far the score is above and below the kink. Where there is no jump they are all one and never move.
    """

    walls: AnyArray
    scores: AnyArray
    gamma: AnyArray

    def __init__(self, members: Sequence[Member]):
        self.members = list(members)
        self.kinks = np.stack([member.pieces.kinks.T for member in members], axis=1).astype(np.float32)
        self.slope = np.stack([member.pieces.slope for member in members]).astype(np.float32)
        self.jumps = np.stack([member.pieces.jumps.T for member in members], axis=1).astype(np.float32)
        self.there = (self.jumps > 0).astype(np.float32)
        self._begin()

    @property
    def gap(self) -> AnyArray:
        """The duality gap of every problem, once γ and u agree."""
        return _total(self.walls[:2] * self.walls[2:] * self.there)

    @property
    def state(self) -> AnyArray:
        """Where each score will end (B, n), as `pivoting.pivot` reads it."""
        u, room, above, below = self.walls
        state = 2 * (self.scores < self.kinks).sum(axis=0)
        rests = (np.minimum(u, room) > np.maximum(above, below) * (u + room)) & (self.there > 0)
        for number, there in enumerate(rests):
            state[there] = 2 * number + 1
        return state

    def keep(self, some: AnyArray) -> None:
        """Go on with some of the problems."""
        self.members = [self.members[place] for place in np.flatnonzero(some)]
        self.slope, self.kinks = self.slope[some], self.kinks[:, some]
        self.jumps, self.there = self.jumps[:, some], self.there[:, some]
        self.walls, self.scores, self.gamma = self.walls[:, :, some], self.scores[some], self.gamma[some]

    def step(self) -> None:
        """Mehrotra's: a prediction towards the solution, then a step corrected for its curvature.

        Changes of walls are kept relative to the walls: those of u and room as `inner`, those of above and below as
        `outer`. Along the prediction outer = −1 − inner, for it would close the gap if it were not for inner · outer.
        Both go as far as their own walls allow; what γ and u then differ by is left to the next step.
        """
        walls, gap = self.walls, self.gap
        pairs = walls[:2] * walls[2:]
        inverse = self.there / (walls[2:] / walls[:2]).sum(axis=0)
        systems = _Systems(self.members, inverse.sum(axis=0))
        mismatch = (walls[0] * self.there).sum(axis=0) - self.slope - self.gamma
        excess = self.scores - self.kinks

        def direction(pull: AnyArray) -> tuple[AnyArray, AnyArray, AnyArray]:
            """Changes of u and room, of scores and of γ for rows that are pulled to where their walls will meet."""
            push = (pull * inverse).sum(axis=0) + mismatch
            scores, gamma = systems.solve(push)
            pull -= scores
            pull *= inverse
            return pull / (walls[:2] * SIGNS), scores, gamma

        inner, _, _ = direction(-excess)
        curved = -inner * (1 + inner)
        length = 1 / np.maximum(1.0, _greatest(np.maximum(-inner, 1 + inner)))
        ahead = (1 - length) * gap + length**2 * _total(pairs * curved)
        centre = gap / (2 * self.there.sum(axis=(0, 2))) * (ahead / gap) ** 3
        wanted = centre[:, None] / pairs - curved
        pull = walls[2:] * wanted
        inner, scores, gamma = direction(pull[0] - pull[1] - excess)
        outer = (wanted - 1 - inner) * self.there
        of_inner, of_outer = (
            SHARE_OF_STEP / np.maximum(SHARE_OF_STEP, _greatest(-change))[:, None] for change in (inner, outer)
        )
        self.walls = np.concatenate([walls[:2] * (1 + of_inner * inner), walls[2:] * (1 + of_outer * outer)])
        self.scores = self.scores + of_outer * scores
        self.gamma = self.gamma + of_outer * gamma

    def _begin(self) -> None:
        """With ridge fits to rounded corners, as wide as scores would roam if only the penalty held them."""
        unheld = self.jumps.sum(axis=0) / 2 - self.slope
        roam = np.stack([one.rows.spread(row) for one, row in zip(self.members, unheld, strict=True)])
        roam /= np.array([[2 * one.alpha] for one in self.members], dtype=np.float32)
        width = np.maximum(SMALLEST_WIDTH, np.sqrt(np.abs(roam).mean(axis=1)))[:, None]
        stiffness = self.jumps / (2 * width)
        systems = _Systems(self.members, stiffness.sum(axis=0))
        push = (stiffness * (self.kinks + width)).sum(axis=0) - self.slope
        self.scores, self.gamma = systems.solve(push)
        excess = self.scores - self.kinks
        u = np.clip(stiffness * (width - excess), self.jumps / 10, self.jumps * 9 / 10)
        walls = np.stack([u, self.jumps - u, np.maximum(excess, 0) + width, np.maximum(-excess, 0) + width])
        self.walls = np.where(self.there, walls, 1.0)


class _Systems:
    """Newton's equations of every problem, those on the same blurred rows together."""

    def __init__(self, members: Sequence[Member], give: AnyArray):
        alphas = np.array([one.alpha for one in members])
        self.parts = []
        for rows in dict.fromkeys(one.rows for one in members):
            places = [place for place, one in enumerate(members) if one.rows is rows]
            self.parts.append((places, rows.systems(give[places], alphas[places])))

    def solve(self, push: AnyArray) -> tuple[AnyArray, AnyArray]:
        """How scores and γ change (B, n)."""
        scores, gamma = np.empty_like(push), np.empty_like(push)
        for places, systems in self.parts:
            scores[places], gamma[places] = systems.solve(push[places])
        return scores, gamma


def _greatest(of_kinks: AnyArray) -> AnyArray:
    """The greatest number of every problem, from shape (2 or 4, J, B, n)."""
    return of_kinks.max(axis=(0, 1)).max(axis=1)


def _total(of_kinks: AnyArray) -> AnyArray:
    return of_kinks.sum(axis=(0, 1)).sum(axis=1)
