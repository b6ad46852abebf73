"""Files that unpack to far more than they are: refused before memory is spent, with the way out."""

from __future__ import annotations

from typing import Any

from pnulearn._tables.errors import TableError

# Bytes that any packed file may become, and more for each byte of its own; ordinary tables pack 3 to 50 times.
FREE_BYTES, RATIO = 16 << 20, 200
FREE_CELLS, CELLS_PER_BYTE = 8 << 20, 125  # Parquet packs constant columns to nothing
CHUNK = 1 << 20


def read_bounded(stream: Any, n_packed: int, source: str) -> bytes:
    """All bytes of a stream that unpacks a file of so many bytes."""
    most = FREE_BYTES + RATIO * n_packed
    pieces: list[bytes] = []
    n_bytes, buffer = 0, bytearray(CHUNK)  # read() of Arrow's streams loses a chunk of memory when a file is damaged
    while length := stream.readinto(buffer):
        pieces.append(bytes(memoryview(buffer)[:length]))
        n_bytes += length
        if n_bytes > most:
            raise TableError(
                f"{source} unpacks to more than {RATIO} times its {n_packed} bytes, which looks like a trap. If it is "
                "the right file, unpack it first."
            )
    return b"".join(pieces)


def refuse_vast_parquet(metadata: Any, n_packed: int, source: str) -> None:
    """By the number of cells, which the file tells before they are read."""
    n_cells = metadata.num_rows * metadata.num_columns
    if n_cells > FREE_CELLS + CELLS_PER_BYTE * n_packed:
        raise TableError(
            f"{source} says that it holds {n_cells} cells in {n_packed} bytes, which looks like a trap. If it is the "
            "right file, leave constant columns out or write it as CSV."
        )
