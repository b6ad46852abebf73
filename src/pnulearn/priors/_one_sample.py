"""Positive and unlabelled rows of one sample: the share of positives of the table and that of its unlabelled rows.

Some positives of a random sample are labelled, and the unlabelled rows lack them. With a share s of labelled rows and a
share q of positives among the unlabelled ones, the class prior is

    θ = s + (1 − s) q.

The label frequency c = s / θ is unknown as long as θ is: P and U determine q, and by it both. The literature calls this
the single-training-set scenario (Elkan and Noto 2008), in contrast to case-control data.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.stats import binom

from pnulearn._arrays import AnyArray
from pnulearn._intervals.posterior_grids import affine_mass, beta_quantiles, normal_mass
from pnulearn.priors._estimate import PriorEstimate

N_SHARES = 16  # quantiles of the labelled share
LEAST_CHANCE = 1e-4  # of as many labelled rows as there are, if the prior given as a number is right


@dataclass(frozen=True)
class OneSample:
    """Effective numbers of labelled and of unlabelled rows, and whether the labelled ones are positive."""

    labeled: float
    unlabeled: float
    positive: bool = True

    @classmethod
    def of(cls, codes: AnyArray, weight: AnyArray | None, random_counts: AnyArray | None) -> OneSample | None:
        """The sample if its labels are random and all of one class of two, and there are unlabelled rows; else None.

        Parameters
        ----------
        codes : array of int (rows,)
            1 positive, 0 negative, −1 unlabelled.
        weight : array (rows,) or None
            Weights of the rows.
        random_counts : array (2,) or None
            Labelled rows of every class, if the table is one random sample.
        """
        if random_counts is None or len(random_counts) != 2 or np.count_nonzero(random_counts) != 1:
            return None
        weight = np.ones(len(codes)) if weight is None else np.asarray(weight, dtype=float)
        unlabeled, total = float(weight[codes < 0].sum()), float(weight.sum())
        if not unlabeled:
            return None
        size = total**2 / float(np.minimum(weight, weight**2).sum())  # weights of one or more count as copies
        share = unlabeled / total
        return cls((1 - share) * size, share * size, bool(random_counts[1]))

    @property
    def share(self) -> float:
        """The share s of labelled rows: the least prior of their class."""
        return self.labeled / (self.labeled + self.unlabeled)

    @property
    def floor(self) -> float:
        """The prior of the positive class that a share of zero or one among the unlabelled rows gives."""
        return self.share if self.positive else 0.0

    def of_table(self, of_unlabeled: Any) -> Any:
        """θ = s + (1 − s) q, or (1 − s) q if the labelled rows are negative."""
        return self.floor + (1 - self.share) * of_unlabeled

    def prior_of_table(self, of_unlabeled: PriorEstimate) -> PriorEstimate:
        """The prior of the population from that of the unlabelled rows, with the sampling error of s.

        Parameters
        ----------
        of_unlabeled : PriorEstimate
            The share of positives among the unlabelled rows.
        """
        value, raw = self.of_table(of_unlabeled.value), self.of_table(of_unlabeled.raw)
        if of_unlabeled.mass is None:
            return replace(of_unlabeled, value=value, raw=raw)
        shares = beta_quantiles(self.labeled, self.unlabeled, N_SHARES)
        parts = [affine_mass(of_unlabeled.mass, 1 - s, s if self.positive else 0.0) for s in shares]
        return replace(of_unlabeled, value=value, raw=raw, mass=np.mean(parts, axis=0))

    def prior_of_unlabeled(self, of_table: PriorEstimate) -> PriorEstimate:
        """The share of positives among the unlabelled rows from the prior of the population, with its uncertainty.

        Parameters
        ----------
        of_table : PriorEstimate
            The class prior of the population.
        """
        self.refuse_contradiction(of_table)
        s, theta = self.share, of_table
        if theta.mass is None:
            q = (float(theta) - self.floor) / (1 - s)
            own = float(theta) if self.positive else 1 - float(theta)
            deviation = max(1 - own, 0.0) / (1 - s) ** 2 * np.sqrt(s * (1 - s) / (self.labeled + self.unlabeled))
            return PriorEstimate.of_mass(normal_mass(q, float(deviation)), theta.method)
        return PriorEstimate.of_mass(self._mass_of_unlabeled(theta.mass), theta.method, theta.confidence)

    def _mass_of_unlabeled(self, of_table: AnyArray) -> AnyArray:
        """The distribution of q = (θ − floor) / (1 − s), given that it lies in [0, 1]."""
        return affine_mass(of_table, 1 / (1 - self.share), -self.floor / (1 - self.share))

    def restrict(self, of_table: PriorEstimate) -> PriorEstimate:
        """The distribution given that the labelled rows are a part of their class; a known prior is returned as it is.

        Parameters
        ----------
        of_table : PriorEstimate
            The class prior of the population.
        """
        self.refuse_contradiction(of_table)
        if of_table.mass is None:
            return of_table
        mass = affine_mass(self._mass_of_unlabeled(of_table.mass), 1 - self.share, self.floor)
        return PriorEstimate.of_mass(mass, of_table.method, of_table.confidence)

    def refuse_contradiction(self, of_table: PriorEstimate) -> None:
        """Raise a ValueError if more rows are labelled than the class can have.

        Parameters
        ----------
        of_table : PriorEstimate
            The class prior of the population.
        """
        high = float(of_table.within(0.998)[1 if self.positive else 0])
        high = high if self.positive else 1 - high
        n = round(self.labeled + self.unlabeled)
        if high < self.share and binom.sf(round(self.labeled) - 1, n, high) < LEAST_CHANCE:
            name, most = ("positives", "at least") if self.positive else ("negatives", "at most")
            bound = self.share if self.positive else 1 - self.share
            raise ValueError(
                f"A prior of {float(of_table.mean):.3g} contradicts sampling='random': {self.share:.1%} of the rows "
                f"are labelled {name}, so the share of positives in the table is {most} {bound:.3g}. Pass such a one, "
                "leave it out, or, if the labelled rows were collected apart from the unlabelled ones, pass "
                "sampling='by_class'."
            )
