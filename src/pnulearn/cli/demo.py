"""`pnulearn demo`: what the package does, on a generated table and on data of scikit-learn."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pnulearn.cli.console import remark


def demo(
    table_only: Annotated[
        bool, typer.Option("--table-only", help="Only write the table, shop.csv, and the truth, shop-truth.txt.")
    ] = False,
) -> None:
    """Go from a messy table to a report, and show how much unlabelled rows help."""
    from pnulearn._demo import TABLE, TRUTH, run, write_table

    if table_only:
        write_table(Path())
        remark(f"Wrote {TABLE} and {TRUTH}.")
    else:
        run()
