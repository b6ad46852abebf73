"""Mean losses on the samples P, N and U, and the covariances of these means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pnulearn._arrays import AnyArray
from pnulearn._intervals.closed_forms import BORROWED_ROWS, ROUNDING, cluster_design_effect, effective_size
from pnulearn._problem.inputs import LARGEST
from pnulearn.losses import Loss, as_loss

LAPLACE_ROWS = 2.0  # pseudo-observations of Laplace's rule of succession: one success and one failure
MOST_PSEUDO_ROWS = 200
TILTS = 3  # Newton steps; more do not change the result


@dataclass(frozen=True)
class LossSample:
    """Losses of g and −g on the rows of one sample.

    Parameters
    ----------
    losses : array (rows, 2 or more)
        Losses of g and of −g. Further columns do not depend on the class of the row.
    share : array (rows,)
        Weights of the rows, which sum to one.
    size : float
        Effective number of rows.
    """

    losses: AnyArray
    share: AnyArray
    size: float

    @classmethod
    def of(cls, losses: AnyArray, weight: ArrayLike | None = None, group: AnyArray | None = None) -> LossSample:
        """Sample from losses, with optional row weights and groups."""
        weight = np.ones(len(losses)) if weight is None else np.asarray(weight, dtype=float)
        if not weight.any():
            return cls(losses[:0], weight[:0], 0.0)
        share, gap = weight / weight.sum(), losses[:, 0] - losses[:, 1]
        size = effective_size(gap, share)
        return cls(losses, share, size if group is None else size / cluster_design_effect(gap, share, group))

    @cached_property
    def mean(self) -> AnyArray:
        return self.share @ self.losses

    @cached_property
    def covariance(self) -> AnyArray:
        """Covariance (2, 2) of the two losses of a row, without the n / (n − 1) correction."""
        centered = self.losses - self.mean
        return (self.share[:, None] * centered).T @ centered

    def with_pseudo_rows(self, losses: AnyArray, n_rows: float, positive: float) -> LossSample:
        """Add `n_rows` pseudo-observations: a share `positive` has these losses, the rest has them exchanged.

        The effective size does not change.
        """
        share = np.repeat([positive, 1 - positive], len(losses)) * n_rows / len(losses)
        share = np.concatenate([self.size * self.share, share]) / (self.size + n_rows)
        exchanged = losses[:, [1, 0, *range(2, losses.shape[1])]]
        return LossSample(np.concatenate([self.losses, losses, exchanged]), share, self.size)

    def tilt(self, direction: AnyArray) -> LossSample:
        """Rows reweighted by exp((losses − mean) · direction), within a factor of e (exponential tilting)."""
        share = self.share * np.exp(np.clip((self.losses - self.mean) @ direction, -1, 1))
        return LossSample(self.losses, share / share.sum(), self.size)


def loss_pairs(scores: ArrayLike, loss: Loss) -> AnyArray:
    """Losses of g and of −g, (n, 2)."""
    scores = np.asarray(scores, dtype=float)
    with np.errstate(over="ignore"):
        pairs = np.column_stack(loss.class_losses(scores))
    if not (pairs < LARGEST).all():
        raise ValueError(
            f"Scores up to {np.abs(scores).max():.3g} are too large for the {loss.name} loss: its values overflow. "
            "Rescale the scores, or use loss='zero_one'."
        )
    return pairs


def loss_samples(
    scores: Sequence[ArrayLike],
    loss: str | Loss = "zero_one",
    weights: Sequence[ArrayLike] | None = None,
    groups: Sequence[AnyArray] | None = None,
) -> list[LossSample]:
    """Losses of g and −Scores g on P, on N and on U."""
    pairs = [loss_pairs(g, as_loss(loss)) for g in _three_groups(scores)]
    of_row = [None, None, None] if weights is None else weights
    of_group = [None, None, None] if groups is None else groups
    return [LossSample.of(*part) for part in zip(pairs, of_row, of_group, strict=True)]


def _three_groups(scores: Any) -> list[AnyArray]:
    try:
        groups = [np.asarray(group, dtype=float) for group in scores]
    except (TypeError, ValueError):
        groups = []
    if len(groups) != 3 or any(group.ndim != 1 or not np.isfinite(group).all() for group in groups):
        raise ValueError(f"scores must be three arrays of finite numbers, g on P, on N and on U, got {scores!r:.60}.")
    return groups


def decision_shares(samples: Sequence[LossSample]) -> tuple[AnyArray, AnyArray]:
    """From zero-one losses: error shares of P and N, share of U predicted positive, and effective sizes."""
    columns = (0, 1, 1)  # loss of g: error on P; loss of −g: error on N, or a row of U predicted positive
    share = [sample.mean[column] if sample.size else 0.0 for sample, column in zip(samples, columns, strict=True)]
    return np.array(share), np.array([sample.size for sample in samples])


def observed_covariances(samples: Sequence[LossSample]) -> AnyArray:
    """Unbiased covariances (3, 2, 2) of the mean losses, for reporting.

    A sample of one row, or with equal losses in every row, gets the pseudo-observations of Laplace's rule; its
    estimated variance would otherwise be zero.
    """
    parts = []
    for sample in samples:
        part = sample.covariance
        if sample.size > 1 and part.max() > ROUNDING**2 * np.abs(sample.losses).max() ** 2:
            parts.append(part / (sample.size - 1))
        elif sample.size:
            parts.append(
                sample.with_pseudo_rows(pseudo_row_losses(samples), LAPLACE_ROWS, 0.5).covariance / sample.size
            )
        else:
            parts.append(np.zeros((2, 2)))  # empty samples have weight zero in every risk
    return np.array(parts)


def reconciled_covariances(samples: Sequence[LossSample], prior: float) -> AnyArray:
    """Covariances (3, 2, 2) of the mean losses, for choosing a mix: smoothed, and tilted until P and N agree with U.

    The mix multiplies C = mean_U − θ mean_P − (1 − θ) mean_N, which has expectation zero. Sample variances are
    correlated with C (fewer errors by chance give a smaller variance), which would bias the risk by 0.1 standard errors
    with 50 + 50 labels. Tilting the samples until C = 0 reduces this bias to 0.02 standard errors.
    """
    return reconcile(_smooth(samples, prior), prior)


def reconcile(smooth: Sequence[LossSample], prior: float) -> AnyArray:
    """Covariances (3, 2, 2) of the mean losses after exponential tilting to mean_U = θ mean_P + (1 − θ) mean_N."""
    factors = np.array([-prior, prior - 1, 1.0])
    tilted, multiplier = list(smooth), np.zeros(smooth[0].losses.shape[1])
    for _ in range(TILTS):
        gap = factors @ [sample.mean for sample in tilted]
        variance = np.einsum("c,cij->ij", factors**2, [sample.covariance / sample.size for sample in tilted])
        multiplier = multiplier + np.linalg.pinv(variance, rcond=1e-10, hermitian=True) @ gap
        tilted = [s.tilt(-f / s.size * multiplier) for f, s in zip(factors, smooth, strict=True)]
    return np.array([sample.covariance / sample.size for sample in tilted])


def smoothed_means(samples: Sequence[LossSample], prior: float) -> AnyArray:
    """Mean losses (3, 2) with pseudo-observations; zero for an empty sample."""
    smooth = _smooth(samples, prior) if all(sample.size for sample in samples) else samples
    return np.array([sample.mean if sample.size else np.zeros(2) for sample in smooth])


def _smooth(samples: Sequence[LossSample], prior: float) -> list[LossSample]:
    """Samples with a few pseudo-observations.

    For the zero-one loss this is Laplace's rule, p = (errors + 1) / (n + 2). For other losses the pseudo-observations
    are rows of the other class with exchanged losses. This shrinks the class variances towards each other, towards the
    assumption of the heuristic mix.
    """
    margins = np.concatenate([samples[0].losses, samples[1].losses[:, ::-1]])
    if _are_counts(margins):
        losses = pseudo_row_losses(samples)
        return [sample.with_pseudo_rows(losses, LAPLACE_ROWS, 0.5) for sample in samples]
    sides = (1.0, 0.0, prior)
    return [sample.with_pseudo_rows(margins, BORROWED_ROWS, side) for sample, side in zip(samples, sides, strict=True)]


def pseudo_row_losses(samples: Sequence[LossSample]) -> AnyArray:
    """Losses of pseudo-observations: the largest gap for zero-one losses, else at most 200 evenly spaced rows."""
    losses = np.concatenate([sample.losses for sample in samples])
    if losses.shape[1] == 2 and _are_counts(losses):
        return losses[[np.argmax(np.abs(losses[:, 0] - losses[:, 1]))]]
    order = np.lexsort(losses.T[::-1])
    return losses[order[np.linspace(0, len(losses) - 1, min(len(losses), MOST_PSEUDO_ROWS)).astype(int)]]


def _are_counts(losses: AnyArray) -> bool:
    """Whether losses take at most five values, as the zero-one loss does."""
    return len(np.unique(losses)) <= 5
