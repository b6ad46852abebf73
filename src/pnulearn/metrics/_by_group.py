"""An estimate for every group of rows (a system, a language, a month), and which groups differ from all other rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pnulearn._arrays import AnyArray, IntArray
from pnulearn._intervals.closed_forms import mover
from pnulearn.metrics._estimate import Estimate
from pnulearn.metrics._strata import read_helpers
from pnulearn.priors._resolve import read_share


@dataclass(frozen=True)
class GroupEstimates:
    """Estimates by group, and the difference between every group and all other rows.

    Parameters
    ----------
    whole : Estimate
        The estimate from all rows.
    groups : mapping
        The estimate of every group, each with its own interval.
    differences : mapping
        Every group minus all other rows. All intervals hold together with the given confidence.
    skipped : mapping
        Groups without an estimate, with the reason.
    confidence : float
        Confidence level.
    """

    whole: Estimate
    groups: Mapping[Any, Estimate]
    differences: Mapping[Any, Estimate]
    skipped: Mapping[Any, str]
    confidence: float = 0.95

    @property
    def different(self) -> list[Any]:
        """Groups whose difference from all other rows has an interval that excludes zero."""
        return [name for name, gap in self.differences.items() if gap.low > 0 or gap.high < 0]

    def sentence(self) -> str:
        """Which groups differ, in words."""
        if not self.differences:
            return "There are not two groups to compare."
        if not self.different:
            return (
                f"No group differs clearly from the others ({100 * self.confidence:g} % confidence for all together)."
            )
        named = [
            f"{name} is {'higher' if self.differences[name].value > 0 else 'lower'} than the other rows "
            f"({self.differences[name].value:+.3f}, {self.differences[name].low:+.3f} to "
            f"{self.differences[name].high:+.3f})"
            for name in self.different
        ]
        return "; ".join(named) + "."

    def __str__(self) -> str:
        lines = [f"all rows: {self.whole}"]
        lines += [f"{name}: {found}" for name, found in self.groups.items()]
        lines += [f"{name}: no estimate. {reason}" for name, reason in self.skipped.items()]
        return "\n".join([*lines, self.sentence()])


def by_group(
    estimate: Callable[[IntArray, float], Estimate], by: ArrayLike, *, confidence: float = 0.95
) -> GroupEstimates:
    """Estimate a number for every group of rows, and find the groups that differ, with correction for many comparisons.

    Parameters
    ----------
    estimate : callable
        ``estimate(rows, confidence)`` gives the estimate from these row numbers, e.g. by `pnu_share` or `pnu_risk`. A
        group for which it raises a ValueError (no labels, say) is listed in `skipped`.
    by : array (rows,)
        Group of every row: a system, a language, a month.
    confidence : float
        Confidence level of every group's interval, and of all differences together.

    Returns
    -------
    GroupEstimates
        Estimates by group, and the difference between each group and all other rows.

    Notes
    -----
    A group is compared with all rows outside of it. The interval of the difference combines those of both estimates
    (MOVER) at the level 1 − (1 − confidence) / comparisons (Bonferroni), so the probability that any of several equal
    groups is reported as different is at most 1 − confidence. Two groups need one comparison. Rows of different groups
    must be independent.

    Examples
    --------
    >>> import numpy as np
    >>> from pnulearn.metrics import pnu_share
    >>> y = np.concatenate([np.arange(50) < positives for positives in (45, 31, 32, 33)])
    >>> month = np.repeat(["January", "February", "March", "April"], 50)
    >>> found = by_group(lambda rows, level: pnu_share(y[rows], confidence=level), month)
    >>> found.different
    ['January']
    """
    read_share(confidence, "confidence")
    (column,) = read_helpers({"by": by}, len(np.asarray(by))).values()
    column = column.astype(str) if column.dtype.kind == "O" else column
    names = list(dict.fromkeys(column.tolist()))
    everything = np.arange(len(column))
    whole = estimate(everything, confidence)
    rows = {name: np.flatnonzero(column == name) for name in names}
    groups, skipped = _try_all(estimate, rows, confidence)
    if len(groups) < 2:
        return GroupEstimates(whole, groups, {}, skipped, confidence)
    comparisons = 1 if len(groups) == 2 else len(groups)
    level = 1 - (1 - confidence) / comparisons
    own = groups if comparisons == 1 else _try_all(estimate, {name: rows[name] for name in groups}, level)[0]
    used = np.concatenate([rows[name] for name in groups])
    if comparisons == 1:
        first, second = own
        rest = {first: own[second], second: own[first]}
    else:
        others = {name: np.setdiff1d(used, rows[name]) for name in groups}
        rest, _ = _try_all(estimate, others, level)
    differences = {name: _difference(own[name], rest[name], confidence) for name in own if name in rest}
    return GroupEstimates(whole, groups, differences, skipped, confidence)


def _try_all(
    estimate: Callable[[IntArray, float], Estimate], rows: Mapping[Any, AnyArray], confidence: float
) -> tuple[dict[Any, Estimate], dict[Any, str]]:
    found, refused = {}, {}
    for name, some in rows.items():
        try:
            found[name] = estimate(some, confidence)
        except ValueError as error:
            refused[name] = str(error)
    return found, refused


def _difference(one: Estimate, other: Estimate, confidence: float) -> Estimate:
    gap = one.value - other.value
    below, _ = mover([(one.value - one.low, 0.0), (other.high - other.value, 0.0)])
    above, _ = mover([(one.high - one.value, 0.0), (other.value - other.low, 0.0)])
    return Estimate(gap, float(np.hypot(one.stderr, other.stderr)), gap - below, gap + above, confidence=confidence)
