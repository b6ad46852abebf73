"""Which columns of a table are features, and which cannot be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pnulearn.streaming.files import DataFileError


def choose_columns(
    schemas: Sequence[tuple[str, dict[str, Any]]], target: str | None, columns: Sequence[str] | None
) -> tuple[str, ...]:
    """The columns asked for, or all of the first table but the target; every table must have them, as numbers.

    `schemas` are pairs of a table's name and its types by column; a type of None is not known beforehand.
    """
    if columns is None:
        columns = [name for name in schemas[0][1] if name != target]
    if not columns:
        raise DataFileError(f"{schemas[0][0]} has no feature columns: there is nothing besides the target.")
    if target in columns:
        raise DataFileError(f"The target {target!r} is among columns=[...]: a label cannot be a feature.")
    for where, types in schemas:
        _refuse_missing(where, types, [*columns, *([] if target is None else [target])])
        for name in columns:
            _refuse_strange(where, name, types[name])
    return tuple(columns)


def refuse_doubled(where: str, names: Sequence[str]) -> None:
    doubled = [name for name in names if list(names).count(name) > 1]
    if doubled:
        raise DataFileError(f"{where} has more than one column {doubled[0]!r}: rename them.")


def _refuse_missing(where: str, types: dict[str, Any], needed: Sequence[str]) -> None:
    missing = [name for name in needed if name not in types]
    if missing:
        shown = ", ".join(map(repr, list(types)[:12])) + (", ..." if len(types) > 12 else "")
        hint = " If these are values, the file has no header line: add one." if None in types.values() else ""
        raise DataFileError(f"{where} has no column {missing[0]!r}. Its columns are {shown}.{hint}")


def _refuse_strange(where: str, name: str, kind: Any) -> None:
    import pyarrow as pa

    if kind is None or pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind):
        return
    if pa.types.is_temporal(kind):
        advice = "Turn dates into numbers first, e.g. days since a fixed day"
    elif pa.types.is_dictionary(kind) or pa.types.is_string(kind) or pa.types.is_large_string(kind):
        advice = "Encode categories first, e.g. with sklearn.preprocessing.OneHotEncoder"
    else:
        advice = "Convert it to a number"
    raise DataFileError(
        f"Column {name!r} of {where} is not numeric ({kind}). {advice}, or choose other columns with columns=[...]."
    )
