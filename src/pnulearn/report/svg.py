"""Axes that draw SVG: as much of matplotlib's as the displays of a report use, at a hundredth of its cost.

A display draws on these axes as it does on matplotlib's. Marks are kept in the units of the data and become SVG when
everything is known: the limits, and how much room the labels take.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from html import escape
from types import SimpleNamespace
from typing import Any

import numpy as np

from pnulearn._arrays import AnyArray

DPI = 72.0  # units of the SVG per inch
FONT, SMALL = 11.0, 9.2  # sizes of letters
WIDTH = 0.56  # of a letter, in its size; DejaVu Sans and what stands for it
MARGIN, TICK, GAP = 6.0, 4.0, 3.0
PADDING = 0.05  # of the data's range on either side
CYCLE = ("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#7f7f7f", "#bcbd22", "#17becf")
DASHES = {"-": "", ":": "1.6 2.6", "--": "5.5 2.4"}
# Viridis at nine places, between which colours are interpolated.
VIRIDIS = ("#440154", "#472d7b", "#3b528b", "#2c728e", "#21918c", "#28ae80", "#5ec962", "#addc30", "#fde725")
INK = "currentColor"  # the page's own, in light and in dark


@dataclass
class Scale:
    """Numbers to places along an axis."""

    low: float = math.inf
    high: float = -math.inf
    fixed: list[float | None] = field(default_factory=lambda: [None, None])
    logarithmic: bool = False
    ticks: tuple[list[float], list[str]] | None = None
    n_bins: int = 6
    format: Callable[[float], str] | None = None
    label: str = ""
    rotation: float = 0.0
    tight: bool = False  # without room around the data

    def see(self, values: Any) -> None:
        """Data that the axis has to hold."""
        values = np.asarray(values, dtype=float)
        values = values[np.isfinite(values) & ((values > 0) | (not self.logarithmic))]
        if values.size:
            self.low, self.high = min(self.low, float(values.min())), max(self.high, float(values.max()))

    def limits(self) -> tuple[float, float]:
        """The ends of the axis."""
        low, high = (self.low, self.high) if self.low <= self.high else (0.0, 1.0)
        if low == high:
            low, high = low - 0.5, high + 0.5
        if self.logarithmic:
            room = 0.0 if self.tight else PADDING * math.log(high / low)
            low, high = low * math.exp(-room), high * math.exp(room)
        else:
            room = 0.0 if self.tight else PADDING * (high - low)
            low, high = low - room, high + room
        return (low if self.fixed[0] is None else self.fixed[0]), (high if self.fixed[1] is None else self.fixed[1])

    def place(self, values: Any, start: float, stop: float) -> AnyArray:
        """Where values lie between two places."""
        low, high = self.limits()
        values = np.asarray(values, dtype=float)
        if self.logarithmic:
            share = np.log(np.maximum(values, 1e-300) / low) / math.log(high / low)
        else:
            share = (values - low) / (high - low)
        return start + share * (stop - start)

    def marks(self) -> list[tuple[float, str]]:
        """Ticks within the limits, with their words."""
        low, high = self.limits()
        if self.ticks is not None:
            found = list(zip(*self.ticks, strict=True))
        elif self.logarithmic:
            powers = range(math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9) + 1)
            found = [(10.0**power, _power(power)) for power in powers]
        else:
            places = nice_ticks(low, high, self.n_bins)
            words = _format_all(places) if self.format is None else list(map(self.format, places))
            found = list(zip(places, words, strict=True))
        room = 1e-9 * abs(high - low)
        return [(place, word) for place, word in found if low - room <= place <= high + room]

    def depth(self) -> float:
        """How much room the words below an axis take."""
        words = [word for _, word in self.marks()]
        if self.rotation:
            return 0.71 * (self.widest() + FONT) + 2 * GAP
        return 1.2 * FONT * max((word.count("\n") + 1 for word in words), default=0)

    def widest(self) -> float:
        """How wide the words beside an axis are."""
        return max((text_width(word, FONT) for _, word in self.marks()), default=0.0)


def nice_ticks(low: float, high: float, n_bins: int) -> list[float]:
    """Multiples of 1, 2, 2.5 or 5 times a power of ten, at most `n_bins` steps of them.

    >>> nice_ticks(0, 1, 5), nice_ticks(-3, 18, 4)
    ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [0.0, 5.0, 10.0, 15.0])
    """
    raw = (high - low) / n_bins
    power = 10.0 ** math.floor(math.log10(raw))
    step = next((one * power for one in (1, 2, 2.5, 5) if one * power >= raw * (1 - 1e-9)), 10 * power)
    digits = max(0, 2 - math.floor(math.log10(step)))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(number * step, digits) + 0.0 for number in range(first, last + 1)]


def _format_all(places: Sequence[float]) -> list[str]:
    """With as many decimals as tell them apart."""
    digits = next((d for d in range(7) if all(abs(round(p, d) - p) < 1e-9 for p in places)), 6)
    return [f"{place:.{digits}f}".replace("-", "\N{MINUS SIGN}") for place in places]


def _power(power: int) -> str:
    return "10" + str(power).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


@dataclass(frozen=True)
class _Entry:
    """A line of the legend: its words, and how to draw its sign at a place."""

    label: str
    sign: Callable[[float, float], str]


class Axes:
    """One plot of some inches. What matplotlib's axes of the same methods do is described there."""

    def __init__(self, size: tuple[float, float]):
        self.size = size
        self.x, self.y = Scale(), Scale()
        self.xaxis = SimpleNamespace(set_major_formatter=self._set_formatter)
        self.figure = SimpleNamespace(colorbar=self._add_colorbar)
        self._marks: list[Callable[[_Frame], str]] = []
        self._entries: list[_Entry] = []
        self._legend: dict[str, Any] | None = None
        self._colorbar: tuple[float, float, str] | None = None
        self._lines: list[tuple[AnyArray, AnyArray]] = []  # points that a legend should not hide
        self._n_colors = 0

    def plot(
        self,
        x: Any,
        y: Any,
        style: str = "",
        *,
        color: str | None = None,
        linewidth: float = 1.5,
        alpha: float = 1.0,
        marker: str = "",
        markersize: float = 6.0,
        markeredgecolor: str | None = None,
        linestyle: str = "",
        label: str = "",
    ) -> None:
        """A line, signs, or both."""
        color = self._color(color)
        marker = marker or next((sign for sign in "os|*" if sign in style), "")
        line = linestyle or next((one for one in ("--", "-", ":") if one in style), "" if style else "-")
        xs, ys = np.atleast_1d(np.asarray(x, dtype=float)), np.atleast_1d(np.asarray(y, dtype=float))
        self.x.see(xs)
        self.y.see(ys)
        dense = np.linspace(0, len(xs) - 1, 20 * len(xs))
        self._lines.append((np.interp(dense, np.arange(len(xs)), xs), np.interp(dense, np.arange(len(ys)), ys)))
        edge = markeredgecolor or color

        def sign(px: float, py: float) -> str:
            return _marker(marker, px, py, markersize, color, edge, alpha)

        def draw(frame: _Frame) -> str:
            px, py = frame.points(xs, ys)
            path = _line(px, py, color, linewidth, alpha, line) if line in DASHES and len(px) > 1 else ""
            return path + ("".join(map(sign, px, py)) if marker else "")

        def entry(px: float, py: float) -> str:
            ends = np.array([px - 9, px + 9])
            path = _line(ends, np.array([py, py]), color, linewidth, alpha, line) if line in DASHES else ""
            return path + (sign(px, py) if marker else "")

        self._add(draw, label, entry)

    def fill_between(
        self, x: Any, y1: Any, y2: Any = 0.0, *, color: str | None = None, alpha: float = 1.0, label: str = "", **_: Any
    ) -> None:
        """The area between two curves."""
        color = self._color(color, advance=False)
        xs = np.asarray(x, dtype=float)
        low, high = (np.broadcast_to(np.asarray(y, dtype=float), xs.shape) for y in (y1, y2))
        self.x.see(xs)
        self.y.see([low, high])

        def draw(frame: _Frame) -> str:
            px, py = frame.points(np.concatenate([xs, xs[::-1]]), np.concatenate([low, high[::-1]]))
            return _area(px, py, color, alpha)

        self._add(draw, label, lambda px, py: _rectangle(px - 9, py - 4, 18, 8, color, alpha))

    def hlines(self, y: Any, low: Any, high: Any, *, color: str, alpha: float = 1.0, linewidth: float = 1.5) -> None:
        """Level lines."""
        for place, start, stop in zip(y, low, high, strict=True):
            self.plot([start, stop], [place, place], color=color, alpha=alpha, linewidth=linewidth)

    def axvline(self, x: float, *, color: str, linestyle: str = "-") -> None:
        """A line from the bottom to the top."""
        self.x.see(x)
        self._marks.append(
            lambda frame: _line(
                np.repeat(frame.points([x], [0])[0], 2), np.array([frame.bottom, frame.top]), color, 1.5, 1.0, linestyle
            )
        )

    def axhline(self, y: float, *, color: str, linestyle: str = "-", label: str = "") -> None:
        """A line from the left to the right."""
        self.y.see(y)

        def draw(frame: _Frame) -> str:
            ends = np.array([frame.left, frame.right])
            return _line(ends, np.repeat(frame.y.place([y], frame.bottom, frame.top), 2), color, 1.5, 1.0, linestyle)

        self._add(
            draw,
            label,
            lambda px, py: _line(np.array([px - 9, px + 9]), np.array([py, py]), color, 1.5, 1.0, linestyle),
        )

    def bar(self, x: Any, height: Any, *, color: str, alpha: float = 1.0, label: str = "", width: float = 0.8) -> None:
        """Bars that stand on zero."""
        xs, heights = np.asarray(x, dtype=float), np.asarray(height, dtype=float)
        self.x.see([xs - width / 2, xs + width / 2])
        self.y.see(np.append(heights, 0.0))
        self._lines.append((xs, heights))

        def draw(frame: _Frame) -> str:
            left, top = frame.points(xs - width / 2, heights)
            right, ground = frame.points(xs + width / 2, np.zeros(len(xs)))
            return "".join(
                _rectangle(a, min(b, d), c - a, abs(d - b), color, alpha)
                for a, b, c, d in zip(left, top, right, ground, strict=True)
            )

        self._add(draw, label, lambda px, py: _rectangle(px - 9, py - 4, 18, 8, color, alpha))

    def hist(
        self,
        values: Any,
        *,
        bins: Sequence[float],
        weights: Any,
        color: str,
        alpha: float,
        histtype: str,
        linewidth: float,
        label: str,
    ) -> None:
        """A histogram as a stair, filled or not."""
        heights, edges = np.histogram(values, bins=bins, weights=weights)
        xs, ys = np.repeat(edges, 2), np.concatenate([[0.0], np.repeat(heights, 2), [0.0]])
        if histtype == "stepfilled":
            self.fill_between(xs, ys, color=color, alpha=alpha, label=label)
            return
        self.plot(xs, ys, color=color, alpha=alpha, linewidth=linewidth, label=label)

    def pcolormesh(self, x: Any, y: Any, values: Any, *, cmap: str = "viridis") -> tuple[float, float]:
        """Cells of a grid in colours; gives the range of the values, which a colour bar needs."""
        values = np.asarray(values, dtype=float)
        low, high = float(np.nanmin(values)), float(np.nanmax(values))
        self.x.see(x)
        self.y.see(y)
        self.x.tight = self.y.tight = True

        def draw(frame: _Frame) -> str:
            px, py = frame.x.place(x, frame.left, frame.right), frame.y.place(y, frame.bottom, frame.top)
            cells = [
                _rectangle(px[j], py[i + 1], px[j + 1] - px[j] + 0.3, py[i] - py[i + 1] + 0.3, _shade(value, low, high))
                for i, row in enumerate(values)
                for j, value in enumerate(row)
                if np.isfinite(value)
            ]
            return "".join(cells)

        self._marks.append(draw)
        return low, high

    def set(self, **given: Any) -> None:
        """Limits, labels, ticks and the scale."""
        for axis, scale in (("x", self.x), ("y", self.y)):
            if f"{axis}scale" in given:
                scale.logarithmic = given[f"{axis}scale"] == "log"
            scale.fixed = list(given.get(f"{axis}lim", scale.fixed))
            scale.label = given.get(f"{axis}label", scale.label)
            if f"{axis}ticks" in given:
                scale.ticks = (list(given[f"{axis}ticks"]), [""] * len(given[f"{axis}ticks"]))

    def set_xticks(self, places: Iterable[float], words: Iterable[str], *, rotation: float = 0.0) -> None:
        """Ticks with their words."""
        self.x.ticks, self.x.rotation = (list(places), list(words)), rotation
        self.x.see(self.x.ticks[0])

    def set_yticks(self, places: Iterable[float], words: Iterable[str]) -> None:
        """Ticks with their words."""
        self.y.ticks = (list(places), list(words))
        self.y.see(self.y.ticks[0])

    def locator_params(self, *, axis: str, nbins: int) -> None:
        """At most so many steps between ticks."""
        getattr(self, axis).n_bins = nbins

    def legend(self, **given: Any) -> None:
        """Words for what has a label: inside, or above if an anchor says so."""
        self._legend = given

    def render(self) -> str:
        """The plot as the inside of an SVG element."""
        frame = _Frame.around(self.x, self.y, self.size, self._legend_height(), self._colorbar)
        parts = [mark(frame) for mark in self._marks]
        clip = f'<clipPath id="clip">{_rectangle(frame.left, frame.top, frame.width, frame.height, "none")}</clipPath>'
        inside = f'<g clip-path="url(#clip)">{"".join(parts)}</g>'
        return clip + inside + frame.draw() + self._draw_legend(frame) + self._draw_colorbar(frame)

    def _add(self, draw: Callable[[_Frame], str], label: str, sign: Callable[[float, float], str]) -> None:
        self._marks.append(draw)
        if label:
            self._entries.append(_Entry(label, sign))

    def _color(self, color: str | None, *, advance: bool = True) -> str:
        if color is None:
            color = f"C{self._n_colors}"
            self._n_colors += advance
        return CYCLE[int(color[1:]) % len(CYCLE)] if color[0] == "C" else color

    def _set_formatter(self, pattern: str) -> None:
        self.x.format = lambda value: pattern.format(x=value).replace("-", "\N{MINUS SIGN}")

    def _add_colorbar(self, values: tuple[float, float], *, ax: Any, label: str) -> None:
        self._colorbar = (*values, label)

    @property
    def _is_above(self) -> bool:
        return self._legend is not None and "bbox_to_anchor" in self._legend

    def _letters(self) -> float:
        return SMALL if (self._legend or {}).get("fontsize") == "small" else FONT

    def _legend_rows(self) -> list[list[_Entry]]:
        n_columns = int((self._legend or {}).get("ncols", 1))
        entries = self._entries if self._legend is not None else []
        return [entries[start : start + n_columns] for start in range(0, len(entries), n_columns)]

    def _legend_height(self) -> float:
        return (1.45 * self._letters() * len(self._legend_rows()) + GAP) if self._is_above else 0.0

    def _draw_legend(self, frame: _Frame) -> str:
        rows, letters = self._legend_rows(), self._letters()
        if not rows:
            return ""
        wide = [
            30 + max(text_width(row[k].label, letters) for row in rows if k < len(row)) for k in range(len(rows[0]))
        ]
        total, step = sum(wide), 1.45 * letters
        left, top = frame.left + (frame.width - total) / 2, frame.top + GAP
        if self._is_above:
            top = frame.top - self._legend_height()
        elif "loc" not in (self._legend or {}):
            left, top = self._emptiest_corner(frame, total, step * len(rows))
        parts = []
        for number, row in enumerate(rows):
            middle = top + step * (number + 0.5)
            for k, entry in enumerate(row):
                start = left + sum(wide[:k])
                parts.append(entry.sign(start + 11, middle))
                parts.append(text(entry.label, start + 25, middle + letters * 0.36, letters))
        return "".join(parts)

    def _emptiest_corner(self, frame: _Frame, width: float, height: float) -> tuple[float, float]:
        """The corner where a legend hides fewest points of the lines."""
        x, y = (np.concatenate(parts) for parts in zip(*(frame.points(*line) for line in self._lines), strict=True))
        corners = [
            (left, top)
            for top in (frame.top + GAP, frame.bottom - height - GAP)
            for left in (frame.right - width - GAP, frame.left + GAP)
        ]

        def hidden(corner: tuple[float, float]) -> int:
            left, top = corner
            return int(np.sum((x > left - GAP) & (x < left + width + GAP) & (y > top - GAP) & (y < top + height + GAP)))

        return min(corners, key=hidden)

    def _draw_colorbar(self, frame: _Frame) -> str:
        if self._colorbar is None:
            return ""
        low, high, label = self._colorbar
        left, step = frame.right + 14, frame.height / 60
        cells = [_rectangle(left, frame.bottom - (k + 1) * step, 11, step + 0.3, _shade(k, 0, 59)) for k in range(60)]
        scale = Scale(low, high, [low, high])
        ticks = [
            _line(np.array([left + 11, left + 11 + TICK]), np.array([y, y]), INK, 0.8)
            + text(word, left + 11 + TICK + GAP, y + FONT * 0.36, FONT)
            for (_, word), y in _placed(scale, frame.bottom, frame.top)
        ]
        right, middle = left + 11 + TICK + 2 * GAP + scale.widest() + FONT, (frame.top + frame.bottom) / 2
        return "".join(cells + ticks) + text(label, right, middle, FONT, "middle", -90)


