"""Months in words, as people write them: "3 Mar 2024", "March 3rd, 2024", "3. März 2024", "03-mars-24"."""

from __future__ import annotations

from typing import Any

# English, German, French, Spanish, Italian, Portuguese, Dutch: beginnings, after which letters may follow.
MONTHS = (
    "jan|jän|gen|ene",
    "feb|fév|fev",
    "mar|mär|mrz|maart|mrt",
    "apr|avr|abr",
    "may|mai|mag|mei",
    "jun|juin|giu",
    "jul|juil|lug",
    "aug|aoû|ago|aou",
    "sep|set",
    "oct|okt|ott|out",
    "nov",
    "dec|dez|déc|dic",
)
_WEEKDAY = r"(?:\pL{2,10}\.?,? )?"
_DAY, _YEAR = r"(\d{1,2})(?:st|nd|rd|th)?", r"(\d{4}|\d{2})\b"


def _day_first(names: str) -> str:
    return rf"^{_WEEKDAY}{_DAY}\.?[ -](?:de |of )?(?i:{names})\pL{{0,7}}\.?,?[ -](?:de )?{_YEAR}"


def _month_first(names: str) -> str:
    return rf"^{_WEEKDAY}(?i:{names})\pL{{0,7}}\.? {_DAY},? {_YEAR}"


IN_WORDS = f"{_day_first('|'.join(MONTHS))}|{_month_first('|'.join(MONTHS))}"


def spell_in_numbers(texts: Any) -> Any:
    """The same Arrow array with dates such as "March 3, 2024" as "3.3.2024"; other texts are as they were.

    >>> import pyarrow as pa
    >>> spell_in_numbers(pa.array(["March 3rd, 2024", "Mon, 04-Mai-24 10:00", "5. März 2024", "marble 7"])).to_pylist()
    ['3.3.2024', '4.5.24 10:00', '5.3.2024', 'marble 7']
    """
    import pyarrow.compute as pc

    if not pc.any(pc.match_substring_regex(texts, IN_WORDS)).as_py():
        return texts
    for number, names in enumerate(MONTHS, start=1):
        for pattern in (_day_first(names), _month_first(names)):
            texts = pc.replace_substring_regex(texts, pattern, rf"\1.{number}.\2")
    return texts
