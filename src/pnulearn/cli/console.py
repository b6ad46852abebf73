"""Output: results on standard output, messages and the summary of a model on standard error."""

from __future__ import annotations

import io
import json
import math
import os
import re
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from enum import IntEnum
from typing import TYPE_CHECKING, Any

from pnulearn._reader.errors import Caution
from pnulearn.tables._notes import LISTENER, Advance, Listener
from pnulearn.tables._options import OPTIONS, SETTABLE

if TYPE_CHECKING:
    from pnulearn.tables._comparison import TableComparison
    from pnulearn.tables._evaluation import Evaluation
    from pnulearn.tables._model import TableModel
    from pnulearn.tables._verdict import Verdict


# Messages on standard error, results on standard output.

MOST_WORDS = 12
COMMANDS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")  # but for tabs and ends of lines
COLORS = {"error": "31", "warning": "33", "note": "36", "detail": "2"}
# Parameters that have an option, and its name; `fit --set` takes some further ones of the classifier.
FLAGS = {name: one.metadata.get("flag", f"--{name.replace('_', '-')}") for name, one in OPTIONS.items()}
FLAGS |= {name: f"--{name}" for name in ("threshold", "method", "confidence", "costs")}
GROUPED = ("by", "groups", "verdict")  # keys of facts that are printed as sentences and a table
# Keys of facts that are printed in percent.
RATES = {"error_rate", "standard_error", "error", "from", "to", "difference"}
SHARES = {"prior", "confidence"}
# Keys of facts that hold sentences.
PROSE = {"headline", "advice", "assumption", "what", "do", "prior_advice", "remarks"}
# Values that are typed differently on the command line: a range, a list of one item, a quoted word, or any (...).
VALUE = r'(?:\((?P<low>[\d.]+), (?P<high>[\d.]+)\)|\["?(?P<item>[^\]"]+)"?\]|"(?P<word>\w+)"|(?P<any>\.{3}))?'


class Loudness(IntEnum):
    """How much is printed on standard error."""

    quiet = 0
    normal = 1
    verbose = 2


_loudness: ContextVar[Loudness] = ContextVar("loudness", default=Loudness.normal)


def set_loudness(loudness: Loudness) -> None:
    """Set the verbosity for the rest of this run."""
    _loudness.set(loudness)


def is_verbose() -> bool:
    return _loudness.get() is Loudness.verbose


def can_ask(json: bool) -> bool:
    """Whether a person sits at the terminal and wants to be asked."""
    asked = sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()
    return asked and not json and _loudness.get() is not Loudness.quiet


def how_verbose() -> int:
    """The `verbose` parameter of estimators: 1 prints everything, 0 the default output, -1 nothing."""
    return int(_loudness.get()) - 1


def detail(message: str) -> None:
    """Print a message if --verbose was given."""
    if is_verbose():
        remark(message, "detail")


def remark(message: str, kind: str = "note") -> None:
    """Print a message on standard error, prefixed by its kind; --quiet suppresses notes."""
    if kind == "note" and _loudness.get() is Loudness.quiet:
        return
    colored = sys.stderr.isatty() and not os.environ.get("NO_COLOR")
    word = f"\x1b[{COLORS[kind]}m{kind}:\x1b[0m" if colored else f"{kind}:"
    print(f"{word} {visible(message)}", file=sys.stderr, flush=True)


def visible(text: str) -> str:
    r"""The text without characters that command a terminal or reverse the order of others; they are spelled out.

    >>> visible("\x1b[31mred")
    '\\x1b[31mred'
    """
    return COMMANDS.sub(lambda found: repr(found[0])[1:-1], text)


class ClosedOutput(io.TextIOBase):
    """Standard output that was closed before this process began: results that nobody can get are an error."""

    @property
    def buffer(self) -> ClosedOutput:
        return self

    def writable(self) -> bool:
        return True

    def write(self, text: Any, /) -> int:
        raise OSError("Standard output is closed, so the results have nowhere to go. Redirect it, or name a file.")


def replace_closed_streams() -> None:
    """Streams that the shell closed (`>&-`) do not exist at all in Python."""
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115 (it stays open)
    if sys.stdout is None:
        sys.stdout = ClosedOutput()


def remarks(messages: Iterable[str]) -> None:
    for message in messages:
        remark(in_options(message), "warning" if isinstance(message, Caution) else "note")


