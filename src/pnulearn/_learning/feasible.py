"""What can be learnt from the rows at hand: when a group of them is missing, or there are too many."""

from __future__ import annotations

import warnings
from typing import Any

from pnulearn._arrays import AnyArray
from pnulearn._basis.basis import Basis
from pnulearn._machine import free_memory
from pnulearn._problem.samples import Samples

NEEDS = {"pn": "PN", "pu": "PU", "nu": "NU", "punu": "PNU", "pnu": "PNU"}
WORDS = {"P": "positive", "N": "negative", "U": "unlabelled"}


def feasible_risk(risk: str, mix: Any, samples: Samples, classes: AnyArray) -> str:
    """The risk asked for, or the one that the rows at hand allow, with a warning that says so."""
    present = _present(samples)
    if set(NEEDS[risk]) <= present:
        _refuse_more_classes(risk, classes)
        return risk
    missing = " and ".join(WORDS[group] for group in NEEDS[risk] if group not in present)
    fitting = [name for name in ("pn", "pu", "nu") if set(NEEDS[name]) <= present]
    if not fitting:
        found = ", ".join(
            f"{count:g} of class {name!r}" for name, count in zip(classes.tolist(), samples.counts, strict=True)
        )
        raise ValueError(
            f"risk={risk!r} needs {missing} rows, and nothing else can be learnt either: one class alone ({found}, no "
            "unlabelled rows) does not make a classifier. Add rows of the other class or unlabelled rows; if a value "
            "in y marks unlabelled rows, name it with unlabeled=..."
        )
    if mix is not None:
        raise ValueError(
            f"mix={mix!r} needs {missing} rows, and there are none. Use risk={fitting[0]!r} and leave mix out."
        )
    if risk in ("pu", "nu") and "U" not in present:
        hint = " No row of y is missing or marked: is unlabeled=... right?"
    else:
        hint = ""
    warnings.warn(
        f"There are no {missing} rows, so the {fitting[0].upper()} risk is used instead of {risk.upper()}.{hint}",
        UserWarning,
        stacklevel=4,
    )
    return fitting[0]


def _present(samples: Samples) -> set[str]:
    """Which of P, N and U have rows; with more than two classes P and N stand for all of them."""
    counts = samples.counts
    groups = {"U"} if len(samples.unlabeled) else set()
    if samples.n_classes > 2:
        return groups | {"P", "N"}
    return groups | {name for name, count in zip("NP", counts, strict=True) if count > 0}


def _refuse_more_classes(risk: str, classes: AnyArray) -> None:
    if len(classes) > 2 and risk in ("pu", "nu"):
        raise ValueError(f"risk={risk!r} is for two classes and y has {len(classes)}. Use risk='pnu' or 'pn'.")


def refuse_if_too_large(needed: int, what: str, basis: Basis) -> None:
    """Stop before any work rather than in the middle of it, when memory is exhausted."""
    memory = free_memory()
    if needed > 0.8 * memory:
        raise MemoryError(
            f"{what} need about {needed / 2**30:.1f} GiB and "
            f"{memory / 2**30:.1f} GiB are free. {basis.remedy}, or fit from files in one pass."
        )