def _placed(scale: Scale, start: float, stop: float) -> list[tuple[tuple[float, str], float]]:
    """Ticks with their places."""
    return [(mark, float(scale.place(mark[0], start, stop))) for mark in scale.marks()]


@dataclass(frozen=True)
class _Frame:
    """The rectangle of the data within the picture, around which the labels have room."""

    x: Scale
    y: Scale
    left: float
    right: float
    top: float
    bottom: float

    @classmethod
    def around(
        cls, x: Scale, y: Scale, size: tuple[float, float], above: float, colorbar: tuple[float, float, str] | None
    ) -> _Frame:
        """As large as the labels allow."""
        left = MARGIN + y.widest() + TICK + GAP
        left += FONT + 2 * GAP if y.label else 0.0
        below = [word for _, word in x.marks()]
        bottom = MARGIN + x.depth() + TICK + GAP + (FONT + 2 * GAP if x.label else 0.0)
        right = MARGIN + (text_width(below[-1].split("\n")[0], FONT) / 2 if below and not x.rotation else 0.0)
        if colorbar is not None:
            wide = max(
                (text_width(word, FONT) for _, word in Scale(*colorbar[:2], list(colorbar[:2])).marks()), default=0
            )
            right = MARGIN + 14 + 11 + TICK + 3 * GAP + wide + 1.4 * FONT
        width, height = (DPI * one for one in size)
        return cls(x, y, left, width - right, MARGIN + above, height - bottom)

    @property
    def width(self) -> float:
        return self.right - self.left

    @property
    def height(self) -> float:
        return self.bottom - self.top

    def points(self, x: Any, y: Any) -> tuple[AnyArray, AnyArray]:
        """Places of data."""
        return self.x.place(x, self.left, self.right), self.y.place(y, self.bottom, self.top)

    def draw(self) -> str:
        """Two axes with ticks, words and labels."""
        across, down = [self.left, self.left, self.right], [self.top, self.bottom, self.bottom]
        parts = [_line(np.array(across), np.array(down), INK, 0.8)]
        for (_, word), place in _placed(self.x, self.left, self.right):
            ends = np.array([self.bottom, self.bottom + TICK])
            parts.append(_line(np.array([place, place]), ends, INK, 0.8))
            for number, line in enumerate(word.split("\n")):
                y = self.bottom + TICK + GAP + FONT * (0.8 + 1.2 * number)
                if self.x.rotation:
                    parts.append(text(line, place + FONT * 0.3, y, FONT, "end", -self.x.rotation))
                else:
                    parts.append(text(line, place, y, FONT, "middle"))
        for (_, word), place in _placed(self.y, self.bottom, self.top):
            parts.append(_line(np.array([self.left - TICK, self.left]), np.array([place, place]), INK, 0.8))
            parts.append(text(word, self.left - TICK - GAP, place + FONT * 0.36, FONT, "end"))
        middle = (self.left + self.right) / 2
        if self.x.label:
            below = self.bottom + TICK + 2 * GAP + self.x.depth() + 0.8 * FONT
            parts.append(text(self.x.label, middle, below, FONT, "middle"))
        if self.y.label:
            parts.append(text(self.y.label, MARGIN + 0.8 * FONT, (self.top + self.bottom) / 2, FONT, "middle", -90))
        return "".join(parts)


