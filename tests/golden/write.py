"""Rewrite golden values: `python tests/golden/write.py [case ...]`, all cases by default.

A deliberate change of a number rewrites its file in the same commit, whose message says why.
"""

import os
import sys
from pathlib import Path

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")  # before NumPy starts its threads
sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.golden.cases import CASES
from tests.golden.store import FOLDER, stored_names, write


def main(names: list[str]) -> None:
    unknown = [name for name in names if name not in CASES]
    if unknown:
        sys.exit(f"No case is called {unknown[0]!r}. Cases: {', '.join(CASES)}")
    for name in names or CASES:
        write(name, CASES[name]())
        print(name)
    for gone in stored_names() - set(CASES):
        (FOLDER / f"{gone}.json").unlink()


if __name__ == "__main__":
    main(sys.argv[1:])
