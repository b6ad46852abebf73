"""`python -m experiments table-1`, `figure-1`, ..., `reproduce` for all of them, `datasets` for the data they need."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from experiments.datasets import FOLDER_VARIABLE, list_data
from experiments.runner import EXPERIMENTS, reproduce


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code: 0 done, 1 refused; wrong usage exits with 2."""
    asked = _parser().parse_args(arguments)
    try:
        if asked.command == "datasets":
            _show_datasets(asked.data)
            return 0
        for name in EXPERIMENTS if asked.command == "reproduce" else [asked.command]:
            _run(name, asked)
    except (ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    data = argparse.ArgumentParser(add_help=False)
    data.add_argument("--data", type=Path, help=f"folder of data files (default: what {FOLDER_VARIABLE} names)")
    run = argparse.ArgumentParser(add_help=False, parents=[data])
    run.add_argument("--out", type=Path, default=Path("results"), help="folder for rows, tables and figures")
    run.add_argument("--download", action="store_true", help="download missing data from OpenML")
    run.add_argument("--trials", type=int, help="number of trials (default: the paper's)")
    run.add_argument("--sets", type=_names, help="data sets, separated by commas")
    run.add_argument("--methods", type=_names, help="methods, separated by commas")
    run.add_argument("--quick", action="store_true", help="a run of minutes on generated data")
    run.add_argument("--draw-only", action="store_true", help="only write what the rows say")
    run.add_argument("--plugin", action="append", default=[], help="Python file with methods or data sets (repeatable)")
    run.add_argument("--jobs", type=int, default=1, help="number of processes")
    parser = argparse.ArgumentParser(
        prog="python -m experiments",
        description="The tables and figures of the paper. A run that was stopped is continued by starting it again.",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, experiment in EXPERIMENTS.items():
        commands.add_parser(name, parents=[run], help=experiment.title, description=experiment.title)
    commands.add_parser("reproduce", parents=[run], help="all of the above", description="All tables and figures.")
    commands.add_parser("datasets", parents=[data], help="list the data sets and whether they are available")
    return parser


def _run(name: str, asked: argparse.Namespace) -> None:
    written = reproduce(
        name,
        out=asked.out,
        data=asked.data,
        download=asked.download,
        trials=asked.trials,
        sets=asked.sets,
        methods=asked.methods,
        quick=asked.quick,
        n_jobs=asked.jobs,
        plugins=asked.plugin,
        run=not asked.draw_only,
        say=lambda text: print(text, file=sys.stderr),
    )
    for path in written:
        print(path)


def _names(text: str) -> list[str]:
    return [name for name in text.split(",") if name]


def _show_datasets(folder: Path | None) -> None:
    form = "{name:24} {rows:>6} {columns:>7} {share:>8} {available:>9}  {source}"
    rows = list_data(folder)
    print(form.format(**{name: name for name in rows[0]} | {"share": "positive"}))
    for row in rows:
        print(form.format(**row | {"share": f"{row['share']:.3f}", "available": "yes" if row["available"] else "no"}))
    if not all(row["available"] for row in rows):
        print("For sets that are not available: put NAME.npz (arrays X and y) in a folder and pass --data FOLDER,")
        print("or pass --download to an experiment.")


if __name__ == "__main__":
    sys.exit(main())
