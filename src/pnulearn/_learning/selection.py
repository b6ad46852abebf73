"""From validation risks to a model: the single best candidate, or all of them weighted by how well they did."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._html import show_rows

NEGLIGIBLE = 1e-3
TIED_DIGITS = 9  # risks and weights that agree to so many digits are equal: the rest differs between processors

SHOWN = 10  # candidates in a notebook


@dataclass(frozen=True)
class SearchTable:
    """Every candidate with its validation results; `values` names the axes of the arrays and the values along each.

    zero_one and squared are PNU risks of these losses (NaN if nothing was judged), weight is the candidate's part in
    the final model. `columns` says of every bandwidth what the columns were to it, unless all took them as given.
    """

    values: dict[str, AnyArray]
    zero_one: AnyArray
    squared: AnyArray
    weight: AnyArray
    columns: tuple[str, ...] | None = None

    @property
    def bandwidths(self) -> AnyArray:
        return self.values["bandwidth"]

    @property
    def mixes(self) -> AnyArray:
        return self.values["mix"]

    @property
    def alphas(self) -> AnyArray:
        return self.values["alpha"]

    @property
    def best(self) -> tuple[int, ...]:
        """Place of the candidate with the largest weight; the first of those that tie up to rounding."""
        largest = np.round(self.weight / self.weight.max(), TIED_DIGITS)
        return tuple(int(i) for i in np.unravel_index(int(np.argmax(largest)), self.weight.shape))

    def rows(self) -> list[dict[str, Any]]:
        """One dictionary per candidate, best first, ready for a data frame."""
        order = np.lexsort([self.squared.ravel(), self.zero_one.ravel()])
        return [self._row(place) for place in zip(*np.unravel_index(order, self.weight.shape), strict=True)]

    def _repr_html_(self) -> str:
        rows = sorted(self.rows(), key=lambda row: -row["weight"])[:SHOWN]
        caption = f"{self.weight.size} candidates, those with most weight first"
        cells = [[value if isinstance(value, str) else f"{value:.3g}" for value in row.values()] for row in rows]
        return show_rows(caption, list(rows[0]), cells)

    def _row(self, place: tuple[Any, ...]) -> dict[str, Any]:
        named = {name: float(axis[i]) for (name, axis), i in zip(self.values.items(), place, strict=True)}
        seen = {} if self.columns is None else {"columns": self.columns[place[0]]}
        return seen | named | {name: float(getattr(self, name)[place]) for name in ("zero_one", "squared", "weight")}


def best_candidate(
    zero_one: AnyArray, squared: AnyArray, n_labels: float, *, alphas: AnyArray, mixes: AnyArray, tie_break: str
) -> AnyArray:
    """All weight on the least zero-one risk.

    Few validation labels make ties the rule. tie_break="risk" settles them by the squared-loss risk, then the larger
    alpha, then the smaller |mix|; "first" takes the first with bandwidths slowest, then alphas, then mixes, as the
    first author's public code does.
    """
    zero_one, squared = np.round(zero_one, TIED_DIGITS), np.round(squared, TIED_DIGITS)  # last bits must not decide
    if tie_break == "first":
        by_alpha = zero_one.swapaxes(1, 2)
        bandwidth, alpha, mix = np.unravel_index(int(np.argmin(by_alpha)), by_alpha.shape)
        place: tuple[Any, ...] = (bandwidth, mix, alpha)
    else:
        small_mix = np.broadcast_to(np.abs(mixes)[:, None], zero_one.shape)
        large_alpha = np.broadcast_to(-alphas, zero_one.shape)
        keys = [small_mix, large_alpha, squared, zero_one]
        place = np.unravel_index(int(np.lexsort([key.ravel() for key in keys])[0]), zero_one.shape)
    weight = np.zeros(zero_one.shape)
    weight[place] = 1.0
    return weight


def average_weights(zero_one: AnyArray, squared: AnyArray, n_labels: float, *, shares: AnyArray) -> AnyArray:
    """Gibbs weights exp(−n (zero-one risk + squared risk)) with n the effective number of validation labels.

    The inverse temperature n is that of PAC-Bayesian aggregation: few labels spread the weight over all candidates
    that cannot be told apart, many labels concentrate it on the best. The zero-one risk is what counts; the squared
    risk tells candidates apart where the zero-one risk ties. Before seeing any label, unlabelled data is as likely to
    help as not: candidates whose `shares` of it is zero have half of the weight between them.
    """
    energy = n_labels * (zero_one + squared)
    supervised = shares == 0
    n_supervised = np.where(supervised, supervised.sum(), (~supervised).sum())
    weight = np.exp(energy.min() - energy) / n_supervised[:, None]
    weight /= weight.sum()
    faint = weight.sum(axis=(1, 2)) < NEGLIGIBLE
    weight[faint] = 0.0
    return weight / weight.sum()