def in_options(message: str) -> str:
    """Replace Python parameters in a message of the library by the options of the command line.

    >>> in_options("pass unlabeled=0, pos_label='spam' or alpha=0.1")
    "pass --unlabeled 0, --positive 'spam' or --set alpha=0.1"
    >>> in_options('pass sampling="random", prior=(0.1, 0.3), drop=["id"] or header=False')
    'pass --sampling random, --prior 0.1..0.3, --drop id or --no-header'
    >>> in_options("pass pos_label=... if it is another")
    'pass --positive if it is another'
    >>> in_options("pass decimal='.' or header_rows=2")
    "pass --decimal '.' or --header-rows 2"
    """
    message = message.replace("header=False", "--no-header")
    message = re.sub(rf"(?<![\w.-])(?P<name>{'|'.join(FLAGS)})={VALUE}(?=(?P<blank>\s?))", _as_flag, message)
    return re.sub(rf"(?<![\w.-])({'|'.join(SETTABLE)})=", r"--set \1=", message)


def _as_flag(found: re.Match[str]) -> str:
    flag = FLAGS[found["name"]]
    if found["low"]:
        return f"{flag} {found['low']}..{found['high']}"
    value = found["item"] or (found["word"] or "").replace("_", "-")
    if value:
        return f"{flag} {value}"
    return flag if found["any"] or found["blank"] else f"{flag} "


def listen() -> None:
    """From now on, print the notes and warnings of the library."""
    LISTENER.set(
        Listener(
            lambda message: remark(in_options(message)),
            detail,
            lambda message: remark(in_options(message), kind="warning"),
            progress,
            in_options,
        )
    )


def progress(message: str, is_long: bool) -> AbstractContextManager[Advance]:
    """On a terminal, show a spinner on standard error, or a bar with the remaining time for long work."""
    if not sys.stderr.isatty() or _loudness.get() is Loudness.quiet:
        return nullcontext(lambda share: None)
    return _bar(message) if is_long else _spinner(message)


@contextmanager
def _spinner(message: str) -> Iterator[Advance]:
    from rich.console import Console

    with Console(stderr=True).status(message):
        yield lambda share: None


@contextmanager
def _bar(message: str) -> Iterator[Advance]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn()
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(message, total=1.0)
        yield lambda share: bar.update(task, completed=share)


def show_facts(facts: Mapping[str, Any], as_json: bool, names: Collection[str] = ()) -> None:
    """Named facts: a JSON object for machines, two columns for people, with these names as they are."""
    if as_json:
        print(json.dumps(_plain(facts), ensure_ascii=False))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in facts.items():
        if value is not None:
            shown = name if name in names else name.replace("_", " ")
            table.add_row(Text(visible(shown)), Text(visible(_words(value))))
    Console().print(table)


def show_rows(rows: Sequence[Mapping[str, Any]], as_json: bool) -> None:
    """Rows of a result: JSON lines for machines, a table for people."""
    if as_json:
        for row in rows:
            print(json.dumps(_plain(row), ensure_ascii=False))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for name in rows[0] if rows else ():
        table.add_column(Text(visible(name.replace("_", " "))), overflow="fold")
    for row in rows:
        table.add_row(*(Text(visible(_words(value))) for value in row.values()))
    Console().print(table)


def show_lines(headline: str, lines: Iterable[str] = ()) -> None:
    """A sentence in bold and further ones below, on standard output, wrapped on a terminal."""
    from rich.console import Console
    from rich.text import Text

    console, wrapped = Console(), sys.stdout.isatty()
    console.print(Text(visible(in_options(headline)), style="bold"), soft_wrap=not wrapped)
    for line in lines:
        console.print(Text(visible(f"- {in_options(line)}")), soft_wrap=not wrapped)


def show_result(found: Evaluation | TableComparison, as_json: bool) -> None:
    """A sentence, the facts, and a table of groups if there are any; everything as one JSON object for machines."""
    if as_json:
        show_facts(found.facts(), as_json)
        return
    show_lines(found.sentence(), filter(None, [found.group_sentence()]))
    print()
    facts = {name: value for name, value in found.facts().items() if name not in GROUPED}
    show_facts(in_percent(facts), as_json, getattr(found, "names", ()))
    if found.groups is not None:
        print()
        show_rows(found.group_rows(), as_json)


