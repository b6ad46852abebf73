"""`pnulearn prior`: the share of positives among the unlabelled rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any

import typer

from pnulearn.cli.console import in_percent, show_facts, show_lines
from pnulearn.cli.options import COLUMNS, ORIGINS, File, Json, Label, method_name, open_table
from pnulearn.tables._options import TableOptions


def prior(
    file: File,
    label: Label,
    options: Annotated[TableOptions, *ORIGINS, *COLUMNS],
    method: Annotated[str, typer.Option(help="How to estimate it; auto uses the recommended method.")] = "auto",
    json: Json = False,
) -> None:
    """Estimate the share of positives among unlabelled rows."""
    from pnulearn.tables._evaluation import table_labels
    from pnulearn.tables._prior import estimate_table_prior

    options = replace(options, prior=None if method == "auto" else method_name(method))
    table = open_table(file, options)
    labels = table_labels(table, label, options.pos_label, options.unlabeled)
    facts = estimate_table_prior(table, label, labels, options)
    if not json:
        show_lines(sentence(facts))
        print()
    show_facts(facts if json else in_percent(in_words(facts)), json)


def in_words(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The facts with how labels were sampled in the words of --sampling; JSON keeps the older ones.

    >>> in_words({"prior": 0.3, "labels": "chosen (assumed)"})
    {'prior': 0.3, 'sampling': 'by class (assumed)'}
    """
    return {
        "sampling" if name == "labels" else name: value.replace("chosen", "by class") if name == "labels" else value
        for name, value in facts.items()
    }


def sentence(facts: Mapping[str, Any]) -> str:
    """The estimate in words.

    >>> sentence({"prior": 0.31, "interval": [0.25, 0.4], "confidence": 0.9, "positive": "yes"})
    "About 31 % of the rows are 'yes' (90 % interval 25 to 40 %)."
    """
    from pnulearn.tables._verdict import percent

    share, interval = facts["prior"], facts.get("interval")
    if not isinstance(share, float):
        return "The share of every class among the rows, estimated from labelled and unlabelled rows:"
    within = ""
    if isinstance(interval, list | tuple) and all(isinstance(end, float) for end in interval):
        low, high = (percent(end) for end in interval)
        within = f" ({percent(facts['confidence'])} interval {low.removesuffix(' %')} to {high})"
    return f"About {percent(share)} of the rows are {str(facts['positive'])!r}{within}."
