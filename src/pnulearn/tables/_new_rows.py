"""What new rows hold that the rows of the fit did not: other units, values out of range, missing cells, categories.

Every column of a model keeps what it held at the fit (`Seen`). Cells of new rows are counted (`NewCells`), batch by
batch if the table is large, and `NewRows.remarks` says what differs: notes about conversions, and warnings (`Caution`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._reader.columns import Column
from pnulearn._reader.errors import Caution, TableError
from pnulearn._reader.numbers import AS_WRITTEN, convert
from pnulearn._reader.table import Table

TAIL = 0.05  # share of the values of the fit below `low_tail`, and above `high_tail`
FEWEST = 10  # smallest number of values to compare a distribution
RARE_CHANCE = 1e-4  # of as many values out of range, if new rows are like those of the fit
FAR = 1.0  # ranges of the fit between its range and values that are far outside
MORE_MISSING = 0.25  # difference of the shares of missing cells
FEWEST_MISSING = 5
MOST_MARKERS = 0.5  # largest share of values that may be a number that means missing
SHOWN = 3


@dataclass(frozen=True)
class Filled:
    """Numbers of rows and of missing cells of a column."""

    n_rows: int
    n_missing: int

    @property
    def n_filled(self) -> int:
        return self.n_rows - self.n_missing

    @property
    def share_missing(self) -> float:
        return self.n_missing / max(1, self.n_rows)


@dataclass(frozen=True)
class Seen(Filled):
    """What a column held at the fit; of numbers, the range, and the range without both tails."""

    low: float = 0.0
    high: float = 0.0
    low_tail: float = 0.0
    high_tail: float = 0.0

    @classmethod
    def of(cls, values: AnyArray) -> Seen:
        """From numbers, NaN where missing."""
        present = values[~np.isnan(values)]
        if not len(present):
            return cls(len(values), len(values))
        low, high = float(present.min()), float(present.max())
        tails = np.quantile(present, [TAIL, 1 - TAIL]).tolist()
        return cls(len(values), len(values) - len(present), low, high, *tails)

    @property
    def are_shares(self) -> bool:
        """Whether all numbers were between −1 and 1, so that 25% means 0.25 rather than 25."""
        return self.low >= -1 and self.high <= 1


@dataclass(frozen=True)
class NewCells(Filled):
    """Counts of the cells of a column in new rows; `unknown` are texts that the fit did not have, first ones only."""

    n_outside: int = 0
    n_far: int = 0
    n_low: int = 0
    n_high: int = 0
    lowest: float = np.inf
    highest: float = -np.inf
    n_unknown: int = 0
    unknown: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    @classmethod
    def of_texts(cls, data: AnyArray, levels: Sequence[str], strange: Sequence[str] = ()) -> NewCells:
        """From texts as indices of levels, −1 where missing; `strange` are those that the fit did not have."""
        odd = [place for place, level in enumerate(levels) if level in set(strange)] if strange else []
        rows = np.isin(data, odd)
        return cls(len(data), int(np.sum(data < 0)), n_unknown=int(rows.sum()), unknown=tuple(sorted(strange)[:SHOWN]))

    @classmethod
    def of_numbers(cls, values: AnyArray, seen: Seen | None, remarks: Sequence[str] = ()) -> NewCells:
        """From numbers, NaN where missing."""
        present = values[~np.isnan(values)]
        counted = cls(len(values), len(values) - len(present), remarks=tuple(remarks))
        if seen is None or not len(present):
            return counted
        margin = FAR * (seen.high - seen.low)
        return replace(
            counted,
            n_outside=int(np.sum((present < seen.low) | (present > seen.high))),
            n_far=int(np.sum((present < seen.low - margin) | (present > seen.high + margin))),
            n_low=int(np.sum(present < seen.low_tail)),
            n_high=int(np.sum(present > seen.high_tail)),
            lowest=float(present.min()),
            highest=float(present.max()),
        )

    def __add__(self, other: NewCells) -> NewCells:
        return NewCells(
            self.n_rows + other.n_rows,
            self.n_missing + other.n_missing,
            self.n_outside + other.n_outside,
            self.n_far + other.n_far,
            self.n_low + other.n_low,
            self.n_high + other.n_high,
            min(self.lowest, other.lowest),
            max(self.highest, other.highest),
            self.n_unknown + other.n_unknown,
            tuple(dict.fromkeys((*self.unknown, *other.unknown)))[:SHOWN],
            tuple(dict.fromkeys((*self.remarks, *other.remarks))),
        )


@dataclass(frozen=True)
class NewRows:
    """The counts of all columns of a model, and what they held at the fit."""

    cells: dict[str, NewCells]
    seen: dict[str, Seen | None] = field(default_factory=dict)
    kinds: dict[str, str] = field(default_factory=dict)

    def __add__(self, other: NewRows) -> NewRows:
        return replace(self, cells={name: cells + other.cells[name] for name, cells in self.cells.items()})

    def remarks(self) -> list[str]:
        """Notes and warnings about all columns."""
        return [
            remark
            for name, cells in self.cells.items()
            for remark in _compare(name, self.kinds.get(name, ""), cells, self.seen.get(name))
        ]


def _compare(name: str, kind: str, cells: NewCells, seen: Seen | None) -> list[str]:
    found = list(cells.remarks)
    if cells.n_unknown:
        shown = ", ".join(map(repr, cells.unknown)) + (", ..." if cells.n_unknown > len(cells.unknown) else "")
        what = "holds cells that are no dates" if kind == "date" else "has values that the training table did not have"
        found.append(
            Caution(
                f"Column {name!r} {what}, in {cells.n_unknown} of {cells.n_rows} rows ({shown}); they are treated as "
                "missing."
            )
        )
    if seen is None:
        return found
    if kind == "number" or cells.n_far:
        found += _out_of_range(name, kind, cells, seen)
    if cells.share_missing - seen.share_missing > MORE_MISSING and cells.n_missing >= FEWEST_MISSING:
        found.append(
            Caution(
                f"Column {name!r} is empty in {cells.n_missing} of {cells.n_rows} rows; at the fit it was in "
                f"{100 * seen.share_missing:.0f} %."
            )
        )
    return found


def _out_of_range(name: str, kind: str, cells: NewCells, seen: Seen) -> list[str]:
    """Values far outside of the range of the fit, too many outside of it, or most of them in its tails."""
    n_filled = cells.n_filled
    too_many = chance_outside(cells.n_outside, n_filled, seen.n_filled) < RARE_CHANCE
    in_tails = n_filled >= FEWEST and max(cells.n_low, cells.n_high) > n_filled / 2 and seen.n_filled >= FEWEST
    if not cells.n_far and not too_many and not in_tails:
        return []
    number, where = cells.n_outside, "outside of"
    if not too_many:
        number, where = cells.n_far, "far outside of"
    if not too_many and not cells.n_far:
        number, where = (
            (cells.n_low, "at the lower end of")
            if cells.n_low > cells.n_high
            else (cells.n_high, "at the upper end of")
        )
    said = (
        f"{number} of {n_filled} values of column {name!r} lie {where} the range of the fit, {_number(seen.low)} to "
        f"{_number(seen.high)} (here from {_number(cells.lowest)} to {_number(cells.highest)})."
    )
    if kind != "number":
        return [Caution(said)]
    said += " Is the unit the same?"
    if number <= MOST_MARKERS * n_filled:
        end = cells.lowest if seen.low - cells.lowest > cells.highest - seen.high else cells.highest
        said += f" If {_number(end)} means missing, pass missing=['{_number(end)}']."
    return [Caution(said)]


def _number(value: float) -> str:
    return f"{value:.6g}"


def chance_outside(n_outside: int, n_new: int, n_seen: int) -> float:
    """Probability that at least `n_outside` of `n_new` values lie outside of the range of `n_seen` values, all alike.

    The numbers of new values below and above the range are then geometric, so that their sum is negative binomial.

    >>> chance_outside(0, 100, 100), round(chance_outside(2, 100, 100), 3)
    (1.0, 0.5)
    """
    if not n_seen or not n_new:
        return 1.0
    new = n_new / (n_new + n_seen)
    return float(new**n_outside * (1 + n_outside * (1 - new)))


# Numbers in the unit of the fit.


def unit_of(column: Column) -> str:
    """The unit in which a model keeps a column: none for shares, if 25% stands beside 0.25."""
    if column.unit in ("%", "‰") and column.has_unit is not None:
        bare = column.data[~column.has_unit & ~column.missing]
        return "" if np.all(np.abs(bare) <= 1) else column.unit
    return column.unit


def in_unit(column: Column, unit: str, seen: Seen | None) -> tuple[AnyArray, list[str]]:
    """Values in the unit of the fit, and remarks; units that cannot be converted are refused.

    `seen` is what the column held at the fit; None while it is being fitted.
    """
    name, found, mixed = column.name, column.unit, column.has_unit
    here, before = (AS_WRITTEN.get(one, one) for one in (found, unit))
    remarks: list[str] = []
    if mixed is not None:
        n_with, n_bare = int(mixed.sum()), int(np.sum(~mixed & ~column.missing))
        means = "0.25" if unit == "" and found == "%" and (seen is None or seen.are_shares) else "25"
        how = f"25% is read as {means}" if found == "%" else f"those are taken to be in {before or here}"
        remarks.append(Caution(f"Column {name!r} has {n_with} cells with {here} beside {n_bare} without; {how}."))
    if found == unit:
        return column.data, remarks
    if not found:
        if unit:
            remarks.append(f"Column {name!r} has no unit here; it is taken to be in {before}, as at the fit.")
        return column.data, remarks
    rows = np.ones(len(column.data), dtype=bool) if mixed is None else mixed
    if not unit and found in ("%", "‰"):
        if seen is not None and not seen.are_shares:
            return column.data, remarks  # 25 at the fit, 25% now
        remarks += [f"Column {name!r} has {found} here and shares at the fit: 25% is read as 0.25."] * (mixed is None)
    elif not unit:
        said = f"Column {name!r} is in {here} here and had no unit at the fit. It is used as it is: was it in {here}?"
        return column.data, [*remarks, Caution(said)]
    converted = convert(column.data, found, unit)
    if converted is None:
        raise TableError(
            f"Column {name!r} is in {here}, but the model was fitted to {before}. Convert it to {before} first."
        )
    if unit:
        remarks.append(f"Column {name!r} is in {here} here and was in {before} at the fit; it is converted.")
    return np.where(rows, converted, column.data), remarks


def settle_mark(
    table: Table, column: Column, remedy: str, seen: Seen | None, is_certain: bool
) -> tuple[Column, list[str]]:
    """If 1.234 may be 1234, the reading that agrees with the range of the fit, and a warning.

    `is_certain` is whether the decimal mark was certain at the fit.
    """
    if not column.doubtful:
        return column, []
    name, doubtful, agrees = column.name, column.doubtful, ""
    others = [table.numbers(name, remedy, mark) for mark in ".,"]
    if seen is not None and seen.n_filled:
        outside = [NewCells.of_numbers(other.data, seen).n_outside for other in others]
        if outside[0] != outside[1]:
            column = others[outside.index(min(outside))]
            agrees = ", which agrees with the fit" if is_certain else ""
    mark = "a decimal point" if np.array_equal(column.data, others[0].data, equal_nan=True) else "thousands"
    return column, [
        Caution(
            f"Cells such as {doubtful!r} in column {name!r} may have a decimal point or a point between thousands. "
            f"They are read with {mark}{agrees}; pass decimal='.' or decimal=',' to decide."
        )
    ]
