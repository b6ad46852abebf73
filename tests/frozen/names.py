"""Public names and how they are called: what docs/api.rst and `__all__` promise, and the options of every command."""

from __future__ import annotations

import inspect
import pkgutil
import re
from collections.abc import Iterator
from functools import partial
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import typer

import pnulearn

API = Path(__file__).parents[2] / "docs" / "api.rst"
NOT_INSTALLED = "pnulearn.torch"  # PyTorch is no part of `make test`


def public_names() -> dict[str, str]:
    """Every promised name with its parameters and their defaults; classes with their public methods and properties."""
    found: dict[str, str] = {}
    first: dict[int, str] = {}  # the shortest name of everything
    for name in sorted({*documented_names(), *exported_names()}, key=lambda name: (name.count("."), name)):
        if not name.startswith(NOT_INSTALLED):
            thing = _find(name)
            if first.setdefault(id(thing), name) == name:
                found |= dict(_describe(name, thing))
            else:
                found[name] = f"the same as {first[id(thing)]}"
    return found


def documented_names() -> Iterator[str]:
    """Names as docs/api.rst lists them."""
    module = "pnulearn"
    for line in API.read_text(encoding="utf-8").splitlines():
        module = line.split("::")[1].strip() if line.startswith(".. currentmodule::") else module
        entry = re.fullmatch(r"   ([\w.]+)", line)
        if entry is not None:
            yield f"{module}.{entry[1]}"


def exported_names() -> Iterator[str]:
    """What the package and its parts without an underscore list in `__all__`."""
    parts = [one.name for one in pkgutil.iter_modules(pnulearn.__path__, "pnulearn.") if "._" not in one.name]
    for module in ["pnulearn", *parts]:
        if module != NOT_INSTALLED:
            yield from (f"{module}.{name}" for name in getattr(import_module(module), "__all__", ()))


def command_options() -> dict[str, Any]:
    """Every command with its arguments and options: their names and defaults."""
    from pnulearn.cli import app

    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    return {
        name: {" ".join([*one.opts, *one.secondary_opts]): _plain(one.default) for one in command.params}
        for name, command in commands.items()
    }


def _describe(name: str, thing: Any) -> Iterator[tuple[str, str]]:
    if isinstance(thing, ModuleType):
        yield name, "module"
    elif inspect.isclass(thing) and issubclass(thing, Exception):
        yield name, f"exception, a {thing.__base__.__name__}"
    elif inspect.isclass(thing):
        yield name, f"class{_parameters(thing)}"
        for member in filter(partial(_is_ours, thing), dir(thing)):
            if isinstance(inspect.getattr_static(thing, member), property):
                yield f"{name}.{member}", "property"
            elif callable(getattr(thing, member)):
                yield f"{name}.{member}", _parameters(getattr(thing, member))
    else:
        yield name, _parameters(thing) if callable(thing) else type(thing).__name__


def _parameters(thing: Any) -> str:
    """The signature without types, which say nothing to whoever calls it."""
    signature = inspect.signature(thing)
    plain = [one.replace(annotation=inspect.Parameter.empty) for one in signature.parameters.values()]
    shown = str(signature.replace(parameters=plain, return_annotation=inspect.Signature.empty))
    return re.sub(r"<(?:function|class) '?([\w.]+)'?(?: at \w+)?>", r"\1", shown)


def _is_ours(cls: type, member: str) -> bool:
    """Whether it is public and the package itself defines it, not scikit-learn or Python."""
    home = next((one for one in cls.__mro__ if member in vars(one)), object)
    if member.startswith("_"):
        return False
    return home.__module__.startswith("pnulearn") and not member.endswith(("_request", "_metadata_routing"))


def _find(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        module, _, rest = name.rpartition(".")
        return getattr(_find(module), rest)


def _plain(default: Any) -> Any:
    value = default() if callable(default) else default
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
