"""The first screen: what a person should know about a model, before any number."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from pnulearn.cli.console import in_options

if TYPE_CHECKING:
    from pnulearn.tables._model import TableModel
    from pnulearn.tables._verdict import Verdict

MOST_CLASSES = 4  # whose rows are counted by name


def show_verdict(verdict: Verdict, *footer: str) -> None:
    """The verdict on standard output, wrapped where a person watches."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console, wrapped = Console(), sys.stdout.isatty()
    console.print(Text(in_options(verdict.headline), style="bold"), soft_wrap=not wrapped)
    for line in (verdict.advice, *more_concerns(verdict)):
        if line:
            console.print(Text(f"- {in_options(line)}"), soft_wrap=not wrapped)
    table = Table(show_header=False, box=None, pad_edge=False)
    for place in range(4):
        table.add_column(justify="right" if place == 1 else "left", overflow="fold")
    for measure in verdict.measures:
        interval = f"({measure.interval})" if measure.interval else ""
        table.add_row(*map(Text, (measure.name, measure.value, interval, measure.meaning)))
    if table.rows:
        console.print()
        console.print(table)
    console.print()
    for line in footer:
        console.print(Text(line), soft_wrap=not wrapped)


def more_concerns(verdict: Verdict) -> Iterator[str]:
    """Concerns that the headline does not tell; a remedy that was named already is not named again."""
    said = {concern.remedy for concern in verdict.concerns[:1]}
    for concern in verdict.concerns[1:]:
        yield concern.what if concern.remedy in said else str(concern)
        said.add(concern.remedy)


def learnt_from(model: TableModel) -> str:
    """What a model was fitted to, in a sentence."""
    record, plan = model.record, model.plan
    n_labeled = sum(record.counts.values())
    named = ", ".join(f"{count:,} {name!r}" for name, count in list(record.counts.items())[:MOST_CLASSES])
    more = ", ..." if len(record.counts) > MOST_CLASSES else ""
    n_columns = len(plan.columns) + sum(name != model.label for name in plan.left_out)
    n_unlabeled, n_all = record.n_used - n_labeled, record.n_rows - n_labeled
    some = f"{n_unlabeled:,}" if n_unlabeled == n_all else f"{n_unlabeled:,} of {n_all:,}"
    return (
        f"Learnt from {n_labeled:,} labelled rows ({named}{more}) and {some} unlabelled ones of "
        f"{record.source}, with {len(plan.columns)} of {n_columns} columns, in {record.seconds:.1f} s."
    )
