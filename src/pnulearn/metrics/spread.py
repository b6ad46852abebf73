"""How much the mean losses of three samples would vary if the samples were drawn again."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pnulearn.losses import Loss

PSEUDO_ROWS = 2.0  # Laplace's one success and one failure


@dataclass(frozen=True)
class LossSample:
    """The losses of g and −g on one sample, as an array (n, 2), with the weight of every row (summing to 1)."""

    losses: NDArray
    share: NDArray

    @classmethod
    def of(cls, scores: NDArray, loss: Loss, weight: NDArray | None = None) -> LossSample:
        scores = np.asarray(scores, dtype=float)
        weight = np.ones(len(scores)) if weight is None else np.asarray(weight, dtype=float)
        return cls(np.column_stack([loss(scores), loss(-scores)]), weight / max(weight.sum(), np.finfo(float).tiny))

    @property
    def size(self) -> float:
        """Rows that count: (Σ w)² / Σ w², the number of rows when all weights are equal."""
        return 1 / float(np.sum(self.share**2)) if len(self.share) else 0.0

    @property
    def mean(self) -> NDArray:
        return self.share @ self.losses

    @property
    def covariance(self) -> NDArray:
        """Unbiased covariance (2, 2) of the two losses of one row."""
        if self.size <= 1:
            return np.zeros((2, 2))
        centered = self.losses - self.mean
        return (self.share[:, None] * centered).T @ centered * self.size / (self.size - 1)


def smoothed_covariance(sample: LossSample, pool: LossSample) -> NDArray:
    """Covariance (2, 2) with two more rows, drawn from the pool and decided by the toss of a coin.

    For the zero-one loss this is Laplace's rule, p (1 − p) with p = (errors + 1) / (n + 2), so that no sample
    looks certain because it is small.
    """
    coin_mean, coin_second = _coin_toss(pool)
    n = sample.size
    mean = (n * sample.mean + PSEUDO_ROWS * coin_mean) / (n + PSEUDO_ROWS)
    second = (sample.share[:, None] * sample.losses).T @ sample.losses
    second = (n * second + PSEUDO_ROWS * coin_second) / (n + PSEUDO_ROWS)
    return second - np.outer(mean, mean)


def _coin_toss(pool: LossSample) -> tuple[NDArray, NDArray]:
    """Mean and second moments of the losses when the sign of every score is drawn at random."""
    second = (pool.share[:, None] * pool.losses).T @ pool.losses
    return np.full(2, pool.mean.mean()), (second + second[::-1, ::-1]) / 2


def pooled(samples: tuple[LossSample, ...]) -> LossSample:
    """All rows together, each sample with the weight of its rows."""
    sizes = np.array([sample.size for sample in samples])
    share = np.concatenate([size * sample.share for size, sample in zip(sizes, samples, strict=True)])
    return LossSample(np.concatenate([sample.losses for sample in samples]), share / share.sum())


def observed_covariances(samples: tuple[LossSample, ...]) -> NDArray:
    """Covariances (3, 2, 2) of the mean losses; the smoothed one stands in where a sample shows no variance."""
    pool = pooled(samples)
    parts = [s.covariance if s.covariance.any() else smoothed_covariance(s, pool) for s in samples if s.size]
    return _of_means(parts, samples)


def smoothed_covariances(samples: tuple[LossSample, ...]) -> NDArray:
    """Covariances (3, 2, 2) of the mean losses, smoothed: for choosing a mix, not for reporting."""
    pool = pooled(samples)
    return _of_means([smoothed_covariance(s, pool) for s in samples if s.size], samples)


def _of_means(parts: list[NDArray], samples: tuple[LossSample, ...]) -> NDArray:
    """Divided by the sample sizes; zero for an empty sample, to which no weight can be given anyway."""
    found = iter(parts)
    return np.array([next(found) / s.size if s.size else np.zeros((2, 2)) for s in samples])
