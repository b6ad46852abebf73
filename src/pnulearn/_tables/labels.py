"""What in a column of labels looks like a mistake."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pnulearn._tables.errors import TableError

MARKERS = frozenset({"?", "-", "--", ".", "unknown", "unlabeled", "unlabelled", "unl", "missing", "u"})


def refuse_marker(where: str, counts: Mapping[Any, int]) -> None:
    """Refuse what is more likely a mark of unlabelled rows than a third class."""
    marker = next((v for v in counts if isinstance(v, str) and v.casefold() in MARKERS), None)
    if marker is not None and len(counts) > 2:
        raise TableError(
            f"{where} holds {marker!r} in {counts[marker]} rows beside {len(counts) - 1} other labels. If it "
            f"marks unlabelled rows, pass unlabeled={marker!r}."
        )
