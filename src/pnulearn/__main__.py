"""The command `pnulearn`. Only what a command needs is imported, so that `--help` answers at once."""

from __future__ import annotations

import sys
from importlib.util import find_spec


def main() -> None:
    """Run the command line; Ctrl-C ends it without a traceback, also while modules are being imported."""
    try:
        _main(sys.argv[1:])
    except KeyboardInterrupt:
        sys.exit(130)


def _main(arguments: list[str]) -> None:
    """Without the extra `cli` there is only the demonstration."""
    if find_spec("typer") and find_spec("rich"):
        from pnulearn.cli import run

        sys.exit(run(arguments))
    if arguments == ["demo"]:
        from pnulearn._demo import run as demonstrate

        demonstrate()
        return
    print("The command line needs two more packages: pip install 'pnulearn[cli]'", file=sys.stderr)
    print("Without them there is only `pnulearn demo`.", file=sys.stderr)
    sys.exit(2)


if __name__ == "__main__":
    main()
