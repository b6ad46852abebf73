"""JSON: one object per line, or one array of objects."""

from __future__ import annotations

import json
from typing import Any

from pnulearn._tables.errors import TableError


def looks_like_json(raw: bytes) -> bool:
    """
    >>> looks_like_json(b'{"a": 1}'), looks_like_json(b' [\\n {"a": 1}]'), looks_like_json(b"[a],b")
    (True, True, False)
    """
    text = raw[:1000].lstrip()
    return text[:1] == b"{" or (text[:1] == b"[" and text[1:].lstrip()[:1] in (b"{", b"]"))


def read_records(text: str, source: str) -> Any:
    """An Arrow table with a column for every name."""
    import pyarrow as pa

    records = _array(text, source) if text.lstrip()[:1] == "[" else _lines(text, source)
    names = list(dict.fromkeys(name for record in records for name in record))
    return pa.table({name: _column(name, [record.get(name) for record in records], source) for name in names})


def _lines(text: str, source: str) -> list[dict[str, Any]]:
    lines = [(f"Line {i} of {source}", line) for i, line in enumerate(text.splitlines(), start=1) if line.strip()]
    return [_record(_load(line, where), where) for where, line in lines]


def _array(text: str, source: str) -> list[dict[str, Any]]:
    return [_record(value, f"Item {i} of {source}") for i, value in enumerate(_load(text, source), start=1)]


def _load(text: str, where: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise TableError(f"{where} is not JSON ({error.msg}). Write one object per line.") from None
    except (RecursionError, ValueError) as error:  # ValueError: a number of thousands of digits
        raise TableError(f"{where} is no plain JSON object ({error}). Flatten it into plain columns first.") from None


def _record(value: Any, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise TableError(f"{where} is no JSON object such as {{'age': 30}}.")
    return value


def _column(name: str, values: list[Any], source: str) -> Any:
    import pyarrow as pa

    types = {type(value) for value in values if value is not None}
    if types & {dict, list}:
        raise TableError(f"Column {name!r} of {source} holds nested values. Flatten it into plain columns first.")
    if types == {bool}:
        return pa.array(values, pa.bool_())
    if types <= {int, float}:
        try:
            return pa.array([None if value is None else float(value) for value in values], pa.float64())
        except OverflowError:
            raise TableError(f"Column {name!r} of {source} holds a number too large for a float.") from None
    words = [value if value is None or isinstance(value, str) else json.dumps(value) for value in values]
    return pa.array(words, pa.string())
