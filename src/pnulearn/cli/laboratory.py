"""`pnulearn reproduce`, `datasets` and `demo`: the laboratory from the command line."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pnulearn.cli.console import remark, show_rows
from pnulearn.cli.options import Json

DataFolder = Annotated[Path | None, typer.Option("--data", help="Folder of data files; PNULEARN_DATA by default.")]


def reproduce(
    name: Annotated[str, typer.Argument(metavar="NAME", help="table-1, figure-1, ..., or all.")],
    out: Annotated[Path, typer.Option(help="Folder for rows, tables and figures.")] = Path("results"),
    data: DataFolder = None,
    download: Annotated[bool, typer.Option("--download", help="Fetch missing data from OpenML.")] = False,
    trials: Annotated[int | None, typer.Option(min=1, help="Trials; the paper's number by default.")] = None,
    sets: Annotated[str, typer.Option(help="Data sets, separated by commas.")] = "",
    methods: Annotated[str, typer.Option(help="Methods, separated by commas.")] = "",
    quick: Annotated[bool, typer.Option("--quick", help="A run of minutes on generated data.")] = False,
    draw_only: Annotated[bool, typer.Option("--draw-only", help="Only write what the rows at hand say.")] = False,
    plugin: Annotated[list[str], typer.Option(help="Python file with methods or data sets (may be repeated).")] = [],  # noqa: B006
    jobs: Annotated[int, typer.Option(help="Processes.")] = 1,
) -> None:
    """Run a table or figure of the paper, resuming where it was left."""
    from pnulearn.laboratory.experiments import reproduce as run

    written = run(
        name,
        out=out,
        data=data,
        download=download,
        trials=trials,
        sets=_names(sets),
        methods=_names(methods),
        quick=quick,
        n_jobs=jobs,
        plugins=plugin,
        run=not draw_only,
        say=remark,
    )
    for path in written:
        typer.echo(path)


def datasets(data: DataFolder = None, json: Json = False) -> None:
    """List the data sets and whether they are at hand."""
    from pnulearn.laboratory.datasets import listing

    rows = listing(data)
    if json:
        show_rows(rows, json)
        return
    short = ("name", "rows", "columns", "share", "source")
    show_rows([{k: row[k] for k in short} | {"at_hand": "yes" if row["at_hand"] else "no"} for row in rows], json)
    if not all(row["at_hand"] for row in rows):
        remark("Sets that are not at hand: put NAME.npz (X, y) in a folder and pass --data, or reproduce --download.")


def demo() -> None:
    """Show on data that comes along what unlabelled rows buy."""
    from pnulearn.laboratory.demo import run

    run()


def _names(text: str) -> list[str] | None:
    return [name for name in text.split(",") if name] or None
