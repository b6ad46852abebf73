"""Options that several commands share: the fields of `TableOptions`, and files; completion of column names."""

from __future__ import annotations

import inspect
from ast import literal_eval
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import Field
from enum import StrEnum
from importlib.util import find_spec
from math import isfinite
from pathlib import Path
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin, get_type_hints

import typer

from pnulearn.cli.console import detail, in_options, remarks
from pnulearn.tables._options import OPTIONS, SETTABLE, TableOptions

if TYPE_CHECKING:
    from pnulearn._reader.batches import Batches
    from pnulearn._reader.table import Table


# What the shell offers when Tab is pressed: names of columns, read from the file that was typed before.

MOST_BYTES = 50_000_000  # larger files take too long to complete a Tab


def complete_column(context: typer.Context, incomplete: str) -> list[str]:
    """Columns of FILE that begin like this; nothing if there is no such file or it cannot be read."""
    return [name for name in _columns(context) if name.startswith(incomplete)]


def complete_kind(context: typer.Context, incomplete: str) -> list[str]:
    """COLUMN=KIND: first the column, then the kind."""
    name, equals, kind = incomplete.rpartition("=")
    if equals:
        from pnulearn.tables._kinds import KINDS

        return [f"{name}={known}" for known in KINDS if known.startswith(kind)]
    return [f"{column}=" for column in _columns(context) if column.startswith(incomplete)]


def _columns(context: typer.Context) -> list[str]:
    from pnulearn._reader.in_memory import read_table

    typed = context.params.get("file") or context.args  # a line that ends in --label is not parsed to its end
    try:
        for file in map(Path, [typed] if isinstance(typed, str) else typed):
            if file.is_file() and file.stat().st_size < MOST_BYTES:
                return read_table(file).names
    except Exception:  # completion must never print a traceback
        pass
    return []


# Options that several commands share: those of `TableOptions`, made of its fields, and a few that are about files.

COMPLETIONS = {"column": complete_column, "kind": complete_kind}
# Options of commands that read a table, that look at its columns, and that judge or learn from its labels.
FILES = ("missing", "encoding", "delimiter", "header", "header_rows", "decimal")
COLUMNS = ("pos_label", "unlabeled", "kinds", "drop", *FILES)
ORIGINS = ("sampling", "at_random", "weights", "groups")
SAMPLING = ("random", "by-class")


def option_parameters(names: Sequence[str]) -> Iterator[inspect.Parameter]:
    """Parameters that typer makes options of, for these fields of `TableOptions`, or all of them."""
    hints = get_type_hints(TableOptions)
    for name in names or [name for name, one in OPTIONS.items() if "meaning" in one.metadata and name != "verbose"]:
        kind, default = _typed(hints[name], OPTIONS[name])
        option = typer.Option(*_flags(OPTIONS[name]), **_facts(OPTIONS[name], kind))
        yield inspect.Parameter(
            name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, option]
        )


def read_options(values: Mapping[str, Any], **further: Any) -> TableOptions:
    """The options as they were typed, in the types that `TableOptions` has."""
    read = {name: READERS.get(name, _plain)(value) for name, value in values.items()}
    options = TableOptions(**read, **further)
    try:
        options.refuse_contradictions()
    except ValueError as error:
        raise typer.BadParameter(in_options(str(error))) from None
    return options


def _typed(hint: Any, one: Field[Any]) -> tuple[Any, Any]:
    """What typer takes for a type, and the default as it is typed."""
    given = one.metadata.get("typed", one.default)
    inner = [part for part in get_args(hint) if part is not NoneType] if get_origin(hint) is UnionType else [hint]
    optional = len(inner) < len(get_args(hint)) if get_origin(hint) is UnionType else False
    kind = inner[0]
    if "parser" in PARSED.get(one.name, {}):
        return str | None, given
    if get_origin(kind) is Literal:
        choices = StrEnum(one.name, {choice: choice for choice in get_args(kind)})  # type: ignore[misc]
        return choices, choices(given)
    if get_origin(kind) in (Sequence, Mapping):
        return list[str], []
    if kind is Any:
        return (str, given) if isinstance(given, str) else (str | None, given)
    if kind is bool:
        return bool, False
    return (kind | None if optional else kind), given


