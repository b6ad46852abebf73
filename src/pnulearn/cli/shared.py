"""What every command has: how much it says, and options that stand in a file.

A command is a plain function. `shared` adds --config, --quiet and --verbose to it, which mean the same everywhere.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer

from pnulearn.cli.config import tell_config, use_config
from pnulearn.cli.console import Loudness, detail, set_loudness

Config = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Options from this TOML file; pnulearn.toml in this folder by default.",
        is_eager=True,
        callback=use_config,
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No notes; warnings and errors are still told.")]
Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="Tell more: what was read, all facts, how long it took.")
]
ADDED: dict[str, Any] = {"config": (Config, None), "quiet": (Quiet, False), "verbose": (Verbose, False)}


def shared(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the options that all commands share."""
    signature = inspect.signature(command, eval_str=True)
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
        for name, (kind, default) in ADDED.items()
        if name not in signature.parameters
    ]

    @wraps(command)
    def run(context: typer.Context, *, quiet: bool, verbose: bool, config: Path | None, **arguments: Any) -> None:
        if quiet and verbose:
            raise typer.BadParameter("--quiet and --verbose contradict each other.")
        set_loudness(Loudness.quiet if quiet else Loudness.verbose if verbose else Loudness.normal)
        tell_config(context, config)
        start = time.perf_counter()
        command(**arguments)
        detail(f"That took {time.perf_counter() - start:.1f} s.")

    first = inspect.Parameter("context", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)
    parameters = [first, *signature.parameters.values(), *added]
    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return run
