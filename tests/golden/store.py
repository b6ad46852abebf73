"""Golden values on disk: one JSON file per case, one line per quantity, floats with all their digits."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).parent / "values"
TOLERANCE = 1e-9  # of the largest number of a quantity, on every machine


def stored_names() -> set[str]:
    return {path.stem for path in FOLDER.glob("*.json")}


def read(case: str) -> dict[str, Any]:
    return json.loads((FOLDER / f"{case}.json").read_text())


def write(case: str, quantities: Mapping[str, Any]) -> None:
    lines = [f"{json.dumps(name)}: {json.dumps(_plain(value))}" for name, value in quantities.items()]
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / f"{case}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n")


def differences(case: str, expected: Mapping[str, Any], found: Mapping[str, Any]) -> list[str]:
    """One line for every quantity that is not what it was, with the case, the quantity and the largest difference."""
    missing = [f"{case}: {name} is missing" for name in expected if name not in found]
    extra = [f"{case}: {name} is not stored" for name in found if name not in expected]
    reasons = {name: _difference(expected[name], _plain(found[name])) for name in expected if name in found}
    return missing + extra + [f"{case}: {name} {reason}" for name, reason in reasons.items() if reason]


def _difference(expected: Any, found: Any) -> str:
    before, now = np.asarray(expected), np.asarray(found)
    if before.shape != now.shape:
        return f"has shape {now.shape}, was {before.shape}"
    if before.dtype.kind in "US" or now.dtype.kind in "US":
        n_changed = int((before != now).sum())
        return f"differs in {n_changed} of {before.size}: {found}, was {expected}" if n_changed else ""
    if np.allclose(now, before, rtol=0, atol=TOLERANCE * scale(before), equal_nan=True):
        return ""
    gap = np.abs(np.subtract(now, before, out=np.zeros(before.shape), where=now != before))
    worst = np.unravel_index(int(np.argmax(np.nan_to_num(gap, nan=np.inf))), gap.shape)
    return f"differs by up to {gap[worst]:.3g}: {now[worst]!r}, was {before[worst]!r}"


def scale(values: Any) -> float:
    """The largest finite number of a quantity; 1 if there is none but zero."""
    numbers = np.asarray(values, dtype=float)
    return float(np.abs(numbers[np.isfinite(numbers)]).max(initial=0)) or 1.0


def _plain(value: Any) -> Any:
    array = np.asarray(value)
    return (array if array.dtype.kind in "US" else array.astype(float)).tolist()
