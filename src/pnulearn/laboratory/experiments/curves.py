"""Panels of curves with standard errors. matplotlib is imported only here, when something is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._machine.extras import import_extra

COLORS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#56b4e9", "#000000", "#999999")
COLUMNS = 3


@dataclass(frozen=True)
class Curve:
    """One curve of one panel: values of shape (trials, len(x)), and the line that theory draws, if any."""

    panel: str
    label: str
    x: Sequence[float]
    values: AnyArray
    theory: AnyArray | None = None

    @property
    def mean(self) -> AnyArray:
        return self.values.mean(axis=0)

    @property
    def stderr(self) -> AnyArray:
        return self.values.std(axis=0, ddof=1) / np.sqrt(len(self.values)) if len(self.values) > 1 else 0 * self.mean


def new_figure(width: float, height: float) -> Any:
    """A figure without a window. The same picture gives the same bytes."""
    with import_extra("report", "Drawing"):
        import matplotlib
        from matplotlib.figure import Figure
    matplotlib.rcParams.update({"svg.hashsalt": "pnulearn", "svg.fonttype": "none"})
    return Figure(figsize=(width, height), layout="constrained")


def save(figure: Any, path: Path) -> Path:
    """Write an SVG file without a date in it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, metadata={"Date": None})
    return path


def draw_panels(curves: Sequence[Curve], path: Path, x_label: str, y_label: str) -> list[Path]:
    """One panel for every panel name, each curve in a band of one standard error, theory as lines."""
    panels = list(dict.fromkeys(curve.panel for curve in curves))
    if not panels:
        return []
    lines = -(-len(panels) // COLUMNS)
    figure = new_figure(4 * min(COLUMNS, len(panels)), 3 * lines)
    axes = np.atleast_1d(figure.subplots(lines, min(COLUMNS, len(panels)), sharey="row", squeeze=False)).ravel()
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
    return [save(figure, path)]


def _draw_curve(ax: Any, curve: Curve, color: str) -> None:
    """Points on the line that theory draws, or joined if there is none, in a band of one standard error."""
    style = {"marker": "o", "markersize": 2, "linestyle": "none"} if curve.theory is not None else {"linewidth": 1}
    ax.plot(curve.x, curve.mean, color=color, label=curve.label, **style)
    ax.fill_between(curve.x, curve.mean - curve.stderr, curve.mean + curve.stderr, color=color, alpha=0.2, linewidth=0)
    if curve.theory is not None:
        ax.plot(curve.x, curve.theory, color=color, linewidth=0.8)
