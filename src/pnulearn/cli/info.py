"""`pnulearn info`: show the contents of a model file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pnulearn.cli.console import show_facts, show_verdict
from pnulearn.cli.options import Json, existing_models


def info(
    model: Annotated[
        Path, typer.Argument(metavar="MODEL", help="Model file written by `pnulearn fit`.", callback=existing_models)
    ],
    json: Json = False,
) -> None:
    """Show the contents of a model file."""
    from pnulearn.tables._loading import load_table_model
    from pnulearn.tables._verdict import reach_verdict

    found = load_table_model(model)
    verdict = reach_verdict(found)
    if not json:
        show_verdict(verdict)
    show_facts(found.facts() | ({"verdict": verdict.facts()} if json else {}), json)
