"""Results as lines of JSON: appended the moment they exist, read back in any order, never half a line."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # Windows, where a blank line may come between rows of two processes; `read` passes it over
    fcntl = None  # type: ignore[assignment]

Row = dict[str, Any]


def append(path: Path, row: Row) -> None:
    """Add one row in a single write under a lock, so that several processes may share the file."""
    line = json.dumps(row, allow_nan=True) + "\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        if fcntl:
            fcntl.flock(handle, fcntl.LOCK_EX)  # closing the file releases it
        if _ends_inside_a_line(handle):
            line = "\n" + line
        os.write(handle, line.encode())
    finally:
        os.close(handle)


def read(path: Path) -> list[Row]:
    """All rows; a line cut short by a kill is left out, to be run again."""
    if not path.exists():
        return []
    rows = []
    for line in path.read_text().splitlines():
        try:
            rows.append(json.loads(line))
        except json.JSONDecodeError:
            continue
    return rows


def key_of(row: Row, names: Sequence[str]) -> tuple[Any, ...]:
    """What tells one result from another."""
    return tuple(row[name] for name in names)


def unique(rows: Iterable[Row], names: Sequence[str]) -> list[Row]:
    """One row per key, the first, in the order of the keys: the same whatever the order they were run in."""
    kept: dict[tuple[Any, ...], Row] = {}
    for row in rows:
        kept.setdefault(key_of(row, names), row)
    return [kept[key] for key in sorted(kept, key=lambda key: tuple(map(_sortable, key)))]


def _sortable(value: Any) -> tuple[int, Any]:
    return (0, value) if isinstance(value, (int, float)) else (1, str(value))


def _ends_inside_a_line(handle: int) -> bool:
    size = os.fstat(handle).st_size
    return size > 0 and os.pread(handle, 1, size - 1) != b"\n"
