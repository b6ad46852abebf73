"""Which rows to give to humans: a random sample with known probabilities that favours informative rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from sklearn.utils import check_random_state

from pnulearn._arrays import FloatArray, IntArray
from pnulearn._numbers import read_count
from pnulearn.metrics._strata import MOST_CELLS, is_number, read_helpers
from pnulearn.priors._resolve import read_share


@dataclass(frozen=True, eq=False)
class RowsToLabel:
    """A sample of rows to label, with the probabilities that estimates need.

    Parameters
    ----------
    rows : array (labels,)
        Numbers of the rows to label.
    probability : array (rows,)
        Probability with which every row was chosen: `sampling` of `pnu_share`, `pnu_mean` and `judge_quality`.
    """

    rows: IntArray
    probability: FloatArray

    @property
    def weights(self) -> FloatArray:
        """Weights 1 / probability of the chosen rows."""
        return 1 / self.probability[self.rows]


def rows_to_label(
    n: int,
    helper: Any,
    *,
    by: Literal["verdict", "uncertainty"] = "verdict",
    least: float = 0.2,
    random_state: Any = None,
) -> RowsToLabel:
    """Choose rows for humans to label, more of those that tell more, with probabilities that keep estimates valid.

    Parameters
    ----------
    n : int
        Number of rows.
    helper : array (rows,), (rows, helpers), data frame or mapping
        Verdicts of judges for all rows; with by="uncertainty" one column of probabilities of the positive class.
    by : "verdict" or "uncertainty"
        "verdict": equally many rows of every verdict (or combination of verdicts), so that rare verdicts are checked as
        well as frequent ones. "uncertainty": with probability proportional to √(p (1 − p)), which gives the least
        variance if the probabilities p are right (Neyman's allocation).
    least : float
        This share of the sample is spread evenly over all rows, so that no weight is larger than 1 / least times the
        mean one, however wrong the helper is.
    random_state : int, RandomState or None
        Seed of the draw.

    Returns
    -------
    RowsToLabel
        The rows, and the probability of every row.

    Notes
    -----
    Systematic sampling with unequal probabilities (Madow): the sample has n rows, and row i is in it
    with its probability exactly. An estimate that weights labels by 1 / probability is unbiased, also if the helper is
    biased or always wrong; a wrong helper costs width only.

    References
    ----------
    Neyman (1934), JRSS 97. Madow (1949), Annals of Mathematical Statistics 20. Horvitz and Thompson (1952), JASA 47.

    Examples
    --------
    >>> verdict = np.array(["pass"] * 900 + ["fail"] * 100)
    >>> chosen = rows_to_label(40, verdict, random_state=0)
    >>> np.unique(verdict[chosen.rows], return_counts=True)[1].tolist()
    [17, 23]
    """
    columns = read_helpers(helper, _n_rows(helper))
    n_rows = len(next(iter(columns.values())))
    n, share = read_count("n", n, 1), read_share(least, "least")
    if n > n_rows:
        raise ValueError(f"n={n} rows are asked for, and there are {n_rows}. Pass a smaller n.")
    if by == "verdict":
        wish = _by_verdict(columns)
    elif by == "uncertainty":
        wish = _by_uncertainty(columns)
    else:
        raise ValueError(f"by must be 'verdict' or 'uncertainty', got {by!r}.")
    probability = _cap(share / n_rows + (1 - share) * wish / wish.sum(), n)
    return RowsToLabel(_systematic(probability, n, check_random_state(random_state)), probability)


def _n_rows(helper: Any) -> int:
    first = next(iter(helper.values()), ()) if isinstance(helper, dict) else helper
    return len(first)


def _by_verdict(columns: dict[str, Any]) -> FloatArray:
    """Every combination of verdicts gets the same total."""
    codes = np.column_stack([np.unique(column, return_inverse=True)[1] for column in columns.values()])
    cells, code, count = np.unique(codes, axis=0, return_inverse=True, return_counts=True)
    if len(cells) > MOST_CELLS:
        raise ValueError(
            f"helper has {len(cells)} different verdicts or combinations, more than {MOST_CELLS}. For probabilities "
            "pass by='uncertainty', for scores pass helper=score > threshold."
        )
    return np.asarray(1 / count[code.ravel()])


def _by_uncertainty(columns: dict[str, Any]) -> FloatArray:
    (column,) = columns.values() if len(columns) == 1 else (None,)
    if column is None or not is_number(column) or column.min() < 0 or column.max() > 1:
        raise ValueError(
            "by='uncertainty' needs one helper with probabilities from 0 to 1. Pass by='verdict' for words."
        )
    spread = np.sqrt(column * (1.0 - column))
    return np.asarray(spread if spread.any() else np.ones(len(column)))


def _cap(wish: FloatArray, n: int) -> FloatArray:
    """Probabilities with the sum n, proportional to `wish` where they are below 1."""
    sure = np.zeros(len(wish), dtype=bool)
    while True:
        rest = (n - sure.sum()) / wish[~sure].sum() if not sure.all() else 0.0
        probability = np.where(sure, 1.0, wish * rest)
        above = probability > 1
        if not above.any():
            return probability
        sure |= above


def _systematic(probability: FloatArray, n: int, rng: Any) -> IntArray:
    """n rows, each with its probability: every unit step along their sums, from a random start.

    Rows of equal probability stand together, in random order, so that every verdict gets the number it should.
    """
    order = np.lexsort((rng.random_sample(len(probability)), probability))
    steps = np.cumsum(probability[order])
    places = np.searchsorted(steps, rng.random_sample() + np.arange(n), side="right")
    return np.sort(order[np.minimum(places, len(order) - 1)])
