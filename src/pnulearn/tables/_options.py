"""Options of reading and fitting a table: one dataclass, whose fields are parameters of `TableClassifier` and options
of the command line.

A field defines the type, the default, the description, and the name of the option if it differs. This module has no
slow imports, so that `pnulearn fit --help` does not import NumPy.
"""

# ruff: noqa: RUF009 (`option` makes a field)
from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from pnulearn._reader.columns import Reading

Sampling = Literal["random", "by_class"]
Learner = Literal["pnu", "forest", "boosting", "logistic", "svm", "auto"]
Risk = Literal["pnu", "punu", "pn", "pu", "nu"]
Loss = Literal["squared", "logistic", "double_hinge", "hyperbolic", "ramp", "sigmoid", "hinge"]
Kernel = Literal["rbf", "linear", "laplace", "polynomial"]
Scaling = Literal["standard", "minmax", "none"]

MOST_CATEGORIES = 50  # above this number, categories share features
MOST_UNLABELED = 10_000  # more rows hardly reduce the variance, which the few labels dominate
STREAM_ABOVE = 32.0  # total MB of files above which they are read in batches
SETTABLE = ("mix", "alpha", "bandwidth", "columns", "centers", "selection", "tie_break")


def option(default: Any, meaning: str, **command_line: Any) -> Any:
    """A field with its description; `command_line` holds the metadata for `pnulearn.cli.options`.

    flag : the option, if it is not the field's name with dashes.
    metavar : the placeholder of the value in the help.
    typed : the default on the command line.
    help : the description on the command line, if it differs.
    least : the smallest allowed number.
    completes : "column" or "kind", the shell completion.
    """
    return field(default=default, metadata={"meaning": meaning} | command_line)


@dataclass(kw_only=True, eq=False, repr=False)
class TableOptions:
    """All options of reading a table and fitting a model to it."""

    prior: Any = option(
        None,
        "Share of positives in the population, a 90 % range (0.1..0.3, in Python a pair), or a method's name; by "
        "default it is estimated.",
        typed="auto",
        metavar="SHARE|LOW..HIGH|auto|METHOD",
    )
    sampling: Sampling | None = option(
        None, "How labelled rows were chosen: at random, or in another way (by class).", metavar="random|by-class"
    )
    learner: Learner = option("pnu", "Learner. auto averages all of them, weighted by their held-out risk.")
    pos_label: Any = option(None, "Label of the positive class; by default yes, or the greater.", flag="--positive")
    unlabeled: Any = option(
        None, 'Value that marks unlabelled rows, besides empty cells; "" makes words such as none and NA labels.'
    )
    at_random: str | None = option(
        None,
        "Column of yes and no: which rows were labelled at random. It is not a feature.",
        metavar="COLUMN",
        completes="column",
    )
    weights: str | None = option(
        None, "Column of row weights. It is not a feature.", metavar="COLUMN", completes="column"
    )
    groups: str | None = option(
        None,
        "Column of groups, such as patients, if rows of one group may be alike. It is not a feature.",
        metavar="COLUMN",
        completes="column",
    )
    kinds: Mapping[str, str] | None = option(
        None,
        "Use a column as number, flag, category, codes, date or text.",
        flag="--as",
        metavar="COLUMN=KIND",
        completes="kind",
    )
    drop: Sequence[str] = option((), "Leave this column out (may be repeated).", completes="column")
    most_categories: int = option(MOST_CATEGORIES, "Categories with a feature each; others share features.", least=2)
    risk: Risk = option("pnu", "Which samples the risk combines.")
    loss: Loss = option(
        "squared",
        'Loss function. All but squared take longer; hinge needs risk="pn".',
        help="Loss function. All but squared take longer; hinge needs --risk pn.",
    )
    kernel: Kernel = option("rbf", "rbf puts Gaussians around rows, linear is a linear model.")
    scaling: Scaling = option("standard", "Scaling of numeric columns.", flag="--scale")
    cv: int | None = option(
        None,
        "Folds of the cross-validation; by default leave-one-out, or five folds.",
        flag="--folds",
        least=2,
    )
    most_unlabeled: int | None = option(
        None,
        "Use at most this many unlabelled rows, drawn at random; by default 10000 in memory, all in batches.",
        least=1,
    )
    n_jobs: int = option(1, "Threads; -1 for all cores.", flag="--jobs")
    random_state: int = option(0, "Random seed.", flag="--seed")
    settings: Mapping[str, Any] | None = option(
        None, f"Another parameter of PNUClassifier: {', '.join(SETTABLE)}.", flag="--set", metavar="NAME=VALUE"
    )
    missing: Sequence[str] = option((), "Another cell content that means missing (may be repeated).")
    encoding: str | None = option(None, "Encoding of the file; recognised by default.")
    delimiter: str | None = option(None, "Delimiter of the CSV file; recognised by default.")
    header: bool = option(
        True,
        "Whether the first line holds column names.",
        flag="--no-header",
        help="The first line holds values, not column names.",
    )
    header_rows: int = option(1, "Number of lines that hold column names.", least=1)
    decimal: Literal[".", ","] | None = option(
        None, "Decimal mark of the numbers in text; recognised by default.", metavar=".|,"
    )
    stream_above: float = option(
        STREAM_ABOVE,
        "Read larger CSV and Parquet files in batches: all rows, with bounded memory.",
        metavar="MB",
        least=0,
    )
    verbose: int = field(default=0, metadata={"meaning": "1 reports progress, -1 reports nothing."})

    @property
    def reading(self) -> Reading:
        """Options for parsing the cells of files."""
        from pnulearn._reader.columns import Reading

        if not self.header and self.header_rows > 1:
            raise ValueError(
                f"header=False says that no line holds column names, header_rows={self.header_rows} that so many do: "
                "pass one of them."
            )
        return Reading(tuple(self.missing), self.encoding, self.delimiter, self.header, self.header_rows, self.decimal)

    @property
    def large(self) -> int:
        """Total bytes above which files are read in batches."""
        return int(self.stream_above * 2**20)

    def refuse_contradictions(self) -> None:
        """Raise an error if two options contradict each other."""
        if self.at_random is not None and self.sampling == "random":
            raise ValueError(
                'sampling="random" declares all labels random, at_random=... some of them: pass one of them.'
            )
        given = [
            name for name in ("risk", "loss", "kernel", "settings") if getattr(self, name) != OPTIONS[name].default
        ]
        if given and self.learner not in ("pnu", "auto"):
            raise ValueError(f"{given[0]}= is for learner=pnu or auto; {self.learner} has no such parameter.")

    def needs_memory(self) -> str:
        """The reason why a fit in batches is impossible; empty if it is possible."""
        further = self.settings or {}
        if self.learner != "pnu":
            return f"learner={self.learner} needs all rows at once"
        if self.loss != "squared":
            return f"loss={self.loss} needs all rows at once"
        if self.weights is not None:
            return "row weights are not possible in one pass"
        if self.groups is not None:
            return "groups are not possible in one pass"
        if further.get("centers") == "all":
            return "centers=all needs all rows at once"
        return "" if self.most_unlabeled is None else "most_unlabeled= asks for some of the rows"


OPTIONS = {one.name: one for one in fields(TableOptions)}
