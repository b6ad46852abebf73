"""`pnulearn judge`: the share of good answers from few human labels and the verdicts of judge models."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pnulearn.cli.console import remark, show_facts, show_lines, show_rows
from pnulearn.cli.options import FILES, By, File, Json, Overwrite, complete_column, open_table, refuse_outputs
from pnulearn.tables._options import TableOptions

SAMPLING = {"random": "random", "by-verdict": "by_helper", "by-class": "by_class"}


def read_share_sampling(text: str) -> str:
    """The library's name for how the labelled rows were chosen; it is accepted, too."""
    found = SAMPLING.get(text) or text.replace("-", "_")
    if found not in SAMPLING.values():
        raise typer.BadParameter(f"{text!r} is not one of {', '.join(map(repr, SAMPLING))}.")
    return found


def judge(
    file: File,
    human: Annotated[
        str,
        typer.Option(
            "--human", help="Column of human labels; empty cells are unlabelled.", autocompletion=complete_column
        ),
    ],
    judges: Annotated[
        list[str],
        typer.Option(
            "--judge", help="Column of a judge's verdicts or scores (may be repeated).", autocompletion=complete_column
        ),
    ],
    options: Annotated[TableOptions, "pos_label", "unlabeled", "weights", *FILES],
    by: By = None,
    sampling: Annotated[
        str,
        typer.Option(
            metavar="random|by-verdict|by-class",
            help="How the rows that humans labelled were chosen.",
            parser=read_share_sampling,
            autocompletion=lambda: list(SAMPLING),
        ),
    ] = "random",
    good_verdict: Annotated[
        str | None, typer.Option(help="The verdict that means the positive label; by default good, pass, yes, ...")
    ] = None,
    groups: Annotated[
        str | None,
        typer.Option(help="Column of rows that belong together, e.g. a conversation.", autocompletion=complete_column),
    ] = None,
    confidence: Annotated[float, typer.Option(min=0.5, max=0.999, help="Confidence level of the intervals.")] = 0.95,
    report: Annotated[Path | None, typer.Option(help="Write an HTML page here.")] = None,
    overwrite: Overwrite = False,
    json: Json = False,
) -> None:
    """Estimate the share of good answers from few human labels and the verdicts of judge models.

    The judges may be biased: the human labels say what their verdicts mean. Ratings (1 to 5) give a mean.
    """
    refuse_outputs({"--report": (report, "a report")}, overwrite, file=file)
    from pnulearn.tables._judging import judge_table

    found = judge_table(
        open_table(file, options),
        human,
        judges,
        by=by,
        sampling=sampling,  # type: ignore[arg-type]
        pos_label=options.pos_label,
        pos_verdict=good_verdict,
        unlabeled=options.unlabeled,
        groups=groups,
        weights=options.weights,
        confidence=confidence,
    )
    if report is not None:
        from pnulearn.report._judging import write_judgment

        write_judgment(found, report, overwrite=overwrite)
        remark(f"The page is in {report}.")
    if json:
        show_facts(found.facts(), json)
        return
    show_lines(found.sentence(), found.remarks())
    print()
    show_rows(found.rows(), json)
    if found.quality:
        print()
        show_rows(found.judge_rows(), json)
