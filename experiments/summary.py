"""From rows to what is shown: means with standard errors, t-tests, Markdown and LaTeX tables, panels of curves."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from scipy import stats

from experiments.trials import Row

LEVEL = 0.05
COLORS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#000000", "#999999")
PANELS_PER_LINE = 3


def group_rows(rows: Iterable[Row], names: Sequence[str]) -> dict[tuple[Any, ...], list[Row]]:
    """Rows by the values of some of their fields, in order of appearance."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in names), []).append(row)
    return groups


@dataclass(frozen=True)
class Summary:
    """Mean over trials, its standard error, and the number of trials."""

    mean: float
    stderr: float
    n: int

    @classmethod
    def of(cls, values: Sequence[float]) -> Summary:
        """
        >>> Summary.of([1.0, 2.0, 3.0])
        Summary(mean=2.0, stderr=0.577, n=3)
        """
        stderr = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
        return cls(float(np.mean(values)), float(stderr), len(values))


def comparable(cells: Mapping[str, Summary], level: float = LEVEL) -> set[str]:
    """The best method and those that a one-sided, unpaired t-test does not find worse, as the paper's boldface.

    t = (mean − best mean) / √(s.e.² + s.e.²) must stay below the critical value for n + n − 2 degrees of freedom.
    Methods with a single trial have no standard error and take no part.
    """
    judged = {name: cell for name, cell in cells.items() if cell.n > 1}
    if not judged:
        return set()
    best = min(judged.values(), key=lambda cell: cell.mean)
    return {name for name, cell in judged.items() if _statistic(cell, best) < _critical(cell, best, level)}


def _statistic(cell: Summary, best: Summary) -> float:
    gap, spread = cell.mean - best.mean, float(np.hypot(cell.stderr, best.stderr))
    if gap == 0:
        return 0.0
    return gap / spread if spread > 0 else np.inf


def _critical(cell: Summary, best: Summary, level: float) -> float:
    return float(stats.t.ppf(1 - level, cell.n + best.n - 2))


def comparable_paired(errors: Mapping[str, Mapping[int, float]], level: float = LEVEL) -> set[str]:
    """The same with a paired test on the trials both methods ran: sharper, because trials differ more than methods."""
    judged = {name: trials for name, trials in errors.items() if len(trials) > 1}
    if not judged:
        return set()
    best = min(judged, key=lambda name: np.mean(list(judged[name].values())))
    return {name for name in judged if name == best or not _worse(judged[name], judged[best], level)}


def _worse(errors: Mapping[int, float], best: Mapping[int, float], level: float) -> bool:
    shared = sorted(set(errors) & set(best))
    difference = np.array([errors[trial] - best[trial] for trial in shared])
    if len(shared) < 2:
        return True  # nothing says that it is as good
    if not difference.std():
        return bool(difference[0] > 0)
    return bool(stats.ttest_1samp(difference, 0, alternative="greater").pvalue < level)


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
        lines = [self.heading, *([cell.markdown() for cell in row] for row in self.rows)]
        head, *rest = (f"| {' | '.join(words)} |" for words in lines)
        return "\n".join([head, f"|{'---|' * len(self.heading)}", *rest])

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


@dataclass(frozen=True)
class Curve:
    """One curve of one panel: values of shape (trials, len(x)), and what theory predicts, if anything."""

    panel: str
    label: str
    x: Sequence[float]
    values: np.ndarray
    theory: np.ndarray | None = None

    @property
    def mean(self) -> np.ndarray:
        return self.values.mean(axis=0)

    @property
    def stderr(self) -> np.ndarray:
        return self.values.std(axis=0, ddof=1) / np.sqrt(len(self.values)) if len(self.values) > 1 else 0 * self.mean


def new_figure(width: float, height: float) -> Any:
    """A figure without a window; the same data give the same file."""
    matplotlib.rcParams.update({"svg.hashsalt": "pnulearn", "svg.fonttype": "none"})
    return Figure(figsize=(width, height), layout="constrained")


def save_figure(figure: Any, path: Path) -> Path:
    """Write an SVG file without a date in it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})
    return path


def draw_panels(curves: Sequence[Curve], path: Path, x_label: str, y_label: str) -> list[Path]:
    """One panel for every panel name, each curve in a band of one standard error, theory as lines."""
    panels = list(dict.fromkeys(curve.panel for curve in curves))
    if not panels:
        return []
    lines = -(-len(panels) // PANELS_PER_LINE)
    figure = new_figure(4 * min(PANELS_PER_LINE, len(panels)), 3 * lines)
    axes = np.atleast_1d(figure.subplots(lines, min(PANELS_PER_LINE, len(panels)), sharey="row", squeeze=False)).ravel()
    for panel, ax in zip(panels, axes, strict=False):
        for color, curve in zip(COLORS, [c for c in curves if c.panel == panel], strict=False):
            _draw_curve(ax, curve, color)
        ax.axhline(1, color="#888888", linewidth=0.8)
        ax.set_title(panel)
        ax.legend(fontsize=7)
    for ax in axes[len(panels) :]:
        ax.set_visible(False)
    figure.supxlabel(x_label)
    figure.supylabel(y_label, fontsize=9)
    return [save_figure(figure, path)]


def _draw_curve(ax: Any, curve: Curve, color: str) -> None:
    """Points beside the line of the theory, or a line if there is none, in a band of one standard error."""
    style = {"marker": "o", "markersize": 2, "linestyle": "none"} if curve.theory is not None else {"linewidth": 1}
    ax.plot(curve.x, curve.mean, color=color, label=curve.label, **style)
    ax.fill_between(curve.x, curve.mean - curve.stderr, curve.mean + curve.stderr, color=color, alpha=0.2, linewidth=0)
    if curve.theory is not None:
        ax.plot(curve.x, curve.theory, color=color, linewidth=0.8)
