"""Numbers with units and thousands separators: 1,234.50 €, 59.684,21 €, 25.2 %, 1 234, (17.00)."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np

from pnulearn._arrays import AnyArray

_UNIT = r"(?i:€|\$|£|¥|₹|eur|usd|gbp|chf|fr\.|jpy|%|‰|°c|°f|°|kg|mg|g|t|lbs?|km|cm|mm|mi|ft|m²|m|kwh|mwh|wh)"
SPELLINGS = {"eur": "€", "usd": "$", "gbp": "£", "jpy": "¥", "fr.": "chf", "lbs": "lb"}
AS_WRITTEN = {"°c": "°C", "°f": "°F", "wh": "Wh", "kwh": "kWh", "mwh": "MWh", "chf": "CHF"}  # units in messages
# What is measured, and the size of a unit: numbers in units of the same thing can be converted.
UNITS = {
    **{unit: ("mass", size) for unit, size in {"mg": 1e-6, "g": 1e-3, "kg": 1.0, "t": 1e3, "lb": 0.45359237}.items()},
    **{
        unit: ("length", size)
        for unit, size in {"mm": 1e-3, "cm": 1e-2, "m": 1.0, "km": 1e3, "ft": 0.3048, "mi": 1609.344}.items()
    },
    **{unit: ("energy", size) for unit, size in {"wh": 1.0, "kwh": 1e3, "mwh": 1e6}.items()},
    **{unit: ("share", size) for unit, size in {"": 1.0, "%": 1e-2, "‰": 1e-3}.items()},
    **dict.fromkeys(("°c", "°f"), ("temperature", 1.0)),
}
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


class Written(NamedTuple):
    """Numbers as they are written: values, the decimal mark, the unit of the cells that have one, and which do."""

    values: AnyArray
    decimal: str
    unit: str = ""
    has_unit: AnyArray | None = None


def convert(values: AnyArray, unit: str, to: str) -> AnyArray | None:
    """Numbers in another unit of the same thing; None if there is none.

    >>> units = [("g", "kg"), ("t", "g"), ("%", ""), ("°f", "°c"), ("°c", "°f")]
    >>> [float(convert(np.array([50.0]), *pair)[0]) for pair in units]
    [0.05, 50000000.0, 0.5, 10.0, 122.0]
    >>> convert(np.array([50.0]), "€", "$") is None
    True
    """
    if unit == to:
        return values
    (thing, size), (other, size_to) = (UNITS.get(one, (one, 1.0)) for one in (unit, to))
    if thing != other:
        return None
    if thing == "temperature":
        return (values - 32) / 1.8 if to == "°c" else values * 1.8 + 32
    ratio = size_to / size  # division by a whole number is exact where multiplication by its reciprocal is not
    converted: AnyArray = values / ratio if ratio >= 1 else values * (size / size_to)
    return converted


def read_written(levels: Any, decimal_comma: bool) -> Written | None:
    """Numbers of an Arrow array of cells; None if a cell is not a number.

    `decimal_comma` decides if the cells are ambiguous, as 1,234 alone is.
    """
    import pyarrow.compute as pc

    levels = levels.cast("string")  # typed files may have large strings
    found = pc.extract_regex(levels, _NUMBER)
    if found.null_count > levels.null_count:
        return None
    parts = {field.name: pc.struct_field(found, field.name) for field in found.type}
    written = pc.utf8_lower(pc.binary_join_element_wise(parts["before"], parts["after"], ""))
    units = {SPELLINGS.get(unit, unit) for unit in pc.unique(written).to_pylist() if unit}
    if len(units) > 1:  # numbers with different units cannot be compared
        return None
    has_unit = pc.fill_null(pc.not_equal(written, ""), False).to_numpy(zero_copy_only=False) if units else None
    body = pc.replace_substring_regex(parts["body"], rf"(?:{_BLANK}|['’])", "")
    decimal = _decimal_mark(body, decimal_comma)
    if decimal is None:
        return None
    plain = pc.replace_substring(body, "." if decimal == "," else ",", "")
    numbers = pc.replace_substring(plain, ",", ".").cast("float64").to_numpy(zero_copy_only=False)
    signs = pc.binary_join_element_wise(parts["open"], parts["sign"], parts["inner"], "")
    negative = pc.fill_null(pc.match_substring_regex(signs, r"[-−(]"), False).to_numpy(zero_copy_only=False)
    return Written(np.where(negative, -numbers, numbers), decimal, min(units, default=""), has_unit)


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


def find_doubtful(levels: Any) -> str:
    """A cell such as 1.234 of a file with decimal commas, if the point may separate thousands or decimals in all cells.

    >>> import pyarrow as pa
    >>> [find_doubtful(pa.array(cells)) for cells in (["1.234", "980"], ["1.234", "0.980"], ["1.234.567", "1.234"])]
    ['1.234', '', '']
    """
    import pyarrow.compute as pc

    if not are_thousands(levels, ".", sure=True) or pc.any(pc.match_substring_regex(levels, r"\..*\.")).as_py():
        return ""
    return str(levels.filter(pc.match_substring(levels, "."))[0])


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
