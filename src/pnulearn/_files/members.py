"""Arrays in a zip archive, with sizes that are checked before anything is allocated."""

from __future__ import annotations

import math
import re
import zipfile
from collections.abc import Iterator, Sequence
from typing import IO, BinaryIO

import numpy as np

from pnulearn._arrays import AnyArray

# What a file may unpack to: so many bytes, and so many for each byte of its own. Ordinary models stay far below.
FREE_BYTES, RATIO = 64 << 20, 100
FREE_TEXT, TEXT_RATIO = 4 << 20, 20
DIRECTORY_BYTES = 4 << 20  # of the table of contents, some 40,000 members; zipfile reads it whole
CHUNK = 1 << 20
PACKINGS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # others unpack without bounds

_END, _LOCATOR, _LONG_END = 22, 20, 56  # bytes of the records at the end of a zip archive
_TAIL = _END + _LOCATOR + _LONG_END + (1 << 16)  # a comment may follow
_MAGIC = b"\x93NUMPY\x01\x00"
_NPY_HEADER = re.compile(
    r"\{'descr': '([<>|][biufcSUMm]\d{1,9}(?:\[\w{1,9}\])?)', 'fortran_order': (True|False), "
    r"'shape': \(((?:\d{1,12}, ?)*(?:\d{1,12})?)\), \} *\n"
)


def open_zip(file: BinaryIO, n_bytes: int) -> zipfile.ZipFile:
    """An archive whose table of contents is within bounds."""
    if _directory_bytes(file, n_bytes) > DIRECTORY_BYTES:
        raise ValueError("its table of contents is larger than that of any model")
    return zipfile.ZipFile(file)


def _directory_bytes(file: BinaryIO, n_bytes: int) -> int:
    """What the record at the end says of it: the one that zipfile will find, and the long one before that."""
    start = file.tell()
    file.seek(start + max(n_bytes - _TAIL, 0))
    tail = file.read(_TAIL)
    file.seek(start)
    place = len(tail) - _END if tail[-_END:].startswith(b"PK\5\6") and tail.endswith(b"\0\0") else tail.rfind(b"PK\5\6")
    if place < 0:
        return 0  # no archive; zipfile says so
    found = int.from_bytes(tail[place + 12 : place + 16], "little")
    if tail[max(place - _LOCATOR, 0) :].startswith(b"PK\6\7"):
        long = tail[max(place - _LOCATOR - _LONG_END, 0) :]
        expected = n_bytes - len(long)
        if not long.startswith(b"PK\6\6") or int.from_bytes(tail[place - 12 : place - 4], "little") != expected:
            raise ValueError("its table of contents is not where it says")
        found = int.from_bytes(long[40:48], "little")
    return found


class Members:
    """The members of an open archive by name; those that nobody asks for cost nothing."""

    def __init__(self, archive: zipfile.ZipFile, n_bytes: int):
        self._archive = archive
        self._n_bytes = n_bytes
        self._names = set(archive.namelist())

    def __contains__(self, name: str) -> bool:
        return f"{name}.npy" in self._names

    def read(self, names: Sequence[str]) -> Iterator[AnyArray]:
        """The arrays of these names, if all of them together are within bounds."""
        total = sum(self._size(name) for name in names)
        self._refuse_bomb(total, FREE_BYTES + RATIO * self._n_bytes)
        return map(self._array, names)

    def read_text(self, name: str) -> str:
        """An array of bytes as text, with tighter bounds, since reading JSON multiplies it."""
        self._refuse_bomb(self._size(name), FREE_TEXT + TEXT_RATIO * self._n_bytes)
        return self._array(name).tobytes().decode()

    def _size(self, name: str) -> int:
        return self._archive.getinfo(f"{name}.npy").file_size

    def _refuse_bomb(self, found: int, most: int) -> None:
        if found > most:
            raise ValueError(f"it unpacks to {found} bytes from {self._n_bytes}; at most {most} are read")

    def _array(self, name: str) -> AnyArray:
        if self._archive.getinfo(f"{name}.npy").compress_type not in PACKINGS:
            raise ValueError(f"member {name!r} is packed in a way that we do not use")
        with self._archive.open(f"{name}.npy") as member:
            dtype, order, shape, length = _npy_header(member)
            n_bytes = math.prod(shape) * dtype.itemsize
            if n_bytes + length != self._size(name):
                raise ValueError(f"member {name!r} is not as long as its shape {shape} says")
            raw = np.empty(n_bytes, dtype=np.uint8)
            _fill(member, raw.data)
        return raw.view(dtype).reshape(shape, order="F" if order == "True" else "C")


def _npy_header(member: IO[bytes]) -> tuple[np.dtype, str, tuple[int, ...], int]:
    """Type, order and shape of an array, and the number of bytes before its first number."""
    start = member.read(len(_MAGIC) + 2)
    length = int.from_bytes(start[-2:], "little")
    found = _NPY_HEADER.fullmatch(member.read(length).decode("latin-1"))
    if start[:-2] != _MAGIC or found is None:
        raise ValueError("a member is not an array of ours")
    shape = tuple(int(size) for size in found[3].split(",") if size.strip())
    return np.dtype(found[1]), found[2], shape, len(start) + length


def _fill(member: IO[bytes], target: memoryview) -> None:
    place = 0
    while place < len(target):
        piece = member.read(min(CHUNK, len(target) - place))
        if not piece:
            raise EOFError("a member ends too early")
        target[place : place + len(piece)] = piece
        place += len(piece)
    if member.read(1):  # also makes zipfile compare the checksum
        raise ValueError("a member is too long")
