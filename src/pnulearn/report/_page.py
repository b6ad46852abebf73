"""Rendering of findings as one HTML page. All values are escaped by the template."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pnulearn._estimators.auto import AutoPNU
from pnulearn._estimators.classifier import PNUClassifier
from pnulearn._extras import import_extra
from pnulearn._files.outputs import REPORT, Output, check_outputs
from pnulearn._files.writing import write_atomically
from pnulearn._kernels.registry import KERNELS
from pnulearn.inspection import ColumnImportance
from pnulearn.report._ablation import ALONE, Ablation
from pnulearn.report._findings import (
    PRICES,
    AtThreshold,
    Findings,
    all_alike,
    cheapest,
    computed_threshold,
    investigate,
    nearest_to_computed,
)
from pnulearn.report._render import render_page
from pnulearn.report._rows import AT_RANDOM
from pnulearn.tables._model import Fitted
from pnulearn.tables._notes import worded
from pnulearn.tables._verdict import Verdict, percent

# Text about the results, which takes their confidence intervals into account.

FEW = 3
SAME = 0.05  # points; smaller differences are reported as equal
INSTEAD = {
    "labels alone": "here labels alone do better, so pass risk='pn', and check the prior.",
    "labels and prior": "here the unlabelled rows do harm, so pass risk='pn'.",
    "without averaging": "here averaging does harm: pass selection='best'.",
}


def say_columns(importances: Sequence[ColumnImportance]) -> str:
    """A sentence about the most important columns."""
    sure = [one for one in importances if one.rise.low > 0]
    if not sure:
        first = importances[0]
        return (
            f"These labels do not show that any single column is needed. Shuffling {first.column!r} would change the "
            f"prediction of {100 * first.changed:.0f} % of the rows, more than any other column."
        )
    named = [f"{one.column!r} ({100 * one.rise.value:+.0f} points of error without it)" for one in sure[:FEW]]
    rest = len(importances) - len(sure)
    others = f" For the other {f'{rest} columns' if rest > 1 else 'column'} no effect is shown." if rest else ""
    return f"Most important: {', '.join(named)}.{others}"


def say_ablations(ablations: Sequence[Ablation]) -> str:
    """One sentence per ablation, in their order."""
    return " ".join(_say_ablation(ablation) for ablation in ablations)


def _say_ablation(ablation: Ablation) -> str:
    learner = ablation.name.removesuffix(ALONE)
    words = {
        "labels alone": "A supervised model of the labelled rows alone",
        "labels and prior": "The same with the class prior",
        "without averaging": "The single best candidate instead of the average of all",
    }.get(ablation.name, f"The {learner} alone")
    value, low, high = (100 * part for part in (ablation.rise.value, ablation.rise.low, ablation.rise.high))
    if low <= 0 <= high:
        if abs(value) < SAME:
            return f"{words} errs about as often as this model ({low:+.1f} to {high:+.1f} points)."
        gap = f"{abs(value):.1f} points {'more' if value >= 0 else 'less'} often"
        return f"{words} errs {gap} than this model, which may be chance ({low:+.1f} to {high:+.1f})."
    if low > 0:
        pays = "this part of the method helps" if ablation.name in INSTEAD else "averaging helps"
        return f"{words} errs {value:.1f} points more often ({low:+.1f} to {high:+.1f}): {pays}."
    instead = INSTEAD.get(ablation.name, f"here averaging does harm, so pass learner={learner!r}.")
    return f"{words} errs {-value:.1f} points less often ({low:+.1f} to {high:+.1f}): {instead}"


MOST_CANDIDATES = 10
SPACE = "\N{NO-BREAK SPACE}"
CONTENTS = {
    "mistakes-section": "Right and wrong",
    "columns-section": "Columns",
    "line-section": "Choosing a threshold",
    "ablations-section": "Ablation",
    "rows-section": "Examples",
    "label-section": "What to label next",
    "prior-section": "How large the classes are",
    "trust-section": "Scores and probabilities",
    "data-section": "Data and columns",
    "search-section": "How it was found",
    "cost-section": "Reproduce",
}


def write_report(fitted: Fitted, path: str | Path, *, verdict: Verdict | None = None, overwrite: bool = False) -> None:
    """Write an HTML report about a fitted model. An existing file is kept until the new one is complete.

    Parameters
    ----------
    fitted : Fitted
        The model with its rows, e.g. `TableClassifier.fitted_`.
    path : str or Path
        The file. An existing report is replaced.
    verdict : Verdict, optional
        The verdict on the model, if it was computed before.
    overwrite : bool
        Replace any other existing file, too.
    """
    check_outputs(Output(path, REPORT), overwrite=overwrite)
    page = render(investigate(fitted, verdict)).encode()
    write_atomically(path, lambda file: file.write(page))


def render(findings: Findings) -> str:
    """The page as text."""
    with import_extra("report", "A report"):
        from pnulearn.report._figures import draw_figures

        figures = draw_figures(findings)
    filters: dict[str, Callable[[Any], Any]] = {
        "worded": worded,
        "share": _share,
        "percent": lambda value: percent(value).replace(" ", SPACE),
        "sureness": lambda value: f"over 99{SPACE}%" if value > 0.99 else percent(value).replace(" ", SPACE),
        "points": lambda value: f"{100 * value:+.1f}",
        "whole": "{:,.0f}".format,
        "figures": lambda value: f"{value:.3g}",
        "thousands": "{:,}".format,
    }
    return render_page("page.html", figures, filters, **context(findings))


def context(findings: Findings) -> dict[str, Any]:
    """The variables of the template, by name."""
    fitted, model, verdict = findings.fitted, findings.fitted.model, findings.verdict
    classifier, record = model.classifier, model.record
    searched = classifier if isinstance(classifier, PNUClassifier) else None
    rows = sorted(searched.search_.rows(), key=lambda row: -row["weight"]) if searched else []
    words = {
        "findings": findings,
        "verdict": verdict,
        "tone": "grave" if any(c.grave for c in verdict.concerns) else "careful" if verdict.concerns else "useful",
        "error": verdict.quality.error if verdict.quality else None,
        "column_words": say_columns(findings.columns.importances),
        "ablation_words": worded(say_ablations(findings.ablations)),
        "model": model,
        "classifier": classifier,
        "has_bandwidth": searched is not None and KERNELS[searched.kernel].has_bandwidth,
        "learners": classifier.members_ if isinstance(classifier, AutoPNU) else [],
        "record": record,
        "plan": model.plan,
        "positive": model.classes[1] if len(model.classes) == 2 else None,
        "n_labeled": sum(record.counts.values()),
        "groups": _groups(fitted),
        "columns": _columns(fitted),
        "candidates": rows[:MOST_CANDIDATES],
        "n_candidates": len(rows),
        "bandwidths": _bandwidths(searched) if searched else [],
        "row_columns": list(findings.rows.unsure[0].cells) if findings.rows.unsure else [],
        "prior_unknown": any(row.why == AT_RANDOM for row in findings.rows.to_label),
        **_thresholds(findings),
        "priors": _priors(model),
        "quantiles": _quantiles(findings),
        **_mistakes(findings),
    }
    return words | {"contents": [item for item in CONTENTS.items() if _is_there(item[0], words)]}


def _is_there(section: str, words: dict[str, Any]) -> bool:
    """Whether the page has that section."""
    findings = words["findings"]
    needed = {
        "mistakes-section": words["error"],
        "line-section": len(findings.thresholds) > 1,
        "ablations-section": findings.ablations,
        "rows-section": findings.rows.unsure,
        "label-section": findings.rows.to_label,
        "trust-section": words["positive"],
    }
    return bool(needed.get(section, True))


def _thresholds(findings: Findings) -> dict[str, Any]:
    """All thresholds, with those at which every row or none is predicted positive, and the cheapest at every price."""
    if not findings.thresholds:
        return {"lines": [], "prices": []}
    everybody, nobody = all_alike(float(findings.fitted.model.classifier.prior_estimate_.value))
    lines = [everybody, *findings.thresholds, nobody]
    return {"lines": lines, "prices": [(price, cheapest(lines, price)) for price in PRICES], "rule": _say_rule}


def _say_rule(line: AtThreshold, lines: Sequence[AtThreshold], price: float) -> str:
    """Why `predict --costs` uses another threshold; empty if it does not."""
    if line is nearest_to_computed(lines, price):
        return ""
    return (
        f"pnulearn predict --costs {price:g} 1 predicts above {percent(computed_threshold(price))} instead, which is "
        "computed from the probabilities, 1 / (1 + cost); the advice here was measured on held-out rows."
    )


def _mistakes(findings: Findings) -> dict[str, Any]:
    """Confusion counts per thousand rows (two classes), and precision, recall and lift per class with intervals."""
    quality, classes = findings.verdict.quality, findings.fitted.model.classes
    if quality is None:
        return {"counts": None, "kinds": [], "confusion": []}
    kinds = [
        {"name": name, "called": called, "precision": precision, "recall": recall, "lift": lift}
        for name, called, precision, recall, lift in zip(
            classes, quality.called, quality.precision, quality.recall, quality.lift, strict=True
        )
    ]
    confusion = list(zip(classes, findings.fitted.model.classifier.decisions_[:-1].tolist(), strict=True))
    counts = None if len(classes) > 2 else _of_a_thousand(findings)
    return {"counts": counts, "kinds": kinds[::-1] if counts else kinds, "confusion": confusion}


def _of_a_thousand(findings: Findings) -> dict[str, float]:
    quality = findings.verdict.quality
    assert quality is not None
    share, precision = 1000 * float(findings.verdict.prior.value), quality.precision[1].value
    found = share * quality.recall[1].value
    alarms = found * (1 / precision - 1) if precision else 1000 * quality.called[1]
    rest = 1000 - share - alarms
    return {
        "called": found + alarms,
        "found": found,
        "false_alarms": alarms,
        "missed": share - found,
        "rest": max(rest, 0.0),
    }


def _share(value: float) -> str:
    return f"{100 * value:.1f}{SPACE}%"


def _groups(fitted: Fitted) -> list[dict[str, Any]]:
    """Rows per class, positive first, then the unlabelled ones."""
    record = fitted.model.record
    names = reversed(fitted.model.classes) if len(fitted.model.classes) == 2 else fitted.model.classes
    groups = [{"name": name, "count": record.counts.get(name, 0), "unlabeled": False} for name in names]
    rest = record.n_rows - sum(record.counts.values())
    return [*groups, {"name": "unlabelled", "count": rest, "unlabeled": True}]


def _columns(fitted: Fitted) -> list[dict[str, Any]]:
    """Every column with its treatment and its number of missing cells."""
    plan, table = fitted.model.plan, fitted.table
    used, fates = plan.kinds, plan.fates
    return [
        {"name": name, "fate": fates[name], "missing": int(table.column(name).missing.sum()) if name in used else None}
        for name in table.names
    ]


def _bandwidths(classifier: Any) -> list[dict[str, Any]]:
    table = classifier.search_
    seen = table.columns or [""] * len(table.bandwidths)
    return [
        {"columns": columns, "bandwidth": float(b), "risk": float(risk.min()), "weight": float(weight.sum())}
        for columns, b, risk, weight in zip(seen, table.bandwidths, table.zero_one, table.weight, strict=True)
    ]


def _quantiles(findings: Findings) -> list[dict[str, Any]]:
    """Three quantiles of the scores of P, N and U, and the share that is predicted positive."""
    fitted = findings.fitted
    if len(fitted.model.classes) != 2:
        return []
    names = {1: fitted.model.classes[1], 0: fitted.model.classes[0], -1: "unlabelled"}
    groups = [(name, findings.scores[fitted.codes == code]) for code, name in names.items()]
    return [
        {"name": name, "count": len(g), "quantiles": np.quantile(g, [0.1, 0.5, 0.9]).tolist(), "above": np.mean(g > 0)}
        for name, g in groups
        if len(g)
    ]


def _priors(model: Any) -> list[dict[str, Any]]:
    """The prior of the positive class, or of every class if there are more than two."""
    classifier = model.classifier
    low, high = classifier.prior_interval_ or (None, None)
    if len(model.classes) == 2:
        return [{"name": model.classes[1], "value": classifier.prior_, "low": low, "high": high}]
    return [
        {
            "name": name,
            "value": classifier.prior_[k],
            "low": None if low is None else low[k],
            "high": None if high is None else high[k],
        }
        for k, name in enumerate(model.classes)
    ]
