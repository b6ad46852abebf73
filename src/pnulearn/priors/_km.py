"""The largest share of P in U for which the rest of U is still a distribution (Ramaswamy et al. 2016)."""

from __future__ import annotations

from dataclasses import field
from typing import ClassVar

import numpy as np
from sklearn.metrics import euclidean_distances

from pnulearn._arrays import AnyArray
from pnulearn._parameters import parameters
from pnulearn.priors._groups import Group, stack, typical_distance
from pnulearn.priors._positive_unlabeled import PositiveUnlabeledPrior, Statistic

BANDWIDTHS = np.logspace(-1, 1, 5)  # multiples of the median distance
CLOSE = 0.005  # width of the last interval for θ
MOST_STEPS = 150


@parameters
class KMPrior(PositiveUnlabeledPrior):
    """KM1 and KM2: θ = 1 − 1/λ at the λ where the kernel distance d(λ) of  λ U + (1 − λ) P  to the distributions rises.

        d(λ) = min over v ≥ 0, Σ v = 1 of ‖λ μ_U + (1 − λ) μ_P − Σ v_i φ(x_i)‖

    is convex and zero while the extrapolation is still a distribution. `variant` 2 takes the λ where its slope passes
    1/sqrt(min(n_P, n_U)), `variant` 1 the λ where it passes a mean of its initial and final slopes. At most 1000 rows
    of each sample are used.

    Parameters
    ----------
    variant : int
        1 or 2.
    largest : float
        Largest prior considered.
    """

    most_labeled = most_unlabeled = 1000
    limits: ClassVar = {"largest": (0, 1, False)}

    variant: int = field(default=2, kw_only=False)
    largest: float = 0.95
    n_bootstrap: int = 50

    @property
    def method(self) -> str:  # type: ignore[override]
        return f"km{self.variant}"

    def _statistic(self, labeled: Group, unlabeled: Group) -> Statistic:
        if self.variant not in (1, 2):
            raise ValueError(f"variant must be 1 or 2, got {self.variant!r}.")
        gram = widest_apart_gram(labeled, unlabeled)
        fewest = min(labeled.size, unlabeled.size)

        def prior(of_labeled: AnyArray, of_unlabeled: AnyArray) -> AnyArray:
            extrapolation = Extrapolation(gram, of_labeled, of_unlabeled)
            return extrapolation.take_off(self._slope(extrapolation, fewest), self.largest)

        return prior

    def _slope(self, extrapolation: Extrapolation, fewest: float) -> AnyArray:
        """The slope of d(λ) at the estimate, for every weighting."""
        final = extrapolation.length
        early = 0.8 * extrapolation.distance(np.full(len(final), 1.05))[0] / 0.05 + 0.2 * final
        late = np.full(len(final), 1 / np.sqrt(fewest))
        return early if self.variant == 1 else np.where(late > 0.9 * final, early, late)


def widest_apart_gram(labeled: Group, unlabeled: Group) -> AnyArray:
    """Gaussian Gram matrix of P and U at the bandwidth that puts their means farthest apart."""
    rows = stack([labeled.X, unlabeled.X])
    squared = euclidean_distances(rows, squared=True)
    difference = np.concatenate([-labeled.share, unlabeled.share])
    unit = typical_distance(stack([unlabeled.X, labeled.X]))
    grams = (np.exp(-squared / (2 * (multiple * unit) ** 2)) for multiple in BANDWIDTHS)
    return max(grams, key=lambda gram: difference @ gram @ difference)


class Extrapolation:
    """λ U + (1 − λ) P in feature space, for several weightings of the rows at once (columns)."""

    def __init__(self, gram: AnyArray, of_labeled: AnyArray, of_unlabeled: AnyArray):
        nothing = np.zeros_like(of_labeled), np.zeros_like(of_unlabeled)
        self.gram = gram
        self.start = np.concatenate([of_labeled, nothing[1]])
        self.direction = np.concatenate([nothing[0], of_unlabeled]) - self.start
        self.length = np.sqrt(np.einsum("nr,nr->r", self.direction, gram @ self.direction))
        self.step = 1 / np.linalg.eigvalsh(gram)[-1]

    def distance(self, strength: AnyArray) -> tuple[AnyArray, AnyArray]:
        """d(λ) and its slope for one λ per weighting; the slope is that of the nearest distribution (envelope theorem).

        Accelerated projected gradient on the simplex, restarted when it overshoots.
        """
        target = self.start + strength * self.direction
        nearest = previous = project_to_simplex(target)
        momentum = np.ones(target.shape[1])
        ahead = nearest
        for _ in range(MOST_STEPS):
            slope = self.gram @ (ahead - target)
            nearest = project_to_simplex(ahead - self.step * slope)
            uphill = ((ahead - nearest) * (nearest - previous)).sum(axis=0) > 0
            momentum = np.where(uphill, 1.0, momentum)
            following = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
            ahead = nearest + np.where(uphill, 0, (momentum - 1) / following) * (nearest - previous)
            moved = np.abs(nearest - previous).max()
            previous, momentum = nearest, following
            if moved < 1e-7:
                break
        gap = target - nearest
        pull = self.gram @ gap
        distance = np.sqrt(np.maximum((gap * pull).sum(axis=0), 1e-300))
        return distance, (self.direction * pull).sum(axis=0) / distance

    def take_off(self, slope: AnyArray, largest: float) -> AnyArray:
        """The share θ in [0, largest] at which d(1/(1 − θ)) has this slope, by bisection."""
        low, high = np.zeros(len(slope)), np.full(len(slope), largest)
        while (high - low).max() > CLOSE:
            middle = (low + high) / 2
            steep = self.distance(1 / (1 - middle))[1] > slope
            low, high = np.where(steep, low, middle), np.where(steep, middle, high)
        return (low + high) / 2


def project_to_simplex(columns: AnyArray) -> AnyArray:
    """Projection of every column onto the simplex.

    >>> project_to_simplex(np.array([[0.5], [1.5]]))
    array([[0.],
           [1.]])
    """
    descending = -np.sort(-columns, axis=0)
    excess = np.cumsum(descending, axis=0) - 1
    counts = np.arange(1, len(columns) + 1)[:, None]
    support = (descending - excess / counts > 0).sum(axis=0)
    threshold = excess[support - 1, np.arange(columns.shape[1])] / support
    return np.maximum(columns - threshold, 0)
