"""Options that several commands share."""

from __future__ import annotations

from ast import literal_eval
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pnulearn.cli.completion import complete_column, complete_kind
from pnulearn.cli.console import SETTABLE, detail, remarks

if TYPE_CHECKING:
    from pnulearn._tables.batches import Batches
    from pnulearn.tables import Table


STREAM_ABOVE = 32.0  # MB of all files: beyond, they are read in batches


SAMPLING = ("random", "by-class")


def read_sampling(text: str) -> str:
    """How labelled rows were drawn, in the words of the library, which knows older ones as well."""
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


def read_drawn(sampling: str | None, at_random: str | None) -> str | None:
    """How labels were drawn, if that was said: a column that marks some rows says that the others were chosen."""
    if at_random is not None and sampling == "random":
        raise typer.BadParameter("--sampling random says of all rows what --at-random says of some: name one of them.")
    return "by_class" if at_random is not None else sampling


def read_kinds(pairs: list[str]) -> dict[str, str]:
    """
    >>> read_kinds(["zip=category", "a=b=number"])
    {'zip': 'category', 'a=b': 'number'}
    """
    if not pairs:
        return {}  # what is about to be refused need not wait for scikit-learn
    from pnulearn.tables._kinds import KINDS

    kinds = {name: kind for name, _, kind in (pair.rpartition("=") for pair in pairs)}
    for name, kind in kinds.items():
        if not name or kind not in KINDS:
            raise typer.BadParameter(f"--as wants COLUMN=KIND, with one of the kinds {', '.join(KINDS)}.")
    return kinds


def read_settings(pairs: list[str]) -> dict[str, Any]:
    """Parameters of the classifier that have no option of their own.

    >>> read_settings(["alpha=0.1", "mix=[0, 0.5]", "selection=best"])
    {'alpha': 0.1, 'mix': [0, 0.5], 'selection': 'best'}
    """
    texts = {name.strip(): text.strip() for name, _, text in (pair.partition("=") for pair in pairs)}
    for name, text in texts.items():
        if name not in SETTABLE or not text:
            raise typer.BadParameter(f"--set wants NAME=VALUE, with one of the names {', '.join(SETTABLE)}.")
    return {name: _read_value(text) for name, text in texts.items()}


def _read_value(text: str) -> Any:
    try:
        return literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def refuse_outputs(outputs: dict[str, tuple[Path | None, str]], overwrite: bool, **inputs: Any) -> None:
    """Refuse outputs that would destroy something, before any work is done; keys are the names of their options."""
    from pnulearn._files.outputs import Output, check_outputs
    from pnulearn._tables.files import expand

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
        from pnulearn._tables.files import expand, refuse_absent

        for path in expand(files):
            refuse_absent(path)
    return files


def existing_models(context: typer.Context, models: Any) -> Any:
    """The same of model files."""
    if models is not None and not context.resilient_parsing:
        from pnulearn._files.errors import refuse_absent

        for path in [models] if isinstance(models, Path) else models:
            refuse_absent(path)
    return models


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
Positive = Annotated[str | None, typer.Option(help="Label of the positive class; by default yes, or the greater.")]
Unlabeled = Annotated[str | None, typer.Option(help="Value that marks unlabelled rows, besides empty cells.")]
Prior = Annotated[
    str,
    typer.Option(
        metavar="SHARE|LOW..HIGH|auto|METHOD",
        help="Share of positives in the population, or a 90 % range such as 0.1..0.3; auto estimates it.",
    ),
]
Sampling = Annotated[
    str | None,
    typer.Option(
        parser=read_sampling,
        metavar="|".join(SAMPLING),
        help="Were the labelled rows drawn at random, or chosen (by class, say)?",
        autocompletion=lambda: list(SAMPLING),
    ),
]
Weights = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN", help="Column of weights of the rows. It is no feature.", autocompletion=complete_column
    ),
]
AtRandom = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Column of yes and no: which rows were labelled at random. It is no feature.",
        autocompletion=complete_column,
    ),
]
As = Annotated[
    list[str],
    typer.Option(
        "--as",
        metavar="COLUMN=KIND",
        help="Use a column as number, flag, category, codes, date or text.",
        autocompletion=complete_kind,
    ),
]
Settings = Annotated[
    list[str],
    typer.Option("--set", metavar="NAME=VALUE", help=f"Another parameter of PNUClassifier: {', '.join(SETTABLE)}."),
]
MostCategories = Annotated[int, typer.Option(min=2, help="Categories with a feature each; others share features.")]
Drop = Annotated[
    list[str], typer.Option(help="Leave this column out (may be repeated).", autocompletion=complete_column)
]
Missing = Annotated[list[str], typer.Option(help="Another cell content that means missing (may be repeated).")]
Encoding = Annotated[str | None, typer.Option(help="Encoding of the file; recognised by default.")]
Delimiter = Annotated[str | None, typer.Option(help="Delimiter of the CSV file; recognised by default.")]
NoHeader = Annotated[bool, typer.Option("--no-header", help="The first line holds values, not names.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace an output that holds something of another kind.")]
Json = Annotated[bool, typer.Option("--json", help="Answer in JSON.")]
StreamAbove = Annotated[
    float,
    typer.Option(
        min=0, metavar="MB", help="Read CSV and Parquet files of more than this in batches: all rows, in flat memory."
    ),
]
ModelFile = Annotated[
    Path, typer.Option("--model", "-m", help="Model file written by `pnulearn fit`.", callback=existing_models)
]


def open_table(
    file: str | list[str], missing: list[str], encoding: str | None, delimiter: str | None, no_header: bool
) -> Table:
    """The table in a file, with remarks on standard error about how it was read."""
    from pnulearn.tables import read_table

    if delimiter in ("tab", r"\t"):
        delimiter = "\t"
    table = read_table(file, missing=tuple(missing), encoding=encoding, delimiter=delimiter, header=not no_header)
    remarks(table.remarks)
    detail(f"{table.source} has {table.n_rows} rows and {len(table.names)} columns.")
    return table


def open_batches(
    file: str | list[str],
    missing: list[str],
    encoding: str | None,
    delimiter: str | None,
    no_header: bool,
    stream_above: float = STREAM_ABOVE,
) -> Batches:
    """The same table, in batches if its files have more than so many MB."""
    from pnulearn.tables import read_batches

    delimiter = "\t" if delimiter in ("tab", r"\t") else delimiter
    if not isfinite(stream_above):
        raise typer.BadParameter(f"--stream-above is a number of MB, such as 32; got {stream_above}.")
    return read_batches(
        file,
        missing=tuple(missing),
        encoding=encoding,
        delimiter=delimiter,
        header=not no_header,
        large=int(stream_above * 2**20),
    )
