"""From numbers to one feature of moderate size: scaled as they are, or by normal ranks if their tail is long."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from pnulearn._arrays import AnyArray

LONG_TAIL = 2.0  # skewness beyond which ranks take the place of values: an exponential variable has it
FEWEST = 20  # rows that a skewness can be judged by
N_KNOTS = 257


@dataclass(frozen=True, eq=False)
class Scale:
    """(h(x) − offset) / size with `fill` for missing values; h is x itself, or interpolates normal ranks at knots."""

    fill: float
    offset: float = 0.0
    size: float = 1.0
    knots: AnyArray | None = None
    ranks: AnyArray | None = None

    @classmethod
    def fit(cls, values: AnyArray, scaling: str) -> Scale:
        """Fill with the median; standard scaling gives mean 0 and variance 1, minmax the range [0, 1]."""
        present = values[~np.isnan(values)]
        fill = float(np.median(present))
        if scaling == "none":
            return cls(fill)
        knots, ranks = normal_ranks(present) if has_long_tail(present) else (None, None)
        shaped = cls(fill, knots=knots, ranks=ranks).apply(values)
        if scaling == "minmax":
            offset, size = float(shaped.min()), float(shaped.max() - shaped.min())
        else:
            offset, size = float(shaped.mean()), float(shaped.std())
        return cls(fill, offset, size or 1.0, knots, ranks)

    @property
    def is_ranked(self) -> bool:
        return self.knots is not None

    def apply(self, values: AnyArray) -> AnyArray:
        filled = np.where(np.isnan(values), self.fill, values)
        if self.knots is not None and self.ranks is not None:
            filled = np.interp(filled, self.knots, self.ranks)
        return (filled - self.offset) / self.size


def has_long_tail(values: AnyArray) -> bool:
    """Whether few values decide mean and variance.

    >>> has_long_tail(np.arange(100.0)), has_long_tail(np.append(np.arange(100.0), 1e200))
    (False, True)
    """
    if len(values) < FEWEST or len(np.unique(values[:FEWEST])) < 3 > len(np.unique(values)):
        return False
    unit = values / (np.abs(values).max() or 1.0)  # the third power of 1e200 is infinite
    centered = unit - unit.mean()
    spread = centered.std()
    return bool(spread > 0 and abs(np.mean((centered / spread) ** 3)) > LONG_TAIL)


def normal_ranks(values: AnyArray) -> tuple[AnyArray, AnyArray]:
    """Knots and their normal scores Φ⁻¹(F): F counts equal values by half, so that a heap of zeros is one point."""
    ordered = np.sort(values)
    knots = np.unique(ordered)
    if len(knots) > N_KNOTS:
        knots = np.unique(np.quantile(ordered, np.linspace(0, 1, N_KNOTS), method="nearest"))
    below, upto = (np.searchsorted(ordered, knots, side) for side in ("left", "right"))
    return knots, norm.ppf((below + upto) / (2 * len(ordered)))
