"""`pnulearn info`: what is in a model file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pnulearn.cli.console import show_facts
from pnulearn.cli.options import Json, existing_models
from pnulearn.cli.screen import show_verdict

if TYPE_CHECKING:
    from pnulearn import AutoPNU
    from pnulearn._estimators.classifier import PNUClassifier
    from pnulearn.tables._classifier import TableModel


def info(
    model: Annotated[
        Path, typer.Argument(metavar="MODEL", help="Model file written by `pnulearn fit`.", callback=existing_models)
    ],
    json: Json = False,
) -> None:
    """Show what a model file holds."""
    from pnulearn.tables._loading import load_table_model
    from pnulearn.tables._verdict import reach_verdict

    found = load_table_model(model)
    verdict = reach_verdict(found)
    if not json:
        show_verdict(verdict)
    show_facts(describe(found) | ({"verdict": verdict.facts()} if json else {}), json)


def describe(model: TableModel) -> dict[str, Any]:
    """The facts of a model by name."""
    from pnulearn import AutoPNU

    classifier, record, plan = model.classifier, model.record, model.plan
    how = _describe_learners(classifier) if isinstance(classifier, AutoPNU) else _describe_search(classifier)
    interval = classifier.prior_interval_
    risk = classifier.risk_
    return {
        "fitted_to": record.source,
        "rows": {"labelled": record.counts, "unlabelled": record.n_rows - sum(record.counts.values())},
        "rows_used": record.n_used,
        "label": model.label,
        "positive": model.classes[1] if len(model.classes) == 2 else None,
        "columns": {kind: [name for name, k in plan.kinds.items() if k == kind] for kind in plan.kinds.values()},
        "left_out": {name: reason for name, reason in plan.left_out.items() if name != model.label} or None,
        "prior": classifier.prior_,
        "prior_interval": None if interval is None else list(interval),
        "prior_doubt": classifier.prior_doubt_,
        **how,
        "validation_error": None if risk is None else risk.value,
        "validation_interval": None if risk is None else [risk.low, risk.high],
        "seconds": record.seconds,
        "versions": record.versions,
        "command": record.command or None,
    }


def _describe_search(classifier: PNUClassifier) -> dict[str, Any]:
    """The candidate with most weight."""
    from pnulearn._basis.kernels import KERNELS
    from pnulearn.losses import as_loss

    return {
        "risk": classifier.risk_used_,
        "loss": as_loss(classifier.loss).name,
        "candidates": int(classifier.search_.weight.size),
        "mix": classifier.mix_,
        "alpha": classifier.alpha_,
        "bandwidth": classifier.bandwidth_ if KERNELS[classifier.kernel].has_bandwidth else None,
        "columns_as": getattr(classifier, "columns_", "given"),
    }


def _describe_learners(classifier: AutoPNU) -> dict[str, Any]:
    """What each learner would have done alone, and its part in the average."""
    return {
        "learners": {
            one.name: {"part": one.weight, "error_alone": None if one.risk is None else one.risk.value}
            for one in classifier.members_
        }
    }
