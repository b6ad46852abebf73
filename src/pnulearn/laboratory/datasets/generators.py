"""Two-class data to draw: every function gives X of shape (n, d) and y in {−1, +1}."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pnulearn._arrays import AnyArray

Generator = Callable[[np.random.Generator, int], tuple[AnyArray, AnyArray]]

G50C_DISTANCE = 3.29  # between the class means: the Bayes error is 5 %


def two_gaussians(rng: np.random.Generator, n: int, d: int = 2, distance: float = 2.0) -> tuple[AnyArray, AnyArray]:
    """Two unit Gaussians with means `distance` apart, in equal shares.

    The best error is Φ(−distance / 2), reached by a linear classifier.
    """
    y = _labels(rng, n)
    X = rng.standard_normal((n, d)) + np.outer(y, np.full(d, distance / (2 * np.sqrt(d))))
    return X, y


def g50c(rng: np.random.Generator, n: int) -> tuple[AnyArray, AnyArray]:
    """The recipe of g50c: two unit Gaussians in 50 dimensions that overlap by 5 %."""
    return two_gaussians(rng, n, d=50, distance=G50C_DISTANCE)


def bananas(rng: np.random.Generator, n: int, noise: float = 0.35) -> tuple[AnyArray, AnyArray]:
    """Two bent clouds that hook into each other: half circles of radius 1 with Gaussian noise."""
    y = _labels(rng, n)
    angle = rng.uniform(0, np.pi, n)
    X = np.column_stack([y * np.cos(angle) + (1 - y) / 2, y * np.sin(angle) + (1 - y) / 4])
    return X + noise * rng.standard_normal((n, 2)), y


def waveform(rng: np.random.Generator, n: int) -> tuple[AnyArray, AnyArray]:
    """Breiman's waves in 21 dimensions: one pair of base waves against the two other pairs, a third positive.

    A row is u h_a + (1 − u) h_b + noise with triangles h_1, h_2, h_3 centred at 7, 15 and 11; positive rows mix the
    first and the second.
    """
    time = np.arange(1, 22)
    triangles = np.stack([np.maximum(6 - np.abs(time - center), 0) for center in (7, 15, 11)])
    pairs = np.array([(0, 1), (0, 2), (1, 2)])
    kind = rng.permutation(n) % 3
    share = rng.uniform(size=(n, 1))
    first, second = triangles[pairs[kind, 0]], triangles[pairs[kind, 1]]
    return share * first + (1 - share) * second + rng.standard_normal((n, 21)), np.where(kind == 0, 1, -1)


def _labels(rng: np.random.Generator, n: int) -> AnyArray:
    return np.where(rng.permutation(n) < n / 2, 1, -1)
