"""The command line: every command reads, calls one library function and writes.

Results go to standard output, messages to standard error. Exit codes: 0 done, 1 refused, 2 wrong usage, 3 alarm of
`monitor`, 130 Ctrl-C.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Sequence
from typing import Any

from pnulearn._extras import import_extra

with import_extra("cli", "The command line"):
    import typer

from pnulearn.cli import (
    advise,
    columns,
    compare,
    demo,
    evaluate,
    export,
    fit,
    info,
    judge,
    label,
    monitor,
    predict,
    prior,
)
from pnulearn.cli.console import Loudness, in_options, remark, replace_closed_streams, set_loudness
from pnulearn.cli.shared import shared

HELP = "Learn from positive, negative and unlabelled rows of a table."
EPILOG = (
    "Start with `pnulearn demo`, or `pnulearn fit table.csv --label COLUMN --model model.pnu --report report.html`. "
    "Options may stand in pnulearn.toml. Exit codes: 0 done, 1 refused, 2 wrong usage, 3 alarm, 130 "
    "interrupted."
)
DEBUG = "--debug"

app = typer.Typer(
    help=HELP,
    epilog=EPILOG,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
for module in (fit, columns, predict, evaluate, compare, judge, monitor, prior, advise, info, label, export, demo):
    name = module.__name__.rpartition(".")[2]
    app.command(name)(shared(getattr(module, name)))


def _version(show: bool) -> None:
    if show:
        from importlib.metadata import version

        typer.echo(f"pnulearn {version('pnulearn')}")
        raise typer.Exit


@app.callback()
def options(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Show the version."),
    debug: bool = typer.Option(False, DEBUG, help="Show where in the code an error came from."),
) -> None:
    """Options of all commands. `run` removes --debug from the arguments first, so it may appear anywhere."""


def run(arguments: Sequence[str]) -> int:
    """Run a command and return its exit code; errors become one or two lines unless --debug asks for more."""
    debug = DEBUG in arguments or bool(os.environ.get("PNULEARN_DEBUG"))
    replace_closed_streams()
    set_loudness(Loudness.normal)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # deprecation warnings are for developers
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = _show_warning
        try:
            app(args=[word for word in arguments if word != DEBUG], prog_name="pnulearn")
        except SystemExit as done:
            return int(done.code or 0)
        except KeyboardInterrupt:
            return 130
        except Exception as error:
            if debug:
                raise
            return _explain(error)
    return 0


def _explain(error: Exception) -> int:
    expected = isinstance(error, ValueError | TypeError | OSError | MemoryError | ImportError)
    remark(in_options(str(error)) if expected else f"{type(error).__name__}: {error}", kind="error")
    if not expected:
        remark("This should not happen. Run again with --debug and report what it shows.")
    return 1


def _show_warning(message: Any, *_: Any, **__: Any) -> None:
    remark(in_options(str(message)), kind="warning")


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
