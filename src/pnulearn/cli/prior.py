"""`pnulearn prior`: the share of positives among the unlabelled rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from pnulearn.cli.console import remark, show_facts
from pnulearn.cli.options import (
    Delimiter,
    Drop,
    Encoding,
    File,
    Json,
    Label,
    Missing,
    NoHeader,
    Positive,
    Unlabeled,
    method_name,
    open_table,
)

if TYPE_CHECKING:
    from pnulearn._problem.labels import Labels
    from pnulearn.tables import Table


def prior(
    file: File,
    label: Label,
    positive: Positive = None,
    unlabeled: Unlabeled = None,
    method: Annotated[str, typer.Option(help="How to estimate it; auto takes the best method we know.")] = "auto",
    drop: Drop = [],  # noqa: B006
    missing: Missing = [],  # noqa: B006
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    no_header: NoHeader = False,
    json: Json = False,
) -> None:
    """Estimate the share of positives among unlabelled rows."""
    from pnulearn.tables.scores import table_labels

    table = open_table(file, missing, encoding, delimiter, no_header)
    labels = table_labels(table, label, positive, unlabeled)
    estimate = estimated_prior(table, label, labels, drop, None if method == "auto" else method_name(method))
    facts = {
        "prior": estimate.value,
        "interval": [estimate.low, estimate.high],
        "confidence": estimate.confidence,
        "method": estimate.method,
        "positive": str(labels.classes[1]),
    }
    show_facts(facts, json)


def estimated_prior(table: Table, label: str, labels: Labels, drop: list[str], method: str | None) -> Any:
    """The prior from all usable columns of a table."""
    from pnulearn.priors import resolve_prior
    from pnulearn.tables.scores import feature_columns

    X = feature_columns(table, label, [name for name in drop if name])
    return resolve_prior(method, X, labels.codes, classes=labels.classes, random_state=0)


def prior_from_columns(table: Table, label: str, labels: Labels, drop: list[str], method: str | None) -> float:
    """The value alone, with a remark that it was estimated."""
    value = float(estimated_prior(table, label, labels, drop, method).value)
    remark(f"The prior was estimated from the other columns as {value:.3f}; pass --prior if you know it.")
    return value
