"""`pnulearn monitor`: watch a model on new rows, window by window, with an alarm for cron."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pnulearn.cli.console import show_facts, show_lines, show_rows
from pnulearn.cli.judge import SAMPLING, read_share_sampling
from pnulearn.cli.options import (
    FILES,
    Json,
    Overwrite,
    complete_column,
    existing_models,
    existing_tables,
    open_table,
    refuse_outputs,
)
from pnulearn.tables._options import TableOptions

ALARM = 3


def monitor(
    model: Annotated[
        Path, typer.Argument(metavar="MODEL", help="Model file written by `pnulearn fit`.", callback=existing_models)
    ],
    file: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help="New rows: CSV, Excel, Parquet, JSON lines; several are stacked.",
            callback=existing_tables,
        ),
    ],
    by: Annotated[
        str,
        typer.Option(
            help="Column of windows; dates are cut: date:month, date:week, date:day, or month if one column has dates.",
            metavar="COLUMN",
            autocompletion=complete_column,
        ),
    ],
    options: Annotated[TableOptions, "unlabeled", *FILES],
    labeled: Annotated[
        str | None,
        typer.Option(
            "--labels",
            metavar="FILE",
            help="Labels that are not in FILE: with --id, ids and labels; without it, labelled rows with all columns.",
            callback=existing_tables,
        ),
    ] = None,
    id: Annotated[
        str | None, typer.Option("--id", metavar="COLUMN", help="Column by which --labels belong to the rows.")
    ] = None,
    state: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A small file that remembers earlier windows; made if absent.")
    ] = None,
    chosen: Annotated[
        str,
        typer.Option(
            "--sampling",
            metavar="random|by-verdict",
            help="Were rows to label drawn at random, or by the model's prediction?",
            parser=read_share_sampling,
            autocompletion=lambda: list(SAMPLING)[:2],
        ),
    ] = "random",
    false_alarms: Annotated[
        float, typer.Option(min=0.0001, max=0.5, help="Probability of a false alarm in a year, at most.")
    ] = 0.05,
    horizon: Annotated[int | None, typer.Option(min=2, help="Windows in a year; by default by the period.")] = None,
    tolerance: Annotated[
        float, typer.Option(min=0, max=0.49, help="Standard deviation between windows that is normal.")
    ] = 0.01,
    confidence: Annotated[float, typer.Option(min=0.5, max=0.999, help="Confidence level of the intervals.")] = 0.95,
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Watch a model on new rows: prior, error, precision and recall of every window, moved columns, and an alarm.

    The exit code is 3 if there is an alarm. With --state, run it again when the rows of the next window are complete.
    """
    inputs = {} if labeled is None else {"labels": labeled}
    refuse_outputs({"--state": (state, "the state of a monitor")}, overwrite, file=file, model=model, **inputs)
    from pnulearn.tables._monitoring import monitor_table

    found = monitor_table(
        model,
        open_table(file, options),
        by,
        labels=None if labeled is None else open_table(labeled, options),
        id=id,
        state=state,
        sampling=chosen,  # type: ignore[arg-type]
        false_alarms=false_alarms,
        horizon=horizon,
        tolerance=tolerance,
        confidence=confidence,
        unlabeled=options.unlabeled,
        overwrite=overwrite,
    )
    if json:
        show_facts(found.facts(), json)
    else:
        show_lines(found.sentence(), found.remarks())
        print()
        show_rows(found.rows(), json)
    if found.alarms:
        raise typer.Exit(ALARM)
