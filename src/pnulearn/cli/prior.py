"""`pnulearn prior`: the share of positives among the unlabelled rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from pnulearn.cli.console import show_facts
from pnulearn.cli.options import COLUMNS, ORIGINS, File, Json, Label, method_name, open_table
from pnulearn.tables._options import TableOptions


def prior(
    file: File,
    label: Label,
    options: Annotated[TableOptions, *ORIGINS, *COLUMNS],
    method: Annotated[str, typer.Option(help="How to estimate it; auto uses the recommended method.")] = "auto",
    json: Json = False,
) -> None:
    """Estimate the share of positives among unlabelled rows."""
    from pnulearn.tables._evaluation import table_labels
    from pnulearn.tables._prior import estimate_table_prior

    options = replace(options, prior=None if method == "auto" else method_name(method))
    table = open_table(file, options)
    labels = table_labels(table, label, options.pos_label, options.unlabeled)
    show_facts(estimate_table_prior(table, label, labels, options), json)
