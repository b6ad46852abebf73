"""Cells that a spreadsheet would run: text that begins like a formula is preceded by an apostrophe, numbers are not."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

FORMULA = r"^[=+\-@\t\r]"
NUMBER = r"^[+-]?([\d.,]*\d[\d.,]*([eE][+-]?\d+)?|inf|infinity|nan)$"  # Python and Arrow both read these two


def guard_cell(cell: str) -> str:
    """The cell as it may stand in a CSV file that somebody opens in a spreadsheet.

    >>> [guard_cell(cell) for cell in ("=1+1", "-5.3", "+1e-3", "@SUM(A1)", "a=b", "")]
    ["'=1+1", '-5.3', '+1e-3', "'@SUM(A1)", 'a=b', '']
    """
    return f"'{cell}" if re.match(FORMULA, cell) and not re.match(NUMBER, cell) else cell


def guard_table(table: Any, numbers: Sequence[bool] | None = None) -> Any:
    """The same for the text columns of an Arrow table, but for those of which it is known that they hold numbers."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for place, field in enumerate(table.schema):
        if numbers is not None and numbers[place]:
            continue
        if pa.types.is_string(field.type) or pa.types.is_large_string(field.type):
            cells = table.column(place)
            risky = pc.match_substring_regex(cells, FORMULA)
            if pc.any(risky).as_py():
                risky = pc.and_not(risky, pc.match_substring_regex(cells, NUMBER))
                guarded = pc.binary_join_element_wise(pa.scalar("'", field.type), cells, pa.scalar("", field.type))
                table = table.set_column(place, field, pc.if_else(risky, guarded, cells))
    return table
