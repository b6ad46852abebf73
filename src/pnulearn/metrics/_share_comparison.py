"""Differences of shares between systems, on the same rows or on different ones, with second opinions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, ndtri

from pnulearn._arrays import AnyArray, FloatArray
from pnulearn._intervals.closed_forms import correlated_mover
from pnulearn.metrics._estimate import Estimate
from pnulearn.metrics._share import ShareEstimate, ShareSampling, share_with_influence
from pnulearn.priors._resolve import read_share

N_DRAWS, SEED = 20_000, 0  # normal draws, from which the critical value of all differences together is read


@dataclass(frozen=True)
class ShareComparison:
    """Shares of several systems and all pairwise differences.

    Parameters
    ----------
    shares : mapping
        The share of every system, each with its own interval.
    differences : mapping
        First share minus second for every pair of names. All intervals hold together with the given confidence.
    confidence : float
        Confidence level.
    """

    shares: Mapping[str, ShareEstimate]
    differences: Mapping[tuple[str, str], Estimate]
    confidence: float = 0.95

    @property
    def different(self) -> list[tuple[str, str]]:
        """Pairs whose interval excludes zero, the higher share first."""
        found = []
        for (first, second), gap in self.differences.items():
            if gap.low > 0 or gap.high < 0:
                found.append((first, second) if gap.low > 0 else (second, first))
        return found

    def __str__(self) -> str:
        lines = [f"{name}: {share}" for name, share in self.shares.items()]
        for (first, second), gap in self.differences.items():
            words = f"{first} is higher" if gap.low > 0 else f"{second} is higher" if gap.high < 0 else "undecided"
            lines.append(f"{first} - {second}: {gap.value:+.4f} [{gap.low:+.4f}, {gap.high:+.4f}]: {words}")
        return "\n".join(lines)


def compare_shares(
    y: Mapping[str, ArrayLike],
    *,
    helper: Mapping[str, Any] | None = None,
    paired: bool = True,
    sampling: ShareSampling = "random",
    groups: Mapping[str, ArrayLike] | None = None,
    confidence: float = 0.95,
    unlabeled: Any = None,
    pos_label: Any = None,
) -> ShareComparison:
    """Compare the shares of positives of two or more systems, from few labels and second opinions on all rows.

    Parameters
    ----------
    y : mapping from names to arrays (rows,)
        Labels of every system's answers. Missing values and the value `unlabeled` mark unlabelled rows.
    helper : mapping from the same names, optional
        Second opinions on the answers of every system, each as in `pnu_share`.
    paired : bool
        Whether row i of every system answers the same question. Then systems that succeed on the same questions are
        compared more precisely. The labelled rows need not be the same.
    sampling : "random" or "by_helper"
        How the labelled rows of every system were chosen, as in `pnu_share`.
    groups : mapping from the same names, optional
        Group of every row of every system, if rows of one group may be correlated. With paired=True, groups must be the
        same for all systems.
    confidence : float
        Confidence level of all differences together, and of the interval of each share.
    unlabeled : object, optional
        Value in y that marks unlabelled rows, in addition to missing values.
    pos_label : object, optional
        The positive class. Default: the larger label.

    Notes
    -----
    The interval of a difference combines the intervals of both shares and their correlation (MOVER; with labels alone
    and no correlation this is Newcombe's method with Jeffreys' intervals). With more than two systems, the level of the
    intervals is raised so that all hold together (the distribution of the largest of correlated normal statistics).

    References
    ----------
    Zou and Donner (2008), Statistics in Medicine 27. Hothorn, Bretz and Westfall (2008), Simultaneous inference in
    general parametric models. Biometrical Journal 50.

    Examples
    --------
    >>> y = {"A": [1] * 45 + [0] * 5 + [None] * 50, "B": [1] * 25 + [0] * 25 + [None] * 50}
    >>> found = compare_shares(y, paired=False)
    >>> found.different
    [('A', 'B')]
    """
    read_share(confidence, "confidence")
    names = list(y)
    if len(names) < 2:
        raise ValueError(f"y must hold the labels of two or more systems by name, got {len(names)}.")
    for word, given in (("helper", helper), ("groups", groups)):
        if given is not None and set(given) != set(names):
            raise ValueError(f"{word} must have the names of y, {names}, got {list(given)}.")
    if not isinstance(sampling, str) or sampling == "by_class":
        raise ValueError(f"sampling must be 'random' or 'by_helper' here, got {sampling!r}.")

    def estimate(level: float) -> list[tuple[ShareEstimate, FloatArray]]:
        return [
            share_with_influence(
                y[name],
                helper=None if helper is None else helper[name],
                sampling=sampling,
                groups=None if groups is None else groups[name],
                confidence=level,
                unlabeled=unlabeled,
                pos_label=pos_label,
            )
            for name in names
        ]

    found = estimate(confidence)
    if paired and len({len(influence) for _, influence in found}) > 1:
        raise ValueError("With paired=True every system needs the same rows in the same order. Pass paired=False.")
    correlation = _correlation([influence for _, influence in found], paired, groups)
    pairs = list(combinations(range(len(names)), 2))
    level = _joint_level(correlation, np.array([share.stderr for share, _ in found]), pairs, confidence)
    wide = found if len(pairs) == 1 else estimate(level)
    differences = {
        (names[i], names[j]): _difference(wide[i][0], wide[j][0], float(correlation[i, j]), confidence)
        for i, j in pairs
    }
    return ShareComparison({n: share for n, (share, _) in zip(names, found, strict=True)}, differences, confidence)


def _correlation(influences: list[FloatArray], paired: bool, groups: Mapping[str, ArrayLike] | None) -> FloatArray:
    """Correlation of the estimates, from the influence of every row or group on each of them."""
    if not paired:
        return np.eye(len(influences))
    rows = np.array(influences)
    if groups is not None:
        number = np.unique(np.asarray(next(iter(groups.values()))), return_inverse=True)[1]
        rows = np.array([np.bincount(number, weights=row) for row in rows])
    covariance = rows @ rows.T
    scale = np.sqrt(np.maximum(np.diag(covariance), 1e-300))
    return np.asarray(covariance / np.outer(scale, scale))


def _joint_level(correlation: FloatArray, stderr: FloatArray, pairs: list[tuple[int, int]], confidence: float) -> float:
    """Level of single intervals at which the intervals of all differences hold together."""
    if len(pairs) == 1:
        return confidence
    contrast = np.zeros((len(pairs), len(stderr)))
    for row, (i, j) in enumerate(pairs):
        contrast[row, i], contrast[row, j] = 1.0, -1.0
    draws = _normal_draws(correlation) * stderr
    gaps = draws @ contrast.T
    largest = np.abs(gaps / np.maximum(gaps.std(axis=0), 1e-300)).max(axis=1)
    single = float(ndtri((1 + confidence) / 2))
    return float(2 * ndtr(max(np.quantile(largest, confidence), single)) - 1)


def _normal_draws(correlation: AnyArray) -> FloatArray:
    values, vectors = np.linalg.eigh(correlation)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    return np.asarray(np.random.default_rng(SEED).standard_normal((N_DRAWS, len(values))) @ root.T)


def _difference(first: ShareEstimate, second: ShareEstimate, correlation: float, confidence: float) -> Estimate:
    gap = first.value - second.value
    below = correlated_mover(first.value - first.low, second.high - second.value, correlation)
    above = correlated_mover(first.high - first.value, second.value - second.low, correlation)
    variance = first.stderr**2 + second.stderr**2 - 2 * correlation * first.stderr * second.stderr
    return Estimate(gap, float(np.sqrt(max(variance, 0.0))), gap - below, gap + above, confidence=confidence)
