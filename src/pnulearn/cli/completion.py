"""What the shell offers when Tab is pressed: names of columns, read from the file that was typed before."""

from __future__ import annotations

from pathlib import Path

import typer

MOST_BYTES = 50_000_000  # nobody waits longer for a Tab


def complete_column(context: typer.Context, incomplete: str) -> list[str]:
    """Columns of FILE that begin like this; nothing if there is no such file or it cannot be read."""
    return [name for name in _columns(context) if name.startswith(incomplete)]


def complete_kind(context: typer.Context, incomplete: str) -> list[str]:
    """COLUMN=KIND: first the column, then the kind."""
    name, equals, kind = incomplete.rpartition("=")
    if equals:
        from pnulearn.tables._kinds import KINDS

        return [f"{name}={known}" for known in KINDS if known.startswith(kind)]
    return [f"{column}=" for column in _columns(context) if column.startswith(incomplete)]


def _columns(context: typer.Context) -> list[str]:
    from pnulearn._tables.reading import read_table

    typed = context.params.get("file") or context.args  # a line that ends in --label is not parsed to its end
    try:
        for file in map(Path, [typed] if isinstance(typed, str) else typed):
            if file.is_file() and file.stat().st_size < MOST_BYTES:
                return read_table(file).names
    except Exception:  # a traceback between two words that somebody is typing helps nobody
        pass
    return []
