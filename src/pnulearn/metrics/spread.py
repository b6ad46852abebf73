"""How much the mean losses of three samples would vary if the samples were drawn again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from pnulearn._arrays import AnyArray
from pnulearn._problem.inputs import LARGEST
from pnulearn.losses import Loss

COIN_ROWS = 2.0  # Laplace's one success and one failure
BORROWED_ROWS = 5.0  # measured: 2 leaves more bias at ten labels, 10 changes nothing
THINNED = 200
TILTS = 3  # Newton's steps; more change nothing
ROUNDING = 1e-9  # of the largest: what differs by less does not differ


@dataclass(frozen=True)
class LossSample:
    """Losses of g and −g on the rows of one sample, (n, 2); the rows' shares sum to 1 and count as `size` rows.

    Further columns hold what is the same whichever class a row is of.
    """

    losses: AnyArray
    share: AnyArray
    size: float

    @classmethod
    def of(cls, losses: AnyArray, weight: ArrayLike | None = None, group: AnyArray | None = None) -> LossSample:
        """All rows alike, or weighted, or in groups; see `worth` for how many rows they count as."""
        weight = np.ones(len(losses)) if weight is None else np.asarray(weight, dtype=float)
        if not weight.any():
            return cls(losses[:0], weight[:0], 0.0)
        share = weight / weight.sum()
        size = worth(losses, share)
        return cls(losses, share, size if group is None else size / cluster_factor(losses, share, group))

    @cached_property
    def mean(self) -> AnyArray:
        return self.share @ self.losses

    @cached_property
    def covariance(self) -> AnyArray:
        """Covariance (2, 2) of the two losses of one row, without a correction for the estimated mean."""
        centered = self.losses - self.mean
        return (self.share[:, None] * centered).T @ centered

    def joined_by(self, losses: AnyArray, n_rows: float, positive: float) -> LossSample:
        """With `n_rows` more rows, of which a share has these losses and the rest has them mirrored.

        The size stays: the rows are imagined.
        """
        share = np.repeat([positive, 1 - positive], len(losses)) * n_rows / len(losses)
        share = np.concatenate([self.size * self.share, share]) / (self.size + n_rows)
        return LossSample(np.concatenate([self.losses, losses, mirror(losses)]), share, self.size)

    def tilt(self, direction: AnyArray) -> LossSample:
        """Rows reweighted by exp((losses − mean) · direction), kept within a factor of e."""
        share = self.share * np.exp(np.clip((self.losses - self.mean) @ direction, -1, 1))
        return LossSample(self.losses, share / share.sum(), self.size)


def mirror(losses: AnyArray) -> AnyArray:
    """The losses of rows of the other class: those of g and −g change places."""
    return losses[:, [1, 0, *range(2, losses.shape[1])]]


def worth(losses: AnyArray, share: AnyArray) -> float:
    """How many rows of equal weight would leave the mean losses as uncertain as these do.

    The variance of the mean is Σ share² (loss − mean)², whatever weights and losses have to do with each other; Kish's
    1 / Σ share² is right only if they have nothing to do with each other. Two imagined rows, one of either loss, have
    the greatest weight seen: a few rows without an error are no proof that errors weigh little.
    """
    if np.ptp(share) <= ROUNDING * share.max():
        return float(len(share))
    values = losses[:, 0] - losses[:, 1]
    ends = [values.min(), values.max()] if np.ptp(values) else values[0] + np.array([-1.0, 1.0])
    share = np.append(share, np.full(2, share.max()))
    share = share / share.sum()
    centered = np.append(values, ends)
    centered = centered - share @ centered
    return float(share @ centered**2) / float(share**2 @ centered**2)


def cluster_factor(losses: AnyArray, share: AnyArray, group: AnyArray) -> float:
    """How much greater the variance of the mean is because rows of a group are alike; never below 1.

    Σ over groups of (Σ share (loss − mean))² over Σ share² (loss − mean)², with the correction for few groups.
    """
    centered = losses[:, 0] - losses[:, 1]
    centered = share * (centered - share @ centered)
    alone = float(centered @ centered)
    number = np.unique(group, return_inverse=True)[1]
    together = np.bincount(number, weights=centered)
    n_groups = len(together)
    if alone <= 0 or n_groups == len(group):
        return 1.0
    if n_groups == 1:
        return float(len(group))
    return max(float(together @ together) / alone * n_groups / (n_groups - 1), 1.0)


def loss_pairs(scores: ArrayLike, loss: Loss) -> AnyArray:
    """Losses of g and of −g, (n, 2)."""
    scores = np.asarray(scores, dtype=float)
    with np.errstate(over="ignore"):
        pairs = np.column_stack([loss(scores), loss(-scores)])
    if not (pairs < LARGEST).all():
        raise ValueError(
            f"Scores up to {np.abs(scores).max():.3g} are too large for the {loss.name} loss: its values overflow. "
            "Rescale the scores, or judge by loss='zero_one'."
        )
    return pairs


def observed_covariances(samples: Sequence[LossSample]) -> AnyArray:
    """Unbiased covariances (3, 2, 2) of the mean losses, for reporting.

    A sample in which every row has the same losses, or of one row, is given two rows with the losses of other rows
    and a side decided by the toss of a coin: no sample is certain because it is small.
    """
    parts = []
    for sample in samples:
        part = sample.covariance
        if sample.size > 1 and part.max() > ROUNDING**2 * np.abs(sample.losses).max() ** 2:
            parts.append(part / (sample.size - 1))
        elif sample.size:
            parts.append(sample.joined_by(coin_rows(samples), COIN_ROWS, 0.5).covariance / sample.size)
        else:
            parts.append(np.zeros((2, 2)))  # no risk gives weight to an empty sample
    return np.array(parts)


def reconciled_covariances(samples: Sequence[LossSample], prior: float) -> AnyArray:
    """Covariances (3, 2, 2) of the mean losses, for choosing a mix: smoothed, and with P and N made to agree with U.

    The mix multiplies C = mean_U − θ mean_P − (1 − θ) mean_N, which is zero on average. Variances of the samples as
    they are go along with C (fewer errors by chance, smaller variance), and the risk would be biased by a tenth of
    its standard error at 50 + 50 labels. Tilting the samples until C = 0 breaks that link; what is left is a fiftieth.
    """
    return reconcile(_smooth(samples, prior), prior)


def reconcile(smooth: Sequence[LossSample], prior: float) -> AnyArray:
    """Covariances (3, 2, 2) of the mean losses after tilting the samples until U is a mixture of P and N on average."""
    factors = np.array([-prior, prior - 1, 1.0])
    tilted, multiplier = list(smooth), np.zeros(smooth[0].losses.shape[1])
    for _ in range(TILTS):
        gap = factors @ [sample.mean for sample in tilted]
        spread = np.einsum("c,cij->ij", factors**2, [sample.covariance / sample.size for sample in tilted])
        multiplier = multiplier + np.linalg.pinv(spread, rcond=1e-10, hermitian=True) @ gap
        tilted = [s.tilt(-f / s.size * multiplier) for f, s in zip(factors, smooth, strict=True)]
    return np.array([sample.covariance / sample.size for sample in tilted])


def smoothed_means(samples: Sequence[LossSample], prior: float) -> AnyArray:
    """Mean losses (3, 2) by Laplace's rule; zero for a sample without rows."""
    some = [sample for sample in samples if sample.size]
    smooth = _smooth(samples, prior) if len(some) == len(samples) else samples
    return np.array([sample.mean if sample.size else np.zeros(2) for sample in smooth])