def _flags(one: Field[Any]) -> list[str]:
    return [one.metadata["flag"]] if "flag" in one.metadata else []


def _facts(one: Field[Any], kind: Any) -> dict[str, Any]:
    """Arguments of `typer.Option`."""
    found: dict[str, Any] = {"help": one.metadata.get("help", one.metadata["meaning"])} | PARSED.get(one.name, {})
    if "metavar" in one.metadata:
        found["metavar"] = one.metadata["metavar"]
    if "least" in one.metadata:
        found["min"] = one.metadata["least"]
    if "completes" in one.metadata:
        found["autocompletion"] = COMPLETIONS[one.metadata["completes"]]
    return found


def _plain(value: Any) -> Any:
    """A choice as the word that it is, several words as a tuple."""
    if isinstance(value, StrEnum):
        return value.value
    return tuple(value) if isinstance(value, list) else value


def read_sampling(text: str) -> str:
    """The library's name for how labelled rows were sampled; older names are accepted."""
    from pnulearn._problem.samples import read_sampling

    try:
        return read_sampling(text.replace("-", "_"))
    except ValueError:
        raise typer.BadParameter(f"{text!r} is not one of {', '.join(map(repr, SAMPLING))}.") from None


def read_prior(text: str) -> float | tuple[float, float] | str | None:
    """A prior as a share, a 90 % range, the name of a method that estimates it, or None for "auto".

    >>> read_prior("0.3"), read_prior("0.1..0.3"), read_prior("auto")
    (0.3, (0.1, 0.3), None)
    """
    if text == "auto":
        return None
    first, dots, second = text.partition("..")
    try:
        if not dots:
            return _read_share(first)
        low, high = _read_share(first), _read_share(second)
    except ValueError:
        return method_name(text)
    if not low < high:
        raise typer.BadParameter(f"the lower end of a range comes first, e.g. 0.1..0.3, got {text}.")
    return low, high


def _read_share(text: str) -> float:
    value = float(text.strip().rstrip("%"))
    if text.strip().endswith("%") or 1 < value < 100:
        raise typer.BadParameter(f"the prior is a share between 0 and 1: for {value:g} % write {value / 100:g}.")
    if not 0 < value < 1:
        raise typer.BadParameter(f"the prior must lie strictly between 0 and 1, got {text}.")
    return value


def method_name(text: str) -> str:
    """The name of a prior estimator."""
    from pnulearn.priors import METHODS

    if text not in METHODS:
        raise typer.BadParameter(
            f"{text!r} is neither a share such as 0.3, nor a range such as 0.1..0.3, nor 'auto', nor a method "
            f"({', '.join(METHODS)})."
        )
    return text


def read_kinds(pairs: list[str]) -> dict[str, str] | None:
    """Kinds of columns by name.

    >>> read_kinds(["zip=category", "a=b=number"])
    {'zip': 'category', 'a=b': 'number'}
    """
    if not pairs:
        return None  # what is about to be refused need not wait for scikit-learn
    from pnulearn.tables._kinds import KINDS

    kinds = {name: kind for name, _, kind in (pair.rpartition("=") for pair in pairs)}
    for name, kind in kinds.items():
        if not name or kind not in KINDS:
            raise typer.BadParameter(f"--as wants COLUMN=KIND, with one of the kinds {', '.join(KINDS)}.")
    return kinds


def read_settings(pairs: list[str]) -> dict[str, Any] | None:
    """Parameters of the classifier that have no option of their own.

    >>> read_settings(["alpha=0.1", "mix=[0, 0.5]", "selection=best"])
    {'alpha': 0.1, 'mix': [0, 0.5], 'selection': 'best'}
    """
    texts = {name.strip(): text.strip() for name, _, text in (pair.partition("=") for pair in pairs)}
    for name, text in texts.items():
        if name not in SETTABLE or not text:
            raise typer.BadParameter(f"--set wants NAME=VALUE, with one of the names {', '.join(SETTABLE)}.")
    return {name: _read_value(text) for name, text in texts.items()} or None


