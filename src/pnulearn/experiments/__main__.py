"""python -m pnulearn.experiments table-1 --quick"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from pnulearn.experiments.reproduce import EXPERIMENTS, reproduce


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the options, call `reproduce`, and say what went wrong in one line."""
    parser = argparse.ArgumentParser(prog="python -m pnulearn.experiments", description=reproduce.__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("name", choices=[*EXPERIMENTS, "all"])
    parser.add_argument("--out", default="results")
    parser.add_argument("--data")
    parser.add_argument("--download", action="store_true")
    parser.add_argument("--trials", type=int)
    parser.add_argument("--sets", type=_names, help="comma-separated")
    parser.add_argument("--methods", type=_names, help="comma-separated")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--jobs", dest="n_jobs", type=int, default=1)
    parser.add_argument("--plugin", dest="plugins", action="append", default=[], help="a Python file; may be repeated")
    parser.add_argument("--no-run", dest="run", action="store_false", help="only write tables and figures")
    options = vars(parser.parse_args(arguments))
    try:
        reproduce(options.pop("name"), **options)
    except (ValueError, FileNotFoundError, ImportError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def _names(text: str) -> list[str]:
    return [name for name in text.split(",") if name]


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
