"""Every method the experiments can run, by name. A new method is one file in this folder, or a plugin file."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from pnulearn.laboratory.experiments.trials import Trial


@dataclass(frozen=True)
class Method:
    """A name for rows and options, a title for tables, and how to learn a model with `predict` from a trial.

    `group` says what it is: "ours", "rival" (of the paper) or "everyday" (what scikit-learn offers).
    """

    name: str
    title: str
    learn: Callable[[Trial], Any]
    group: str = "ours"


REGISTRY: dict[str, Method] = {}


def register_method(method: Method) -> Method:
    """Make a method known by name."""
    REGISTRY[method.name] = method
    return method


def find_method(name: str) -> Method:
    """The method of that name."""
    _load_own()
    if name not in REGISTRY:
        raise KeyError(f"No method is called {name!r}. Known: {', '.join(REGISTRY)}.")
    return REGISTRY[name]


def method_names() -> list[str]:
    """All names, our own first."""
    _load_own()
    return sorted(REGISTRY, key=lambda name: ("ours", "rival", "everyday").index(REGISTRY[name].group))


def load_plugins(paths: Iterable[str]) -> None:
    """Run files that call `register_method` or `datasets.register`."""
    for path in paths:
        _load_plugin(str(Path(path).resolve()))


@cache
def _load_plugin(path: str) -> None:
    spec = importlib.util.spec_from_file_location(f"pnulearn_plugin_{Path(path).stem}", path)
    if spec is None or spec.loader is None or not Path(path).is_file():
        raise FileNotFoundError(f"{path!r} is not a Python file. A plugin is a .py file that calls register_method.")
    spec.loader.exec_module(importlib.util.module_from_spec(spec))


@cache
def _load_own() -> None:
    for module in pkgutil.iter_modules(__path__, f"{__name__}."):
        importlib.import_module(module.name)
