"""A row as a person reads it: words, numbers with their place among all rows, pictures from the table's folder."""

from __future__ import annotations

from itertools import islice
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

import numpy as np

from pnulearn._reader.columns import Column
from pnulearn._reader.table import Table

# Pictures that cells of a table name: only from the table's folder, only what is a picture by its first bytes.

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


# A row as a person reads it: words, numbers among those of all rows, pictures.

BINS = 24
MOST_LEVELS = 8
LONG_TEXT = 60
EXCERPT_CELLS, EXCERPT_LENGTH = 4, 60


class RowReader:
    """Shows rows of a table.

    Parameters
    ----------
    table : Table
        The rows.
    hidden : set of str
        Columns that are not shown: the label.
    folder : Path or None
        Where pictures are, for columns that hold their paths.
    """

    def __init__(self, table: Table, hidden: set[str], folder: Path | None) -> None:
        self.table, self.folder = table, folder
        names = [name for name in table.names if name not in hidden]
        self._columns = {name: table.column(name) for name in names}
        self._pictures = {
            name for name in names if folder is not None and is_picture_column(self._columns[name], folder)
        }
        self._summaries = {name: self._summarize(column) for name, column in self._columns.items()}

    @property
    def columns(self) -> list[dict[str, Any]]:
        """What is the same for all rows: names, kinds and distributions."""
        return [{"name": name, **summary} for name, summary in self._summaries.items()]

    def cells(self, row: int) -> list[dict[str, Any]]:
        """The cells of a row.

        Parameters
        ----------
        row : int
            Its number.
        """
        return [self._cell(column, row) for column in self._columns.values()]

    def excerpt(self, row: int) -> list[str]:
        """The beginnings of the first cells of a row that are not missing.

        Parameters
        ----------
        row : int
            Its number.
        """
        texts = (self._text(column, row) for column in self._columns.values())
        return [text[:EXCERPT_LENGTH] for text in islice(filter(None, texts), EXCERPT_CELLS)]

    def picture(self, row: int, column: str) -> str | None:
        """The path in a cell of a column of pictures.

        Parameters
        ----------
        row : int
            The row's number.
        column : str
            The column's name.
        """
        return self._text(self._columns[column], row) if column in self._pictures else None

    def _cell(self, column: Column, row: int) -> dict[str, Any]:
        text = self._text(column, row)
        if text is None:
            return {"missing": True}
        if column.name in self._pictures:
            return {"picture": True, "text": text}
        if column.kind == "number":
            value = float(column.data[row])
            present = self._summaries[column.name]["quantiles"]
            below = float(np.mean(np.less(present, value)))  # not equal ones, which may be most rows
            return {"text": text, "value": value, "below": below}
        share = None
        if not column.is_numeric and self._summaries[column.name]["kind"] == "category":
            share = float(np.mean(column.data == column.data[row]))
        return {"text": text, "long": len(text) > LONG_TEXT, "share": share}

    @staticmethod
    def _text(column: Column, row: int) -> str | None:
        if column.is_numeric:
            one = Column(column.name, column.kind, column.data[row : row + 1])
            return one.texts()[0]
        return None if column.data[row] < 0 else str(column.levels[column.data[row]])

    def _summarize(self, column: Column) -> dict[str, Any]:
        if column.name in self._pictures:
            return {"kind": "picture"}
        if column.kind == "number":
            present = column.data[np.isfinite(column.data)]
            if not len(present):
                return {"kind": "empty", "quantiles": [0.0, 0.0]}
            low, high = np.quantile(present, [0.005, 0.995])
            low, high = (low, high) if high > low else (present.min(), present.max())
            counts, _ = np.histogram(np.clip(present, low, high), BINS, (low, high if high > low else low + 1))
            quantiles = np.quantile(present, np.linspace(0, 1, 101)).tolist()
            span = {"low": float(low), "high": float(high), "bins": (counts / max(counts.max(), 1)).round(3).tolist()}
            return {"kind": "number", "quantiles": quantiles, **span}
        if column.is_numeric:
            return {"kind": "flag"}
        return {"kind": "category" if len(column.levels) <= max(MOST_LEVELS, len(column.data) // 20) else "text"}