def text_width(words: str, letters: float) -> float:
    """About how wide a line of text is."""
    return WIDTH * letters * max(map(len, words.split("\n")), default=0)


def text(words: str, x: float, y: float, letters: float, anchor: str = "start", turned: float = 0.0) -> str:
    """A line of text; dollar signs that matplotlib would have to be kept from reading as formulas are plain."""
    turn = f' transform="rotate({turned:g} {x:.1f} {y:.1f})"' if turned else ""
    content = escape(words.replace(r"\$", "$"))
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{letters:g}" text-anchor="{anchor}"{turn}>{content}</text>'


def _line(x: AnyArray, y: AnyArray, color: str, width: float, alpha: float = 1.0, style: str = "-") -> str:
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True) if math.isfinite(a) and math.isfinite(b))
    dash = f' stroke-dasharray="{DASHES[style]}"' if DASHES[style] else ""
    return (
        f'<polyline points="{points}" fill="none" stroke="{color}" stroke-width="{width:g}"{_opacity(alpha)}{dash} '
        'stroke-linejoin="round"/>'
    )


def _area(x: AnyArray, y: AnyArray, color: str, alpha: float) -> str:
    points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x, y, strict=True) if math.isfinite(a) and math.isfinite(b))
    return f'<polygon points="{points}" fill="{color}"{_opacity(alpha)}/>'


