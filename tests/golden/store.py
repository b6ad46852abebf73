"""Golden values on disk: one JSON file per case, one line per quantity, floats with all their digits."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_info

FOLDER = Path(__file__).parent / "values"
MACHINE = Path(__file__).parent / "machine.json"
OF_THE_BEST = ("mix", "alpha", "bandwidth")
EXACT, ELSEWHERE = 1e-12, 1e-3  # relative and absolute; badly conditioned candidates feel another BLAS


def machine() -> dict[str, str]:
    """What the last bits depend on: the versions of the numerical libraries and the kind of processor."""
    blas = {str(one.get("architecture")) for one in threadpool_info() if one.get("user_api") == "blas"}
    versions = {name: version(name) for name in ("numpy", "scipy", "scikit-learn")}
    return {**versions, "processor": ", ".join(sorted(blas))}


def note_machine() -> None:
    MACHINE.write_text(json.dumps(machine(), indent=1) + "\n")


def tolerance() -> float:
    """Exact on a machine like the one that wrote the values; elsewhere only gross changes can be told from rounding."""
    return EXACT if machine() == json.loads(MACHINE.read_text()) else ELSEWHERE


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
    common = [name for name in expected if name in found]
    close = tolerance()
    if close > EXACT:  # single candidates, which averages and decisions do not hang on; the best two may tie
        common = [name for name in common if not name.startswith("search_") and name not in OF_THE_BEST]
    reasons = {name: _difference(expected[name], _plain(found[name]), close) for name in common}
    return missing + extra + [f"{case}: {name} {reason}" for name, reason in reasons.items() if reason]


def _difference(expected: Any, found: Any, close: float) -> str:
    before, now = np.asarray(expected), np.asarray(found)
    if before.shape != now.shape:
        return f"has shape {now.shape}, was {before.shape}"
    if before.dtype.kind in "US" or now.dtype.kind in "US":
        n_changed = int((before != now).sum())
        return f"differs in {n_changed} of {before.size}: {found}, was {expected}" if n_changed else ""
    if np.allclose(now, before, rtol=close, atol=close, equal_nan=True):
        return ""
    gap = np.where(now == before, 0.0, np.abs(now - before))
    worst = np.unravel_index(int(np.argmax(np.nan_to_num(gap, nan=np.inf))), gap.shape)
    return f"differs by up to {gap[worst]:.3g}: {now[worst]!r}, was {before[worst]!r}"


def _plain(value: Any) -> Any:
    array = np.asarray(value)
    return (array if array.dtype.kind in "US" else array.astype(float)).tolist()
