"""Models as files: arrays in an npz archive with a JSON header. Loading runs no code, unlike a pickle."""

from __future__ import annotations

import json
import os
import tempfile
import zipfile
import zlib
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

FORMAT, VERSION = "pnulearn-model", 1


class ModelFileError(ValueError):
    """A file that is no model of ours, or one that this version cannot read."""


def write_archive(path: str | os.PathLike, kind: str, content: dict[str, Any], *, compress: bool = True) -> None:
    """Write plain values, arrays and dataclasses under a header; the old file stays until the new one is complete."""
    write_atomically(path, lambda file: dump_archive(file, kind, content, compress=compress))


def dump_archive(file: BinaryIO, kind: str, content: dict[str, Any], *, compress: bool = True) -> None:
    """The same into an open file."""
    arrays: dict[str, NDArray] = {}
    header = {"format": FORMAT, "version": VERSION, "kind": kind, "content": _encoded(content, arrays, "")}
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    save = np.savez_compressed if compress else np.savez
    save(file, **arrays)  # type: ignore[arg-type]


def read_archive(path: str | os.PathLike | BinaryIO, dataclasses: tuple[type, ...] = ()) -> tuple[str, dict[str, Any]]:
    """The kind and content of a file, by path or open; `dataclasses` are the types it may hold."""
    if isinstance(path, str | os.PathLike) and not Path(path).is_file():
        raise FileNotFoundError(f"No model file at {str(path)!r}.")
    try:
        with _opened(path) as file:
            _refuse_other_formats(path, file)
            with np.load(file, allow_pickle=False) as archive:
                arrays = {name: archive[name] for name in archive.files}
        header = json.loads(arrays["header"].tobytes().decode()) if "header" in arrays else {}
    except ModelFileError:
        raise
    except (ValueError, KeyError, AttributeError, TypeError, OSError, EOFError, zlib.error, zipfile.BadZipFile):
        raise ModelFileError(
            f"{str(path)!r} is not a complete pnulearn model file: it was cut short or damaged. Save or copy it again."
        ) from None
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise ModelFileError(f"{str(path)!r} is an archive, but not a pnulearn model file.")
    if header["version"] > VERSION:
        raise ModelFileError(
            f"{str(path)!r} has format version {header['version']}; this pnulearn reads up to {VERSION}. "
            "Upgrade pnulearn."
        )
    return header["kind"], _decoded(header["content"], arrays, {cls.__name__: cls for cls in dataclasses})


def _refuse_other_formats(path: str | os.PathLike | BinaryIO, file: BinaryIO) -> None:
    """Model files are zip archives; anything else is told from its first bytes."""
    start = file.read(2)
    file.seek(-len(start), os.SEEK_CUR)
    if start[:1] == b"\x80":
        raise ModelFileError(f"{str(path)!r} is a pickle. Reading one can run any code: refused. Use model.save.")
    if start != b"PK":
        found = "is empty" if not start else "is not a pnulearn model file"
        raise ModelFileError(f"{str(path)!r} {found}. `pnulearn fit --model` and model.save(path) write them.")


def _opened(path: str | os.PathLike | BinaryIO) -> AbstractContextManager[BinaryIO]:
    """An open file; numpy itself would leave a damaged one open."""
    return open(path, "rb") if isinstance(path, str | os.PathLike) else nullcontext(path)


def write_atomically(path: str | os.PathLike, write: Callable[[BinaryIO], Any]) -> None:
    """Call `write` on a temporary file beside `path`, then put it in place in one step."""
    target = Path(path)
    handle, temporary = tempfile.mkstemp(dir=target.parent or ".", prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, target)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _encoded(value: Any, arrays: dict[str, NDArray], name: str) -> Any:
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray) and value.dtype.kind != "O":
        arrays[f"array{name}"] = value
        return {"array": f"array{name}"}
    if is_dataclass(value) and not isinstance(value, type):
        parts = {field.name: getattr(value, field.name) for field in fields(value)}
        return {"dataclass": type(value).__name__, "fields": _encoded(parts, arrays, name)["dict"]}
    if isinstance(value, dict):
        return {"dict": {str(key): _encoded(item, arrays, f"{name}.{key}") for key, item in value.items()}}
    if isinstance(value, list | tuple | np.ndarray):
        kind = "tuple" if isinstance(value, tuple) else "list"
        return {kind: [_encoded(item, arrays, f"{name}.{i}") for i, item in enumerate(value)]}
    raise TypeError(f"{name.lstrip('.')} is a {type(value).__name__}, which a model file cannot hold.")


def _decoded(value: Any, arrays: dict[str, NDArray], types: dict[str, type]) -> Any:
    if not isinstance(value, dict):
        return value
    kind, part = next(iter(value.items()))
    if kind == "array":
        array = arrays[part]
        if array.dtype.kind == "f" and not np.isfinite(array).all() and "coef_" in part:
            raise ModelFileError("The file holds coefficients that are not finite.")
        return array
    if kind == "dataclass":
        return types[part](**{key: _decoded(item, arrays, types) for key, item in value["fields"].items()})
    if kind == "dict":
        return {key: _decoded(item, arrays, types) for key, item in part.items()}
    items = [_decoded(item, arrays, types) for item in part]
    return tuple(items) if kind == "tuple" else items
