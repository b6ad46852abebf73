"""`pnulearn compare`: the difference in error of two models, with a confidence interval."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pnulearn.cli.console import show_result
from pnulearn.cli.options import COLUMNS, By, File, Json, Label, existing_models, open_table
from pnulearn.tables._options import TableOptions


def compare(
    file: File,
    label: Label,
    options: Annotated[TableOptions, "prior", "sampling", "weights", "groups", *COLUMNS],
    model: Annotated[list[Path], typer.Option("--model", "-m", help="A model file.", callback=existing_models)] = [],  # noqa: B006
    score: Annotated[list[str], typer.Option("--score", "-s", help="A column of scores or labels.")] = [],  # noqa: B006
    threshold: Annotated[
        float | None, typer.Option(help="Scores above this mean positive; a score equal to it is negative.")
    ] = None,
    by: By = None,
    json: Json = False,
) -> None:
    """Compare two models or columns of scores, row by row.

    The rows must not have been used to fit either model. Name two of --model and --score.
    """
    if len(model) + len(score) != 2:
        raise typer.BadParameter("name two to compare, with --model FILE or --score COLUMN.")
    from pnulearn.tables._comparison import compare_table
    from pnulearn.tables._loading import load_table_model

    table = open_table(file, options)
    models = [(str(path), load_table_model(path)) for path in model]
    found = compare_table(table, label, options, models=models, scores=score, threshold=threshold, by=by)
    show_result(found, json)
