"""`pnulearn evaluate`: the error of a model in the population, with an interval, from few labels."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pnulearn.cli.console import remark, show_result
from pnulearn.cli.options import (
    COLUMNS,
    ORIGINS,
    By,
    File,
    Json,
    Label,
    Overwrite,
    existing_models,
    open_data,
    refuse_outputs,
)
from pnulearn.tables._options import TableOptions

Options = Annotated[TableOptions, "prior", *ORIGINS, *COLUMNS, "stream_above"]


def evaluate(
    file: File,
    label: Label,
    options: Options,
    model: Annotated[
        Path | None, typer.Option("--model", "-m", help="Evaluate this model file.", callback=existing_models)
    ] = None,
    score: Annotated[
        str | None, typer.Option("--score", "-s", help="Evaluate this column of scores or labels.")
    ] = None,
    helper: Annotated[
        list[str],
        typer.Option("--helper", help="A column with a second model's labels, probabilities or scores. Repeatable."),
    ] = [],  # noqa: B006 (typer wants a list)
    threshold: Annotated[
        float | None, typer.Option(help="Scores above this mean positive; a score equal to it is negative.")
    ] = None,
    confidence: Annotated[float, typer.Option(help="Confidence of the interval.")] = 0.95,
    costs: Annotated[
        tuple[float, float] | None,
        typer.Option(help="Also say what errors cost per row: of a missed positive and of a false alarm, e.g. 5 1."),
    ] = None,
    by: By = None,
    report: Annotated[Path | None, typer.Option(help="Write an HTML page about the evaluation here.")] = None,
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Estimate the error of a model from few labels.

    Of a model file, or of a column of scores from any other tool. The rows must not have been used to fit the model.
    """
    _refuse_contradictions(model, score, threshold)
    models = {} if model is None else {"model": model}
    refuse_outputs({"--report": (report, "a report")}, overwrite, file=file, **models)
    from pnulearn.tables._evaluation import evaluate_table
    from pnulearn.tables._loading import load_table_model

    found = evaluate_table(
        open_data(file, options),
        label,
        options,
        model=None if model is None else load_table_model(model),
        score=score or "",
        helper=helper,
        threshold=threshold,
        confidence=confidence,
        costs=costs,
        subject=score or str(model),
        by=by,
    )
    if report is not None:
        from pnulearn.report._evaluation import write_evaluation

        write_evaluation(found, report, overwrite=overwrite)
        remark(f"The page is in {report}.")
    show_result(found, json)


def _refuse_contradictions(model: Path | None, score: str | None, threshold: float | None) -> None:
    if (model is None) == (score is None):
        raise typer.BadParameter("name either --model FILE or --score COLUMN.")
    if model is not None and threshold is not None:
        raise typer.BadParameter("--threshold is for --score COLUMN: a model brings its own.")
