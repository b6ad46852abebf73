"""The command `pnulearn`. Only what a command needs is imported, so that `--help` answers at once."""

import _signal as signal  # type: ignore[import-not-found]  # `signal` takes long enough for Ctrl-C to come in between
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def main() -> None:
    """Run the command line. Ctrl-C ends it without a traceback, also while modules are being imported."""
    handler = signal.getsignal(signal.SIGINT)
    # An exception could arrive in the middle of any import. A shell's background job ignores Ctrl-C, which stays so.
    at_once = signal.SIG_DFL if handler is signal.default_int_handler else handler
    signal.signal(signal.SIGINT, at_once)
    command = _command()
    try:
        signal.signal(signal.SIGINT, handler)  # now there may be files to tidy up
        code = command(sys.argv[1:])
    except KeyboardInterrupt:
        code = 130
    signal.signal(signal.SIGINT, at_once)
    sys.exit(code)


def _command() -> "Callable[[list[str]], int]":
    """Without the extra `cli` there is only the demonstration."""
    from importlib.util import find_spec

    if find_spec("typer") and find_spec("rich"):
        from pnulearn.cli import run

        return run
    return _only_demo


def _only_demo(arguments: list[str]) -> int:
    if arguments == ["demo"]:
        from pnulearn._demo import run as demonstrate

        demonstrate()
        return 0
    print("The command line needs two more packages: pip install 'pnulearn[cli]'", file=sys.stderr)
    print("Without them there is only `pnulearn demo`.", file=sys.stderr)
    return 2


if __name__ == "__main__":
    main()
