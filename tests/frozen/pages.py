"""The text and the structure of HTML pages: a line for every block, without styles, pictures, times and versions."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

from pnulearn import _demo

from .commands import TABLES, answer, inside_a_folder

BLOCKS = {"title", "header", "main", "footer", "nav", "section", "h1", "h2", "h3", "p", "pre", "ul", "li", "dl", "dt"}
BLOCKS |= {"dd", "figure", "figcaption", "details", "summary", "table", "thead", "tbody", "tr"}
SILENT = {"style", "script"}
CELLS = {"td", "th"}
CHANGING = re.compile(r"^tr (fitting|this report|python|pnulearn|numpy|scipy|scikit-learn) \| ")


def demo_report() -> dict[str, list[str]]:
    """The report on the table of `pnulearn demo`."""
    with inside_a_folder():
        _demo.write_table(Path())
        answer("fit shop.csv --label renews --labels random --report report.html --json")
        return {"report": page_lines(Path("report.html").read_text(encoding="utf-8"))}


def evaluation_page() -> dict[str, list[str]]:
    """The page of `pnulearn evaluate --report`."""
    with inside_a_folder(TABLES):
        answer("evaluate later.csv --label bought --score score --helper other --prior 0.4 --report page.html --json")
        return {"page": page_lines(Path("page.html").read_text(encoding="utf-8"))}


def page_lines(page: str) -> list[str]:
    """The blocks of a page in their order: tag, id and text; cells of a table row with bars between.

    >>> page_lines('<section id="a"><h2>Two <em>words</em></h2><table><tr><td>1</td><td>2</td></tr></table></section>')
    ['section#a', 'h2 Two words', 'table', 'tr 1 | 2']
    """
    reader = _Reader()
    reader.feed(page)
    reader.close()
    lines = [" ".join(line.split()) for line in reader.lines]
    return [line for line in lines if not CHANGING.match(line)]


class _Reader(HTMLParser):
    """Text outside of blocks of its own joins the block that was opened last."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self._skipped = ""  # the element that is being left out
        self._cells = 0

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        if self._skipped:
            return
        if tag == "svg":
            self.lines.append(f"svg {given.get('aria-label')}")
        if tag == "svg" or tag in SILENT:
            self._skipped = tag
        elif tag in BLOCKS:
            self.lines.append(tag + (f"#{given['id']}" if given.get("id") else "") + " ")
            self._cells = 0
        elif tag in CELLS:
            self.lines[-1] += " | " if self._cells else ""
            self._cells += 1

    def handle_endtag(self, tag: str) -> None:
        if tag == self._skipped:
            self._skipped = ""

    def handle_data(self, data: str) -> None:
        if self.lines and not self._skipped:
            self.lines[-1] += data
