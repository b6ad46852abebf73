"""What Dask itself costs: `fit_files` of Dask arrays in many partitions that hardly hold rows.

    python benchmarks/dask_overhead.py [--partitions 50 200 2000] [--rows 50]

Client and scheduler are one process, the only worker is another with one thread. Processor milliseconds for each
partition are counted apart for both, in the first passes (labels, sample) and in the pass that adds up statistics, of
three sizes: tiny ones, which leave what a task costs, and those of 500 centres with one bandwidth (15 MB) and with six
(90 MB), most of whose time goes into making, keeping and adding them. The last column is the same pass in threads.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

KINDS = {"tiny": {"kernel": "linear"}, "15 MB": {"centers": 500, "bandwidth": 3.0}, "90 MB": {"centers": 500}}
MOST = {"tiny": 2_000, "15 MB": 200, "90 MB": 50}
TITLES = (
    "statistics", "partitions", "labels and sample: client, scheduler ms", "worker ms", "pass: client, scheduler ms",
    "worker ms", "pass in threads ms", "pass, wall s", "load",
)  # fmt: skip


def draw(n: int, d: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """Rows of which a fifth is labelled."""
    rng = np.random.default_rng(0)
    truth = rng.random(n) < 0.3
    X = rng.normal(size=(n, d)) + truth[:, None]
    return X, np.where(rng.random(n) < 0.2, truth, np.nan)


class Clock:
    """Puts clocks around the passes of `fit_files`: processor seconds here and on the worker, wall seconds."""

    def __init__(self, client: Any = None):
        self.spent: dict[str, np.ndarray] = {}
        self._client = client

    def __enter__(self) -> Clock:
        from pnulearn.streaming import _fit as fit

        self._honest = {name: getattr(fit, name) for name in ("plan_design", "collect")}
        for name in self._honest:
            setattr(fit, name, self._timed(name))
        return self

    def __exit__(self, *_: object) -> None:
        from pnulearn.streaming import _fit as fit

        for name, function in self._honest.items():
            setattr(fit, name, function)

    def _now(self) -> np.ndarray:
        there = 0.0 if self._client is None else sum(self._client.run(time.process_time).values())
        return np.array([time.process_time(), there, time.perf_counter()])

    def _timed(self, name: str) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            start = self._now()
            result = self._honest[name](*arguments)
            self.spent[name] = self._now() - start
            return result

        return call


def measure(client: Any, kind: str, n_partitions: int, rows: int) -> list[float]:
    from dask import array as da

    from pnulearn import PNUClassifier
    from pnulearn.streaming import fit_files

    X, y = draw(n_partitions * rows)
    settings = KINDS[kind] | {"alpha": 0.1, "mix": 0.5, "prior": 0.3, "random_state": 0}
    with Clock(client) as cluster:
        pair = da.from_array(X, (rows, -1)), da.from_array(y, rows)
        fit_files(PNUClassifier(**settings), pair, client=client)
    with Clock() as threads:
        fit_files(PNUClassifier(**settings), (X, y), part_rows=rows, n_jobs=1)
    first, second = cluster.spent["plan_design"], cluster.spent["collect"]
    each = [1e3 * seconds / n_partitions for seconds in (*first[:2], *second[:2], threads.spent["collect"][0])]
    return [*each, second[2]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--partitions", type=int, nargs="+", default=[50, 200, 2_000])
    parser.add_argument("--kinds", nargs="+", default=list(KINDS), choices=KINDS)
    parser.add_argument("--rows", type=int, default=50, help="in a partition")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    os.environ |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    from dask.distributed import Client, LocalCluster

    print(f"| {' | '.join(TITLES)} |\n|{'---|' * len(TITLES)}")
    with LocalCluster(1, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        measure(client, "tiny", 20, given.rows)  # the worker imports what it needs
        for kind in given.kinds:
            for n in given.partitions:
                if n <= MOST[kind]:
                    cells = [f"{value:.1f}" for value in [*measure(client, kind, n, given.rows), os.getloadavg()[0]]]
                    print(f"| {kind} | {n:,} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
