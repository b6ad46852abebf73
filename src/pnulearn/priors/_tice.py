"""The label frequency from the subdomain with the largest share of labelled rows (Bekker, Davis 2018)."""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np
from scipy import sparse

from pnulearn._arrays import AnyArray
from pnulearn._parameters import parameters
from pnulearn.priors._groups import Group, stack
from pnulearn.priors._positive_unlabeled import PositiveUnlabeledPrior, Statistic

N_FOLDS = 5
CUTS = (0.25, 0.5, 0.75)  # in units of each column's range: four bins
ON_CUT = 1e-9  # in units of the range: values this close to a cut count as below it
MOST_SPLITS = 30
TIED_DIGITS = 9  # purities are compared after rounding to this many digits
SMOOTHING = 5  # pseudo-count in the share of labelled rows that chooses a split
FEWEST_ROWS = 10


@parameters
class TIcEPrior(PositiveUnlabeledPrior):
    """θ from the label frequency c = P(labelled | positive), bounded below in the purest region a tree can find.

    In a region with T rows of P ∪ U, L of them labelled,  c ≥ L/T − sqrt(c(1 − c)(1 − δ)/(δT))  with probability
    1 − δ, where δ = max(0.025, 1/(1 + 0.004 n)) decreases with the total number n of rows. A tree is grown on one fold
    of five towards pure regions of labelled rows and the bound is evaluated on the others; c is the largest bound,
    averaged over the folds. Then  θ = (n_P/c − n_P) / n_U.
    """

    method = "tice"
    most_labeled = most_unlabeled = 1000

    def _statistic(self, labeled: Group, unlabeled: Group) -> Statistic:
        conditions = _conditions(stack([labeled.X, unlabeled.X]))
        counts = np.concatenate([labeled.size * labeled.share, unlabeled.size * unlabeled.share])
        is_labeled = np.arange(len(counts)) < len(labeled)
        fold = np.concatenate([np.arange(len(labeled)), np.arange(len(unlabeled))]) % N_FOLDS
        regions = []
        for k in range(N_FOLDS):
            found = _regions(conditions, np.where(fold == k, counts, 0), is_labeled)
            regions.append(found & (fold != k))

        def prior(*shares: AnyArray) -> AnyArray:
            weights = np.concatenate([labeled.size * shares[0], unlabeled.size * shares[1]])
            frequency = np.full(weights.shape[1], 0.5)
            for _ in range(2):
                bounds = [_largest_bound(inside, weights, is_labeled, frequency) for inside in regions]
                frequency = np.clip(np.mean(bounds, axis=0), 1e-6, 1)
            return np.clip((labeled.size / frequency - labeled.size) / unlabeled.size, 0, 1)

        return prior


def _conditions(X: Any) -> AnyArray:
    """Indicators of rows below each cut of each column, shape (rows, columns × cuts)."""
    X = X.toarray() if sparse.issparse(X) else X
    low, high = X.min(axis=0), X.max(axis=0)
    return np.concatenate([low + (cut + ON_CUT) * (high - low) >= X for cut in CUTS], axis=1).astype(np.float32)


def _regions(conditions: AnyArray, counts: AnyArray, is_labeled: AnyArray) -> AnyArray:
    """Rows inside each node of a tree grown best-first towards labelled rows; shape (nodes, rows)."""
    everywhere = np.ones(len(counts), dtype=bool)
    nodes, queue = [everywhere], [(-_purity(counts, counts * is_labeled), 0)]
    for _ in range(MOST_SPLITS):
        if not queue:
            break
        inside = nodes[heapq.heappop(queue)[1]]
        for child in _split(inside, conditions, counts, is_labeled):
            heapq.heappush(queue, (-_purity(counts[child], (counts * is_labeled)[child]), len(nodes)))
            nodes.append(child)
    return np.array(nodes)


def _split(inside: AnyArray, conditions: AnyArray, counts: AnyArray, is_labeled: AnyArray) -> list[AnyArray]:
    """Both parts of the split that has the purest part; empty if every condition is constant in this node."""
    rows = np.stack([counts * inside, counts * inside * is_labeled])
    below = rows @ conditions
    sides = np.stack([below, rows.sum(axis=1, keepdims=True) - below])  # side, (total, labelled), condition
    real = (sides[:, 0] > 0).all(axis=0)
    if not real.any() or rows[0].sum() < FEWEST_ROWS:
        return []
    purity = sides[:, 1] / (sides[:, 0] + SMOOTHING)
    best = int(np.where(real, purity.max(axis=0), -1).round(TIED_DIGITS).argmax())
    part = conditions[:, best] > 0
    return [inside & part, inside & ~part]


def _purity(total: AnyArray, labeled: AnyArray) -> float:
    return round(float(labeled.sum() / (total.sum() + SMOOTHING)), TIED_DIGITS)


def _largest_bound(inside: AnyArray, weights: AnyArray, is_labeled: AnyArray, frequency: AnyArray) -> AnyArray:
    """The largest lower bound of c over the regions, for every weighting of the rows."""
    total, labeled = inside @ weights, (inside & is_labeled) @ weights
    enough = total >= FEWEST_ROWS
    total = np.where(enough, total, 1)
    delta = np.maximum(0.025, 1 / (1 + 0.004 * weights.sum(axis=0)))
    bound = labeled / total - np.sqrt(frequency * (1 - frequency) * (1 - delta) / (delta * total))
    return np.where(enough, bound, -np.inf).max(axis=0)
