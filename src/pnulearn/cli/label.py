"""`pnulearn label`: a local page for labelling rows until the error's interval is narrow enough."""

from __future__ import annotations

from contextlib import ExitStack, suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pnulearn.cli.console import in_percent, remark, remarks, show_facts
from pnulearn.cli.options import (
    FILES,
    Json,
    Label,
    Overwrite,
    existing_models,
    existing_tables,
    open_table,
    refuse_outputs,
)
from pnulearn.tables._options import TableOptions

if TYPE_CHECKING:
    from pnulearn.labeling import Labeler
    from pnulearn.labeling._table_labeling import Task


def label(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="The table. It is never changed.", callback=existing_tables)
    ],
    label: Label,
    options: Annotated[TableOptions, "pos_label", "sampling", "drop", *FILES],
    model: Annotated[
        Path | None, typer.Option("--model", "-m", help="Start from this model.", callback=existing_models)
    ] = None,
    classes: Annotated[
        str | None,
        typer.Option(
            help="Names of the classes with commas between; by default those of the journal, those found, or no,yes."
        ),
    ] = None,
    goal: Annotated[float, typer.Option(help="Target half-width of the error's interval.")] = 0.05,
    mixture: Annotated[
        str | None,
        typer.Option(metavar="NAME=SHARE,...", help="How rows are chosen: random, margin, risk_change, diversity."),
    ] = None,
    repeat: Annotated[
        float,
        typer.Option(
            metavar="SHARE", help="Share of the answers to ask twice, for intervals that allow for wrong ones."
        ),
    ] = 0.0,
    export: Annotated[Path | None, typer.Option(help="Write a copy of FILE with all labels here, and no page.")] = None,
    overwrite: Overwrite = False,
    journal: Annotated[
        Path | None, typer.Option(help="File that keeps the answers; by default FILE.labels.jsonl beside FILE.")
    ] = None,
    identifier: Annotated[
        str | None,
        typer.Option("--id", metavar="COLUMN", help="Column that identifies rows, to find answers in a changed FILE."),
    ] = None,
    repair: Annotated[
        bool, typer.Option("--repair", help="Drop the damaged lines of the journal, say which, and no page.")
    ] = False,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port of the page; any free one by default.")] = 0,
    open_browser: Annotated[bool, typer.Option("--open/--no-open", help="Open the page in a browser.")] = True,
    seed: Annotated[int, typer.Option(min=0, help="Seed of everything random.")] = 0,
    json: Json = False,
) -> None:
    """Label rows of FILE on a page in the browser, with a model and its estimated error.

    Answers are kept in a journal beside FILE; a second start goes on where the first stopped.
    """
    from pnulearn._files.outputs import LABELS
    from pnulearn._numbers import read_number
    from pnulearn.labeling._journal import journal_of
    from pnulearn.labeling._strategies import read_mixture
    from pnulearn.priors._resolve import read_share

    place = journal or journal_of(file)
    inputs = {"file": [file], **({} if model is None else {"model": model})}
    refuse_outputs({"--journal": (place, "a journal")}, True, **inputs)  # what is no journal is refused when it is read
    refuse_outputs({"--export": (export, LABELS)}, overwrite, journal=place, **inputs)
    shares, goal, repeat = read_shares(mixture), read_share(goal, "goal"), read_number("repeat", repeat, 0, 1)
    read_mixture(shares)
    if repair:
        _repair(place, json)
        return
    names = _class_names(classes, place, label, model)
    task, fitted = _read_task(open_table(file, options), label, names, options, model)
    task = task.resume(place, identifier)
    remarks(task.remarks)
    if export is not None:
        _export(task, place, export, json)
        return
    labeler = task.labeler(
        place,
        identifier,
        model=fitted,
        mixture=shares,
        goal=goal,
        sampling=options.sampling or "by_class",
        refit_every=0,
        repeat=repeat,
        random_state=seed,
    )
    _serve(task, labeler, Path(file), port, open_browser, json)


def read_shares(text: str | None) -> dict[Any, float] | None:
    """Shares of strategies by name.

    >>> read_shares("random=0.6,margin=0.4")
    {'random': 0.6, 'margin': 0.4}
    """
    if text is None:
        return None
    pairs = [part.partition("=") for part in text.split(",")]
    try:
        return {name.strip(): float(share) for name, _, share in pairs}
    except ValueError:
        raise typer.BadParameter(
            f"--mixture wants NAME=SHARE,..., such as random=0.6,margin=0.4; got {text!r}."
        ) from None


