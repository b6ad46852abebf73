"""Words that mean yes and no, in the languages that tables come in."""

from __future__ import annotations

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
