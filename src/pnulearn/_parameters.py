"""Estimators whose parameters are the annotated fields of a class and of those it inherits from, each written once."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass, field
from typing import TypeVar, dataclass_transform

Estimator = TypeVar("Estimator")

HEADING = "Parameters\n----------\n"


@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(field,))
def parameters(estimator: type[Estimator]) -> type[Estimator]:
    """Give a class the `__init__` that scikit-learn asks for: parameters are kept as they are given.

    Descriptions of inherited parameters join those of the class's own docstring, unless it describes that name itself.
    Identity and printing stay scikit-learn's.
    """
    estimator.__doc__ = _inherit_descriptions(estimator)
    return dataclass(eq=False, repr=False, kw_only=True)(estimator)


def _inherit_descriptions(estimator: type) -> str | None:
    own = inspect.cleandoc(estimator.__doc__ or "")
    inherited = next((kind.__doc__ for kind in estimator.__mro__[1:] if HEADING in (kind.__doc__ or "")), None)
    if not own or inherited is None:  # running without docstrings, or the first of its line
        return own or None
    before, entries, after = _split(own)
    known = {name for entry in entries for name in _names(entry)}
    entries += [entry for entry in _split(inherited)[1] if not known.intersection(_names(entry))]
    return "\n\n".join(part for part in (before, HEADING + "\n".join(entries), after) if part)


def _split(doc: str) -> tuple[str, list[str], str]:
    """What stands before the parameters, one text per description, what stands after."""
    before, _, rest = doc.partition(HEADING)
    described, *others = re.split(r"\n\n(?=[^\n]+\n-+\n)", rest, maxsplit=1) if rest else [""]
    entries = re.split(r"\n(?=\S)", described.strip("\n")) if described else []
    return before.rstrip("\n"), entries, "".join(others)


def _names(entry: str) -> list[str]:
    """`alpha, entropy : float` describes two parameters."""
    return re.split(r",\s*", entry.partition("\n")[0].partition(" : ")[0])
