"""`pnulearn fit`: fit a model to a table with a partly empty label column, and write a report."""

from __future__ import annotations

import shlex
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pnulearn.cli.console import can_ask, is_verbose, learnt_from, remark, remarks, show_facts, show_verdict
from pnulearn.cli.options import File, Json, Label, Overwrite, open_data, read_sampling, refuse_outputs
from pnulearn.cli.shared import remember
from pnulearn.tables._options import TableOptions

if TYPE_CHECKING:
    from pnulearn import TableClassifier

QUESTION = (
    "Were the labelled rows drawn at random from all rows? Then their share of positives says how many there are; "
    "it does not if rows of either class were looked for."
)
ANSWERS = {"y": "random", "yes": "random", "n": "by-class", "no": "by-class"}
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
    data: Any = file
    if options.sampling is None and options.at_random is None and can_ask(json):
        data, options = _ask_sampling(file, label, options)
    from pnulearn import TableClassifier

    found = TableClassifier(**asdict(options)).fit(data, label, command=shlex.join(["pnulearn", *sys.argv[1:]]))
    _tell_left_out(found.model_.plan.unusable)
    if model is not None:
        found.save(model, overwrite=overwrite)
    if report is not None:
        found.report(report, overwrite=overwrite)
    _show(found, model, report, json)
    if model is None:
        remark("The model was not saved: pass --model FILE to keep it.")


def _ask_sampling(file: list[str], label: str, options: TableOptions) -> tuple[Any, TableOptions]:
    """The table, and the options with the user's answer to how labels were drawn, if the prior depends on it.

    An answer is written to pnulearn.toml, so that it is asked once.
    """
    from pnulearn.tables._provenance import export_names

    data = open_data(file, options)
    names = data.head().names if hasattr(data, "head") else data.names
    if isinstance(options.prior, float | tuple) or set(export_names(label)) <= set(names):
        return data, options
    print(QUESTION, file=sys.stderr)
    asked = "yes (random), no (by-class), or Enter if you do not know"
    sampling: Any = typer.prompt(asked, default="", show_default=False, err=True, value_proc=_read_answer)
    if not sampling:
        return data, options
    path = remember("fit", "sampling", sampling.replace("_", "-"))
    remark(f"The answer is in {path} for the next time.")
    return data, replace(options, sampling=sampling)


def _read_answer(text: str) -> str:
    """The library's name for how labelled rows were sampled, from an answer to `QUESTION`; empty without an answer."""
    answer = text.strip().lower()
    return read_sampling(ANSWERS.get(answer, answer)) if answer else ""


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
