"""`pnulearn columns`: how each column would be used, before anything is fitted."""

from __future__ import annotations

from typing import Annotated

import typer

from pnulearn.cli.console import in_options, show_rows
from pnulearn.cli.options import COLUMNS, File, Json, open_table
from pnulearn.tables._options import TableOptions

Options = Annotated[TableOptions, *COLUMNS, "most_categories"]


def columns(
    file: File,
    options: Options,
    label: Annotated[str | None, typer.Option("--label", "-l", help="Column with the labels, if there is one.")] = None,
    json: Json = False,
) -> None:
    """Show what `fit` would do with every column of FILE.

    --as and --drop change it, here and in `fit`. With --label, columns that give the label away are named.
    """
    from pnulearn.tables._fitting import preview_columns

    found = preview_columns(open_table(file, options), label, options)
    show_rows([row | {"treatment": in_options(row["treatment"])} for row in found], json)