def _rectangle(x: float, y: float, width: float, height: float, color: str, alpha: float = 1.0) -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}"'
    return f'<rect {place} fill="{color}"{_opacity(alpha)}/>'


def _marker(kind: str, x: float, y: float, size: float, color: str, edge: str, alpha: float) -> str:
    if not (math.isfinite(x) and math.isfinite(y)):
        return ""
    half = size / 2
    if kind == "s":
        return _rectangle(x - half, y - half, size, size, color, alpha)
    if kind == "|":
        return _line(np.array([x, x]), np.array([y - half, y + half]), color, 1.5, alpha)
    if kind == "*":
        corners = [(half * (1 if k % 2 == 0 else 0.4), math.pi * k / 5) for k in range(10)]
        points = " ".join(f"{x + r * math.sin(a):.1f},{y - r * math.cos(a):.1f}" for r, a in corners)
        return f'<polygon points="{points}" fill="{color}" stroke="{edge}"/>'
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{half:g}" fill="{color}"{_opacity(alpha)}/>'


def _opacity(alpha: float) -> str:
    return "" if alpha == 1 else f' opacity="{alpha:g}"'


def _shade(value: float, low: float, high: float) -> str:
    """A colour of viridis."""
    share = (value - low) / (high - low) if high > low else 0.5
    place = min(max(share, 0.0), 1.0) * (len(VIRIDIS) - 1)
    first = min(int(place), len(VIRIDIS) - 2)
    pairs = zip(*(bytes.fromhex(VIRIDIS[k][1:]) for k in (first, first + 1)), strict=True)
    return "#" + "".join(f"{round(a + (place - first) * (b - a)):02x}" for a, b in pairs)
