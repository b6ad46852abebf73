"""Model files: zip archives of arrays and JSON, read without executing code and with limits on memory."""

from __future__ import annotations

import json
import math
import os
import re
import types
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import fields, is_dataclass
from functools import cache
from typing import IO, Any, BinaryIO, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._files.refusals import ModelFileError, refuse_absent, refuse_damage, refuse_other_formats, shown
from pnulearn._files.writing import write_atomically

# Arrays in a zip archive. Sizes are checked before anything is allocated.

# Limits on the unpacked size: a number of bytes, plus a multiple of the file size. Ordinary models are far below.
FREE_BYTES, RATIO = 64 << 20, 100
FREE_TEXT, TEXT_RATIO = 4 << 20, 20
DIRECTORY_BYTES = 4 << 20  # limit of the table of contents, about 40,000 members; zipfile reads all of it
CHUNK = 1 << 20
PACKINGS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # other methods cannot be unpacked with a limit

_END, _LOCATOR, _LONG_END = 22, 20, 56  # bytes of the records at the end of a zip archive
_TAIL = _END + _LOCATOR + _LONG_END + (1 << 16)  # a comment may follow
_MAGIC = b"\x93NUMPY\x01\x00"
_NPY_HEADER = re.compile(
    r"\{'descr': '([<>|][biufcSUMm]\d{1,9}(?:\[\w{1,9}\])?)', 'fortran_order': (True|False), "
    r"'shape': \(((?:\d{1,12}, ?)*(?:\d{1,12})?)\), \} *\n"
)


def open_zip(file: BinaryIO, n_bytes: int) -> zipfile.ZipFile:
    """Open an archive after checking the size of its table of contents."""
    if _directory_bytes(file, n_bytes) > DIRECTORY_BYTES:
        raise ValueError("its table of contents is larger than that of any model")
    return zipfile.ZipFile(file)


def _directory_bytes(file: BinaryIO, n_bytes: int) -> int:
    """Size of the table of contents, from the end record that zipfile will find, or the zip64 record before it."""
    start = file.tell()
    file.seek(start + max(n_bytes - _TAIL, 0))
    tail = file.read(_TAIL)
    file.seek(start)
    place = len(tail) - _END if tail[-_END:].startswith(b"PK\5\6") and tail.endswith(b"\0\0") else tail.rfind(b"PK\5\6")
    if place < 0:
        return 0  # not an archive; zipfile raises an error
    found = int.from_bytes(tail[place + 12 : place + 16], "little")
    if tail[max(place - _LOCATOR, 0) :].startswith(b"PK\6\7"):
        long = tail[max(place - _LOCATOR - _LONG_END, 0) :]
        expected = n_bytes - len(long)
        if not long.startswith(b"PK\6\6") or int.from_bytes(tail[place - 12 : place - 4], "little") != expected:
            raise ValueError("its table of contents is not where the end record points to")
        found = int.from_bytes(long[40:48], "little")
    return found


class Members:
    """The members of an open archive by name, read on demand."""

    def __init__(self, archive: zipfile.ZipFile, n_bytes: int):
        self._archive = archive
        self._n_bytes = n_bytes
        self._names = set(archive.namelist())

    def __contains__(self, name: str) -> bool:
        return f"{name}.npy" in self._names

    def read(self, names: Sequence[str]) -> Iterator[AnyArray]:
        """The arrays with these names. Raises a ValueError if their total size is above the limit."""
        total = sum(self._size(name) for name in names)
        self._refuse_bomb(total, FREE_BYTES + RATIO * self._n_bytes)
        return map(self._array, names)

    def read_text(self, name: str) -> str:
        """An array of bytes as text. The limit is lower, because parsed JSON takes much more memory."""
        self._refuse_bomb(self._size(name), FREE_TEXT + TEXT_RATIO * self._n_bytes)
        return self._array(name).tobytes().decode()

    def _size(self, name: str) -> int:
        return self._archive.getinfo(f"{name}.npy").file_size

    def _refuse_bomb(self, found: int, most: int) -> None:
        if found > most:
            raise ValueError(f"it unpacks to {found} bytes from {self._n_bytes}; the limit is {most}")

    def _array(self, name: str) -> AnyArray:
        if self._archive.getinfo(f"{name}.npy").compress_type not in PACKINGS:
            raise ValueError(f"member {name!r} has an unsupported compression method")
        with self._archive.open(f"{name}.npy") as member:
            dtype, order, shape, length = _npy_header(member)
            n_bytes = math.prod(shape) * dtype.itemsize
            if n_bytes + length != self._size(name):
                raise ValueError(f"the size of member {name!r} does not match its shape {shape}")
            raw = np.empty(n_bytes, dtype=np.uint8)
            _fill(member, raw.data)
        return raw.view(dtype).reshape(shape, order="F" if order == "True" else "C")


def _npy_header(member: IO[bytes]) -> tuple[np.dtype, str, tuple[int, ...], int]:
    """Type, order and shape of an array, and the size of its header in bytes."""
    start = member.read(len(_MAGIC) + 2)
    length = int.from_bytes(start[-2:], "little")
    found = _NPY_HEADER.fullmatch(member.read(length).decode("latin-1"))
    if start[:-2] != _MAGIC or found is None:
        raise ValueError("a member is not an array in the expected format")
    shape = tuple(int(size) for size in found[3].split(",") if size.strip())
    return np.dtype(found[1]), found[2], shape, len(start) + length


