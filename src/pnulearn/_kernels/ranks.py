"""Normal ranks: each value is replaced by the normal quantile of its rank in the column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import ndtri

from pnulearn._arrays import AnyArray
from pnulearn._kernels.basis import Graph, PrefixedGraph, dense
from pnulearn._problem.row_keys import starts_value

MOST_KNOTS = 200  # per column, with linear interpolation between knots


@dataclass(frozen=True, eq=False)
class NormalRanks:
    """z(x) = Φ⁻¹(share of rows below x plus half the share of rows at x), column by column.

    Ties get their average rank, so a binary column stays binary. The map has knots at `values` (columns, knots) with
    the results `scores`; it is linear between knots and constant beyond the first and the last. Columns with fewer
    distinct values repeat the last knot.

    >>> ranks = NormalRanks.learn(np.array([[0.0], [0.0], [10.0], [1000.0]]), np.ones(4))
    >>> ranks.apply(np.array([[0.0], [505.0], [9999.0]])).round(3).ravel().tolist()
    [-0.674, 0.734, 1.15]
    """

    values: AnyArray
    scores: AnyArray

    @classmethod
    def learn(cls, X: Any, weight: AnyArray) -> NormalRanks:
        """Fit on all rows; a row of weight two counts as two rows."""
        columns = sparse.csc_matrix(X) if sparse.issparse(X) else X
        knots = [_knots(dense(columns[:, [j]]).ravel(), weight) for j in range(X.shape[1])]
        most = max(len(values) for values, _ in knots)
        values, scores = (
            np.stack([np.pad(parts[side], (0, most - len(parts[side])), mode="edge") for parts in knots])
            for side in (0, 1)
        )
        return cls(values, scores)

    def apply(self, X: Any) -> AnyArray:
        """Transform rows to normal ranks; the result is dense, since the value 0 is not mapped to 0."""
        rows = dense(X)
        found = np.empty(rows.shape)
        for j, (values, scores) in enumerate(zip(self.values, self.scores, strict=True)):
            found[:, j] = np.interp(rows[:, j], values, scores)
        return found

    def draw(self, graph: Graph, rows: str) -> str:
        """Add `apply` to the graph, as a sum over intervals of the part of each that lies below the value."""
        ranked = []
        for j, (values, scores) in enumerate(zip(self.values, self.scores, strict=True)):
            edges = values.astype(graph.dtype)
            low, high = edges[:-1], np.maximum(edges[1:], np.nextafter(edges[:-1], np.inf, dtype=graph.dtype))
            if len(edges) == 1:
                low, high, scores = edges, edges + 1, np.repeat(scores, 2)
            ranked.append(_draw_column(PrefixedGraph(graph, f"column{j}_"), rows, j, (low, high, scores)))
        return graph.apply("Concat", *ranked, name="ranks", axis=1)


def _draw_column(graph: Graph, rows: str, j: int, intervals: tuple[AnyArray, AnyArray, AnyArray]) -> str:
    """Piecewise linear map of column j: the first score plus each interval's rise times its part below the value."""
    low, high, scores = intervals
    own = graph.apply("Gather", rows, graph.constant("number", np.array([j])), name="own", axis=1)
    bottom = graph.constant("low", low)
    inside = graph.apply("Min", graph.apply("Max", own, bottom, name="above"), graph.constant("high", high), name="in")
    beyond = graph.apply("Sub", inside, bottom, name="beyond")
    below = graph.apply("Div", beyond, graph.constant("width", high - low), name="below")
    rise = graph.apply("MatMul", below, graph.constant("rises", np.diff(scores)[:, None]), name="rise")
    return graph.apply("Add", rise, graph.constant("first", scores[:1].copy()), name="rank")


def _knots(column: AnyArray, weight: AnyArray) -> tuple[AnyArray, AnyArray]:
    """Distinct values of a column and their normal ranks; at most MOST_KNOTS, evenly spaced in rank."""
    order = np.argsort(column, kind="stable")
    column, weight = column[order], weight[order]
    first = np.flatnonzero(starts_value(column[:, None])[:, 0])
    share = np.add.reduceat(weight, first) / weight.sum()
    values, scores = column[first], ndtri(np.cumsum(share) - share / 2)
    if len(values) > MOST_KNOTS:
        asked = np.linspace(scores[0], scores[-1], MOST_KNOTS)
        kept = np.unique(np.append(np.searchsorted(scores[:-1], asked[:-1]), len(scores) - 1))
        values, scores = values[kept], scores[kept]
    return values, scores
