"""How good decisions are in the population, beside those of answering the larger class every time.

All numbers come from one table, `count_decisions`: how many held-out rows of every class, and of those that stand for
the population, are called what.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn.metrics.estimate import Estimate
from pnulearn.metrics.rates import Called, rates_under, weighted_quantiles
from pnulearn.priors.estimate import PriorEstimate

N_DRAWS = 4_000  # from the posterior, for more than two classes
JEFFREYS = 0.5


@dataclass(frozen=True)
class Quality:
    """What decisions are worth in the population.

    Parameters
    ----------
    error : Estimate
        Share of rows that are decided wrongly.
    yardstick : Estimate
        The same of answering the larger class every time.
    gain : Estimate
        What the decisions spare: yardstick − error, judged together, since both hang on the prior.
    precision : tuple of Estimate
        Share of true ones among the rows that are called a class, by class.
    recall : tuple of Estimate
        Share of the rows of a class that are called so, by class.
    lift : tuple of Estimate
        Precision over the share of the class: how much better than picking rows blindly, by class.
    called : tuple of float
        Share of the population that is called each class.
    chance_better : float
        Probability that the decisions are better than the yardstick.
    larger : int
        Code of the larger class.
    """

    error: Estimate
    yardstick: Estimate
    gain: Estimate
    precision: tuple[Estimate, ...]
    recall: tuple[Estimate, ...]
    lift: tuple[Estimate, ...]
    called: tuple[float, ...]
    chance_better: float
    larger: int


def count_decisions(
    groups: Sequence[AnyArray], called: AnyArray, n_classes: int, weight: AnyArray | None = None
) -> AnyArray:
    """How many rows of each group are called what, (groups, classes); unequal weights count as (Σ w)² / Σ w² rows.

    Parameters
    ----------
    groups : sequence of arrays
        Row numbers of every class in code order, then of the rows that stand for the population.
    called : array (rows,)
        The code that every row is called.
    n_classes : int
        How many classes there are.
    weight : array (rows,), optional
        Weights of the rows.

    Examples
    --------
    >>> count_decisions([np.array([0]), np.array([1, 2]), np.array([3])], np.array([0, 1, 0, 1]), 2).tolist()
    [[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]
    """
    weight = np.ones(len(called)) if weight is None else weight
    table = np.zeros((len(groups), n_classes))
    for row, group in zip(table, groups, strict=True):
        w = weight[group]
        if w.any():
            row += np.bincount(called[group], weights=w, minlength=n_classes) * w.sum() / (w**2).sum()
    return table


def judge_decisions(
    table: AnyArray, prior: PriorEstimate, error: Estimate | None = None, confidence: float = 0.95
) -> Quality | None:
    """The quality of decisions; None if the rows do not tell, because all are of one group.

    Parameters
    ----------
    table : array (classes + 1, classes)
        As `count_decisions` gives it.
    prior : PriorEstimate
        What is known about the shares of the classes.
    error : Estimate, optional
        The error rate, if it was estimated already.
    confidence : float
        Probability that every interval is to hold the truth with.

    Examples
    --------
    >>> table = np.array([[9.0, 1.0], [2.0, 8.0], [65.0, 35.0]])
    >>> found = judge_decisions(table, PriorEstimate.known(0.4))
    >>> print(found.precision[1])
    0.8700 ± 0.1000, 95 % interval 0.5862 to 0.9672
    >>> round(found.yardstick.value, 3), found.larger
    (0.4, 0)
    """
    if not _tells(table):
        return None
    many = table.shape[1] > 2
    shares, rates, probability = _draw_many(table, prior) if many else _draw_two(table, prior)
    likely = _likely_many(table, prior) if many else _likely_two(table, prior)
    drawn, best = _measures(shares, rates), _measures(*(part[..., None] for part in likely))

    def estimate(values: AnyArray, value: float) -> Estimate:
        mean = float(probability @ values)
        stderr = float(np.sqrt(probability @ (values - mean) ** 2))
        low, high = weighted_quantiles(values, probability, confidence)
        return Estimate(value, stderr, min(low, value), max(high, value), confidence=confidence)

    def by_class(name: str) -> tuple[Estimate, ...]:
        return tuple(map(estimate, drawn[name], best[name][:, 0].tolist()))

    larger = int(np.argmax(likely[0]))
    wrong, always = 1 - drawn["right"].sum(axis=0), 1 - shares[larger]
    error = estimate(wrong, 1 - float(best["right"].sum())) if error is None else error
    yardstick = estimate(always, 1 - float(likely[0][larger]))
    return Quality(
        error,
        yardstick,
        estimate(always - wrong, yardstick.value - error.value),
        by_class("precision"),
        by_class("recall"),
        by_class("lift"),
        tuple(_called_shares(table, likely).tolist()),
        float(probability @ (wrong < always)),
        larger,
    )


def _tells(table: AnyArray) -> bool:
    """Whether two groups have rows and, if there are more than two classes, every class has."""
    seen = table.sum(axis=1) > 0
    return bool(seen.sum() > 1 and (table.shape[1] == 2 or seen[:-1].all()))


def _measures(shares: AnyArray, rates: AnyArray) -> dict[str, AnyArray]:
    """Of shares (K, n) and of rates (K, K, n) at which rows of a class are called another: each measure (K, n)."""
    right = np.einsum("kn,kkn->kn", shares, rates)
    called = np.einsum("kn,kjn->jn", shares, rates)
    precision = right / np.where(called > 0, called, 1.0)
    return {"right": right, "precision": precision, "recall": right / shares, "lift": precision / shares}


def _called_shares(table: AnyArray, likely: tuple[AnyArray, AnyArray]) -> AnyArray:
    """Of the population: as its own rows say, or what the rates of the classes amount to."""
    return table[-1] / table[-1].sum() if table[-1].any() else likely[0] @ likely[1]


def _decided(table: AnyArray) -> tuple[AnyArray, AnyArray]:
    """Errors among P, errors among N and share of U called positive, with the sizes of the samples."""
    size = table.sum(axis=1)[[1, 0, 2]]
    return table[[1, 0, 2], [0, 1, 1]] / np.maximum(size, 1e-300), size


def _draw_two(table: AnyArray, prior: PriorEstimate) -> tuple[AnyArray, AnyArray, AnyArray]:
    theta, (fnr, fpr), probability = rates_under(*_decided(table), prior)
    return np.stack([1 - theta, theta]), np.array([[1 - fpr, fpr], [fnr, 1 - fnr]]), probability


def _likely_two(table: AnyArray, prior: PriorEstimate) -> tuple[AnyArray, AnyArray]:
    theta = float(prior.mean)
    fnr, fpr = Called(*_decided(table), theta).fit()
    return np.array([1 - theta, theta]), np.array([[1 - fpr, fpr], [fnr, 1 - fnr]])


def _draw_many(table: AnyArray, prior: PriorEstimate) -> tuple[AnyArray, AnyArray, AnyArray]:
    """Dirichlet draws for what each class is called, and for the shares unless they are known."""
    rng = np.random.default_rng(0)
    shares = np.repeat(prior.shares[:, None], N_DRAWS, axis=1)
    if prior.concentration is not None:
        shares = rng.dirichlet(prior.shares * prior.concentration, N_DRAWS).T.clip(1e-12)
    n_classes = len(shares)
    start = np.where(np.eye(n_classes) > 0, JEFFREYS, JEFFREYS / (n_classes - 1))  # so that every recall has Jeffreys'
    rates = np.stack([rng.dirichlet(row, N_DRAWS).T for row in table[:-1] + start])
    return shares, rates, np.full(N_DRAWS, 1 / N_DRAWS)


def _likely_many(table: AnyArray, prior: PriorEstimate) -> tuple[AnyArray, AnyArray]:
    return np.asarray(prior.shares), table[:-1] / table[:-1].sum(axis=1, keepdims=True)
