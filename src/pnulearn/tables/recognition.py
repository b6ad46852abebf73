"""What a column is, by its cells: the kind that suits it, or why it is better left out."""

from __future__ import annotations

import re

import numpy as np

from pnulearn._tables.columns import Column
from pnulearn.tables.kinds.flag import are_flags
from pnulearn.tables.kinds.gaps import often_missing
from pnulearn.tables.kinds.unusable import Unusable

MOST_CATEGORIES = 50  # beyond, categories share features
WORDS_OF_TEXT = 3  # cells of more words, on average, are sentences rather than names
FEWEST_NUMBERED = 20  # rows before whole numbers without a gap or a repetition are taken for an identifier
_IDENTIFIER = re.compile(r"(?i)(^|[\W_])(id|uuid|guid|key|index|nr|no|number|nummer)$|(?<=[a-z])(Id|ID|Nr)$")
_POSTAL = re.compile(r"(?i)(^|[\W_])(zip|plz|postal|postcode|postleitzahl)([\W_]|$)|zipcode|zip_code|postalcode")


def recognize(column: Column, most_categories: int = MOST_CATEGORIES) -> str:
    """The kind of a column; raises `Unusable` with the reason if it cannot help."""
    present = column.data[~column.missing]
    if len(present) == 0:
        raise Unusable("empty")
    if np.all(present == present[0]) and not often_missing(column.missing):
        raise Unusable("the same value in every row")
    if column.kind == "flag":
        return "flag"
    if column.kind == "number":
        return _recognize_number(column, present, most_categories)
    return "date" if column.kind == "date" else _recognize_text(column, len(present), most_categories)


def _recognize_number(column: Column, present: np.ndarray, most_categories: int) -> str:
    if len(present) >= FEWEST_NUMBERED and (_counts_rows(column) or _is_numbering(present)):
        raise Unusable("it numbers the rows")
    whole = np.floor(present) == present
    if whole.all() and _IDENTIFIER.search(column.name) and len(present) >= FEWEST_NUMBERED:
        distinct = len(np.unique(present))
        if distinct > 0.95 * len(present):
            raise Unusable(f"an identifier ({distinct} different numbers)")
    if whole.all() and _POSTAL.search(column.name):
        return "category" if len(np.unique(present)) <= most_categories else "codes"
    return "number"


def _counts_rows(column: Column) -> bool:
    steps = np.diff(column.data)
    return steps[0] != 0 and bool(np.all(steps == steps[0])) and float(steps[0]).is_integer()


def _is_numbering(present: np.ndarray) -> bool:
    """All whole numbers of a range, each once, in any order."""
    n = len(present)
    if np.ptp(present) != n - 1 or not np.all(np.floor(present) == present):
        return False
    return len(np.unique(present)) == n


def _recognize_text(column: Column, n_present: int, most_categories: int) -> str:
    n_levels = len(column.levels)
    if are_flags(list(column.levels)):
        return "flag"
    mostly_different = n_levels > max(n_present / 2, 2)
    if n_levels <= most_categories and not mostly_different:
        return "category"
    if np.mean([level.count(" ") for level in column.levels]) + 1 >= WORDS_OF_TEXT:
        return "text"
    if mostly_different:
        raise Unusable(f"an identifier or a name ({n_levels} different values)")
    return "codes"
