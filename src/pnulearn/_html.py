"""How values look in a notebook: small tables, with everything escaped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

STYLE = "text-align:left;border-collapse:collapse;font-variant-numeric:tabular-nums"


def show_facts(caption: str, facts: Mapping[str, str]) -> str:
    """An HTML table of names and values.

    >>> "<td>0.1</td>" in show_facts("risk", {"value": "0.1"})
    True
    """
    rows = "".join(f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in facts.items())
    return _table(caption, rows)


def show_rows(caption: str, names: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """An HTML table with a head."""
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return _table(caption, f"<tr>{head}</tr>{body}")


def _table(caption: str, rows: str) -> str:
    heading = f"<caption>{escape(caption)}</caption>"
    return f'<table class="pnulearn" style="{STYLE}">{heading}<tbody>{rows}</tbody></table>'
