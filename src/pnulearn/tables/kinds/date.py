"""Columns of dates and times."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._tables.columns import Column
from pnulearn._tables.dates import Moments, read_dates
from pnulearn._tables.table import Table
from pnulearn.tables.kinds.gaps import append_filled, often_missing, say_unknown
from pnulearn.tables.kinds.scale import Scale
from pnulearn.tables.kinds.unusable import Unusable

CYCLES = {"weekday": 7.0, "month": 365.2425, "hour": 1.0}  # days
LONG_ENOUGH = {"weekday": 14, "month": 330, "hour": 0}  # days that a column must span before a cycle can be seen


@dataclass(frozen=True)
class DateColumn:
    """Age in days against the newest date, and the place in the week, year and day as points on circles."""

    name: str
    newest: float
    age: Scale | None
    cycles: tuple[str, ...]
    day_first: bool | None = None
    flagged: bool = False

    @property
    def feature_names(self) -> list[str]:
        age = [f"{self.name} age"] if self.age else []
        circles = [f"{self.name} {cycle} {axis}" for cycle in self.cycles for axis in ("cos", "sin")]
        return age + circles + [f"{self.name} filled"] * self.flagged

    @property
    def fate(self) -> str:
        newest = np.datetime_as_string(np.datetime64(0, "D") + int(self.newest // 1))
        parts = [f"age in days on {newest}"] if self.age else []
        order = {True: ", read as day/month", False: ", read as month/day", None: ""}[self.day_first]
        return "date: " + ", ".join([*parts, *self.cycles]) + order

    @classmethod
    def fit(cls, column: Column, scaling: str) -> DateColumn:
        found = read_dates(column.levels)
        days = _spread(column, found)
        if np.isnan(days).all():
            raise Unusable(f"no dates that can be read (such as {column.levels[0]!r})")
        newest, oldest = float(np.nanmax(days)), float(np.nanmin(days))
        age = Scale.fit(newest - days, scaling) if found.has_date and newest > oldest else None
        cycles = tuple(cycle for cycle in CYCLES if _is_seen(cycle, days, found.has_date))
        return cls(column.name, newest, age, cycles, found.day_first, often_missing(np.isnan(days)))

    def transform(self, table: Table) -> tuple[AnyArray, list[str]]:
        column = table.column(self.name, "text")
        found = read_dates(column.levels, self.day_first)
        days = _spread(column, found)
        features = [self.age.apply(self.newest - days)] if self.age else []
        for cycle in self.cycles:
            angle = 2 * np.pi * (days % CYCLES[cycle]) / CYCLES[cycle]
            features += [np.nan_to_num(np.cos(angle)), np.nan_to_num(np.sin(angle))]
        strange = [text for text, day in zip(column.levels, found.days, strict=True) if np.isnan(day)]
        X = np.column_stack(features) if features else np.empty((len(days), 0))
        return append_filled(X, np.isnan(days), self.flagged), say_unknown(self.name, strange)


def _spread(column: Column, found: Moments) -> AnyArray:
    """From levels to rows."""
    return np.append(found.days, np.nan)[column.data]


def _is_seen(cycle: str, days: AnyArray, has_date: bool) -> bool:
    """Whether a cycle varies: dates without times have no hour, and within a year the month is but the age."""
    present = days[~np.isnan(days)]
    if cycle == "hour":
        return len(np.unique(present % 1)) > 1
    if not has_date or np.ptp(present) < LONG_ENOUGH[cycle]:
        return False
    return cycle == "month" or len(np.unique(present // 1 % 7)) > 1
