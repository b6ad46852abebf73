"""Numbers with units and thousands separators: 1,234.50 €, 59.684,21 €, 25.2 %, 1 234, (17.00)."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from pnulearn._arrays import AnyArray

_UNIT = r"(?i:€|\$|£|¥|₹|eur|usd|gbp|chf|fr\.|jpy|%|‰|°c|°f|°|kg|km|cm|mm|m²|kwh)"
_BLANK = r"[ \x{a0}\x{202f}]"
_BODY = rf"\d{{1,3}}(?:(?:{_BLANK}|['’.,])\d{{3}})+(?:[.,]\d+)?|\d+(?:[.,]\d*)?|[.,]\d+"
_NUMBER = (
    rf"^(?P<open>\(?)(?P<sign>[-+−]?){_BLANK}?(?P<before>{_UNIT}?){_BLANK}?(?P<inner>[-+−]?)(?P<body>{_BODY})"
    rf"{_BLANK}?(?P<after>{_UNIT}?)(?P<close>\)?)$"
)
_PYTHON_NUMBER = re.compile(_NUMBER.replace(r"\x{a0}\x{202f}", "\u00a0\u202f").replace(r"\d", "[0-9]"))  # as Arrow
_THOUSANDS = {mark: rf"^\d{{1,3}}([{mark}]\d{{3}})+$" for mark in ".,"}


def is_written_number(text: str) -> bool:
    """
    >>> [is_written_number(text) for text in ("1,234.50 €", "12 %", "$3", "12 34", "3 apples")]
    [True, True, True, False, False]
    """
    return _PYTHON_NUMBER.match(text) is not None


def read_written(levels: Any, decimal_comma: bool) -> tuple[AnyArray, str] | None:
    """Numbers of an Arrow array of cells and their decimal mark; None if a cell is not a number.

    `decimal_comma` decides if the cells are ambiguous, as 1,234 alone is.
    """
    import pyarrow.compute as pc

    levels = levels.cast("string")  # typed files may have large strings
    found = pc.extract_regex(levels, _NUMBER)
    if found.null_count > levels.null_count:
        return None
    parts = {field.name: pc.struct_field(found, field.name) for field in found.type}
    units = pc.unique(pc.utf8_lower(pc.binary_join_element_wise(parts["before"], parts["after"], ""))).to_pylist()
    if len([unit for unit in units if unit]) > 1:  # numbers with different units cannot be compared
        return None
    body = pc.replace_substring_regex(parts["body"], rf"(?:{_BLANK}|['’])", "")
    decimal = _decimal_mark(body, decimal_comma)
    if decimal is None:
        return None
    plain = pc.replace_substring(body, "." if decimal == "," else ",", "")
    numbers = pc.replace_substring(plain, ",", ".").cast("float64").to_numpy(zero_copy_only=False)
    signs = pc.binary_join_element_wise(parts["open"], parts["sign"], parts["inner"], "")
    negative = pc.fill_null(pc.match_substring_regex(signs, r"[-−(]"), False).to_numpy(zero_copy_only=False)
    return np.where(negative, -numbers, numbers), decimal


def _decimal_mark(body: Any, decimal_comma: bool) -> str | None:
    """The decimal mark that is consistent with all cells; None if there is none."""
    import pyarrow.compute as pc

    found = [mark for mark in ",." if pc.any(pc.match_substring_regex(body, _proof(mark))).as_py()]
    if len(found) == 2:
        return None
    return found[0] if found else "," if decimal_comma else "."


def _proof(mark: str) -> str:
    """Pattern of cells that are valid only if `mark` is the decimal mark, such as 1,5 or 0,123 or 1.234.567."""
    other = "." if mark == "," else ","
    return (
        rf"^\d*[{mark}](\d{{0,2}}|\d{{4,}})$|^0*[{mark}]\d+$|^\d{{4,}}[{mark}]\d*$|[{other}]\d+[{mark}]"
        rf"|[{other}]\d+[{other}]"
    )


def are_thousands(levels: Any, mark: str, sure: bool) -> bool:
    """Whether a mark separates thousands rather than decimals: it does in 1.234 and 980, not in 1.234 and 0.980.

    Unless `sure`, a cell of up to three digits without the mark is needed as evidence.
    """
    import pyarrow.compute as pc

    marked = pc.match_substring(levels, mark)
    if not pc.any(marked).as_py():
        return False
    grouped = pc.match_substring_regex(levels, _THOUSANDS[mark])
    plain = pc.match_substring_regex(levels, r"^\d{1,3}$")
    zero = pc.any(pc.match_substring_regex(levels, rf"^0[{mark}]")).as_py()
    return not zero and pc.all(pc.or_(grouped, plain)).as_py() and (sure or pc.any(plain).as_py())


def are_codes(levels: Any) -> bool:
    """Whether cells that look like integers are codes: at least one has a leading zero.

    >>> import pyarrow as pa
    >>> [are_codes(pa.array(cells)) for cells in (["01067", "80331", None], ["0", "10"], ["01", "1.5"])]
    [True, False, False]
    """
    import pyarrow.compute as pc

    if not pc.any(pc.match_substring_regex(levels, "^0[0-9]")).as_py():
        return False
    return bool(pc.all(pc.match_substring_regex(levels, "^[0-9]+$")).as_py())