def _smooth(samples: Sequence[LossSample], prior: float) -> list[LossSample]:
    """Samples with a few imagined rows: tosses of a coin if losses are counts, else labelled rows of either class.

    For the zero-one loss this is Laplace's rule, p = (errors + 1) / (n + 2). Rows borrowed from the other class,
    mirrored, pull the two classes towards equal variances, as the heuristic mix assumes.
    """
    margins = np.concatenate([samples[0].losses, samples[1].losses[:, ::-1]])
    if _counts(margins):
        coin = coin_rows(samples)
        return [sample.joined_by(coin, COIN_ROWS, 0.5) for sample in samples]
    sides = (1.0, 0.0, prior)
    return [sample.joined_by(margins, BORROWED_ROWS, side) for sample, side in zip(samples, sides, strict=True)]


def coin_rows(samples: Sequence[LossSample]) -> AnyArray:
    """Losses of the rows whose side a coin decides: the one with most at stake if losses are counts, else of all kinds.

    At most 200 rows, spread evenly over the losses of all rows, stand for all kinds.
    """
    losses = np.concatenate([sample.losses for sample in samples])
    if losses.shape[1] == 2 and _counts(losses):
        return losses[[np.argmax(np.abs(losses[:, 0] - losses[:, 1]))]]
    order = np.lexsort(losses.T[::-1])
    return losses[order[np.linspace(0, len(losses) - 1, min(len(losses), THINNED)).astype(int)]]


def _counts(losses: AnyArray) -> bool:
    """Whether losses count something: they take few values."""
    return len(np.unique(losses)) <= 5