def _read_value(text: str) -> Any:
    try:
        return literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def refuse_outputs(outputs: dict[str, tuple[Path | None, str]], overwrite: bool, **inputs: Any) -> None:
    """Refuse outputs that would destroy something, before any work is done; keys are the names of their options."""
    from pnulearn._files.outputs import Output, check_outputs
    from pnulearn._reader.files import expand

    if any(path is not None and kind == "a report" for path, kind in outputs.values()):
        refuse_without_report()
    asked = [Output(path, kind, name, "--overwrite") for name, (path, kind) in outputs.items() if path is not None]
    files = expand(inputs.pop("file"))
    names = {f"FILE {k + 1}" if k else "FILE": path for k, path in enumerate(files)}
    names |= {f"--{name}": path for name, path in inputs.items()}
    try:
        check_outputs(*asked, inputs=names, overwrite=overwrite)
    except (OSError, ValueError) as error:
        raise typer.BadParameter(str(error)) from None


def existing_tables(context: typer.Context, files: Any) -> Any:
    """FILE as it was typed, if it is there: a wrong name is told before anything heavy is imported."""
    if files is not None and not context.resilient_parsing:
        from pnulearn._reader.files import expand, refuse_absent

        for path in expand(files):
            refuse_absent(path)
    return files


def existing_models(context: typer.Context, models: Any) -> Any:
    """The same of model files."""
    if models is not None and not context.resilient_parsing:
        from pnulearn._files.refusals import refuse_absent

        for path in [models] if isinstance(models, Path) else models:
            refuse_absent(path)
    return models


def refuse_without_report() -> None:
    """Say what a report needs before any work is done."""
    if not (find_spec("matplotlib") and find_spec("jinja2")):
        raise ImportError("A report needs more packages: pip install 'pnulearn[report]'")


File = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE...",
        help="CSV, Excel, Parquet, JSON lines; several are stacked; - for standard input.",
        callback=existing_tables,
    ),
]
Label = Annotated[
    str,
    typer.Option(
        "--label", "-l", help="Column with the labels; empty cells are unlabelled.", autocompletion=complete_column
    ),
]
By = Annotated[
    str | None,
    typer.Option(
        help="Also for every value of this column, e.g. model; dates are cut into windows: date:month, date:week, "
        "date:day, or month if one column has dates.",
        metavar="COLUMN",
        autocompletion=complete_column,
    ),
]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace an output that holds something of another kind.")]
Json = Annotated[bool, typer.Option("--json", help="Answer in JSON.")]
ModelFile = Annotated[
    Path, typer.Option("--model", "-m", help="Model file written by `pnulearn fit`.", callback=existing_models)
]


def _read_stream_above(megabytes: float) -> float:
    if not isfinite(megabytes):
        raise typer.BadParameter(f"--stream-above is a number of MB, such as 32; got {megabytes}.")
    return megabytes


# Options whose words mean something else than they are; all others are taken as they stand.
PARSED = {"sampling": {"parser": read_sampling, "autocompletion": lambda: list(SAMPLING)}}
READERS: dict[str, Callable[[Any], Any]] = {
    "prior": read_prior,
    "kinds": read_kinds,
    "settings": read_settings,
    "delimiter": lambda text: "\t" if text in ("tab", r"\t") else text,
    "header": lambda absent: not absent,
    "stream_above": _read_stream_above,
}


def open_data(file: str | list[str], options: TableOptions) -> Table | Batches:
    """The table in files, in batches if they are large."""
    from pnulearn._reader.frames import open_data

    return open_data(file, options.reading, options.large)


def open_table(file: str | list[str], options: TableOptions) -> Table:
    """The table in files, all of it, with notes about how it was read."""
    from pnulearn._reader.batches import Batches

    table = Batches.of(file, options.reading).whole()
    remarks(table.remarks)
    detail(f"{table.source} has {table.n_rows} rows and {len(table.names)} columns.")
    return table
