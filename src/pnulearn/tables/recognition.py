"""What a column is, by its cells: the kind that suits it, or why it is better left out."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._tables.columns import Column
from pnulearn.tables.kinds.flag import are_flags
from pnulearn.tables.kinds.gaps import often_missing
from pnulearn.tables.kinds.unusable import Unusable

MOST_CATEGORIES = 50  # beyond, categories share features
WORDS_OF_TEXT = 3  # cells of more words, on average, are sentences rather than names
FEWEST_NUMBERED = 20  # rows before whole numbers without a gap or a repetition are taken for an identifier
_IDENTIFIER = re.compile(r"(?i)(^|[\W_])(id|uuid|guid|key|index|nr|no|number|nummer)$|(?<=[a-z])(Id|ID|Nr)$")
_POSTAL = re.compile(r"(?i)(^|[\W_])(zip|plz|postal|postcode|postleitzahl)([\W_]|$)|zipcode|zip_code|postalcode")


@dataclass(frozen=True, eq=False)
class Excerpt:
    """Which rows of a larger table these are: their numbers there, in order, and how many rows it has."""

    numbers: AnyArray
    n_rows: int


def recognize(column: Column, most_categories: int = MOST_CATEGORIES, excerpt: Excerpt | None = None) -> str:
    """The kind of a column; raises `Unusable` with the reason if it cannot help.

    The rows may be an excerpt, drawn at random, of a larger table.
    """
    excerpt = excerpt or Excerpt(np.arange(len(column.data)), len(column.data))
    present = column.data[~column.missing]
    if len(present) == 0:
        raise Unusable("empty")
    if np.all(present == present[0]) and not often_missing(column.missing):
        raise Unusable("the same value in every row")
    if column.kind == "flag":
        return "flag"
    if column.kind == "number":
        return _recognize_number(column, present, most_categories, excerpt)
    return "date" if column.kind == "date" else _recognize_text(column, len(present), most_categories)


def _recognize_number(column: Column, present: AnyArray, most_categories: int, excerpt: Excerpt) -> str:
    n_filled = excerpt.n_rows * len(present) / len(column.data)
    if len(present) >= FEWEST_NUMBERED and (_counts_rows(column, excerpt) or _is_numbering(present, n_filled)):
        raise Unusable("it numbers the rows")
    whole = np.floor(present) == present
    if whole.all() and _IDENTIFIER.search(column.name) and len(present) >= FEWEST_NUMBERED:
        distinct = len(np.unique(present))
        if distinct > 0.95 * len(present):
            raise Unusable(f"an identifier ({distinct} different numbers)")
    if whole.all() and _POSTAL.search(column.name):
        return "category" if len(np.unique(present)) <= most_categories else "codes"
    return "number"


def _counts_rows(column: Column, excerpt: Excerpt) -> bool:
    steps = np.diff(column.data) / np.diff(excerpt.numbers)
    return steps[0] != 0 and bool(np.all(steps == steps[0])) and float(steps[0]).is_integer()


def _is_numbering(present: AnyArray, n_filled: float) -> bool:
    """All whole numbers of a range, each once, in any order; of rows that were drawn, some of them.

    n numbers that are drawn from a range miss its ends by 2 / n of it, and hardly ever by ten times as much.
    """
    n = len(present)
    missed = 0.0 if n == n_filled else 20 / n * n_filled
    if abs(np.ptp(present) + 1 - n_filled) > missed or not np.all(np.floor(present) == present):
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
