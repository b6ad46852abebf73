"""Rows that belong together: indexes of data frames must agree; positions count only where there is no index."""

from __future__ import annotations

from typing import Any


def refuse_misaligned(**given: Any) -> None:
    """Refuse arguments whose indexes name other rows or the same rows in another order.

    Arguments without an index (arrays, lists, polars) are matched by position, and so are those of another length,
    which other checks refuse.

    Parameters
    ----------
    **given : object
        Arguments with one entry per row, by name.

    Examples
    --------
    >>> import pandas as pd
    >>> refuse_misaligned(X=pd.DataFrame({"a": [1, 2]}, index=[7, 8]), y=pd.Series([0, 1], index=[8, 7]))
    Traceback (most recent call last):
    ...
    ValueError: The indexes of X and y disagree: row 0 is 7 in X and 8 in y. ...
    """
    indexes = {name: index for name, value in given.items() if (index := _index(value)) is not None}
    first, *others = indexes or [""]
    for name in others:
        one, other = indexes[first], indexes[name]
        if one is other or len(one) != len(other) or one.equals(other):
            continue
        pairs = list(zip(one.tolist(), other.tolist(), strict=True))
        row = next((row for row, pair in enumerate(pairs) if pair[0] != pair[1]), 0)
        raise ValueError(
            f"The indexes of {first} and {name} disagree: row {row} is {pairs[row][0]!r} in {first} and "
            f"{pairs[row][1]!r} in {name}. If the index says which rows belong together, pass "
            f"{name}.loc[{first}.index]; if the order does, pass {name}.to_numpy()."
        )


def _index(value: Any) -> Any:
    """The index of a pandas object; None for anything else."""
    index = getattr(value, "index", None)
    return index if hasattr(value, "iloc") and hasattr(index, "equals") else None
