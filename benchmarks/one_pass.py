"""One pass over millions of rows: speed against the hardware floor, memory, growth; and where baselines stop.

    python benchmarks/one_pass.py                            2 and 10 million rows, then the baselines (2 GB of disk)
    python benchmarks/one_pass.py --rows 0.5 1 --baselines 0    smaller
    python benchmarks/one_pass.py --rows 1 3 --baselines 0 --bandwidths 1 6    one bandwidth, and the default of six
    python benchmarks/one_pass.py --rows 0 --baselines 0 --same-rows 20    the same rows read in other ways

Data are made on the spot: 50 columns, 30 % positives that differ in mean and spread, 1 % labelled rows in equal numbers
of both classes. Every measurement is a process of its own with one BLAS thread, so that peak memory is its own. The
floor does what cannot be avoided and nothing else (read the columns, distances once, then one exponential and one Gram
matrix for every bandwidth, in float32); it has no labels, no folds, no checks and no model. On a busy machine trust the
ratios of CPU seconds.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np

COLUMNS = [f"x{j}" for j in range(50)]
PRIOR, LABELED = 0.3, 0.01
ROWS_AT_ONCE = 250_000
CENTERS = 500
BASELINE_SIZES = (2_000, 10_000, 50_000, 200_000, 1_000_000)
BASELINE_SECONDS, BASELINE_BYTES = 120, 8 << 30
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}


def draw(n: int, seed: int, labeled: float = LABELED) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """X in float32, partly missing y, and the truth."""
    rng = np.random.default_rng(seed)
    truth = (rng.random(n) < PRIOR).astype(np.int8)
    X = rng.standard_normal((n, len(COLUMNS)), dtype=np.float32)
    X[:, :10] += 0.35 * truth[:, None]
    X[:, 10:30] *= 1 + 0.25 * truth[:, None]
    chance = np.where(truth == 1, labeled / 2 / PRIOR, labeled / 2 / (1 - PRIOR))
    return X, np.where(rng.random(n) < chance, truth, np.nan), truth


def write(folder: Path, n: int) -> Path:
    """Files of a million rows, with row groups of a quarter of a million."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir()
    for number, start in enumerate(range(0, n, 4 * ROWS_AT_ONCE)):
        writer = None
        for part in range(start, min(start + 4 * ROWS_AT_ONCE, n), ROWS_AT_ONCE):
            X, y, _ = draw(min(ROWS_AT_ONCE, n - part), seed=part)
            table = pa.table(dict(zip(COLUMNS, X.T, strict=True)) | {"label": pa.array(y, from_pandas=True)})
            writer = writer or pq.ParquetWriter(folder / f"{number:03d}.parquet", table.schema, compression="none")
            writer.write_table(table, ROWS_AT_ONCE)
        writer.close()
    return folder


def floor(folder: str, bandwidths: str) -> dict:
    """Read, distances, then exponential and Gram matrix of each bandwidth: float32, one thread, blocks of 8192 rows.

    Of the first file: a million rows say what one row costs.
    """
    import pyarrow.parquet as pq

    b, d, block = CENTERS, len(COLUMNS), 8192
    centers = draw(b, seed=1)[0].T.copy()
    X, G = np.empty((d, block), np.float32), np.empty((b, b), np.float32)
    D, F = np.empty((block, b), np.float32), np.empty((block, b), np.float32)
    totals, n = np.zeros((int(bandwidths), b, b)), 0
    start = time.process_time()
    for batch in pq.ParquetFile(min(Path(folder).iterdir())).iter_batches(block, columns=COLUMNS, use_threads=False):
        m = batch.num_rows
        for j in range(d):
            X[j, :m] = batch.column(j).to_numpy()
        distances, features = np.matmul(X[:, :m].T, centers, out=D[:m]), F[:m]
        for k, total in enumerate(totals):
            np.multiply(distances, 0.01 / (k + 1), out=features)
            np.exp(features, out=features)
            np.matmul(features.T, features, out=G)
            np.add(total, G, out=total)
        n += m
    return {"each": (time.process_time() - start) / n * 1e6}


def one_pass(folder: str, n_jobs: str, bandwidths: str) -> dict:
    """fit_files from start to end, and how long its pass alone took; several bandwidths are the default ones."""
    from pnulearn import PNUClassifier
    from pnulearn.streaming import _fit as fit
    from pnulearn.streaming import fit_files

    honest, spent = fit.collect, {}

    def timed(*args):
        wall, cpu = time.perf_counter(), time.process_time()
        result = honest(*args)
        spent.update(pass_wall=time.perf_counter() - wall, pass_cpu=time.process_time() - cpu)
        return result

    fit.collect = timed
    start = time.perf_counter()
    bandwidth = 10.0 if bandwidths == "1" else None
    model = PNUClassifier(centers=CENTERS, bandwidth=bandwidth, random_state=0, n_jobs=int(n_jobs))
    fit_files(model, folder, target="label", n_jobs=int(n_jobs))
    seconds = time.perf_counter() - start
    X, _, truth = draw(20_000, seed=99)
    wrong = (model._scores(X.astype(float)) > 0) != truth
    return spent | {"wall": seconds, "error": float(wrong.mean()), "prior": model.prior_}


