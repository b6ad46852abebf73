"""Whether values are of the types that their dataclass declares: JSON and zip archives do not care."""

from __future__ import annotations

import math
import types
from dataclasses import fields, is_dataclass
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np


def refuse_other_types(value: Any, where: str, *, finite: bool = False) -> None:
    """Check the fields of a dataclass, and those of dataclasses in it; `finite` asks it of all its floats too.

    >>> from dataclasses import make_dataclass
    >>> Point = make_dataclass("Point", [("x", float)])
    >>> refuse_other_types(Point(1.5), "p")
    >>> refuse_other_types(Point("a"), "p")
    Traceback (most recent call last):
    ValueError: p.x is 'a', not a float
    """
    hints = get_type_hints(type(value))
    for field in fields(value):
        _check(getattr(value, field.name), hints[field.name], f"{where}.{field.name}", finite)


def _check(value: Any, kind: Any, where: str, finite: bool) -> None:
    origin, parts = get_origin(kind) or kind, get_args(kind)
    if is_dataclass(value):
        refuse_other_types(value, where, finite=finite)
    if origin in (Union, types.UnionType):
        if not any(_passes(value, part, where, finite) for part in parts):
            raise ValueError(f"{where} is {value!r:.40}, not one of {', '.join(map(_name, parts))}")
    elif origin is Literal:
        _require(value in parts, value, where, " or ".join(map(repr, parts)))
    elif origin in (list, tuple, dict):
        _require(isinstance(value, origin), value, where, f"a {origin.__name__}")
        _check_items(value, origin, parts, where, finite)
    elif origin is float:
        _require(isinstance(value, int | float) and not isinstance(value, bool), value, where, "a float")
        _require(not finite or math.isfinite(value), value, where, "a finite number")
    elif origin is int:
        _require(isinstance(value, int) and not isinstance(value, bool), value, where, "an int")
    elif origin is not Any and isinstance(origin, type) and not getattr(origin, "_is_protocol", False):
        _require(isinstance(value, origin), value, where, f"a {_name(origin)}")
        if finite and isinstance(value, np.ndarray) and value.dtype.kind == "f":
            _require(bool(np.isfinite(value).all()), "an array with NaN or infinity", where, "finite")


def _check_items(value: Any, origin: type, parts: tuple[Any, ...], where: str, finite: bool) -> None:
    if origin is dict:
        for key, item in value.items():
            _check(key, parts[0], f"a key of {where}", finite)
            _check(item, parts[1], f"{where}[{key!r}]", finite)
        return
    kinds = [parts[0]] * len(value) if origin is list or parts[-1] is ... else list(parts)
    _require(len(kinds) == len(value), value, where, f"{len(kinds)} values")
    for place, (item, kind) in enumerate(zip(value, kinds, strict=True)):
        if getattr(kind, "_is_protocol", False):
            _require(is_dataclass(item), item, where, "a column")
        _check(item, kind, f"{where}[{place}]", finite)


def _passes(value: Any, kind: Any, where: str, finite: bool) -> bool:
    try:
        _check(value, kind, where, finite)
    except ValueError:
        return False
    return True


def _require(holds: bool, value: Any, where: str, needed: str) -> None:
    if not holds:
        raise ValueError(f"{where} is {value!r:.40}, not {needed}")


def _name(kind: Any) -> str:
    return getattr(kind, "__name__", str(kind))
