"""What every command has: how much it says, and options from pnulearn.toml."""

from __future__ import annotations

import inspect
import re
import time
import tomllib
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from difflib import get_close_matches
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer

from pnulearn.cli.console import Loudness, detail, how_verbose, listen, remark, set_loudness
from pnulearn.cli.options import option_parameters, read_options

# Options in a file: `pnulearn.toml` holds what would otherwise be typed every time.

NAME = "pnulearn.toml"
NOT_HERE = frozenset({"config", "help"})
_used: ContextVar[Path | None] = ContextVar("used", default=None)  # the file of options of this run


def use_config(context: typer.Context, path: Path | None) -> Path | None:
    """Make the options of a file the defaults of the command that is about to run."""
    if context.resilient_parsing:  # the shell asks for completions
        return path
    found = Path(NAME) if path is None and Path(NAME).is_file() else path
    if found is None:
        return None
    context.default_map = dict(context.default_map or {}) | dict(_options(_read(found), context, found))
    return found


def tell_config(context: typer.Context, path: Path | None) -> None:
    """Print which options came from the file."""
    sources = {name: context.get_parameter_source(name) for name in context.default_map or {}}
    taken = [name for name, source in sources.items() if source is not None and source.name == "DEFAULT_MAP"]
    options = {name: option for option, name in _known(context.command).items()}
    if taken:
        remark(f"From {path}: {', '.join(f'{options[name]} = {context.params[name]}' for name in taken)}.")


def remember(command: str, name: str, value: str) -> Path:
    """Write an option of a command to the file of options in use, or to a new one in this folder; returns its path."""
    from pnulearn._files.writing import write_atomically

    path = _used.get() or Path(NAME)
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    head, line = f"[{command}]\n", f'{name} = "{value}"\n'
    if command in tomllib.loads(text):
        text = re.sub(rf"(?m)^\[\s*{command}\s*\]\s*?(#.*)?\n", lambda found: found[0] + line, f"{text}\n", count=1)
    else:
        text += ("\n" if text and not text.endswith("\n") else "") + head + line
    if tomllib.loads(text).get(command, {}).get(name) == value:
        write_atomically(path, lambda file: file.write(text.encode()))
    return path


def _read(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise typer.BadParameter(f"there is no file {str(path)!r}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, OSError) as error:
        raise typer.BadParameter(f"{path} cannot be read as TOML: {error}.") from None


def _options(content: dict[str, Any], context: typer.Context, path: Path) -> Iterator[tuple[str, Any]]:
    """Parameters of the command with their values; names that no command has are refused."""
    command = context.info_name or ""
    group: Any = context.parent.command if context.parent else None
    commands = {name: _known(part) for name, part in (group.commands if group else {}).items()}
    # `prior` is a command and an option of others: a table belongs to the command.
    tables = {name: value for name, value in content.items() if name in commands and isinstance(value, dict)}
    everywhere = {name: value for name, value in content.items() if name not in tables}
    for name in everywhere:
        _refuse_unknown(name, {option for options in commands.values() for option in options}, path)
    own = commands.get(command, {})
    for name, value in {**everywhere, **tables.get(command, {})}.items():
        if name in own:
            yield own[name], _plain(name, value, path)
        elif name not in everywhere:
            _refuse_unknown(name, set(own), path, f"[{command}]")


def _known(command: Any) -> dict[str, str]:
    """Names of options without dashes, and the parameters that they belong to."""
    names = {option.lstrip("-"): part.name for part in command.params for option in part.opts if option[:2] == "--"}
    return {option: name for option, name in names.items() if name not in NOT_HERE}


def _plain(name: str, value: Any, path: Path) -> Any:
    """A table of pairs, as --as takes them, becomes a list of name=value."""
    if isinstance(value, dict):
        return [f"{key}={item}" for key, item in value.items()]
    if isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, list) and all(isinstance(item, str | int | float) for item in value):
        return [str(item) for item in value]
    raise typer.BadParameter(f"{name} of {path} is {value!r}, not a word, a number, true, false or a list of them.")


def _refuse_unknown(name: str, known: set[str], path: Path, where: str = "") -> None:
    if name in known:
        return
    near = get_close_matches(name, known, 1)
    meant = f" Did you mean {near[0]!r}?" if near else ""
    raise typer.BadParameter(f"{path} sets {name!r}{f' in {where}' if where else ''}, which is no option.{meant}")


# What every command has: how much it says, and options that stand in a file.

Config = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Options from this TOML file; pnulearn.toml in this folder by default.",
        is_eager=True,
        callback=use_config,
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No notes; warnings and errors are still printed.")]
Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="Print more: what was read, all facts, how long it took.")
]


DRAWN = {"random": "random", "chosen": "by_class"}  # words of --labels, the older name of --sampling


def read_drawn(text: str) -> str:
    """The library's name for how labelled rows were sampled, from a word of --labels."""
    if text not in DRAWN:
        raise typer.BadParameter(
            "it is the older name of --sampling, which takes random or by-class; labels are a column of the file: "
            "name it with --label."
        )
    return DRAWN[text]


Labels = Annotated[
    str | None, typer.Option("--labels", hidden=True, help="The older name of --sampling.", parser=read_drawn)
]
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
        _used.set(config)
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


def _merge_sampling(sampling: str | None, old: str | None) -> str | None:
    """What --sampling says, or --labels, as it was called before."""
    if sampling is not None and old not in (None, sampling):
        raise typer.BadParameter("--labels and --sampling contradict each other: leave --labels out.")
    return sampling or old