def in_memory(name: str, n: str) -> dict:
    """Ours or a baseline on n rows in memory."""
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (BASELINE_BYTES, BASELINE_BYTES))
    from sklearn.linear_model import SGDClassifier
    from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier

    from pnulearn import PNUClassifier
    from pnulearn.streaming import fit_files

    X, y, _ = draw(int(n), seed=7)
    test, _, truth = draw(5000, seed=99)
    labels = np.where(np.isnan(y), -1, y).astype(int)
    start = time.perf_counter()
    if name == "pnulearn":
        model = fit_files(PNUClassifier(centers=CENTERS, bandwidth=10.0, random_state=0), (X, y))
    elif name == "LabelSpreading":
        model = LabelSpreading(kernel="rbf", gamma=0.005).fit(X, labels)
    else:
        model = SelfTrainingClassifier(SGDClassifier(loss="log_loss", random_state=0)).fit(X, labels)
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "error": float(np.mean(model.predict(test) != truth))}


JOBS = {"floor": floor, "one_pass": one_pass, "in_memory": in_memory}


def child(name: str, *arguments: str) -> None:
    cpu = time.process_time()
    result = JOBS[name](*arguments)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps(result | {"cpu": time.process_time() - cpu, "megabytes": memory}))


def measure(*command: str, timeout: float | None = None) -> dict:
    """Run a job in a process of its own."""
    job = [sys.executable, __file__, "--job", *command]
    try:
        done = subprocess.run(job, capture_output=True, text=True, timeout=timeout, env=os.environ | ONE_THREAD)
    except subprocess.TimeoutExpired:
        return {"failed": f"more than {timeout:.0f} s"}
    if done.returncode:
        memory = "MemoryError" in done.stderr or done.returncode < 0
        return {"failed": "out of memory" if memory else done.stderr.strip().splitlines()[-1]}
    return json.loads(done.stdout.splitlines()[-1])


TITLES = (
    "rows", "bandwidths", "threads", "fit s", "pass s", "rows/s", "CPU µs/row", "floor", "of the floor", "peak MB",
    "error", "prior (0.3)", "load",
)  # fmt: skip
FORMS = (",", "", "", ".1f", ".1f", ",.0f", ".2f", ".2f", ".2f", ".0f", ".3f", ".3f", ".1f")


def growth(millions: list[float], bandwidths: list[int], threads: list[int]) -> None:
    """A row for every size, number of bandwidths and, at the smallest size, number of threads."""
    print(f"{os.cpu_count()} cores; {CENTERS} centres, 21 mixes, 8 alphas, 5 folds; {len(COLUMNS)} columns\n")
    print(f"| {' | '.join(TITLES)} |\n|{'---|' * len(TITLES)}")
    found: dict[tuple[int, int, int], dict] = {}
    for size in sorted(millions):
        n = int(size * 1e6)
        with tempfile.TemporaryDirectory() as folder:
            path = str(write(Path(folder) / "rows", n))
            for k in bandwidths:
                for n_jobs in threads if size == min(millions) else threads[:1]:
                    before = measure("floor", path, str(k))["each"]
                    r = found[n, k, n_jobs] = measure("one_pass", path, str(n_jobs), str(k))
                    low = (before + measure("floor", path, str(k))["each"]) / 2  # others may be at work
                    each, speed = r["pass_cpu"] / n * 1e6, n / r["pass_wall"]
                    row = [n, k, n_jobs, r["wall"], r["pass_wall"], speed, each, low, each / low]
                    row += [r["megabytes"], r["error"], r["prior"], os.getloadavg()[0]]
                    cells = [f"{cell:{form}}" for cell, form in zip(row, FORMS, strict=True)]
                    print(f"| {' | '.join(cells)} |", flush=True)
    small, large = int(min(millions) * 1e6), int(max(millions) * 1e6)
    for k in bandwidths:
        one, many = found[small, k, threads[0]]["pass_cpu"], found[large, k, threads[0]]["pass_cpu"]
        print(f"\n{k} bandwidths: {large / small:g} times the rows take {many / one:.2f} times the CPU of the pass.")


