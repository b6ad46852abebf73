"""Reading a CSV of 200,000 rows: `read_table` with every column typed, against Arrow's reader alone.

Processor time of one process, the least of several runs: python benchmarks/read_table.py
"""

import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv

from pnulearn.tables import read_table

ROWS, RUNS = 200_000, 5


def write(path: Path) -> None:
    """Eight columns of numbers, one of them with gaps, three of categories, and labels of which most are missing."""
    rng = np.random.default_rng(0)
    columns: dict[str, object] = {f"x{i}": rng.normal(size=ROWS) for i in range(8)}
    columns["x7"] = pa.array(columns["x7"], mask=rng.random(ROWS) < 0.1)
    columns |= {f"c{i}": np.array(["red", "green", "blue", "violet"])[rng.integers(4, size=ROWS)] for i in range(3)}
    columns["label"] = rng.choice(["yes", "no", ""], p=[0.01, 0.01, 0.98], size=ROWS)
    csv.write_csv(pa.table(columns), path)


def seconds(read) -> float:
    """The least processor time of several runs."""
    spent = []
    for _ in range(RUNS):
        start = time.process_time()
        read()
        spent.append(time.process_time() - start)
    return min(spent)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        write(path)
        arrow = seconds(lambda: csv.read_csv(path))
        ours = seconds(lambda: read_table(path).columns)
    print(f"{ROWS} rows: pyarrow.csv {arrow:.3f} s, read_table {ours:.3f} s, ratio {ours / arrow:.2f}")
