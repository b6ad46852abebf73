"""Rewrite snapshots: `python -m tests.frozen.write [name ...]`, all of them by default.

A deliberate change rewrites them in the same commit, whose message says why.
"""

import os
import sys

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")  # before NumPy starts its threads

from .snapshots import SNAPSHOTS
from .store import FOLDER, write


def main(names: list[str]) -> None:
    unknown = [name for name in names if name not in SNAPSHOTS]
    if unknown:
        sys.exit(f"No snapshot is called {unknown[0]!r}. Snapshots: {', '.join(SNAPSHOTS)}")
    for name in names or SNAPSHOTS:
        write(name, SNAPSHOTS[name]())
        print(name)
    for path in FOLDER.glob("*.json"):
        if path.stem not in SNAPSHOTS:
            path.unlink()


if __name__ == "__main__":
    main(sys.argv[1:])