def _fill(member: IO[bytes], target: memoryview) -> None:
    place = 0
    while place < len(target):
        piece = member.read(min(CHUNK, len(target) - place))
        if not piece:
            raise EOFError("a member is truncated")
        target[place : place + len(piece)] = piece
        place += len(piece)
    if member.read(1):  # reading to the end makes zipfile check the checksum
        raise ValueError("a member is too long")


# Validation of the types that a dataclass declares, which JSON and zip archives do not check.


def refuse_other_types(value: Any, where: str, *, finite: bool = False) -> None:
    """Raise a ValueError unless the fields of a dataclass, nested ones included, have their declared types.

    With `finite`, all floats must be finite, too.

    >>> from dataclasses import make_dataclass
    >>> Point = make_dataclass("Point", [("x", float)])
    >>> refuse_other_types(Point(1.5), "p")
    >>> refuse_other_types(Point("a"), "p")
    Traceback (most recent call last):
    ValueError: p.x is 'a', not a float
    """
    kind: Any = type(value)
    hints = _hints(kind)
    for field in fields(value):
        _check(getattr(value, field.name), hints[field.name], f"{where}.{field.name}", finite)


_hints = cache(get_type_hints)  # a table has one dataclass for each column


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


# Model files: arrays in an npz archive with a JSON header. Unlike a pickle, loading one does not execute code.

FORMAT, VERSION = "pnulearn-model", 1
HEADER = "header"


def write_archive(path: str | os.PathLike[str], kind: str, content: dict[str, Any], *, compress: bool = True) -> None:
    """Write plain values, arrays and dataclasses with a header. An existing file is replaced in one step."""
    write_atomically(path, lambda file: dump_archive(file, kind, content, compress=compress))


def dump_archive(file: BinaryIO, kind: str, content: dict[str, Any], *, compress: bool = True) -> None:
    """Like `write_archive`, to an open file."""
    arrays: dict[str, AnyArray] = {}
    header = {"format": FORMAT, "version": VERSION, "kind": kind, "content": _encode(content, arrays, "")}
    arrays[HEADER] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    small = sum(array.nbytes for array in arrays.values()) <= FREE_BYTES  # else a reader might refuse it as a zip bomb
    save = np.savez_compressed if compress and small else np.savez
    save(file, **arrays)  # type: ignore[arg-type]


def read_archive(
    path: str | os.PathLike[str] | BinaryIO, dataclasses: tuple[type, ...] = ()
) -> tuple[str, dict[str, Any]]:
    """The kind and content of a file, given by path or open; `dataclasses` are the types that may occur in it."""
    types = _Types(path, dataclasses)
    with refuse_damage(path), _open(path) as file:
        members, header = _read_header(path, file)
        names = list(_array_names(header["content"]))
        arrays = dict(zip(names, members.read(names), strict=True))
        return header["kind"], _decode(header["content"], arrays, types)


def read_kind(path: str | os.PathLike[str]) -> str:
    """The kind of a file, from its header."""
    with refuse_damage(path), _open(path) as file:
        return _read_header(path, file)[1]["kind"]


def _read_header(path: Any, file: BinaryIO) -> tuple[Members, dict[str, Any]]:
    refuse_other_formats(path, file)
    size = _size(file)
    members = Members(open_zip(file, size), size)
    header = json.loads(members.read_text(HEADER)) if HEADER in members else {}
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise ModelFileError(f"{shown(path)} is a zip archive, but not a pnulearn model file.")
    version = header["version"]
    if not isinstance(version, int) or version < 1 or not isinstance(header["kind"], str):
        raise ValueError("its header is unreadable")
    if version > VERSION:
        raise ModelFileError(
            f"{shown(path)} has format version {version}; this version of pnulearn reads up to {VERSION}. Upgrade "
            "pnulearn."
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
    raise TypeError(f"{name.lstrip('.')} is a {type(value).__name__}, which cannot be saved in a model file.")


def _array_names(value: Any) -> Iterator[str]:
    """The names of the members that a header refers to."""
    if isinstance(value, dict) and isinstance(value.get("array"), str):
        yield value["array"]
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _array_names(item)


class _Types(dict[str, type]):
    """The dataclasses that may occur in a file, by name. Any other name raises a ModelFileError."""

    def __init__(self, path: Any, dataclasses: tuple[type, ...]):
        super().__init__({cls.__name__: cls for cls in dataclasses})
        self.path = path

    def __missing__(self, name: str) -> type:
        raise ModelFileError(
            f"{shown(self.path)} contains a {name}, which this version of pnulearn cannot read. It was written by "
            "another version (before 0.2.0 if it is an AutoPNU). Fit and save the model again."
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
        raise ValueError(f"its header contains a {kind!r}, which is not part of the format")
    items = [_decode(item, arrays, types) for item in part]
    return tuple(items) if kind == "tuple" else items
