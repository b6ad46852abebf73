"""The figures of a report as inline SVG, with text in the colour of the page (light or dark)."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Any

import numpy as np

from pnulearn._estimators.classifier import PNUClassifier
from pnulearn.advice import Advice
from pnulearn.metrics._by_group import GroupEstimates
from pnulearn.plots import (
    EffectDisplay,
    ImportanceDisplay,
    PriorDisplay,
    RiskSurfaceDisplay,
    ScoreDisplay,
    VarianceRatioDisplay,
)
from pnulearn.plots._style import COLORS, shorten
from pnulearn.report._findings import Findings

Picture = tuple[Callable[[Any], Any], tuple[float, float], str]  # drawing function, size in inches, title
MOST_COLUMNS = 12
MOST_GROUPS = 60  # in a picture; tables have all
INK = "#123456"  # placeholder, replaced by currentColor in the SVG
STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "pnulearn",
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    **dict.fromkeys(("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color"), INK),
    "legend.labelcolor": INK,
    "legend.frameon": False,  # its white is not that of a dark page
}


def draw_figures(findings: Findings) -> dict[str, str]:
    """All figures for these findings, by name."""
    pictures = _column_pictures(findings) | _search_pictures(findings) | _two_class_pictures(findings)
    if findings.ablations:
        height = 0.9 + 0.45 * len(findings.ablations)
        pictures["ablations"] = (
            lambda ax: _draw_ablations(findings, ax),
            (5.2, height),
            "Models without one part of the method",
        )
    return {name: as_svg(name, *picture) for name, picture in pictures.items()}


def _column_pictures(findings: Findings) -> dict[str, Picture]:
    found = findings.columns
    height = 0.9 + 0.34 * min(len(found.importances), MOST_COLUMNS)
    importance = ImportanceDisplay(found.importances)
    pictures: dict[str, Picture] = {
        "importance": (lambda ax: importance.plot(ax, most=MOST_COLUMNS), (5.2, height), "Importance of columns")
    }
    for place, effect in enumerate(found.effects, 1):
        pictures[f"effect-{place}"] = (EffectDisplay(effect).plot, (3.6, 2.7), f"Effect of column {place}")
    return pictures


def _search_pictures(findings: Findings) -> dict[str, Picture]:
    classifier = findings.fitted.model.classifier
    if not isinstance(classifier, PNUClassifier):
        return {}
    draw = partial(RiskSurfaceDisplay.from_estimator, classifier)
    return {"search": (lambda ax: draw(ax=ax), (5.2, 4.0), "Validation risk")}


def _two_class_pictures(findings: Findings) -> dict[str, Picture]:
    classifier, codes = findings.fitted.model.classifier, findings.fitted.codes
    if len(classifier.classes_) > 2:
        return {}
    share = float(np.mean(codes[codes >= 0] == 1))
    prior = PriorDisplay(classifier.prior_, classifier.prior_interval_, share, classifier.prior_estimate_)
    pictures: dict[str, Picture] = {
        "prior": (prior.plot, (5.2, 1.6 if prior.mass is None else 2.6), "Class prior"),
        "scores": (ScoreDisplay.from_codes(codes, findings.scores).plot, (5.2, 3.3), "Scores"),
    }
    if len(findings.thresholds) > 1:
        pictures["thresholds"] = (lambda ax: _draw_thresholds(findings, ax), (5.6, 3.0), "Precision and recall")
    if findings.over_prior:
        pictures["over-prior"] = (lambda ax: _draw_over_prior(findings, ax), (5.2, 2.6), "Error over the prior")
    if findings.advice is not None:
        pictures["help"] = (lambda ax: _draw_advice(findings.advice, ax), (5.2, 3.0), "Variance against PN")
    if findings.bins:
        pictures["reliability"] = (lambda ax: _draw_bins(findings, ax), (5.2, 4.2), "Reliability")
    return pictures


def as_svg(name: str, draw: Callable[[Any], Any], size: tuple[float, float], title: str) -> str:
    """Draw on new axes and return an SVG element whose ids are unique on the page."""
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with matplotlib.rc_context(STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # the browser has the letters, and draws them
        figure = Figure(figsize=size, facecolor="none")
        canvas = FigureCanvasSVG(figure)
        draw(figure.subplots(subplot_kw={"facecolor": "none"}))
        _fit_margins(figure)
        buffer = io.StringIO()
        # savefig would draw everything twice, the first time without output
        canvas.print_svg(buffer, metadata={"Date": None, "Creator": None})
    svg = buffer.getvalue()
    svg = svg[svg.index("<svg") :].replace(INK, "currentColor")
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\bid="', f'id="{name}-', svg)
    svg = re.sub(r'((?:xlink:)?href="#|url\(#)', rf"\g<1>{name}-", svg)
    opening = rf'<svg viewBox="\1" role="img" aria-label="{title}">'
    return re.sub(r'<svg[^>]*?viewBox="([^"]*)"[^>]*>', opening, svg, count=1)


PADDING = 0.04  # inches around a figure
N_TICKS = 4  # intervals of an axis at most


def _fit_margins(figure: Any) -> None:
    """Margins that hold all texts, measured once; matplotlib's constrained layout measures two to three times."""
    from matplotlib.ticker import AutoLocator, FuncFormatter, NullLocator

    width, height = figure.get_size_inches()
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            if isinstance(axis.get_major_locator(), AutoLocator):
                axis.get_major_locator().set_params(nbins=N_TICKS)  # every tick takes a millisecond
            if axis.get_scale() == "log":  # powers of ten are formulas, whose parser takes long to start
                axis.set_major_formatter(FuncFormatter(lambda value, place: f"{value:g}"))
                axis.set_minor_locator(NullLocator())
    boxes = [axes.get_tightbbox() for axes in figure.axes]
    outer = figure.dpi_scale_trans.inverted().transform_bbox(type(boxes[0]).union(boxes))
    inner = figure.subplotpars
    figure.subplots_adjust(
        left=inner.left + (PADDING - outer.x0) / width,
        right=inner.right + (width - PADDING - outer.x1) / width,
        bottom=inner.bottom + (PADDING - outer.y0) / height,
        top=inner.top + (height - PADDING - outer.y1) / height,
    )
    for axes in figure.axes:
        _keep_label_inside(axes, width)


