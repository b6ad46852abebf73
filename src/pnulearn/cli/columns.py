"""`pnulearn columns`: what would become of every column, before anything is fitted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from pnulearn.cli.console import remarks, show_rows
from pnulearn.cli.options import (
    As,
    Delimiter,
    Drop,
    Encoding,
    File,
    Json,
    Missing,
    MostCategories,
    NoHeader,
    Positive,
    Unlabeled,
    open_table,
    read_kinds,
)

if TYPE_CHECKING:
    from pnulearn.tables import ColumnPlan, Table


def columns(
    file: File,
    label: Annotated[str | None, typer.Option("--label", "-l", help="Column with the labels, if there is one.")] = None,
    positive: Positive = None,
    unlabeled: Unlabeled = None,
    kinds: As = [],  # noqa: B006
    drop: Drop = [],  # noqa: B006
    most_categories: MostCategories = 50,
    missing: Missing = [],  # noqa: B006
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    no_header: NoHeader = False,
    json: Json = False,
) -> None:
    """Show what `fit` would do with every column of FILE.

    --as and --drop change it, here and in `fit`. With --label, columns that give the label away are named.
    """
    from pnulearn.tables import learn_plan

    wanted = read_kinds(kinds)
    table = open_table(file, missing, encoding, delimiter, no_header)
    without = dict.fromkeys(drop, "by request") | ({label: "the label"} if label else {})
    plan = learn_plan(table, without=without, kinds=wanted, most_categories=most_categories)
    if label:
        remarks(_label_remarks(table, plan, label, positive, unlabeled))
    show_rows(describe_columns(table, plan), json)


def describe_columns(table: Table, plan: ColumnPlan) -> list[dict[str, Any]]:
    """A row per column: its kind, features, missing cells, and what becomes of it."""
    n_features = {column.name: len(column.feature_names) for column in plan.columns}
    kinds, fates = plan.kinds, plan.fates
    return [
        {
            "column": name,
            "kind": kinds.get(name, "-"),
            "features": n_features.get(name, 0),
            "missing": int(table.column(name).missing.sum()) if name in kinds else 0,
            "treatment": fates[name],
        }
        for name in table.names
    ]


def _label_remarks(
    table: Table, plan: ColumnPlan, label: str, positive: str | None, unlabeled: str | None
) -> list[str]:
    from pnulearn._problem.labels import decode_labels
    from pnulearn.tables import read_targets
    from pnulearn.tables._leakage import find_leaks
    from pnulearn.tables._verdict import leakage_concerns

    targets = read_targets(table, label, positive=positive, unlabeled=unlabeled)
    codes = decode_labels(targets.y, pos_label=targets.positive).codes
    giveaways = find_leaks(plan, plan.features(table)[0], codes)
    return targets.remarks + list(map(str, leakage_concerns(giveaways)))
