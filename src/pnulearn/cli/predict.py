"""`pnulearn predict`: add predicted labels and probabilities to the rows of a table."""

from __future__ import annotations

import sys
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated, BinaryIO

import typer

from pnulearn.cli.console import remark
from pnulearn.cli.options import FILES, File, Json, ModelFile, Overwrite, complete_column, refuse_outputs
from pnulearn.tables._options import TableOptions


def predict(
    file: File,
    model: ModelFile,
    options: Annotated[TableOptions, *FILES, "stream_above"],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="Write to this file, by its ending: .csv, .xlsx, .parquet or .jsonl; by default CSV."
        ),
    ] = None,
    overwrite: Overwrite = False,
    keep: Annotated[
        list[str],
        typer.Option(
            metavar="COLUMN",
            help="Write only this column of FILE, such as an identifier (may be repeated).",
            autocompletion=complete_column,
        ),
    ] = [],  # noqa: B006
    only: Annotated[bool, typer.Option("--only", help="Write the predictions without the columns of FILE.")] = False,
    threshold: Annotated[
        float | None,
        typer.Option(help="Predict the positive class above this probability, instead of 0.5.", min=0, max=1),
    ] = None,
    costs: Annotated[
        tuple[float, float] | None,
        typer.Option(help="Predict so that errors cost least: of a missed positive and of a false alarm, e.g. 5 1."),
    ] = None,
    no_guard: Annotated[
        bool,
        typer.Option(
            "--no-guard", help="Do not put an apostrophe before text that a spreadsheet would evaluate as a formula."
        ),
    ] = False,
    json: Json = False,
) -> None:
    """Predict the label of every row of FILE.

    Writes the table with additional columns of predictions. Without --out as CSV, or as JSON lines with --json.
    """
    if keep and only:
        raise typer.BadParameter(
            "--keep and --only exclude each other: --only writes no columns of FILE. Pass one of them."
        )
    refuse_outputs({"--out": (out, "predictions")}, overwrite, file=file, model=model)
    kind = _format(out, json)
    from pnulearn import TableClassifier
    from pnulearn.tables._writing import write_predictions

    fitted = TableClassifier.load(model).set_params(**asdict(options))
    found = fitted.predictions(file, threshold=threshold, costs=costs)
    write = partial(write_predictions, kind=kind, predictions=found, label=fitted.model_.label, guard=not no_guard)
    write = partial(write, keep=[] if only else keep or None)
    if out is None:
        write(sys.stdout.buffer)
        sys.stdout.flush()
        return
    from pnulearn._files.writing import write_atomically

    n_rows = 0

    def to_file(target: BinaryIO) -> None:
        nonlocal n_rows
        n_rows = write(target)

    write_atomically(out, to_file)
    remark(f"{n_rows} predictions were written to {out}.")


def _format(out: Path | None, json: bool) -> str:
    """The format that the ending of --out names; CSV or, with --json, JSON lines on standard output."""
    if out is None:
        return "json" if json else "csv"
    from pnulearn._files.outputs import FORMATS

    kind = FORMATS.get(out.suffix.lower())
    if kind is None:
        raise typer.BadParameter(f"--out {out} must end in one of {', '.join(FORMATS)}, which name the formats.")
    if json and kind != "json":
        raise typer.BadParameter(f"--json writes JSON lines, and --out {out} is to be {out.suffix}. Leave --json out.")
    return kind
