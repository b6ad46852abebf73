"""Models as files: arrays in an npz archive with a JSON header. Loading runs no code, unlike a pickle.

The header names the arrays that belong to the model; nothing else in the archive is read. See docs/guide/export.md for
what later versions promise.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import fields, is_dataclass
from typing import Any, BinaryIO

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._files.errors import ModelFileError, refuse_absent, refuse_damage, refuse_other_formats, shown
from pnulearn._files.members import FREE_BYTES, Members, open_zip
from pnulearn._files.writing import write_atomically

FORMAT, VERSION = "pnulearn-model", 1
HEADER = "header"


def write_archive(path: str | os.PathLike[str], kind: str, content: dict[str, Any], *, compress: bool = True) -> None:
    """Write plain values, arrays and dataclasses under a header; the old file stays until the new one is complete."""
    write_atomically(path, lambda file: dump_archive(file, kind, content, compress=compress))


def dump_archive(file: BinaryIO, kind: str, content: dict[str, Any], *, compress: bool = True) -> None:
    """The same into an open file."""
    arrays: dict[str, AnyArray] = {}
    header = {"format": FORMAT, "version": VERSION, "kind": kind, "content": _encode(content, arrays, "")}
    arrays[HEADER] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    small = sum(array.nbytes for array in arrays.values()) <= FREE_BYTES  # so that no reader takes it for a bomb
    save = np.savez_compressed if compress and small else np.savez
    save(file, **arrays)  # type: ignore[arg-type]


def read_archive(
    path: str | os.PathLike[str] | BinaryIO, dataclasses: tuple[type, ...] = ()
) -> tuple[str, dict[str, Any]]:
    """The kind and content of a file, by path or open; `dataclasses` are the types it may hold."""
    types = _Types(path, dataclasses)
    with refuse_damage(path), _open(path) as file:
        members, header = _read_header(path, file)
        names = list(_array_names(header["content"]))
        arrays = dict(zip(names, members.read(names), strict=True))
        return header["kind"], _decode(header["content"], arrays, types)


def read_kind(path: str | os.PathLike[str]) -> str:
    """The kind alone, which the header tells."""
    with refuse_damage(path), _open(path) as file:
        return _read_header(path, file)[1]["kind"]


def _read_header(path: Any, file: BinaryIO) -> tuple[Members, dict[str, Any]]:
    refuse_other_formats(path, file)
    size = _size(file)
    members = Members(open_zip(file, size), size)
    header = json.loads(members.read_text(HEADER)) if HEADER in members else {}
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise ModelFileError(f"{shown(path)} is an archive, but not a pnulearn model file.")
    version = header["version"]
    if not isinstance(version, int) or version < 1 or not isinstance(header["kind"], str):
        raise ValueError("its header is unreadable")
    if version > VERSION:
        raise ModelFileError(
            f"{shown(path)} has format version {version}; this pnulearn reads up to {VERSION}. Upgrade pnulearn."
        )
    return members, header


def _open(path: str | os.PathLike[str] | BinaryIO) -> AbstractContextManager[BinaryIO]:
    if not isinstance(path, str | os.PathLike):
        return nullcontext(path)
    refuse_absent(path)
    return open(path, "rb")


def _size(file: BinaryIO) -> int:
    place = file.tell()
    size = file.seek(0, os.SEEK_END) - place
    file.seek(place)
    return size


def _encode(value: Any, arrays: dict[str, AnyArray], name: str) -> Any:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray) and value.dtype.kind != "O":
        arrays[f"array{name}"] = value
        return {"array": f"array{name}"}
    if is_dataclass(value) and not isinstance(value, type):
        parts = {field.name: getattr(value, field.name) for field in fields(value)}
        return {"dataclass": type(value).__name__, "fields": _encode(parts, arrays, name)["dict"]}
    if isinstance(value, dict):
        return {"dict": {str(key): _encode(item, arrays, f"{name}.{key}") for key, item in value.items()}}
    if isinstance(value, list | tuple | np.ndarray):
        kind = "tuple" if isinstance(value, tuple) else "list"
        return {kind: [_encode(item, arrays, f"{name}.{i}") for i, item in enumerate(value)]}
    raise TypeError(f"{name.lstrip('.')} is a {type(value).__name__}, which a model file cannot hold.")


def _array_names(value: Any) -> Iterator[str]:
    """The members that a header refers to."""
    if isinstance(value, dict) and isinstance(value.get("array"), str):
        yield value["array"]
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _array_names(item)


class _Types(dict[str, type]):
    """The dataclasses that a file may hold, by name; others are those of another version."""

    def __init__(self, path: Any, dataclasses: tuple[type, ...]):
        super().__init__({cls.__name__: cls for cls in dataclasses})
        self.path = path

    def __missing__(self, name: str) -> type:
        raise ModelFileError(
            f"{shown(self.path)} holds a {name}, which this version of pnulearn does not read: another version wrote "
            "it (one before 0.2.0 if it is an AutoPNU). Fit and save the model again."
        )


def _decode(value: Any, arrays: dict[str, AnyArray], types: dict[str, type]) -> Any:
    if not isinstance(value, dict):
        return value
    kind, part = next(iter(value.items()))
    if kind == "array":
        return arrays[part]
    if kind == "dataclass":
        return types[part](**{key: _decode(item, arrays, types) for key, item in value["fields"].items()})
    if kind == "dict":
        return {key: _decode(item, arrays, types) for key, item in part.items()}
    if kind not in ("list", "tuple"):
        raise ValueError(f"its header holds a {kind!r}, which is nothing that we write")
    items = [_decode(item, arrays, types) for item in part]
    return tuple(items) if kind == "tuple" else items
