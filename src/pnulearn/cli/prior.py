"""`pnulearn prior`: the share of positives among the unlabelled rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pnulearn.cli.console import show_facts
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
    open_table,
)

if TYPE_CHECKING:
    from pnulearn.labels import Labels
    from pnulearn.tables import Table


def prior(
    file: File,
    label: Label,
    positive: Positive = None,
    unlabeled: Unlabeled = None,
    drop: Drop = [],  # noqa: B006
    missing: Missing = [],  # noqa: B006
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    no_header: NoHeader = False,
    json: Json = False,
) -> None:
    """Estimate the share of positives among the unlabelled rows of FILE, with an interval."""
    from pnulearn.tables.scores import table_labels

    table = open_table(file, missing, encoding, delimiter, no_header)
    labels = table_labels(table, label, positive, unlabeled)
    estimate = estimated_prior(table, label, labels, drop)
    facts = {
        "prior": estimate.value,
        "interval": [estimate.low, estimate.high],
        "confidence": estimate.confidence,
        "method": estimate.method,
        "positive": str(labels.classes[1]),
    }
    show_facts(facts, json)


def estimated_prior(table: Table, label: str, labels: Labels, drop: list[str]) -> Any:
    """The prior by energy distance from all usable columns of a table."""
    from pnulearn.priors import energy_prior
    from pnulearn.tables.scores import feature_columns

    return energy_prior(feature_columns(table, label, [name for name in drop if name]), labels.codes)
