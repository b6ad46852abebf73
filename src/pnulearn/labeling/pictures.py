"""Pictures that cells of a table name: only from the table's folder, only what is a picture by its first bytes."""

from __future__ import annotations

from pathlib import Path, PurePosixPath, PureWindowsPath

import numpy as np

from pnulearn._tables.columns import Column

ENDINGS = {".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp"}
LARGEST = 50_000_000  # bytes
LOOKED_AT = 20  # cells


def is_picture_column(column: Column, folder: Path) -> bool:
    """Whether the cells of a column name pictures in a folder.

    Parameters
    ----------
    column : Column
        Of text.
    folder : Path
        Where they should be.
    """
    if column.is_numeric or not column.levels:
        return False
    present = np.flatnonzero(column.data >= 0)[:LOOKED_AT]
    names = [str(column.levels[column.data[row]]) for row in present]
    if not all(PurePosixPath(name.replace("\\", "/")).suffix.lower() in ENDINGS for name in names):
        return False
    return any(find_picture(name, folder) is not None for name in names)


def find_picture(name: str, folder: Path) -> Path | None:
    """The file that a cell names, if it is inside the folder, links followed, and not too large.

    Parameters
    ----------
    name : str
        What the cell says.
    folder : Path
        Nothing outside of it is ever read.
    """
    if "\0" in name or PurePosixPath(name).suffix.lower() not in ENDINGS:
        return None
    if PureWindowsPath(name).drive:
        return None
    try:
        root = folder.resolve()
        path = (root / name).resolve()
        inside = path.is_relative_to(root) and path.is_file() and path.stat().st_size <= LARGEST
    except (OSError, ValueError):
        return None
    return path if inside else None


def picture_type(head: bytes) -> str | None:
    """The media type by the first bytes, None for anything that is no picture.

    Parameters
    ----------
    head : bytes
        The first twelve bytes of a file.

    Examples
    --------
    >>> picture_type(b"GIF89a......"), picture_type(b"<svg onload=")
    ('image/gif', None)
    """
    starts = {b"\x89PNG\r\n\x1a\n": "png", b"\xff\xd8\xff": "jpeg", b"GIF87a": "gif", b"GIF89a": "gif", b"BM": "bmp"}
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return "image/webp"
    return next((f"image/{kind}" for start, kind in starts.items() if head.startswith(start)), None)
