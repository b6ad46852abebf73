"""What every command has: how much it says, and options that stand in a file.

A command is a plain function. `shared` adds --config, --quiet and --verbose to it, which mean the same everywhere, and
an option for every field of `TableOptions` that its parameter `options` asks for.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable
from enum import StrEnum
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer

from pnulearn.cli.config import tell_config, use_config
from pnulearn.cli.console import Loudness, detail, how_verbose, listen, set_loudness
from pnulearn.cli.options import option_parameters, read_options

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


class Drawn(StrEnum):
    """Words of --labels, the older name of --sampling."""

    random = "random"
    chosen = "chosen"

    @property
    def sampling(self) -> str:
        return "random" if self is Drawn.random else "by_class"


Labels = Annotated[Drawn | None, typer.Option("--labels", hidden=True, help="The older name of --sampling.")]
ADDED: dict[str, Any] = {"config": (Config, None), "quiet": (Quiet, False), "verbose": (Verbose, False)}


def shared(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the options that all commands share."""
    signature = inspect.signature(command, eval_str=True)
    signature, fields = _expand(signature)
    more = ADDED | ({"labels": (Labels, None)} if "sampling" in signature.parameters else {})
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
        for name, (kind, default) in more.items()
    ]

    @wraps(command)
    def run(context: typer.Context, *, quiet: bool, verbose: bool, config: Path | None, **arguments: Any) -> None:
        if quiet and verbose:
            raise typer.BadParameter("--quiet and --verbose contradict each other.")
        set_loudness(Loudness.quiet if quiet else Loudness.verbose if verbose else Loudness.normal)
        tell_config(context, config)
        if "labels" in arguments:
            arguments["sampling"] = _merge_sampling(arguments["sampling"], arguments.pop("labels"))
        if fields:
            values = {name: arguments.pop(name) for name in fields}
            arguments["options"] = read_options(values, verbose=how_verbose())
        listen()
        start = time.perf_counter()
        command(**arguments)
        detail(f"That took {time.perf_counter() - start:.1f} s.")

    first = inspect.Parameter("context", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=typer.Context)
    parameters = [first, *signature.parameters.values(), *added]
    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    return run


def _expand(signature: inspect.Signature) -> tuple[inspect.Signature, list[str]]:
    """The signature with parameters for fields instead of `options`, and the names of these fields."""
    asked = signature.parameters.get("options")
    if asked is None:
        return signature, []
    made = list(option_parameters(getattr(asked.annotation, "__metadata__", ())))
    kept = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in signature.parameters.values()]
    place = list(signature.parameters).index("options")
    parameters = [*kept[:place], *made, *kept[place + 1 :]]
    return signature.replace(parameters=parameters), [one.name for one in made]


def _merge_sampling(sampling: str | None, labels: Drawn | None) -> str | None:
    """What --sampling says, or --labels, as it was called before."""
    old = None if labels is None else labels.sampling
    if sampling is not None and old not in (None, sampling):
        raise typer.BadParameter("--labels and --sampling contradict each other: leave --labels out.")
    return sampling or old