def _class_names(classes: str | None, journal: Path, label: str, model: Path | None) -> list[str]:
    """The names that are given, else those of the journal; none if those of the model or of the table count."""
    from pnulearn.labeling._journal import journal_classes
    from pnulearn.tables._label_column import refuse_lost_names

    begun = journal_classes(journal, label)
    if classes is None:
        return begun if model is None else []
    names = [name.strip() for name in classes.split(",")]
    if names != begun:
        refuse_lost_names(names)
    return names


def _read_task(table: Any, label: str, names: list[str], options: TableOptions, model: Path | None) -> Any:
    """What is to be labelled, and the classifier of a model, if one is named."""
    from pnulearn.labeling._table_labeling import read_task
    from pnulearn.tables._loading import load_table_model

    loaded = None if model is None else load_table_model(model)
    task = read_task(table, label, classes=names, positive=options.pos_label, model=loaded, drop=options.drop)
    return task, None if loaded is None else loaded.classifier


def _repair(journal: Path, json: bool) -> None:
    from pnulearn.labeling._repair import repair_journal

    done = repair_journal(journal)
    for line in done.dropped:
        remark(str(line), kind="warning")
    if done.n_restored:
        remark(f"{done.n_restored} draws were restored from their answers.")
    if done.copy is None:
        remark(f"Nothing in {journal.name} is damaged; it was not changed.")
    facts = {
        "answers": done.n_answers,
        "dropped": [asdict(line) for line in done.dropped] if json else len(done.dropped),
    }
    show_facts({**facts, "restored": done.n_restored, "copy": done.copy and str(done.copy)}, json)


def _export(task: Task, journal: Path, out: Path, json: bool) -> None:
    from pnulearn._files.writing import write_atomically
    from pnulearn.labeling._table_labeling import export_lines, label_columns, restore

    labeler = restore(task, journal)
    columns = label_columns(task, labeler)
    lines = export_lines(task.table, columns)
    write_atomically(out, lambda target: target.writelines(line.encode() for line in lines))
    remark(f"Learn from it with: pnulearn fit {out} --label {task.label} (it finds the columns of weights).")
    show_facts({"labels": labeler.counts, "dont_know": labeler.n_unknown, "export": str(out)}, json)


def _serve(task: Task, labeler: Labeler, file: Path, port: int, open_browser: bool, json: bool) -> None:
    import signal
    import webbrowser

    from pnulearn.labeling._cells import RowReader
    from pnulearn.labeling._server import LabelingApp, listen, redirect_page

    app = LabelingApp(labeler, RowReader(task.table, {task.label}, file.absolute().parent), file.name, task.label)
    listener = listen(port)
    address = app.address(listener.getsockname()[1])
    if labeler.n_answers:
        remark(f"Going on after {labeler.n_answers} answers.")
    remark(f"The page is at {address} (Ctrl-C ends it; labels are kept as they are given).")
    with suppress(KeyboardInterrupt), ExitStack() as stack:
        before = signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends labelling as Ctrl-C does
        stack.callback(signal.signal, signal.SIGTERM, before)
        if open_browser:
            webbrowser.open(stack.enter_context(redirect_page(address)))
        app.serve(listener)
    facts = standing_facts(labeler)
    show_facts(facts if json else in_percent(facts), json)


def standing_facts(labeler: Labeler) -> dict[str, Any]:
    """The estimates at the end of labelling."""
    facts: dict[str, Any] = {"labels": labeler.counts, "dont_know": labeler.n_unknown or None}
    progress = labeler.history[-1] if labeler.history else None
    if progress is not None and progress.error is not None and progress.n_labels:
        error = progress.error
        facts |= {"error": error.value, "interval": [error.low, error.high], "confidence": progress.confidence}
        facts |= {f"share_{name}": [share.value, share.low, share.high] for name, share in progress.prior.items()}
        facts |= {"labels_to_go": progress.n_more, "put_off": progress.n_open or None}
        wrong = progress.answer_errors
        if wrong is not None:
            facts |= {
                "asked_twice": wrong.n_repeated,
                "answers_wrong": [wrong.rate.value, wrong.rate.low, wrong.rate.high],
            }
    return facts
