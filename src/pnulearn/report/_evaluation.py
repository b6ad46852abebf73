"""HTML report about the evaluation of any model's scores on labelled and unlabelled rows."""

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
from pnulearn.report._render import render_page
from pnulearn.tables._evaluation import Evaluation

METRICS = {
    "Precision": (pnu_precision, "share of predicted positives that are positive"),
    "Recall": (pnu_recall, "share of positive rows that are predicted positive"),
    "Specificity": (pnu_specificity, "share of negative rows that are predicted negative"),
    "F1": (pnu_f1, "harmonic mean of precision and recall"),
}
FEW_LABELS = 10


def write_evaluation(judged: Evaluation, path: str | Path, *, overwrite: bool = False) -> None:
    """Write an HTML report about an evaluation. An existing file is kept until the new one is complete.

    Parameters
    ----------
    judged : Evaluation
        Result of `evaluate_table`.
    path : str or Path
        The file. An existing report is replaced.
    overwrite : bool
        Replace any other existing file, too.
    """
    check_outputs(Output(path, REPORT), overwrite=overwrite)
    page = render_evaluation(judged).encode()
    write_atomically(path, lambda file: file.write(page))


def render_evaluation(evaluation: Evaluation) -> str:
    """The page as text. All values are escaped by the template."""
    curves = _curves(evaluation)
    with import_extra("report", "A report"):
        from pnulearn.report._figures import as_svg, group_picture

        figures = {name: as_svg(name, curve.plot, (4.2, 3.4), title) for name, (title, curve) in curves.items()}
        if evaluation.groups is not None:
            figures["groups"] = group_picture(evaluation.groups, "error rate, in percent", 100.0)
    return render_page(
        "evaluation.html",
        figures,
        {"percent": lambda value: f"{100 * value:.1f} %"},
        evaluation=evaluation,
        ablations=_ablations(evaluation),
        metrics=_metrics(evaluation),
        curves=curves,
        warnings=_warnings(evaluation),
        suspects=_suspects(evaluation),
        group_rows=evaluation.group_rows(),
    )


def _ablations(evaluation: Evaluation) -> list[tuple[str, Estimate]]:
    """Estimates of the error from labels alone, with unlabelled rows, and with all data."""
    groups = [evaluation.scores[evaluation.codes == code] for code in (1, 0, -1)]
    steps: list[tuple[str, Estimate]] = []
    if len(groups[0]) and len(groups[1]):
        alone = estimate_risk(groups, evaluation.prior, mix=0, confidence=evaluation.error.confidence)
        steps.append(("labels alone", alone))
    if evaluation.unhelped is not None:
        steps.append(("with unlabelled rows", evaluation.unhelped))
    return [*steps, ("with all data that was given", evaluation.error)]


def _metrics(evaluation: Evaluation) -> list[tuple[str, Estimate, str]]:
    given: dict[str, Any] = {"prior": evaluation.prior, "confidence": evaluation.error.confidence}
    found = [
        (name, function(evaluation.y, evaluation.scores, threshold=0.0, **given), words)
        for name, (function, words) in METRICS.items()
    ]
    if _ranks(evaluation):
        words = "probability that a positive row scores above a negative one"
        found.append(("AUC", pnu_auc(evaluation.y, evaluation.scores, **given), words))
    return found


def _curves(evaluation: Evaluation) -> dict[str, tuple[str, Curve]]:
    if not _ranks(evaluation) or 0 in evaluation.counts[:2]:
        return {}
    given: dict[str, Any] = {"prior": evaluation.prior, "confidence": evaluation.error.confidence}
    precision = pnu_precision_recall_curve(evaluation.y, evaluation.scores, **given)
    curves = {
        "roc": ("ROC curve", pnu_roc_curve(evaluation.y, evaluation.scores, **given)),
        "precision": (f"Precision at every recall; on average {_with_interval(precision.area)}", precision),
    }
    if evaluation.probabilities is not None:
        found = pnu_reliability(evaluation.y, evaluation.probabilities, **given)
        words = f"Calibration: probabilities are off by {_with_interval(found.area)} on average"
        curves["reliability"] = (words, found)
    return curves


def _with_interval(found: Estimate) -> str:
    return f"{100 * found.value:.1f} % ({100 * found.low:.1f} % to {100 * found.high:.1f} %)"


def _ranks(evaluation: Evaluation) -> bool:
    """Whether scores have more than two values, so that they rank the rows."""
    return len(np.unique(evaluation.scores)) > 2


def _warnings(evaluation: Evaluation) -> Sequence[str]:
    positive, negative, unlabeled = evaluation.counts
    found = []
    if min(positive, negative) < FEW_LABELS:
        found.append(
            f"Only {positive} labelled {evaluation.names[1]} and {negative} labelled {evaluation.names[0]} rows."
        )
    if not unlabeled:
        found.append("There are no unlabelled rows, so all estimates use the labels only.")
    if evaluation.prior.spread > 0.05:
        low, high = evaluation.prior.within(0.9)
        found.append(
            f"The share of {evaluation.names[1]} in the population is uncertain ({low:.2f} to {high:.2f}). All "
            "intervals include this uncertainty. Labels of rows drawn at random would reduce it."
        )
    return found


def _suspects(evaluation: Evaluation) -> list[tuple[int, str, float]]:
    """At most five labels that the scores contradict most, numbered from 1."""
    if 0 in evaluation.counts[:2]:
        return []
    found = suspicious_rows(evaluation.y, evaluation.scores, prior=evaluation.prior)
    names = np.array(evaluation.names)[found.label.astype(int)]
    first = zip((found.rows + 1).tolist(), names.tolist(), found.disagreement.tolist(), strict=True)
    return [one for one in list(first)[:5] if one[2] > 0.5]
