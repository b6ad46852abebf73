"""`python -m pnulearn demo`."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the demonstration, the only command without the extra `cli`."""
    if sys.argv[1:] != ["demo"]:
        sys.exit("usage: pnulearn demo")
    from pnulearn.demo import run

    run()


if __name__ == "__main__":
    main()
