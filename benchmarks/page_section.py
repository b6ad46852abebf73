"""Sections of a page of results, each written by the benchmark that measured it."""

from __future__ import annotations

from pathlib import Path

RESULTS = Path(__file__).parents[1] / "results"


def write_section(page: Path, title: str, text: str) -> None:
    """Replace what stands under `## title`, or add it before the last section; a page that is not there is begun."""
    head, *sections = ("\n" + (page.read_text() if page.exists() else "")).split("\n## ")
    names = [section.splitlines()[0] for section in sections]
    place = names.index(title) if title in names else len(sections) - 1
    new = f"{title}\n\n{text.strip()}\n"
    sections[place : place + (title in names)] = [new]
    page.write_text("\n## ".join([head, *sections])[1:])
