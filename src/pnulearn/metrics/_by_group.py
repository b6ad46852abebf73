"""An estimate for every group of rows (a system, a language, a month), and which groups differ from the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pnulearn._arrays import AnyArray, IntArray
from pnulearn._intervals.closed_forms import mover
from pnulearn.metrics._estimate import Estimate
from pnulearn.metrics._share import ShareEstimate
from pnulearn.metrics._strata import read_helpers
from pnulearn.priors._resolve import read_share


@dataclass(frozen=True)
class GroupEstimates:
    """Estimates by group, and the difference between every group and the others.

    Parameters
    ----------
    whole : Estimate
        The estimate from all rows.
    groups : mapping
        The estimate of every group, each with its own interval.
    differences : mapping
        Every group minus the other groups, without those that differ more. All intervals hold together with the given
        confidence.
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
        """Groups whose difference from the others has an interval that excludes zero."""
        return [name for name, gap in self.differences.items() if direction(gap)]

    def sentence(self, *, percent: bool = False) -> str:
        """Which groups differ, in words.

        Parameters
        ----------
        percent : bool
            Give differences of shares and rates in percentage points.
        """
        if not self.differences:
            return "There are not two groups to compare."
        if not self.different:
            return (
                f"No group differs clearly from the others ({100 * self.confidence:g} % confidence for all together)."
            )
        return "; ".join(f"{name} is {_in_words(self.differences[name], percent)}" for name in self.different) + "."

    def facts(self) -> dict[str, Any]:
        """Plain values by group, for JSON."""
        found = {}
        for name, one in self.groups.items():
            gap = self.differences.get(name)
            against = None if gap is None else estimate_facts(gap) | {"differs": bool(direction(gap))}
            labels = {"labels": one.n_labels} if isinstance(one, ShareEstimate) else {}
            found[str(name)] = estimate_facts(one) | labels | {"against_others": against}
        return found | {str(name): {"value": None, "reason": reason} for name, reason in self.skipped.items()}

    def __str__(self) -> str:
        lines = [f"all rows: {self.whole}"]
        lines += [f"{name}: {found}" for name, found in self.groups.items()]
        lines += [f"{name}: no estimate. {reason}" for name, reason in self.skipped.items()]
        return "\n".join([*lines, self.sentence()])


def _in_words(gap: Estimate, percent: bool) -> str:
    """A clear difference from the other groups, in words."""
    ends = [f"{100 * end:+.1f}" if percent else f"{end:+.3f}" for end in (gap.value, gap.low, gap.high)]
    unit = " points" if percent else ""
    return f"{direction(gap)} than the others ({ends[0]}{unit}, {ends[1]} to {ends[2]})"


def estimate_facts(one: Estimate) -> dict[str, Any]:
    return {"value": one.value, "interval": [one.low, one.high]}


def direction(gap: Estimate) -> str:
    """Whether a difference is clear, in a word."""
    return "higher" if gap.low > 0 else "lower" if gap.high < 0 else ""


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
        Estimates by group, and the difference between each group and the others.

    Notes
    -----
    A group is compared with all rows outside of it. The interval of the difference combines those of both estimates
    (MOVER) at the level 1 − (1 − confidence) / groups (Bonferroni), so the probability that any of several equal groups
    is reported as different is at most 1 − confidence. The group that differs most is then set aside and the others are
    compared among themselves, until none differs: otherwise one bad month would make all others look good. Two groups
    need one comparison. Rows of different groups must be independent.

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
    level = 1 - (1 - confidence) / (1 if len(groups) == 2 else len(groups))
    rows = {name: rows[name] for name in groups}
    own = groups if level == confidence else _try_all(estimate, rows, level)[0]
    differences = _find_different(estimate, rows, own, level, confidence)
    ordered = {name: differences[name] for name in groups if name in differences}
    return GroupEstimates(whole, groups, ordered, skipped, confidence)


def _find_different(
    estimate: Callable[[IntArray, float], Estimate],
    rows: dict[Any, AnyArray],
    own: Mapping[Any, Estimate],
    level: float,
    confidence: float,
) -> dict[Any, Estimate]:
    """Differences between each group and the others; the group that differs most is set aside, and so on."""
    aside: dict[Any, Estimate] = {}
    while len(rows) > 1:
        if len(rows) == 2:
            first, second = rows
            rest = {first: own[second], second: own[first]}
        else:
            used = np.concatenate(list(rows.values()))
            rest, _ = _try_all(estimate, {name: np.setdiff1d(used, rows[name]) for name in rows}, level)
        gaps = {name: _difference(own[name], rest[name], confidence) for name in rows if name in rest}
        clear = [name for name, gap in gaps.items() if direction(gap)]
        if not clear or len(rows) == 2:
            return aside | gaps
        most = max(clear, key=lambda name: abs(gaps[name].value) / gaps[name].stderr)
        aside[most] = gaps[most]
        rows = {name: some for name, some in rows.items() if name != most}
    return aside


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
