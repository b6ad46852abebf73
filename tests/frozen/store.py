"""Snapshots on disk: a JSON file each. Structure and words are compared exactly, numbers up to rounding.

Numbers agree to 1e-7. Figures that were rounded before they were printed (six decimals in predictions, fewer in
pages) may differ by one unit of the last decimal: processors round a value on the border of two figures either way.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "values"
CLOSE = 1e-7  # relative, and absolute near zero; intervals of priors differ by up to 3e-8 between processors
SINGLE_PRECISION = {"commands_one_pass": 1e-4}  # sums of 32-bit numbers differ by up to 1e-5 between processors
ROUNDED_TO = 6  # decimals of probabilities in tables of predictions
DIGITS = 12
FIGURE = re.compile(r"\d+(?:\.\d+)?")


def read(name: str) -> Any:
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def write(name: str, value: Any) -> None:
    FOLDER.mkdir(exist_ok=True)
    lines = [f"{_text(key)}: {_lines(part) if isinstance(part, list) else _text(part)}" for key, part in value.items()]
    (FOLDER / f"{name}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def changes(name: str, found: Any) -> list[str]:
    """One line for every place at which a snapshot differs from what is stored."""
    return list(differences(read(name), json.loads(json.dumps(found)), SINGLE_PRECISION.get(name, CLOSE)))


def differences(expected: Any, found: Any, close: float = CLOSE, where: str = "") -> Iterator[str]:
    """The same for two values.

    >>> list(differences({"a": [1.0, 2.0]}, {"a": [1.0, 2.1], "b": "new"}))
    ["['a'][1] is 2.1, was 2.0", "['b'] is new: 'new'"]
    """
    if isinstance(expected, dict) and isinstance(found, dict):
        for key in expected | found:
            place = f"{where}[{key!r}]"
            if key not in found:
                yield f"{place} is missing"
            elif key not in expected:
                yield f"{place} is new: {found[key]!r:.200}"
            else:
                yield from differences(expected[key], found[key], close, place)
    elif isinstance(expected, list) and isinstance(found, list):
        if len(expected) != len(found):
            yield f"{where} has {len(found)} items, was {len(expected)}"
        for place, (before, now) in enumerate(zip(expected, found, strict=False)):
            yield from differences(before, now, close, f"{where}[{place}]")
    elif not _are_alike(expected, found, close):
        yield f"{where} is {found!r}, was {expected!r}"


def _are_alike(expected: Any, found: Any, close: float) -> bool:
    if _is_number(expected) and _is_number(found):
        rounded = expected == round(expected, ROUNDED_TO) and found == round(found, ROUNDED_TO)
        unit = 1.01 * 10**-ROUNDED_TO if rounded else 0.0
        return math.isclose(expected, found, rel_tol=close, abs_tol=max(close, unit))
    if isinstance(expected, str) and isinstance(found, str):
        return expected == found or _read_alike(expected, found)
    return type(expected) is type(found) and expected == found


def _read_alike(expected: str, found: str) -> bool:
    """Whether two texts have the same words, and figures that differ by at most one unit of the last decimal.

    >>> _read_alike("errs on 11.8 %", "errs on 11.9 %"), _read_alike("errs on 11.8 %", "errs on 12.0 %")
    (True, False)
    >>> _read_alike("20 rows", "21 rows")
    False
    """
    if FIGURE.sub("#", expected) != FIGURE.sub("#", found):
        return False
    pairs = zip(FIGURE.findall(expected), FIGURE.findall(found), strict=True)
    return all(one == other or abs(float(one) - float(other)) <= 1.01 * _unit(one, other) for one, other in pairs)


def _unit(*figures: str) -> float:
    """One unit of the last decimal of the longer figure; zero for two whole numbers, which are counts."""
    decimals = max(len(figure.partition(".")[2]) for figure in figures)
    return 10.0**-decimals if decimals else 0.0


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _lines(values: list[Any]) -> str:
    """A line for every item, so that a change can be read."""
    return "[\n" + ",\n".join(map(_text, values)) + "\n]"


def _text(value: Any) -> str:
    return json.dumps(_short(value), ensure_ascii=False)


def _short(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _short(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_short(part) for part in value]
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value
