"""Groups of rows by a column of a table: its categories, or windows of time (days, weeks, months) for a date."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from pnulearn._arrays import AnyArray, IntArray
from pnulearn._reader.columns import Column
from pnulearn._reader.dates import read_dates
from pnulearn._reader.errors import TableError
from pnulearn._reader.table import Table
from pnulearn.metrics._by_group import GroupEstimates, by_group, direction
from pnulearn.metrics._estimate import Estimate
from pnulearn.tables._notes import note

Period = Literal["day", "week", "month"]
PERIODS: tuple[Period, ...] = ("day", "week", "month")
MOST_GROUPS = 400  # a year of days, and some
EMPTY = "(empty)"
MOST_DAYS_LEFT = 3  # of a complete window, whose last days may have no row
PER_YEAR = {"day": 365, "week": 52, "month": 12}
LONGEST_IN_DAYS, LONGEST_IN_WEEKS = 31, 183  # days from first to last that are cut into days and into weeks


@dataclass(frozen=True, eq=False)
class Windows:
    """The group of every row: `codes` are places in `names`, which are in order of time or of the alphabet.

    `period` is "day", "week" or "month" if the column holds dates, and `days_left` are the days of the last window
    after its last row.
    """

    column: str
    names: list[str]
    codes: IntArray
    period: Period | None = None
    days_left: int = 0

    @property
    def values(self) -> AnyArray:
        """The name of every row's group."""
        return np.array(self.names, dtype=object)[self.codes]

    def is_open(self, name: str) -> bool:
        """Whether this is the last window, and its rows end clearly before it does."""
        dated = [one for one in self.names if one != EMPTY]
        return bool(dated) and name == dated[-1] and self.days_left > MOST_DAYS_LEFT


def read_windows(table: Table, by: str) -> Windows:
    """Groups by a column: "model", "date", "date:week", or "month" for the only column of dates.

    Parameters
    ----------
    table : Table
        The rows.
    by : str
        A column, with ":day", ":week" or ":month" behind the name of a column of dates if the period is not to be
        chosen by their range; or one of these three words, if the table has one column of dates and none of that name.
    """
    name, period = _read_by(table, by)
    column = table.column(name)
    found = _dated(column, period) if column.kind == "date" else None
    if found is None:
        if period is not None:
            raise TableError(f"Column {name!r} of {table.source} holds no dates, so it cannot be cut into {period}s.")
        found = _categories(column)
    if len(found.names) > MOST_GROUPS:
        raise TableError(
            f"Column {name!r} of {table.source} makes {len(found.names):,} groups, more than {MOST_GROUPS}. Name a "
            f"column with fewer values, or a longer period such as {name}:month for dates."
        )
    return found


def resolve_by(table: Table, by: str) -> tuple[str, str]:
    """The column that `by` means, and `by` with its name, for a table of which only some columns will be read."""
    name, period = _read_by(table, by)
    return name, name if period is None else f"{name}:{period}"


def _read_by(table: Table, by: str) -> tuple[str, Period | None]:
    if by in table.names:
        return by, None
    name, colon, word = by.rpartition(":")
    if colon and name in table.names and word in PERIODS:
        return name, word
    if by in PERIODS:
        dates = [name for name in table.names if _holds_dates(table, name)]
        if len(dates) == 1:
            return dates[0], by
        found = f"has the columns of dates {', '.join(dates)}" if dates else "has no column of dates"
        raise TableError(f"{table.source} {found} and none called {by!r}. Name one, e.g. date:{by}.")
    table.refuse_absent(by)
    return by, None


def _holds_dates(table: Table, name: str) -> bool:
    try:
        return table.column(name).kind == "date"
    except TableError:  # a column of bytes or lists
        return False


def _dated(column: Column, period: Period | None) -> Windows | None:
    """Windows of time; None for times of day without a date."""
    read = read_dates([str(level) for level in column.levels])
    if not read.has_date:
        return None
    days = np.append(read.days, np.nan)[column.data]
    known = days[~np.isnan(days)]
    if not len(known):
        return None
    if period is None:
        span = float(known.max() - known.min())
        period = "day" if span <= LONGEST_IN_DAYS else "week" if span <= LONGEST_IN_WEEKS else "month"
        note([f"Column {column.name!r} is cut into {period}s; {column.name}:day, :week or :month chooses."])
    cells = np.full(len(days), "", dtype=object)
    cells[~np.isnan(days)] = _name_windows(np.floor(known).astype(int), period)
    return replace(_sorted(column.name, cells, period), days_left=_days_left(int(np.floor(known.max())), period))


