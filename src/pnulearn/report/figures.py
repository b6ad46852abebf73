"""The pictures of a report as inline SVG that takes its colours from the page, in light and in dark."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from pnulearn.advice import Advice
from pnulearn.plots import (
    BandwidthDisplay,
    PriorDisplay,
    RiskSurfaceDisplay,
    ScoreDisplay,
    VarianceRatioDisplay,
)
from pnulearn.plots.drawing import COLORS
from pnulearn.report.findings import Findings

INK = "#123456"  # stands for the colour of the page's text until the SVG is finished
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
}


def draw_figures(findings: Findings) -> dict[str, str]:
    """Every picture that the findings allow, by name."""
    classifier = findings.fitted.model.classifier
    pictures: dict[str, tuple[Callable[[Any], Any], tuple[float, float], str]] = {
        "search": (lambda ax: RiskSurfaceDisplay.from_estimator(classifier, ax=ax), (5.2, 4.0), "Validation risk"),
    }
    if len(classifier.search_.bandwidths) > 1:
        pictures["bandwidth"] = (
            lambda ax: BandwidthDisplay.from_estimator(classifier, ax=ax),
            (5.2, 3.0),
            "Bandwidths",
        )
    if len(classifier.classes_) == 2:
        codes = findings.fitted.codes
        share = float(np.mean(codes[codes >= 0] == 1))
        prior = PriorDisplay(classifier.prior_, classifier.prior_interval_, share, classifier.prior_estimate_)
        pictures["prior"] = (prior.plot, (5.2, 1.6 if prior.mass is None else 2.6), "Class prior")
        pictures["scores"] = (ScoreDisplay.from_codes(codes, findings.scores).plot, (5.2, 3.3), "Scores")
    if findings.over_prior:
        pictures["over-prior"] = (lambda ax: _draw_over_prior(findings, ax), (5.2, 2.6), "Error over the prior")
    if findings.comparison is not None:
        pictures["validation"] = (lambda ax: _draw_comparison(findings, ax), (5.2, 1.6), "Error of both models")
    if findings.advice is not None:
        pictures["help"] = (lambda ax: _draw_advice(findings.advice, ax), (5.2, 3.0), "Variance against PN")
    if findings.bins:
        pictures["reliability"] = (lambda ax: _draw_bins(findings, ax), (5.2, 4.2), "Reliability")
    return {name: as_svg(name, *picture) for name, picture in pictures.items()}


def as_svg(name: str, draw: Callable[[Any], Any], size: tuple[float, float], title: str) -> str:
    """Draw on fresh axes and return an SVG element whose ids are unique on the page."""
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=size, layout="constrained")
        FigureCanvasSVG(figure)
        draw(figure.subplots())
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    svg = buffer.getvalue()
    svg = svg[svg.index("<svg") :].replace(INK, "currentColor")
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\bid="', f'id="{name}-', svg)
    svg = re.sub(r'((?:xlink:)?href="#|url\(#)', rf"\g<1>{name}-", svg)
    opening = rf'<svg viewBox="\1" role="img" aria-label="{title}">'
    return re.sub(r'<svg[^>]*?viewBox="([^"]*)"[^>]*>', opening, svg, count=1)


def _draw_comparison(findings: Findings, ax: Any) -> None:
    comparison = findings.comparison
    assert comparison is not None
    rows = (
        ("labels only", comparison.second, "unlabeled"),
        ("with unlabelled", comparison.first, "positive"),
    )
    for place, (_, risk, color) in enumerate(rows):
        ax.plot([risk.low, risk.high], [place, place], color=COLORS[color], linewidth=4, alpha=0.5)
        ax.plot(risk.value, place, "o", color=COLORS[color], markersize=8)
    ax.set_yticks([0, 1], [name for name, _, _ in rows])
    ax.set(ylim=(-0.6, 1.6), xlabel="error rate in the population", xlim=(min(0, ax.get_xlim()[0]), None))


def _draw_over_prior(findings: Findings, ax: Any) -> None:
    priors = [point.prior for point in findings.over_prior]
    ax.plot(priors, [point.error for point in findings.over_prior], "o-", color=COLORS["positive"], label="error")
    changed = [point.changed for point in findings.over_prior]
    ax.plot(priors, changed, "s:", color=COLORS["unlabeled"], label="rows to decide otherwise")
    ax.set(xlim=(0, 1), ylim=(0, None), xlabel="share of positives, if it were this", ylabel="share of rows")
    ax.legend(frameon=False, fontsize="small")


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
    ax.set(xlim=(0, 1), ylim=(-0.02, 1.02), xlabel="probability said", ylabel="share of positives found")
    ax.legend(frameon=False)
