"""Columns of yes and no, as words or as the booleans of a file that has them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._tables.columns import Column
from pnulearn._tables.table import Table
from pnulearn._tables.words import NO, YES, fold
from pnulearn.tables.kinds.gaps import append_filled, often_missing, say_unknown
from pnulearn.tables.kinds.scale import Scale


@dataclass(frozen=True)
class FlagColumn:
    """1 for yes and 0 for no, scaled; the more frequent of them where a cell is missing."""

    name: str
    scale: Scale
    flagged: bool = False

    @property
    def feature_names(self) -> list[str]:
        return [self.name, f"{self.name} filled"] if self.flagged else [self.name]

    @property
    def fate(self) -> str:
        return "yes or no" + ("; missing cells get a flag" if self.flagged else "")

    @classmethod
    def fit(cls, column: Column, scaling: str) -> FlagColumn:
        values, _ = read_flags(column)
        fill = float(np.nanmean(values) > 0.5)
        filled = np.where(np.isnan(values), fill, values)
        scale = Scale(fill, float(filled.mean()), float(filled.std()) or 1.0) if scaling == "standard" else Scale(fill)
        return cls(column.name, scale, often_missing(np.isnan(values)))

    def transform(self, table: Table) -> tuple[AnyArray, list[str]]:
        values, strange = read_flags(table.column(self.name))
        return append_filled(self.scale.apply(values), np.isnan(values), self.flagged), say_unknown(self.name, strange)


def are_flags(levels: list[str]) -> bool:
    """Whether words are yes and no, both of them.

    >>> are_flags(["Ja", "nein"]), are_flags(["yes"]), are_flags(["yes", "no", "maybe"])
    (True, False, False)
    """
    words = {fold(level) for level in levels}
    return words <= YES | NO and bool(words & YES) and bool(words & NO)


def read_flags(column: Column) -> tuple[AnyArray, list[str]]:
    """1, 0 or NaN, and the cells that are neither."""
    if column.is_numeric:
        known = np.isin(column.data, (0, 1))
        strange = column.data[~known & ~column.missing]
        return np.where(known, column.data, np.nan), sorted({f"{value:g}" for value in strange})
    meaning = [1.0 if fold(level) in YES else 0.0 if fold(level) in NO else np.nan for level in column.levels]
    unknown = [level for level, value in zip(column.levels, meaning, strict=True) if np.isnan(value)]
    return np.array([*meaning, np.nan])[column.data], sorted(unknown)