def baselines() -> None:
    print(f"\n{'rows':>9} {'method':>18} {'seconds':>8} {'peak MB':>8} {'error':>6}")
    stopped: set[str] = set()
    for n in BASELINE_SIZES:
        for name in ("pnulearn", "SelfTraining(SGD)", "LabelSpreading"):
            if name in stopped:
                continue
            r = measure("in_memory", name, str(n), timeout=BASELINE_SECONDS)
            if "failed" in r:
                stopped.add(name)
                print(f"{n:>9} {name:>18} stops: {r['failed']}", flush=True)
            else:
                print(f"{n:>9} {name:>18} {r['seconds']:>8.1f} {r['megabytes']:>8.0f} {r['error']:>6.3f}", flush=True)


def same_rows(draws: int) -> None:
    """How far scores and errors of other ways to read 4,000 rows are from those of one pass over arrays.

    From "in memory" on, every row has in common with one pass what the rows above it have, and one thing more.
    """
    scores, errors = defaultdict(list), defaultdict(list)
    for seed in range(draws):
        X, y, _ = draw(4000, seed, labeled=0.1)
        test, _, truth = draw(4000, 1000 + seed)
        ways = dict(_ways(X[:, :20], y))
        for name, (model, other) in ways.items():
            found = [one.decision_function(test[:, :20]) for one in (model, other)]
            scores[name].append(np.abs(found[1] - found[0]).max() / np.std(found[0]))
            errors[name].append(np.mean((found[1] > 0) != truth) - np.mean((found[0] > 0) != truth))
    print(f"{draws} draws; scores in standard deviations of the scores of one pass.\n")
    print("| compared with one pass over arrays | median difference | largest | error less its error, points |")
    print("|---|---|---|---|")
    for name, found in scores.items():
        points = 100 * np.array(errors[name])
        spread = np.std(points, ddof=1) / np.sqrt(draws)
        print(f"| {name} | {np.median(found):.1g} | {max(found):.1g} | {np.mean(points):+.2f} +- {spread:.2f} |")


def _ways(X: np.ndarray, y: np.ndarray) -> Iterator[tuple[str, tuple]]:
    """Pairs of models that are compared: of one pass over arrays, and of the same rows in another way."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from pnulearn import PNUClassifier
    from pnulearn.streaming import fit_files, make_design

    def one_pass(**settings) -> PNUClassifier:
        return fit_files(PNUClassifier(**{"random_state": 0, "centers": 100} | settings), (X, y), dtype="float64")

    def in_memory(**settings) -> PNUClassifier:
        return PNUClassifier(**{"random_state": 0, "centers": 100, "cv": 5} | settings).fit(X, y)

    model = one_pass()
    yield "another `random_state`", (model, one_pass(random_state=1))
    with tempfile.TemporaryDirectory() as folder:
        for number, rows in enumerate(np.array_split(np.arange(len(X)), 2)):
            table = {COLUMNS[j]: X[rows, j] for j in range(X.shape[1])} | {"label": pa.array(y[rows], from_pandas=True)}
            pq.write_table(pa.table(table), Path(folder) / f"{number}.parquet")
        files = fit_files(PNUClassifier(random_state=0, centers=100), folder, target="label", dtype="float64")
        yield "the same rows in two files", (model, files)
    yield "in memory, `cv=5`", (model, in_memory())
    settings = {"prior": PRIOR}
    yield "and the prior is given", (one_pass(**settings), in_memory(**settings))
    settings |= {"centers": X[:100], "columns": "given"}
    yield "and the same centres", (one_pass(**settings), in_memory(**settings))
    folds = make_design(PNUClassifier(random_state=0, **settings), X, y).folds("array", 0, len(X))
    splits = [(np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in range(5)]
    yield "and the same folds", (one_pass(**settings), in_memory(cv=splits, **settings))
    twice = fit_files(PNUClassifier(random_state=0, **settings), (X, y), dtype="float64", second_pass=True)
    yield "and errors counted by both (`second_pass=True`)", (twice, in_memory(cv=splits, **settings))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=float, nargs="+", default=[2, 10], help="in millions; 0 leaves this part out")
    parser.add_argument("--bandwidths", type=int, nargs="+", default=[1], choices=[1, 6], help="6 is the default")
    parser.add_argument(
        "--threads", type=int, nargs="+", default=[1, 2], help="all at the smallest size, else the first"
    )
    parser.add_argument("--baselines", type=int, default=1, help="0 leaves the baselines out")
    parser.add_argument("--same-rows", type=int, default=0, metavar="DRAWS", help="compare ways to read the same rows")
    parser.add_argument("--job", nargs="+", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.job:
        child(*arguments.job)
        return
    if all(arguments.rows):
        growth(arguments.rows, arguments.bandwidths, arguments.threads)
    if arguments.baselines:
        baselines()
    if arguments.same_rows:
        same_rows(arguments.same_rows)


if __name__ == "__main__":
    main()
