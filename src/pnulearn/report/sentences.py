"""What figures of a report show, in sentences that are no stronger than the evidence."""

from __future__ import annotations

from collections.abc import Sequence

from pnulearn.inspection._importance import ColumnImportance
from pnulearn.report.ladder import ALONE, Rung

FEW = 3
SAME = 0.05  # points
INSTEAD = {
    "labels alone": "here labels alone do better, so pass --risk pn, and doubt the prior.",
    "labels and prior": "here the unlabelled rows do harm, so pass --risk pn.",
    "without averaging": "here averaging does harm; in Python pass selection='best'.",
}


def say_columns(importances: Sequence[ColumnImportance]) -> str:
    """Which columns the model needs."""
    sure = [one for one in importances if one.rise.low > 0]
    if not sure:
        first = importances[0]
        return (
            f"Of no single column can these labels tell that the model needs it. Its decisions hang most on "
            f"{first.column!r}: shuffled, {100 * first.changed:.0f} % of the rows would be decided otherwise."
        )
    named = [f"{one.column!r} ({100 * one.rise.value:+.0f} points of error without it)" for one in sure[:FEW]]
    rest = len(importances) - len(sure)
    others = f" Of the other {rest} columns it cannot be told that they matter." if rest else ""
    return f"Most important: {', '.join(named)}.{others}"


def say_rungs(rungs: Sequence[Rung]) -> str:
    """What each ingredient brought, in the order of the ladder."""
    return " ".join(_say_rung(rung) for rung in rungs)


def _say_rung(rung: Rung) -> str:
    learner = rung.name.removesuffix(ALONE)
    words = {
        "labels alone": "A supervised model of the labelled rows alone",
        "labels and prior": "Told the shares of the classes as well, it",
        "without averaging": "The single best candidate instead of the average of all",
    }.get(rung.name, f"The {learner} alone")
    value, low, high = (100 * part for part in (rung.rise.value, rung.rise.low, rung.rise.high))
    if low <= 0 <= high:
        if abs(value) < SAME:
            return f"{words} errs as often as this model, give or take ({low:+.1f} to {high:+.1f} points)."
        gap = f"{abs(value):.1f} points {'more' if value >= 0 else 'less'} often"
        return f"{words} errs {gap} than this model, which chance alone could explain ({low:+.1f} to {high:+.1f})."
    if low > 0:
        pays = "this ingredient pays" if rung.name in INSTEAD else "the average pays"
        return f"{words} errs {value:.1f} points more often ({low:+.1f} to {high:+.1f}): {pays}."
    instead = INSTEAD.get(rung.name, f"here the average does harm, so pass --learner {learner}.")
    return f"{words} errs {-value:.1f} points less often ({low:+.1f} to {high:+.1f}): {instead}"
