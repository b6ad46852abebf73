"""Colours, names and axes shared by all displays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from pnulearn._extras import import_extra

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLORS = {"positive": "#d9822b", "negative": "#3b8ec2", "unlabeled": "#8a8f98"}  # readable on white and on black
WORDS = {"positive": "positive", "negative": "negative", "unlabeled": "unlabelled"}
CODES = {"positive": 1, "negative": 0, "unlabeled": -1}


def open_axes(ax: Axes | None) -> Axes:
    """The given axes, or new ones."""
    if ax is not None:
        return ax
    with import_extra("report", "Drawing"):
        from matplotlib import pyplot

    fresh: Axes = pyplot.subplots()[1]
    return fresh


def shorten(name: str, length: int = 28) -> str:
    """A name shortened in the middle to fit on an axis, with `$` escaped, which matplotlib takes for a formula.

    >>> shorten("a rather long name of a column, in euros", 20)
    'a rather l… in euros'
    """
    text = " ".join(name.split())
    if len(text) > length:
        last = (length - 1) // 2
        text = f"{text[: length - 1 - last]}…{text[-last:]}"
    return text.replace("$", r"\$")


D = TypeVar("D", bound="Display")


class Display:
    """Base class of the displays: `plot` sets `ax_` and `figure_`."""

    ax_: Axes
    figure_: Any


def keep_axes(display: D, ax: Axes) -> D:
    """The display, with `ax_` and `figure_` set."""
    display.ax_, display.figure_ = ax, ax.figure
    return display
