"""A page about a model that was judged, not fitted: any tool's scores on few labelled and many unlabelled rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pnulearn._extras import import_extra
from pnulearn._files.outputs import REPORT, Output, check_outputs
from pnulearn._files.writing import write_atomically
from pnulearn.metrics._curves import Curve, pnu_auc, pnu_precision_recall_curve, pnu_reliability, pnu_roc_curve
from pnulearn.metrics._estimate import Estimate
from pnulearn.metrics._rates import pnu_f1, pnu_precision, pnu_recall, pnu_specificity
from pnulearn.metrics._risk import estimate_risk
from pnulearn.metrics._suspects import suspicious_rows
from pnulearn.tables._evaluation import Evaluation

METRICS = {
    "Precision": (pnu_precision, "of the rows called positive, so many are"),
    "Recall": (pnu_recall, "of the positive rows, so many are called so"),
    "Specificity": (pnu_specificity, "of the negative rows, so many are called so"),
    "F1": (pnu_f1, "harmonic mean of precision and recall"),
}
FEW_LABELS = 10


def write_evaluation(judged: Evaluation, path: str | Path, *, overwrite: bool = False) -> None:
    """Write the page; the old file stays until the new one is complete.

    Parameters
    ----------
    judged : Evaluation
        What was found.
    path : str or Path
        The file. One that holds a report is replaced.
    overwrite : bool
        Replace a file that holds anything else, too.
    """
    check_outputs(Output(path, REPORT), overwrite=overwrite)
    page = render_evaluation(judged).encode()
    write_atomically(path, lambda file: file.write(page))


def render_evaluation(judged: Evaluation) -> str:
    """The page as text; every value passes through the template's escaping.

    Parameters
    ----------
    judged : Evaluation
        What was found.
    """
    with import_extra("report", "A report"):
        from jinja2 import Environment, PackageLoader, StrictUndefined
        from markupsafe import Markup

        from pnulearn.report._figures import as_svg

        curves = _curves(judged)
        figures = {name: Markup(as_svg(name, curve.plot, (4.2, 3.4), title)) for name, (title, curve) in curves.items()}
    environment = Environment(
        loader=PackageLoader("pnulearn.report", "templates"), autoescape=True, undefined=StrictUndefined
    )
    environment.filters["percent"] = lambda value: f"{100 * value:.1f} %"
    return environment.get_template("evaluation.html").render(
        judged=judged,
        ablations=_ablations(judged),
        metrics=_metrics(judged),
        curves=[(title, curve, figures[name]) for name, (title, curve) in curves.items()],
        warnings=_warnings(judged),
        suspects=_suspects(judged),
    )


def _ablations(judged: Evaluation) -> list[tuple[str, Estimate]]:
    """The error from labels alone, with U, and with the helper."""
    groups = [judged.scores[judged.codes == code] for code in (1, 0, -1)]
    steps: list[tuple[str, Estimate]] = []
    if len(groups[0]) and len(groups[1]):
        alone = estimate_risk(groups, judged.prior, mix=0, confidence=judged.error.confidence)
        steps.append(("labels alone", alone))
    if judged.unhelped is not None:
        steps.append(("with unlabelled rows", judged.unhelped))
    return [*steps, ("with everything that was given", judged.error)]


def _metrics(judged: Evaluation) -> list[tuple[str, Estimate, str]]:
    given: dict[str, Any] = {"prior": judged.prior, "confidence": judged.error.confidence}
    found = [
        (name, function(judged.y, judged.scores, threshold=0.0, **given), words)
        for name, (function, words) in METRICS.items()
    ]
    if _ranks(judged):
        words = "chance that a positive row scores above a negative one"
        found.append(("AUC", pnu_auc(judged.y, judged.scores, **given), words))
    return found


def _curves(judged: Evaluation) -> dict[str, tuple[str, Curve]]:
    if not _ranks(judged) or 0 in judged.counts[:2]:
        return {}
    given: dict[str, Any] = {"prior": judged.prior, "confidence": judged.error.confidence}
    curves = {
        "roc": ("ROC curve", pnu_roc_curve(judged.y, judged.scores, **given)),
        "precision": ("Precision at every recall", pnu_precision_recall_curve(judged.y, judged.scores, **given)),
    }
    if judged.probabilities is not None:
        curves["reliability"] = ("Are probabilities right?", pnu_reliability(judged.y, judged.probabilities, **given))
    return curves


def _ranks(judged: Evaluation) -> bool:
    """Whether scores say more than which class."""
    return len(np.unique(judged.scores)) > 2


def _warnings(judged: Evaluation) -> Sequence[str]:
    positive, negative, unlabeled = judged.counts
    found = []
    if min(positive, negative) < FEW_LABELS:
        found.append(f"Only {positive} labelled {judged.names[1]} and {negative} labelled {judged.names[0]} rows.")
    if not unlabeled:
        found.append("There are no unlabelled rows: the labels have to do alone.")
    if judged.prior.spread > 0.05:
        low, high = judged.prior.within(0.9)
        found.append(
            f"The share of {judged.names[1]} in the population is not known well ({low:.2f} to {high:.2f}); all ranges "
            "contain that. Labels drawn at random would narrow it."
        )
    return found


def _suspects(judged: Evaluation) -> list[tuple[int, str, float]]:
    """The five labels that the judged scores disagree with most, numbered from 1 as in a table."""
    if 0 in judged.counts[:2]:
        return []
    found = suspicious_rows(judged.y, judged.scores, prior=judged.prior)
    names = np.array(judged.names)[found.label.astype(int)]
    first = zip((found.rows + 1).tolist(), names.tolist(), found.doubt.tolist(), strict=True)
    return [one for one in list(first)[:5] if one[2] > 0.5]
