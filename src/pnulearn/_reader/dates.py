"""Parsing of dates and times into days since 1970, in the usual orders, with or without a time of day."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pnulearn._arrays import AnyArray

# Dates with month names: "3 Mar 2024", "March 3rd, 2024", "3. März 2024", "03-mars-24".

# Prefixes of month names in English, German, French, Spanish, Italian, Portuguese and Dutch.
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
    """The same Arrow array with dates such as "March 3, 2024" as "3.3.2024"; other texts are unchanged.

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


# Dates and times in digits.

_DATE = (
    r"(?:(?P<y>\d{4})[-/.](?P<m>\d{1,2})[-/.](?P<d>\d{1,2})"
    r"|(?P<first>\d{1,2})(?P<mark>[-/.])(?P<second>\d{1,2})[-/.](?P<year>\d{4}|\d{2}))"
)
_TIME = (
    r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<s>\d{2}(?:\.\d+)?))?\s*(?P<half>[AaPp]\.?[Mm]\.?)?"
    r"\s*(?P<zone>Z|UTC|[-+]\d{2}:?\d{2})?"
)
_PATTERN = rf"^(?:{_DATE}(?:[ T]{_TIME})?)$"
_CLOCK = rf"^{_TIME}$"


@dataclass(frozen=True, eq=False)
class Moments:
    """Days since 1970 for each text, NaN if it is not a date; `day_first` is how 1/2/2024 was read, if it occurs.

    `doubtful` is such a text if none of them proves the order. Times without a date are fractions of a day, and
    `has_date` is false.
    """

    days: AnyArray
    has_date: bool = True
    day_first: bool | None = None
    doubtful: str = ""


def read_dates(texts: Sequence[str], day_first: bool | None = None) -> Moments:
    """Dates in digits or words. `day_first` is the order of 1/2/2024, unless the texts prove the other one.

    >>> read_dates(["1970-01-02", "2.1.1970 12:00", "3/1/70", "Jan 4, 1970", "soon"]).days.tolist()
    [1.0, 1.5, 2.0, 3.0, nan]
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    array = spell_in_numbers(pa.array(texts, pa.string()))
    clock = pc.extract_regex(array, _CLOCK)
    if clock.null_count < len(array) / 2:
        return Moments(_time_of_day(_parts(clock)), has_date=False)
    parts = _parts(pc.extract_regex(array, _PATTERN))
    first, second = _numbers(parts["first"]), _numbers(parts["second"])
    dotted = np.array([mark in (".", "-") for mark in parts["mark"].to_pylist()], dtype=bool)
    slashed, doubtful = np.flatnonzero(~np.isnan(first) & ~dotted), ""
    if len(slashed):
        is_day = bool(np.any(first[slashed] > 12)), bool(np.any(second[slashed] > 12))
        if is_day[0] != is_day[1]:
            day_first = is_day[0]
        else:
            doubtful = "" if is_day[0] else texts[slashed[0]]
            day_first = True if day_first is None else day_first
    swapped = ~dotted & (day_first is False)
    day, month = np.where(swapped, second, first), np.where(swapped, first, second)
    year = _numbers(parts["year"])
    year = np.where(year < 100, year + np.where(year < 70, 2000, 1900), year)
    iso = ~np.isnan(_numbers(parts["y"]))
    days = _days(*(np.where(iso, _numbers(parts[k]), v) for k, v in (("y", year), ("m", month), ("d", day))))
    return Moments(days + np.nan_to_num(_time_of_day(parts)), True, day_first, doubtful)


def _parts(found: Any) -> dict[str, Any]:
    import pyarrow.compute as pc

    return {field.name: pc.struct_field(found, field.name) for field in found.type}


def _numbers(array: Any) -> AnyArray:
    import pyarrow as pa
    import pyarrow.compute as pc

    filled = pc.if_else(pc.equal(array, ""), pa.scalar(None, pa.string()), array)
    return filled.cast(pa.float64()).to_numpy(zero_copy_only=False).astype(float)


def _days(year: AnyArray, month: AnyArray, day: AnyArray) -> AnyArray:
    """Days since 1970; NaN for invalid dates such as the 30th of February."""
    valid = (month >= 1) & (month <= 12) & (day >= 1) & (year >= 1)
    y, m, d = (np.where(valid, part, 1).astype(int) for part in (year, month, day))
    start = (y - 1970).astype("M8[Y]").astype("M8[M]") + (m - 1)
    moment = start.astype("M8[D]") + (d - 1)
    valid &= moment.astype("M8[M]") == start
    return np.where(valid, moment.astype("M8[D]").astype(float), np.nan)


def _time_of_day(parts: dict[str, Any]) -> AnyArray:
    """Hours, minutes and seconds as a fraction of a day, converted to UTC if a time zone is given."""
    hour, minute, second = (_numbers(parts[name]) for name in ("hour", "minute", "s"))
    half = [(text or "")[:1].lower() for text in parts["half"].to_pylist()]
    hour = np.where(np.isin(half, ["a", "p"]), hour % 12, hour) + 12 * (np.array(half) == "p")
    offset = np.array([_zone_hours(text) for text in parts["zone"].to_pylist()])
    return (hour - offset + minute / 60 + np.nan_to_num(second) / 3600) / 24


def _zone_hours(text: str | None) -> float:
    """
    >>> _zone_hours("+05:30"), _zone_hours("Z")
    (5.5, 0.0)
    """
    if not text or text[0] not in "+-":
        return 0.0
    return float(text[0] + "1") * (int(text[1:3]) + int(text[-2:]) / 60)