def _keep_label_inside(axes: Any, width: float) -> None:
    """Move the label below an axis, which is centred on it, so that it does not leave the figure on either side."""
    label, (left, right) = axes.xaxis.label, width * axes.get_position().intervalx
    half = label.get_window_extent().width / axes.figure.dpi / 2
    middle = max(PADDING + half, min((left + right) / 2, width - PADDING - half))
    label.set_x((middle - left) / (right - left))


def draw_estimates(estimates: Mapping[str, Any], clear: Collection[str], words: str, scale: float, ax: Any) -> None:
    """Points with their intervals, one line each, from top to bottom; those in `clear` are coloured."""
    names = list(estimates)[::-1]
    for place, name in enumerate(names):
        one = estimates[name]
        color = COLORS["positive" if name in clear else "negative"]
        ax.plot([scale * one.low, scale * one.high], [place, place], color=color, linewidth=4, alpha=0.45)
        ax.plot(scale * one.value, place, "o", color=color, markersize=8)
    ax.set_yticks(range(len(estimates)), [shorten(name) for name in names])
    ax.set(ylim=(-0.6, len(estimates) - 0.4), xlabel=words)


def group_picture(groups: GroupEstimates, words: str, scale: float) -> str:
    """The estimate of all rows and of the first groups."""
    some = {"all rows": groups.whole, **dict(list(groups.groups.items())[:MOST_GROUPS])}
    draw = partial(draw_estimates, some, groups.different, words, scale)
    return as_svg("groups", draw, (5.6, 0.9 + 0.34 * len(some)), "Estimates by group")


def _draw_ablations(findings: Findings, ax: Any) -> None:
    for place, ablation in enumerate(reversed(findings.ablations)):
        color = COLORS["positive" if ablation.rise.low > 0 else "unlabeled"]
        ax.plot(
            [100 * ablation.rise.low, 100 * ablation.rise.high], [place, place], color=color, linewidth=4, alpha=0.45
        )
        ax.plot(100 * ablation.rise.value, place, "o", color=color, markersize=8)
    ax.axvline(0, color=COLORS["unlabeled"], linestyle=":")
    ax.set_yticks(range(len(findings.ablations)), [ablation.name for ablation in reversed(findings.ablations)])
    ax.set(ylim=(-0.6, len(findings.ablations) - 0.4), xlabel="increase in error over this model, in points")


def _draw_thresholds(findings: Findings, ax: Any) -> None:
    lines = findings.thresholds
    places = [line.threshold for line in lines]
    for name, color, style in (("precision", "positive", "o-"), ("recall", "negative", "s-")):
        found = [getattr(line, name) for line in lines]
        low, high = [one.low for one in found], [one.high for one in found]
        ax.fill_between(places, low, high, color=COLORS[color], alpha=0.18, linewidth=0)
        ax.plot(places, [one.value for one in found], style, color=COLORS[color], markersize=4, label=name)
    ax.set(xlim=(0, 1), ylim=(0, 1.02), xlabel="threshold on the probability", ylabel="share")
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1), ncols=2, fontsize="small")


def _draw_over_prior(findings: Findings, ax: Any) -> None:
    priors = [point.prior for point in findings.over_prior]
    ax.plot(priors, [point.error for point in findings.over_prior], "o-", color=COLORS["positive"], label="error")
    changed = [point.changed for point in findings.over_prior]
    ax.plot(priors, changed, "s:", color=COLORS["unlabeled"], label="changed decisions")
    ax.set(xlim=(0, 1), ylim=(0, None), xlabel="assumed class prior", ylabel="share of rows")
    ax.legend(fontsize="small")


def _draw_advice(advice: Advice | None, ax: Any) -> None:
    assert advice is not None
    VarianceRatioDisplay.from_counts(
        advice.prior,
        advice.n_positive,
        advice.n_negative,
        advice.n_unlabeled,
        error_rates=advice.error_rates,
        ax=ax,
    )


def _draw_bins(findings: Findings, ax: Any) -> None:
    known = [(b.said, b.found) for b in findings.bins if b.found is not None]
    ax.plot([0, 1], [0, 1], color=COLORS["unlabeled"], linestyle=":", label="perfect")
    ax.plot(*zip(*known, strict=True), "o-", color=COLORS["positive"], label="this model")
    ax.set(xlim=(0, 1), ylim=(-0.02, 1.02), xlabel="predicted probability", ylabel="estimated share of positives")
    ax.legend()
