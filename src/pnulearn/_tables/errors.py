"""Errors about tables, all of one class: what was found, where, and what to do about it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from pnulearn._extras import import_extra


class TableError(ValueError):
    """A file that cannot be read as a table, or a column that cannot be used, with the way out."""


def need_arrow() -> None:
    """Say what to install if pyarrow is not there."""
    with import_extra("io", "Reading tables"):
        import pyarrow  # noqa: F401


def suggestion(name: str, names: Iterable[str]) -> str:
    """What the user may have meant, or what there is."""
    from difflib import get_close_matches

    names = list(names)
    folded = {other.casefold(): other for other in names}
    close = get_close_matches(name.casefold(), folded, n=1)
    if close:
        return f"Did you mean {folded[close[0]]!r}?"
    return f"Its columns are {', '.join(map(repr, names[:12]))}{', ...' if len(names) > 12 else ''}."


def refuse_doubled(source: str, names: Iterable[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise TableError(f"{source} has more than one column {name!r}. Rename one of them.")
        seen.add(name)


def rename_doubled(source: str, names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Names that differ, and a remark on those that got a number.

    >>> rename_doubled("t.csv", ["a", "b", "a"])
    (['a', 'b', 'a 2'], ["t.csv has more than one column 'a'; a further one is called 'a 2'."])
    """
    taken, unique, remarks = set(names), [], []
    seen: set[str] = set()
    for name in names:
        new, number = name, 2
        while new in seen or (new != name and new in taken):
            new, number = f"{name} {number}", number + 1
        if new != name:
            remarks.append(f"{source} has more than one column {name!r}; a further one is called {new!r}.")
        seen.add(new)
        unique.append(new)
    return unique, remarks


@contextmanager
def naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn whatever goes wrong with a file into an error that names it; what may be over soon stays an OSError."""
    import pyarrow as pa

    try:
        yield
    except TableError:
        raise
    except pa.ArrowInvalid as error:
        raise TableError(f"{path} cannot be read: {_first_line(error)} Is it complete?") from error
    except PermissionError as error:
        raise PermissionError(f"No permission to read {path}.") from error
    except (pa.ArrowException, OSError) as error:
        raise OSError(f"{path} cannot be read: {_first_line(error)}") from error


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0] if str(error) else type(error).__name__
