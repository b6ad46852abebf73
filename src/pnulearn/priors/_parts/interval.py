"""Bootstrap of each sample apart: the classes and U are never pooled, because their sizes carry no information."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn.priors._parts.groups import Group


@dataclass(frozen=True)
class Draws:
    """Weightings of a group's rows: column 0 is the data, the others are bootstrap replicates.

    `share` has shape (rows, 1 + n_bootstrap) and columns that add up to one; `apart` is, for each column, the chance
    that two rows drawn with these weights are different rows. Copies of a row count as different rows.
    """

    share: AnyArray
    apart: AnyArray


def bayesian_draws(group: Group, n_bootstrap: int, rng: np.random.Generator) -> Draws:
    """Bayesian bootstrap: Dirichlet weights, so that no row is drawn twice and no distance becomes zero by chance.

    A row of weight w counts as w copies: its draw is the sum of w standard exponentials, a Gamma(w) variable, and
    within it two random picks are the same copy with probability 1/w in the data and 2/(w + 1) in a replicate.
    Weights below one are not counts; they scale a single draw.
    """
    copies = np.maximum(group.weight, 1.0)[:, None]
    scale = group.weight[:, None] / copies
    replicates = scale * rng.standard_gamma(copies, size=(len(group), n_bootstrap))
    weights = np.column_stack([group.weight, replicates])
    same = np.column_stack([1 / copies, np.repeat(2 / (copies + 1), n_bootstrap, axis=1)])
    share = weights / weights.sum(axis=0)
    return Draws(share, 1 - (share**2 * same).sum(axis=0))
