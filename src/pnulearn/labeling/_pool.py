"""The rows that are left, and a draw among them with known probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn.labeling._draws import RANDOM, Draw
from pnulearn.labeling._learner import CurrentModel
from pnulearn.labeling._strategies import NO_DISTANCE, KernelDistance, State, Strategy

Mixture = dict[str, tuple[Strategy, float]]


class Pool:
    """Unlabelled rows with the sampling probabilities that each strategy gives them.

    Parameters
    ----------
    X : array or sparse matrix (rows, columns)
        Features of all rows.
    left : array of bool (rows,)
        Rows that can be asked.
    mixture : dict
        Strategies and their shares by name.
    seed : int
        With the number of a draw it decides the draw, so that a resumed labelling goes on as it would have.
    n_random : int
        Number of initial draws at random, before strategies are used: a model fitted to few rows is unreliable.
    """

    def __init__(self, X: Any, left: AnyArray, mixture: Mixture, seed: int, n_random: int = 0) -> None:
        self.X, self.left, self.mixture, self.seed, self.n_random = X, left, mixture, seed, n_random
        self._chances: dict[str, AnyArray] = {}
        self._distance: KernelDistance | None = None

    def weigh(
        self, current_model: CurrentModel, codes: AnyArray, left: AnyArray, asked: AnyArray, n_classes: int
    ) -> dict[str, AnyArray]:
        """Sampling probabilities of every strategy; `put` makes them effective.

        Parameters
        ----------
        current_model : CurrentModel
            The model and what it says.
        codes : array of int (rows,)
            Classes of all rows, −1 where they are not known.
        left : array of bool (rows,)
            Rows that can be asked.
        asked : array of int
            Rows that were asked or had a label.
        n_classes : int
            How many classes there are.
        """
        distance = None
        if not NO_DISTANCE.issuperset(self.mixture):
            self._distance = self._distance or KernelDistance(self.X)
            distance = self._distance.see(asked)
        state = State(codes, left, current_model.probability, n_classes, distance, current_model.trust)
        parts = {name: part for name, (part, share) in self.mixture.items() if share > 0 and name != RANDOM}
        return {
            name: _read_chances(part(current_model.model, self.X, state), name, left) for name, part in parts.items()
        }

    def put(self, chances: dict[str, AnyArray]) -> None:
        """Draw with these chances from now on.

        Parameters
        ----------
        chances : dict
            As `weigh` returns them.
        """
        self._chances = chances

    def draw(self, number: int) -> Draw:
        """The draw of this number; the row stays in the pool until it is taken.

        Parameters
        ----------
        number : int
            The place of the draw among all draws.
        """
        rng = np.random.default_rng([self.seed, number])
        rows = np.flatnonzero(self.left)
        names, shares = list(self.mixture), np.array([share for _, share in self.mixture.values()])
        reason = names[int(rng.choice(len(names), p=shares))]
        is_first = number < self.n_random
        parts = {name: self._chances_of("" if is_first else name, rows) for name in names}
        place = int(np.searchsorted(np.cumsum(parts[reason]), rng.random() * parts[reason].sum(), side="right"))
        place = min(place, len(rows) - 1)
        probability = sum(share * parts[name][place] for name, share in zip(names, shares, strict=True))
        if np.ptp(parts[reason]) == 0:  # a constant strategy draws at random
            reason = RANDOM
        return Draw(number, int(rows[place]), float(probability), len(rows), reason)

    def take(self, row: int) -> None:
        """Take a row out.

        Parameters
        ----------
        row : int
            Its number.
        """
        self.left[row] = False

    def _chances_of(self, name: str, rows: AnyArray) -> AnyArray:
        """Probabilities of the remaining rows; uniform if the strategy gives all of them zero."""
        chances = self._chances[name][rows] if name in self._chances else np.ones(len(rows))
        total = chances.sum()
        return chances / total if total > 0 else np.full(len(rows), 1 / len(rows))


def _read_chances(chances: Any, name: str, left: AnyArray) -> AnyArray:
    chances = np.asarray(chances, dtype=float)
    if chances.shape != left.shape or not np.isfinite(chances).all() or (chances < 0).any():
        raise ValueError(
            f"Strategy {name!r} must return a finite number from 0 on for each of the {len(left)} rows; it returned an "
            f"array of shape {chances.shape}."
        )
    return chances