def _days_left(day: int, period: Period) -> int:
    """Days of a window after this day.

    >>> [_days_left(19_723, period) for period in PERIODS]  # 2024-01-01, a Monday
    [0, 6, 30]
    """
    if period == "month":
        month = np.datetime64(day, "D").astype("M8[M]")
        return int((month + 1).astype("M8[D]").astype(int)) - 1 - day
    return 0 if period == "day" else 6 - (day + 3) % 7  # 1970-01-01 was a Thursday


def _name_windows(days: IntArray, period: Period) -> AnyArray:
    """Names of the windows of days since 1970; they sort in order of time.

    >>> [_name_windows(np.array([19_723, 19_754]), period).tolist() for period in PERIODS]
    [['2024-01-01', '2024-02-01'], ['2024-W01', '2024-W05'], ['2024-01', '2024-02']]
    """
    distinct, places = np.unique(days, return_inverse=True)
    dates = distinct.astype("M8[D]")
    if period == "week":
        calendar = [day.isocalendar() for day in dates.tolist()]
        names = np.array([f"{year:04}-W{week:02}" for year, week, _ in calendar], dtype=object)
    else:
        names = dates.astype("M8[M]" if period == "month" else "M8[D]").astype(str).astype(object)
    return np.asarray(names[places])


def _categories(column: Column) -> Windows:
    text = column.as_text()
    if len(text.levels) > MOST_GROUPS:
        return Windows(column.name, list(text.levels), text.data)
    cells = np.array([*text.levels, ""], dtype=object)[text.data]
    if column.is_numeric:  # 2 before 10
        order = np.argsort(np.array([column.data[text.data == k][0] for k in range(len(text.levels))]))
        names = [text.levels[k] for k in order]
        return _coded(column.name, cells, names, None)
    return _sorted(column.name, cells, None)


def _sorted(name: str, cells: AnyArray, period: Period | None) -> Windows:
    return _coded(name, cells, sorted(set(cells.tolist()) - {""}), period)


def _coded(name: str, cells: AnyArray, names: list[str], period: Period | None) -> Windows:
    """Codes of the cells; empty ones are a group of their own, the last."""
    all_names = [*names, EMPTY] if (cells == "").any() else names
    place = {one: k for k, one in enumerate(names)} | {"": len(names)}
    return Windows(name, all_names, np.array([place[cell] for cell in cells.tolist()], dtype=int), period)


def estimate_windows(
    estimate: Callable[[IntArray, float], Estimate], windows: Windows, confidence: float
) -> GroupEstimates:
    """Estimates by group, in the order of their names or of time; notes say which have none."""
    found = by_group(estimate, windows.values, confidence=confidence)
    note(f"{windows.column} {name}: {reason}" for name, reason in found.skipped.items())
    groups = {name: found.groups[name] for name in windows.names if name in found.groups}
    gaps = {name: found.differences[name] for name in groups if name in found.differences}
    return replace(found, groups=groups, differences=gaps)


def group_rows(
    groups: GroupEstimates, by: str, what: str, sizes: Mapping[str, Mapping[str, int]]
) -> list[dict[str, str]]:
    """A table in words: the estimate for all rows and for every group, in percent; `sizes` are further columns."""
    parts = {"all rows": groups.whole, **groups.groups}
    return [
        {
            by: str(name),
            what: f"{100 * one.value:.1f} %",
            "interval": f"{100 * one.low:.1f} % to {100 * one.high:.1f} %",
            **{word: f"{counts[name]:,}" for word, counts in sizes.items()},
            "against the others": direction(groups.differences[name]) if name in groups.differences else "",
        }
        for name, one in parts.items()
    ]


def window_sizes(windows: Windows, labeled: AnyArray) -> dict[str, dict[str, int]]:
    """Rows and labels of every group and of all rows."""
    counts = {"rows": np.ones(len(labeled), dtype=int), "labels": labeled.astype(int)}
    return {
        word: {"all rows": int(ones.sum())}
        | dict(zip(windows.names, np.bincount(windows.codes, weights=ones).astype(int).tolist(), strict=True))
        for word, ones in counts.items()
    }
