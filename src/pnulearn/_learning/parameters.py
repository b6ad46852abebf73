"""Checks of PNUClassifier's parameters, and what to do when a group of rows is missing."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pnulearn._basis.kernels import KERNELS
from pnulearn._machine.memory import free_memory
from pnulearn._machine.threads import check_n_jobs
from pnulearn._problem.samples import Samples
from pnulearn.losses import as_loss

CHOICES = {
    "risk": ("pnu", "punu", "pn", "pu", "nu"),
    "kernel": tuple(KERNELS),
    "selection": ("average", "best"),
    "tie_break": ("risk", "first"),
    "sampling": ("case_control", "single_set"),
}
NEEDS = {"pn": "PN", "pu": "PU", "nu": "NU", "punu": "PNU", "pnu": "PNU"}
WORDS = {"P": "positive", "N": "negative", "U": "unlabelled"}


def check_parameters(estimator: Any) -> None:
    """Refuse parameters that cannot mean anything, each with what would."""
    for name, allowed in CHOICES.items():
        if getattr(estimator, name) not in allowed:
            raise ValueError(
                f"{name} must be one of {', '.join(map(repr, allowed))}, got {getattr(estimator, name)!r}."
            )
    as_loss(estimator.loss)
    low, high = (0, 1) if estimator.risk == "punu" else (-1, 1)
    numbers(estimator.mix, "mix", lambda v: (v >= low) & (v <= high), f"between {low} and {high}")
    numbers(estimator.alpha, "alpha", lambda v: v > 0, "positive: without a penalty the risk may have no minimum")
    numbers(estimator.bandwidth, "bandwidth", lambda v: v > 0, "positive")
    check_n_jobs(estimator.n_jobs)


def numbers(value: Any, name: str, allowed: Any, words: str) -> NDArray | None:
    """A number or several as an array; None stays None."""
    if value is None:
        return None
    try:
        array = np.atleast_1d(np.asarray(value, dtype=float))
    except (TypeError, ValueError):
        raise TypeError(f"{name} must be a number or numbers, got {value!r}.") from None
    if array.ndim != 1 or len(array) == 0 or not np.isfinite(array).all() or not np.all(allowed(array)):
        raise ValueError(f"{name} must be finite and {words}, got {value!r}.")
    return array


def feasible_risk(risk: str, mix: Any, samples: Samples, classes: NDArray) -> str:
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
        stacklevel=3,
    )
    return fitting[0]


def _present(samples: Samples) -> set[str]:
    """Which of P, N and U have rows; with more than two classes P and N stand for all of them."""
    counts = samples.counts
    groups = {"U"} if len(samples.population) and (samples.codes < 0).any() else set()
    if samples.n_classes > 2:
        return groups | {"P", "N"}
    return groups | {name for name, count in zip("NP", counts, strict=True) if count > 0}


def _refuse_more_classes(risk: str, classes: NDArray) -> None:
    if len(classes) > 2 and risk in ("pu", "nu"):
        raise ValueError(f"risk={risk!r} is for two classes and y has {len(classes)}. Use risk='pnu' or 'pn'.")


def refuse_if_too_large(n_rows: int, n_features: int, n_copies: int) -> None:
    """Stop before memory is exhausted rather than in the middle."""
    needed, memory = 8 * n_rows * n_features * n_copies, free_memory()
    if needed > 0.8 * memory:
        raise MemoryError(
            f"{n_rows} rows x {n_features} basis functions need about {needed / 2**30:.1f} GiB and "
            f"{memory / 2**30:.1f} GiB are free. Pass fewer centers, e.g. centers=200, or fit from files in one pass."
        )
