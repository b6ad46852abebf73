"""Options in a file: `pnulearn.toml` holds what would otherwise be typed every time.

Names are those of the options without dashes. A table such as [fit] belongs to one command, what stands above all
tables to every command that has such an option. What is typed wins.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import typer

from pnulearn.cli.console import remark

NAME = "pnulearn.toml"
NOT_HERE = frozenset({"config", "help"})


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
    """Say which options came from the file, since nobody typed them."""
    sources = {name: context.get_parameter_source(name) for name in context.default_map or {}}
    taken = [name for name, source in sources.items() if source is not None and source.name == "DEFAULT_MAP"]
    options = {name: option for option, name in _known(context.command).items()}
    if taken:
        remark(f"From {path}: {', '.join(f'{options[name]} = {context.params[name]}' for name in taken)}.")


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
