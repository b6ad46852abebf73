"""Tables as Markdown and LaTeX, from rows of cells that know whether they are bold."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pnulearn.laboratory.experiments.significance import Summary


@dataclass(frozen=True)
class Text:
    """A cell: what it says, and whether in bold."""

    words: str
    bold: bool = False

    def markdown(self) -> str:
        return f"**{self.words}**" if self.bold and self.words else self.words

    def latex(self) -> str:
        words = self.words.replace("%", r"\%").replace("_", r"\_").replace("#", r"\#")
        return rf"\textbf{{{words}}}" if self.bold and words else words


@dataclass(frozen=True)
class Table:
    """A heading and rows of cells, all of one length."""

    heading: Sequence[str]
    rows: Sequence[Sequence[Text]]

    def markdown(self) -> str:
        """
        >>> print(Table(["set", "PNU"], [[Text("banana"), Text("30.1 (1.0)", bold=True)]]).markdown())
        | set | PNU |
        |---|---|
        | banana | **30.1 (1.0)** |
        """
        lines = [list(self.heading), ["---"] * len(self.heading)]
        head, rule = (f"| {' | '.join(lines[0])} |", f"|{'|'.join(lines[1])}|")
        return "\n".join([head, rule, *(f"| {' | '.join(cell.markdown() for cell in row)} |" for row in self.rows)])

    def latex(self) -> str:
        """A tabular with booktabs' rules."""
        head = " & ".join(Text(name).latex() for name in self.heading)
        body = "\n".join(" & ".join(cell.latex() for cell in row) + r" \\" for row in self.rows)
        columns = "l" + "r" * (len(self.heading) - 1)
        above = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule", rf"{head} \\", r"\midrule"]
        return "\n".join([*above, body, r"\bottomrule", r"\end{tabular}"])


def show_cell(cell: Summary | None, digits: int = 1) -> str:
    """Mean and standard error as the paper prints them."""
    if cell is None:
        return ""
    return f"{cell.mean:.{digits}f} ({cell.stderr:.{digits}f})" if cell.n > 1 else f"{cell.mean:.{digits}f}"


def write_text(path: Path, text: str) -> Path:
    """Write the whole file or nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_text(text.rstrip() + "\n")
    temporary.replace(path)
    return path
