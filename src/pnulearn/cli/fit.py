"""`pnulearn fit`: fit a model to a table with a partly empty label column, and write a report."""

from __future__ import annotations

import shlex
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from pnulearn.cli.console import is_verbose, learnt_from, remark, remarks, show_facts, show_verdict
from pnulearn.cli.options import File, Json, Label, Overwrite, refuse_outputs
from pnulearn.tables._options import TableOptions

if TYPE_CHECKING:
    from pnulearn import TableClassifier

MOST_LEFT_OUT = 3  # columns that are reported one by one


def fit(
    file: File,
    label: Label,
    options: TableOptions,
    model: Annotated[Path | None, typer.Option("--model", "-m", help="Write the model here.")] = None,
    report: Annotated[Path | None, typer.Option("--report", "-r", help="Write an HTML report here.")] = None,
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Fit a classifier to FILE, whose label column is partly empty."""
    refuse_outputs({"--model": (model, "a model"), "--report": (report, "a report")}, overwrite, file=file)
    from pnulearn import TableClassifier

    found = TableClassifier(**asdict(options)).fit(file, label, command=shlex.join(["pnulearn", *sys.argv[1:]]))
    _tell_left_out(found.model_.plan.unusable)
    if model is not None:
        found.save(model, overwrite=overwrite)
    if report is not None:
        found.report(report, overwrite=overwrite)
    _show(found, model, report, json)
    if model is None:
        remark("The model was not saved: pass --model FILE to keep it.")


def _show(found: TableClassifier, model: Path | None, report: Path | None, json: bool) -> None:
    """Print all facts as JSON, or the verdict as text, with the facts if --verbose."""
    facts = found.facts()
    written = {"model": model, "report": report}
    if json:
        show_facts(facts | {name: None if path is None else str(path) for name, path in written.items()}, json)
        return
    show_verdict(found.verdict_, learnt_from(found.model_), *(f"Written: {path}" for path in written.values() if path))
    del facts["verdict"]
    if is_verbose():
        show_facts(facts, json)


def _tell_left_out(left_out: dict[str, str]) -> None:
    """Report each column that is left out with its reason; many in one line unless --verbose."""
    if len(left_out) <= MOST_LEFT_OUT or is_verbose():
        remarks(f"Column {name!r} is left out: {reason}." for name, reason in left_out.items())
    else:
        remark(f"{len(left_out)} columns are left out, {', '.join(left_out)}: `pnulearn columns` says why.")
