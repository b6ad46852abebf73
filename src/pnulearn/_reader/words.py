"""Words that mean yes and no, and labels that look like a mistake."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pnulearn._reader.errors import TableError

# Words that mean yes and no, in the languages that tables come in.

PAIRS = (  # no, yes; the first pair with a word is the one that completes it
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
    """A word without what does not change its meaning: case and blanks.

    >>> fold(" Not  Sure")
    'not sure'
    """
    return " ".join(word.casefold().split())


def affirmative(no: str) -> str | None:
    """The yes to a no, in the same case, or None for any other word.

    >>> affirmative("Nein"), affirmative("NO"), affirmative("ham")
    ('Ja', 'YES', None)
    """
    found = next((yes for word, yes in PAIRS if word == fold(no)), None)
    if found is None or no.islower():
        return found
    return found.upper() if no.isupper() else found.capitalize()


# What in a column of labels looks like a mistake.

MARKERS = frozenset({"?", "-", "--", ".", "unknown", "unlabeled", "unlabelled", "unl", "missing", "u"})


def refuse_marker(where: str, counts: Mapping[Any, int]) -> None:
    """Refuse what is more likely a mark of unlabelled rows than a third class."""
    marker = next((v for v in counts if isinstance(v, str) and v.casefold() in MARKERS), None)
    if marker is not None and len(counts) > 2:
        raise TableError(
            f"{where} holds {marker!r} in {counts[marker]} rows beside {len(counts) - 1} other labels. If it "
            f"marks unlabelled rows, pass unlabeled={marker!r}."
        )
