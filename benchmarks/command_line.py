"""`pnulearn fit`, `predict` and `evaluate` of a large Parquet file: processor time, memory; `predict` also by hand.

python benchmarks/command_line.py [ROWS] [--commands predict hand ...] [--against PATH_TO_OTHER_SRC]
By hand means: read the columns, scale them, `decision_function`, write the same CSV with pyarrow, batch by batch.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
from page_section import RESULTS, write_section
from pyarrow import parquet as pq

COLUMNS, LABELED = 50, 200
TEXT = f"""`python benchmarks/command_line.py ROWS`: Parquet, {COLUMNS} columns of numbers, {LABELED} labels; the model
of `predict` and `evaluate` comes from 2,000 rows. By hand: pyarrow, `decision_function`, pyarrow's CSV writer."""
HAND = """
import sys, pnulearn, pyarrow as pa, pyarrow.parquet as pq
from pyarrow import csv
model = pnulearn.load(sys.argv[2])
names, writer = [column.name for column in model.plan.columns], None
for batch in pq.ParquetFile(sys.argv[1]).iter_batches(32768, use_threads=False):
    X = pa.table(batch).select(names).to_pandas().to_numpy().copy()
    for place, column in enumerate(model.plan.columns):
        X[:, place] = column.scale.apply(X[:, place])
    scores = model.classifier.decision_function(X)
    table = pa.table(batch).append_column("predicted", pa.array((scores > 0).astype(int)))
    table = table.append_column("probability", pa.array((scores.clip(-1, 1) + 1) / 2))
    writer = writer or csv.CSVWriter(sys.argv[3], table.schema)
    writer.write_table(table)
writer.close()
"""


def write_rows(path: Path, n: int, seed: int = 0) -> None:
    """Two classes in 50 columns, 200 labels, the rest unlabelled."""
    rng = np.random.default_rng(seed)
    names = [f"x{place}" for place in range(COLUMNS)]
    schema = pa.schema([*((name, pa.float64()) for name in names), ("label", pa.string())])
    with pq.ParquetWriter(path, schema) as writer:
        for start in range(0, n, 100_000):
            size = min(100_000, n - start)
            truth = rng.random(size) < 0.3
            X = rng.normal(size=(size, COLUMNS)) + np.where(truth, 0.4, -0.4)[:, None]
            label = np.where(truth, "yes", "no").astype(object)
            label[LABELED if start == 0 else 0 :] = None
            writer.write_table(pa.table([*X.T, pa.array(label, pa.string())], schema=schema))


def run(command: list[str], source: str | None = None) -> tuple[float, float]:
    """Processor seconds and the largest memory in MB of one command."""
    env = dict(os.environ) | ({} if source is None else {"PYTHONPATH": source})
    code = (
        "import resource, subprocess, sys; r = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL); "
        "u = resource.getrusage(resource.RUSAGE_CHILDREN); "
        "print(r.returncode, u.ru_utime + u.ru_stime, u.ru_maxrss / 1024, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *command], env=env, stderr=subprocess.PIPE, text=True, check=True
    )
    *messages, last = done.stderr.splitlines()
    failed, seconds, megabytes = last.split()
    if int(failed):
        raise SystemExit("\n".join(messages))
    return float(seconds), float(megabytes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", type=int, nargs="?", default=1_000_000)
    parser.add_argument("--commands", nargs="+", default=["predict", "hand", "fit", "evaluate"])
    parser.add_argument("--against", help="the src folder of another version, run in turn")
    parser.add_argument("--out", type=Path, default=RESULTS / "fast.md")
    given = parser.parse_args()
    lines = ["| rows | command | version | processor s | MB |\n|---|---|---|---|---|"]
    print(lines[0])
    with tempfile.TemporaryDirectory() as folder:
        large, small = Path(folder) / "large.parquet", Path(folder) / "small.parquet"
        out = Path(folder) / "out.csv"
        write_rows(large, given.rows)
        write_rows(small, 2_000)
        tool = [sys.executable, "-m", "pnulearn"]
        fit = [*tool, "fit", "--label", "label", "--model"]
        versions = {"this": None} | ({} if given.against is None else {"other": given.against})
        for version, source in versions.items():
            model = Path(folder) / f"{version}.pnu"  # of its own: an older version need not read a newer file
            run([*fit, str(model), str(small)], source)
            commands = {
                "predict": [*tool, "predict", str(large), "-m", str(model), "-o", str(out)],
                "hand": [sys.executable, "-c", HAND, str(large), str(model), str(out)],
                "fit": [*fit, str(Path(folder) / "large.pnu"), str(large)],
                "evaluate": [*tool, "evaluate", str(large), "-m", str(model), "--label", "label", "--prior", "0.3"],
            }
            for name in given.commands:
                if name == "hand" and version != "this":
                    continue
                out.unlink(missing_ok=True)  # what it did not write itself `predict` does not replace
                seconds, megabytes = run(commands[name], source)
                lines.append(f"| {given.rows:,} | {name} | {version} | {seconds:.1f} | {megabytes:.0f} |")
                print(lines[-1], flush=True)
    title = f"The command line, {given.rows:,} rows"
    write_section(given.out, title, "\n\n".join([TEXT, "\n".join(lines)]))


if __name__ == "__main__":
    main()