def in_percent(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The same with shares, error rates and their intervals in percent, for people; differences in points.

    >>> in_percent({"prior": 0.31, "interval": [0.25, 0.4], "method": "scores"})
    {'prior': '31 %', 'interval': '25 % to 40 %', 'method': 'scores'}
    >>> in_percent({"difference": -0.0213, "interval": [-0.05, 0.0], "prior_interval": [0.25, 0.4]})
    {'difference': '-2.1 points', 'interval': '-5.0 points to 0.0 points', 'prior_interval': '25 % to 40 %'}
    >>> in_percent({"share_yes": [0.64, 0.3073, 0.8801]})
    {'share_yes': '64 % (31 % to 88 %)'}
    """
    from pnulearn.tables._verdict import percent

    unit = "points" if "difference" in facts else "%"
    is_rate = not facts.keys().isdisjoint(RATES)

    def written(name: str, value: Any) -> Any:
        if isinstance(value, Mapping):
            return in_percent(value)
        if name.startswith("share_") or name == "answers_wrong":
            return "{} ({} to {})".format(*map(percent, value))
        if "interval" in name and "cost" not in name and isinstance(value, list | tuple):
            return " to ".join(written("error" if is_rate and name != "prior_interval" else "prior", e) for e in value)
        if name in SHARES and isinstance(value, float):
            return percent(value)
        return f"{round(100 * value, 1) + 0.0:.1f} {unit}" if name in RATES and isinstance(value, float) else value

    return {name: written(name, value) for name, value in facts.items()}


def _plain(value: Any) -> Any:
    """Plain values for JSON, in which NaN does not exist; sentences name options, not parameters."""
    if isinstance(value, Mapping):
        return {str(key): _sentences(item) if key in PROSE else _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _sentences(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [_sentences(item) for item in value]
    return in_options(value) if isinstance(value, str) else _plain(value)


def _words(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {_words(item)}" for key, item in value.items() if item is not None)
    if isinstance(value, list | tuple):
        more = f" and {len(value) - MOST_WORDS} more" if len(value) > MOST_WORDS else ""
        return ", ".join(map(_words, value[:MOST_WORDS])) + more
    return f"{value:.4g}" if isinstance(value, float) else str(value)


# The summary of a model that `fit` and `info` print.

MOST_CLASSES = 4  # whose rows are counted by name


def show_verdict(verdict: Verdict, *footer: str) -> None:
    """Print the verdict on standard output, wrapped on a terminal."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console, wrapped = Console(), sys.stdout.isatty()
    if verdict.assumption:
        console.print(Text(visible(in_options(verdict.assumption))), soft_wrap=not wrapped)
    show_lines(verdict.headline, verdict.details)
    table = Table(show_header=False, box=None, pad_edge=False)
    for place in range(4):
        table.add_column(justify="right" if place == 1 else "left", overflow="fold")
    for measure in verdict.measures:
        interval = f"({measure.interval})" if measure.interval else ""
        cells = (measure.name, measure.value, interval, measure.meaning)
        table.add_row(*(Text(visible(cell)) for cell in cells))
    if table.rows:
        console.print()
        console.print(table)
    console.print()
    for line in footer:
        console.print(Text(visible(line)), soft_wrap=not wrapped)


def learnt_from(model: TableModel) -> str:
    """What a model was fitted to, in a sentence."""
    record, plan = model.record, model.plan
    n_labeled = sum(record.counts.values())
    positive = model.classes[1] if len(model.classes) == 2 else None
    named = ", ".join(
        f"{count:,} {name!r}{' (positive)' if name == positive else ''}"
        for name, count in list(record.counts.items())[:MOST_CLASSES]
    )
    more = ", ..." if len(record.counts) > MOST_CLASSES else ""
    n_columns = len(plan.columns) + sum(name != model.label for name in plan.left_out)
    n_unlabeled, n_all = record.n_used - n_labeled, record.n_rows - n_labeled
    some = f"{n_unlabeled:,}" if n_unlabeled == n_all else f"{n_unlabeled:,} of {n_all:,}"
    return (
        f"Learnt from {n_labeled:,} labelled rows ({named}{more}) and {some} unlabelled ones of "
        f"{record.source}, with {len(plan.columns)} of {n_columns} columns, in {record.seconds:.1f} s."
    )
