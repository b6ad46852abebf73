"""The search among rankers, and the AUC that held-out rows give its outcome."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.stats import kendalltau

from pnulearn._arrays import AnyArray
from pnulearn._basis.basis import Basis
from pnulearn._learning.result import allow_for_changes
from pnulearn._learning.selection import SearchTable, average_weights, best_candidate
from pnulearn._problem.samples import Samples
from pnulearn.losses import Loss
from pnulearn.metrics._curves import count_beaten, pnu_auc
from pnulearn.metrics._estimate import RiskEstimate
from pnulearn.priors.estimate import PriorEstimate
from pnulearn.ranking.solving import solve_candidates
from pnulearn.ranking.tally import PairTally


class PairSearch:
    """Every bandwidth x mix x alpha, learnt without each fold in turn and judged on it."""

    def __init__(
        self,
        basis: Basis,
        samples: Samples,
        folds: AnyArray,
        prior: float,
        mixes: AnyArray,
        alphas: AnyArray,
        loss: Loss,
    ):
        self.basis, self.samples, self.folds = basis, samples, folds
        self.prior, self.mixes, self.alphas, self.loss = prior, mixes, alphas, loss
        prepared = basis.prepare(samples.X)
        self.features = [basis.features(prepared, index).copy() for index in range(len(basis.bandwidths))]
        self.learnt = [[self._learn(Z, folds != fold) for fold in np.unique(folds)] for Z in self.features]
        self.tallies = [
            [self._tally(Z, coef, fold) for coef, fold in zip(per_fold, np.unique(folds), strict=True)]
            for Z, per_fold in zip(self.features, self.learnt, strict=True)
        ]

    def tabulate(self, selection: str, folds: Sequence[int]) -> SearchTable:
        """Risks of all candidates on these folds, and their weights."""
        tallies = [sum((per_fold[f] for f in folds[1:]), start=per_fold[folds[0]]) for per_fold in self.tallies]
        zero_one, squared = (np.stack(parts) for parts in zip(*(t.risks(self.prior) for t in tallies), strict=True))
        finite = np.isfinite(squared)
        if not finite.any():
            raise ValueError("No candidate has a minimum: pass a greater alpha, or mix=0.")
        zero_one, squared = np.where(finite, zero_one, np.inf), np.where(finite, squared, np.inf)
        n_labels = tallies[0].effective_labels
        if selection == "average":
            alike = np.ones(len(self.mixes))  # where positives are rare, labels alone do not deserve half of the weight
            weight = average_weights(zero_one, squared, n_labels, shares=alike)
        else:
            weight = best_candidate(zero_one, squared, n_labels, alphas=self.alphas, mixes=self.mixes, tie_break="risk")
        values = {"bandwidth": self.basis.bandwidths, "mix": self.mixes, "alpha": self.alphas}
        return SearchTable(values, zero_one, squared, weight)

    def assemble(self, weight: AnyArray) -> AnyArray:
        """Coefficients (bandwidths, b) of all rows, summed over candidates."""
        whole = np.ones(len(self.folds), dtype=bool)
        return np.stack([combine(self._learn(Z, whole), part) for Z, part in zip(self.features, weight, strict=True)])

    def judge(self, selection: str, prior: PriorEstimate, coef: AnyArray) -> RiskEstimate:
        """AUC on held-out rows, whose scores become shares of their fold's other rows that they beat.

        Folds judge rankers that lack a part of the labels. The AUC of the one with these coefficients (bandwidths, b)
        differs by the share of pairs at most that it puts in another order.
        """
        held_out = np.zeros(len(self.folds))
        final = np.sum([Z @ part for Z, part in zip(self.features, coef, strict=True)], axis=0)
        numbers, turned = np.unique(self.folds), []
        for place, fold in enumerate(numbers):
            rows = np.flatnonzero(self.folds == fold)
            weight = self.tabulate(selection, [k for k in range(len(numbers)) if k != place]).weight
            parts = zip(self.features, self.learnt, weight, strict=True)
            scores = np.sum([Z[rows] @ combine(per_fold[place], part) for Z, per_fold, part in parts], axis=0)
            unlabeled = self.samples.codes[rows] < 0
            population = unlabeled if unlabeled.sum() > 1 else np.ones(len(rows), dtype=bool)
            held_out[rows] = count_beaten(scores, scores[population])
            turned.append(share_turned(scores[population], final[rows[population]]))
        labels = np.where(self.samples.codes < 0, np.nan, self.samples.codes)
        auc = pnu_auc(labels, held_out - 0.5, prior=prior, pos_label=1.0)
        wide = allow_for_changes(auc, float(np.mean(turned)))
        return replace(wide, high=min(wide.high, max(auc.high, 1.0)))

    def _learn(self, Z: AnyArray, chosen: AnyArray) -> AnyArray:
        groups = [rows[chosen[rows]] for rows in self.samples.split()]
        return solve_candidates(Z, groups, self.prior, self.mixes, self.alphas, self.loss)

    def _tally(self, Z: AnyArray, coef: AnyArray, fold: int) -> PairTally:
        rows = np.flatnonzero(self.folds == fold)
        place = np.full(len(self.folds), -1)
        place[rows] = np.arange(len(rows))
        groups = [place[group[self.folds[group] == fold]] for group in self.samples.split()]
        return PairTally.of(coef @ Z[rows].T, groups)


def share_turned(scores: AnyArray, others: AnyArray) -> float:
    """The share of pairs of rows that two scores put in opposite orders, by Kendall's τ; a half where one is constant.

    >>> share_turned(np.array([1.0, 2.0, 3.0]), np.array([1.0, 3.0, 2.0]))  # one of three pairs
    0.3333333333333333
    """
    if np.ptp(scores) == 0 or np.ptp(others) == 0:
        return 0.5
    return float(1 - kendalltau(scores, others).statistic) / 2


def combine(coef: AnyArray, weight: AnyArray) -> AnyArray:
    """The weighted sum of candidates; one that has no minimum on these rows gives its weight to the others."""
    there = np.isfinite(coef).all(axis=-1) & (weight > 0)
    if not there.any():
        return np.zeros(coef.shape[-1])
    share = weight[there] * (weight.sum() / weight[there].sum())
    summed: AnyArray = share @ coef[there]
    return summed
