"""Validation risks from sums over held-out rows, and candidate weights: the best candidate or a weighted average."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._html import show_rows
from pnulearn.risks import pnu_table
from pnulearn.theory import forced_mix, least_variance_mix

NEGLIGIBLE = 1e-3
TIED_DIGITS = 9  # risks and weights are compared after rounding, since last digits differ between processors

SHOWN = 10  # candidates shown in a notebook
TIED = 1e-7  # relative to the root mean square of a candidate's scores: closer scores count as ties


@dataclass(frozen=True)
class SearchTable:
    """Every candidate with its validation results; `values` names the axes of the arrays and the values along each.

    zero_one and squared are PNU risks of these losses (NaN if not computed), weight is the candidate's weight in the
    final model. `columns` is the representation of the columns for every bandwidth ("given" or "ranks"), or None if
    all bandwidths use the columns as given.
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
        """Index of the candidate with the largest weight; the first among ties up to rounding."""
        largest = np.round(self.weight / self.weight.max(), TIED_DIGITS)
        return tuple(map(int, np.unravel_index(int(np.argmax(largest)), self.weight.shape)))

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
    """Weight 1 for the candidate of least zero-one risk, 0 for the others.

    With few validation labels ties are frequent. tie_break="risk" breaks them by the squared-loss risk, then the larger
    alpha, then the smaller |mix|. tie_break="first" takes the first in the order bandwidth (slowest), alpha, mix, as
    in the first author's public code.
    """
    zero_one, squared = np.round(zero_one, TIED_DIGITS), np.round(squared, TIED_DIGITS)  # ignore rounding errors
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

    The inverse temperature n is that of PAC-Bayesian aggregation: with few labels the weight is spread over many
    candidates, with many labels it concentrates on the best. The zero-one risk is the target; the squared risk
    separates candidates of equal zero-one risk. The prior weight of the purely supervised candidates, whose `shares`
    of unlabelled data are zero, is 1/2 in total.
    """
    energy = n_labels * (zero_one + squared)
    supervised = shares == 0
    n_supervised = np.where(supervised, supervised.sum(), (~supervised).sum())
    weight = np.exp(energy.min() - energy) / n_supervised[:, None]
    weight /= weight.sum()
    faint = weight.sum(axis=(1, 2)) < NEGLIGIBLE
    weight[faint] = 0.0
    return weight / weight.sum()


@dataclass(frozen=True)
class Tally:
    """Weighted sums per group of validation rows; the last axis is the classes, then the population.

    Sums are pooled over folds before rates are computed, so a fold may lack a class.

    weight : sum of weights, shape (groups,).
    positive : sum of the zero-one votes for each output, shape (K, C, J, groups); K is 1 for two classes.
    first, second : sums of g and g², where g may have been squashed to [−1, 1].
    """

    weight: AnyArray
    positive: AnyArray
    first: AnyArray
    second: AnyArray

    @classmethod
    def of(cls, scores: AnyArray, membership: AnyArray, squash: Callable[[AnyArray], AnyArray] | None = None) -> Tally:
        """From scores (K, C, J, n) and the weight of every row in every group (n, groups)."""
        g = scores if squash is None else squash(scores)
        return cls(membership.sum(axis=0), _votes(scores) @ membership, g @ membership, np.square(g) @ membership)

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.weight + other.weight,
            self.positive + other.positive,
            self.first + other.first,
            self.second + other.second,
        )

    def with_pseudo_observations(self, classes: Sequence[int], n_rows: float) -> Tally:
        """Replace classes that cannot be held out by `n_rows` pseudo-observations that are classified at chance level.

        Their mean score is 0 and their mean squared score is that of the population.
        """
        groups = np.isin(np.arange(len(self.weight)), classes)
        spread = n_rows * self._means(self.second)[..., -1:]
        vote = n_rows / max(len(self.positive), 2)
        return Tally(
            np.where(groups, n_rows, self.weight),
            np.where(groups, vote, self.positive),
            np.where(groups, 0.0, self.first),
            np.where(groups, spread, self.second),
        )

    def zero_one(self, prior: AnyArray) -> AnyArray:
        """The PNU zero-one risk of every candidate, shape (C, J)."""
        share = self._means(self.positive)
        return self._risk(prior, 1 - share, share)

    def squared(self, prior: AnyArray) -> AnyArray:
        """The PNU risk of the squared loss, summed over outputs, shape (C, J)."""
        g, g2 = self._means(self.first), self._means(self.second)
        return self._risk(prior, (1 - 2 * g + g2) / 4, (1 + 2 * g + g2) / 4)

    def effective_labels(self, prior: AnyArray) -> float:
        """Effective number of labels, 1 / Σ_c (θ_c² / n_c).

        A sample of this size drawn from the population would estimate the PN risk with the same variance.
        """
        seen = self.weight[:-1] > 0
        return float(1 / np.sum(prior[seen] ** 2 / self.weight[:-1][seen])) if seen.any() else 0.0

    def _means(self, sums: AnyArray) -> AnyArray:
        return sums / np.where(self.weight > 0, self.weight, 1.0)

    def _risk(self, prior: AnyArray, loss: AnyArray, loss_of_minus: AnyArray) -> AnyArray:
        """Sum of one-versus-rest PNU risks over outputs; halved for K > 1, where each error counts for two outputs."""
        total = np.zeros(loss.shape[1:-1])
        for k, own in enumerate([1] if len(loss) == 1 else range(len(prior))):
            others = np.arange(len(prior)) != own
            rest = prior[others] / (1 - prior[own])
            table = pnu_table(prior[own], validation_mix(prior, self.weight[:-1], self.weight[-1], own))
            for side, mean in enumerate((loss[k], loss_of_minus[k])):
                total += table[0, side] * mean[..., own] + table[2, side] * mean[..., -1]
                total += table[1, side] * (mean[..., :-1][..., others] @ rest)
        return total / (1 if len(loss) == 1 else 2)


def validation_mix(prior: AnyArray, n_labeled: AnyArray, n_population: float, own: int = 1) -> float:
    """The η of least variance if the loss has equal variances in P, N and U; ±1 if a class has no rows.

    >>> validation_mix(np.array([0.7, 0.3]), np.array([10, 10]), 0), validation_mix(np.array([0.5, 0.5]), [5, 5], 9)
    (0.0, 0.0)
    """
    n_labeled = np.asarray(n_labeled, dtype=float)
    others = np.arange(len(prior)) != own
    forced = forced_mix(n_labeled[own], (n_labeled[others] > 0).all(), n_population)
    if forced is not None:
        return forced
    psi_p = prior[own] ** 2 / n_labeled[own]
    psi_n = float(np.sum(prior[others] ** 2 / n_labeled[others]))
    return float(least_variance_mix(psi_p, psi_n, 1 / n_population))


def membership(codes: AnyArray, weight: AnyArray, n_classes: int, population: AnyArray) -> AnyArray:
    """The weight of every row in every group: its class, and the population, shape (n, n_classes + 1)."""
    groups = np.zeros((len(codes), n_classes + 1))
    labeled = np.flatnonzero(codes >= 0)
    groups[labeled, codes[labeled]] = weight[labeled]
    groups[population, -1] = weight[population]
    return groups


def _votes(scores: AnyArray) -> AnyArray:
    """1 if the output's class is predicted; classes whose scores tie up to rounding share the vote.

    Without the tolerance, rounding errors of scores near zero would influence the choice of a model.
    """
    close = TIED * np.sqrt(np.mean(np.square(scores), axis=-1, keepdims=True))
    if len(scores) == 1:
        return (np.sign(np.where(np.abs(scores) <= close, 0.0, scores)) + 1) / 2
    first = scores >= scores.max(axis=0) - close.max(axis=0)
    return first / first.sum(axis=0)
