"""What a long fit will cost, said before it starts."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

import numpy as np

from pnulearn._machine.threads import one_blas_thread

LONG = 60.0  # seconds for one fit beyond which the user is told without asking
SMALL = 1e11  # operations
PROBE = 400  # rows of the matrix product that measures this machine
MATRICES = 5  # n × n, at a time


@dataclass(frozen=True)
class Cost:
    """Expected seconds and bytes of one fit.

    >>> print(Cost(seconds=90, bytes=8e8))
    1.5 min and 0.8 GB
    """

    seconds: float
    bytes: float

    def __str__(self) -> str:
        units = (("s", 1, 90), ("min", 60, 5400), ("h", 3600, np.inf))
        name, length, _ = next(unit for unit in units if self.seconds < unit[2])
        return f"{self.seconds / length:.2g} {name} and {self.bytes / 1e9:.1g} GB"


def flops_per_second() -> float:
    """Speed of a matrix product on one core, measured now: the fastest of three."""
    A = np.full((PROBE, PROBE), 0.5)
    times = []
    with one_blas_thread():
        for _ in range(3):
            start = perf_counter()
            A @ A
            times.append(perf_counter() - start)
    return 2 * PROBE**3 / min(times)


def announce(
    flops: float, n_rows: int, n_candidates: int, *, advice: str, say: Callable[[str], None] | None = None
) -> None:
    """Tell what one fit on all rows will cost: through `say` if somebody listens, and as a warning if it is long.

    A fit of so few operations that no machine needs a minute for them is not worth measuring the machine.
    """
    if say is None and flops < SMALL:
        return
    cost = Cost(flops / flops_per_second(), MATRICES * n_rows**2 * 8)
    message = f"One fit on {n_rows} rows will take about {cost}."
    if n_candidates > 1:
        message += f" The search fits {n_candidates} candidates on every split before that."
    if say is not None:
        say(message)
    if cost.seconds > LONG:
        warnings.warn(f"{message} {advice}", UserWarning, stacklevel=4)
