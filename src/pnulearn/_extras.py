"""Packages that only some uses need. This file imports nothing heavy: the command line starts with it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def import_extra(extra: str, use: str) -> Iterator[None]:
    """Say what to install where an import inside the block fails.

    >>> with import_extra("report", "Drawing"):
    ...     import no_such_package
    Traceback (most recent call last):
    ImportError: Drawing needs no_such_package: pip install 'pnulearn[report]'
    """
    try:
        yield
    except ModuleNotFoundError as error:
        raise ImportError(f"{use} needs {error.name}: pip install 'pnulearn[{extra}]'", name=error.name) from None
