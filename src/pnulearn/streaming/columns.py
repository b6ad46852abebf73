"""Which columns of a table are features, and which cannot be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pnulearn._tables.errors import TableError, suggestion

Schema = Mapping[str, Any]


def choose_columns(
    schemas: Sequence[tuple[str, Schema]], target: str | None, columns: Sequence[str] | None
) -> tuple[str, ...]:
    """The columns asked for, or all but the target if all tables have the same; every table must have them as numbers.

    `schemas` are pairs of a table's name and its types by column; a type of None is not known beforehand.
    """
    if target is not None:
        for where, types in schemas:
            _refuse_missing(where, types, [target])
    if columns is None:
        _refuse_differences(schemas)
        columns = [name for name in schemas[0][1] if name != target]
    if not columns:
        raise TableError(f"{schemas[0][0]} has no feature columns: there is nothing besides the target.")
    if target in columns:
        raise TableError(f"The target {target!r} is among columns=[...]: a label cannot be a feature.")
    for where, types in schemas:
        _refuse_missing(where, types, columns)
        for name in columns:
            _refuse_strange(where, name, types[name])
    return tuple(columns)


def _refuse_missing(where: str, types: Schema, needed: Sequence[str]) -> None:
    for name in needed:
        if name not in types:
            raise TableError(f"{where} has no column {name!r}. {suggestion(name, types)}")


def _refuse_differences(schemas: Sequence[tuple[str, Schema]]) -> None:
    """A column that some tables lack is neither dropped nor made up, whichever table comes first."""
    first, known = schemas[0]
    for where, types in schemas[1:]:
        for poor, rich, name in [
            *((where, first, name) for name in known if name not in types),
            *((first, where, name) for name in types if name not in known),
        ]:
            raise TableError(
                f"{poor} has no column {name!r}, which {rich} has. Name the features that all files have with "
                "columns=[...]."
            )


def _refuse_strange(where: str, name: str, kind: Any) -> None:
    import pyarrow as pa

    if kind is None or pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind):
        return
    if pa.types.is_temporal(kind):
        advice = "Turn dates into numbers first, e.g. days since a fixed day (`pnulearn fit` does)"
    elif pa.types.is_dictionary(kind) or pa.types.is_string(kind) or pa.types.is_large_string(kind):
        advice = "Encode categories first, e.g. with sklearn.preprocessing.OneHotEncoder (`pnulearn fit` does)"
    else:
        advice = "Convert it to a number"
    raise TableError(
        f"Column {name!r} of {where} is not numeric ({kind}). {advice}, or choose other columns with columns=[...]."
    )
