"""Words for yes and no, and suspicious labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pnulearn._reader.errors import TableError

# Words for yes and no in several languages.

PAIRS = (  # no, yes; a word belongs to the first pair that contains it
    ("no", "yes"),
    ("nein", "ja"),
    ("n", "y"),
    ("n", "j"),
    ("false", "true"),
    ("f", "t"),
    ("falsch", "wahr"),
    ("non", "oui"),
    ("no", "si"),
    ("no", "sí"),
    ("off", "on"),
    ("aus", "an"),
    ("negative", "positive"),
    ("neg", "pos"),
    ("negativ", "positiv"),
)
NO, YES = (frozenset(pair[place] for pair in PAIRS) for place in (0, 1))


def fold(word: str) -> str:
    """A word in lower case with normalised blanks.

    >>> fold(" Not  Sure")
    'not sure'
    """
    return " ".join(word.casefold().split())


def affirmative(no: str) -> str | None:
    """The word for yes that belongs to a word for no, in the same case; None for other words.

    >>> affirmative("Nein"), affirmative("NO"), affirmative("ham")
    ('Ja', 'YES', None)
    """
    found = next((yes for word, yes in PAIRS if word == fold(no)), None)
    if found is None or no.islower():
        return found
    return found.upper() if no.isupper() else found.capitalize()


# Suspicious labels.

MARKERS = frozenset({"?", "-", "--", ".", "unknown", "unlabeled", "unlabelled", "unl", "missing", "u"})


def refuse_marker(where: str, counts: Mapping[Any, int]) -> None:
    """Raise an error for a label that is more likely a marker of unlabelled rows than a third class."""
    marker = next((v for v in counts if isinstance(v, str) and v.casefold() in MARKERS), None)
    if marker is not None and len(counts) > 2:
        raise TableError(
            f"{where} holds {marker!r} in {counts[marker]} rows, in addition to {len(counts) - 1} other labels. If it "
            f"marks unlabelled rows, pass unlabeled={marker!r}."
        )
