"""Means with standard errors, and which methods cannot be told from the best by a t-test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

LEVEL = 0.05


@dataclass(frozen=True)
class Summary:
    """Mean over trials, its standard error, and the number of trials."""

    mean: float
    stderr: float
    n: int

    @classmethod
    def of(cls, values: Sequence[float]) -> Summary:
        """
        >>> Summary.of([1.0, 2.0, 3.0])
        Summary(mean=2.0, stderr=0.577, n=3)
        """
        stderr = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
        return cls(float(np.mean(values)), float(stderr), len(values))


def comparable(cells: Mapping[str, Summary], level: float = LEVEL) -> set[str]:
    """The best method and those that a one-sided, unpaired t-test does not find worse, as the paper's boldface.

    t = (mean − best mean) / √(s.e.² + s.e.²) must stay below the critical value for n + n − 2 degrees of freedom.
    Methods with a single trial have no standard error and take no part.
    """
    judged = {name: cell for name, cell in cells.items() if cell.n > 1}
    if not judged:
        return set()
    best = min(judged.values(), key=lambda cell: cell.mean)
    return {name for name, cell in judged.items() if _statistic(cell, best) < _critical(cell, best, level)}


def _statistic(cell: Summary, best: Summary) -> float:
    gap, spread = cell.mean - best.mean, float(np.hypot(cell.stderr, best.stderr))
    if gap == 0:
        return 0.0
    return gap / spread if spread > 0 else np.inf


def _critical(cell: Summary, best: Summary, level: float) -> float:
    return float(stats.t.ppf(1 - level, cell.n + best.n - 2))


def comparable_paired(errors: Mapping[str, Mapping[int, float]], level: float = LEVEL) -> set[str]:
    """The same with a paired test on the trials both methods ran: sharper, because trials differ more than methods."""
    judged = {name: trials for name, trials in errors.items() if len(trials) > 1}
    if not judged:
        return set()
    best = min(judged, key=lambda name: np.mean(list(judged[name].values())))
    return {name for name in judged if name == best or not _worse(judged[name], judged[best], level)}


def _worse(errors: Mapping[int, float], best: Mapping[int, float], level: float) -> bool:
    shared = sorted(set(errors) & set(best))
    difference = np.array([errors[trial] - best[trial] for trial in shared])
    if len(shared) < 2:
        return True  # nothing says that it is as good
    if not difference.std():
        return bool(difference[0] > 0)
    return bool(stats.ttest_1samp(difference, 0, alternative="greater").pvalue < level)
