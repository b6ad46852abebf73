"""The two error rates of a decision rule, from errors among P, errors among N, and the share of U called positive.

The three are tied by  share called positive = θ (1 − FNR) + (1 − θ) FPR,  so any two of the samples are enough.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

ROUNDS = 5  # of reweighted least squares, each with the variances of the last fit
QUANTILES = (np.arange(150) + 0.5) / 150


@dataclass(frozen=True)
class Called:
    """Share of errors among P, of errors among N, and of U called positive, with the sizes of the samples."""

    share: NDArray
    size: NDArray
    prior: float

    def __post_init__(self) -> None:
        if (self.size > 0).sum() < 2:
            raise ValueError("Two of positive, negative and unlabelled rows are needed to estimate both error rates.")

    @property
    def likely(self) -> NDArray:
        """The shares by Laplace's rule."""
        return (self.size * self.share + 1) / (self.size + 2)

    def fit(self) -> NDArray:
        """FNR and FPR of greatest likelihood, by reweighted least squares."""
        seen = self.size > 0
        design = np.array([[1.0, 0.0], [0.0, 1.0], [-self.prior, 1 - self.prior]])[seen]
        offset = np.array([0.0, 0.0, self.prior])[seen]
        size, share, likely = self.size[seen], self.share[seen], self.likely[seen]
        for _ in range(ROUNDS):
            weighted = design.T * (size / (likely * (1 - likely)))
            rates = np.clip(np.linalg.solve(weighted @ design, weighted @ (share - offset)), 0, 1)
            likely = (size * (design @ rates + offset) + 1) / (size + 2)
        return rates

    def posterior(self) -> tuple[NDArray, NDArray]:
        """A grid of FNR and FPR, (2, 22500), with posterior probabilities under Jeffreys' priors.

        Quantiles of the two samples that say most span the grid; the likelihood of the third weighs it.
        """
        scale = np.array([self.prior**2, (1 - self.prior) ** 2, 1.0])
        with np.errstate(divide="ignore"):
            third = int(np.argmax(scale * self.likely * (1 - self.likely) / self.size))
        rates = self._grid(third)
        found = rates[third]
        inside = (found > 0) & (found < 1)
        if not inside.any():
            raise ValueError(
                f"A prior of {self.prior:g} contradicts {self.share[2]:.3g} of the unlabelled rows called positive "
                f"and error rates near {self.likely[0]:.3g} (positives) and {self.likely[1]:.3g} (negatives)."
            )
        errors = self.size[third] * self.share[third]
        rates, found = rates[:, inside], found[inside]
        logs = errors * np.log(found) + (self.size[third] - errors) * np.log1p(-found)
        weight = np.exp(logs - logs.max())
        return rates[:2], weight / weight.sum()

    def _grid(self, third: int) -> NDArray:
        """FNR, FPR and share called positive, (3, 22500): two from Beta quantiles, the third from the tie."""
        errors = self.size * self.share
        pair = [index for index in range(3) if index != third]
        axes = [betaincinv(errors[i] + 0.5, self.size[i] - errors[i] + 0.5, QUANTILES) for i in pair]
        rates = np.zeros((3, len(QUANTILES) ** 2))  # all three ties are computed below, so nothing may be undefined
        rates[pair] = np.reshape(np.meshgrid(*axes), (2, -1))
        fnr, fpr, called = rates
        rates[third] = (
            1 - (called - (1 - self.prior) * fpr) / self.prior,
            (called - self.prior * (1 - fnr)) / (1 - self.prior),
            self.prior * (1 - fnr) + (1 - self.prior) * fpr,
        )[third]
        return rates
