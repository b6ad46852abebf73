"""When to stop: the PNU risk of rows that were held out, after every epoch, with the standard error of its rise."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._problem.samples import Samples
from pnulearn.losses import LOSSES
from pnulearn.metrics._comparison import compare_scores, shared_mix
from pnulearn.priors.estimate import PriorEstimate
from pnulearn.risks import empirical_risk, pnu

SMOOTH_ERROR = LOSSES["sigmoid"]  # between 0 and 1 like the error, but it moves when scores do


@dataclass
class Watch:
    """Held-out scores after every epoch: which one was best, and whether there is any hope of a better one.

    `fold` says with which other rows a row was held out; `patience` epochs in a row whose risk is higher than the
    lowest by more than a standard error of the difference are the end.
    """

    rows: Samples
    fold: AnyArray
    prior: PriorEstimate
    patience: int
    scores: list[AnyArray] = field(default_factory=list)
    risks: list[float] = field(default_factory=list)
    waited: int = 0

    def add(self, scores: AnyArray) -> None:
        """The scores (n,) of one more epoch; NaN marks rows that were not held out."""
        self.scores.append(scores.astype(np.float32))
        self.risks.append(self._risk(scores, np.arange(len(scores))))
        self.waited = self.waited + 1 if self._is_worse() else 0

    @property
    def best(self) -> int:
        """The epoch of least risk, counted from 0."""
        return int(np.argmin(self.risks))

    @property
    def is_over(self) -> bool:
        """Whether the risk has been higher for so long that it is no accident."""
        return self.waited >= self.patience

    def judged(self) -> AnyArray:
        """Scores (n,) of every row after the epoch that rows of other folds alone would choose: none judges its own."""
        chosen = self.scores[self.best].astype(float)
        for part in np.unique(self.fold[self.fold >= 0]):
            others = np.flatnonzero(self.fold != part)
            if self._is_judgeable(others):
                epoch = int(np.argmin([self._risk(scores, others) for scores in self.scores]))
                chosen[self.fold == part] = self.scores[epoch][self.fold == part]
        return chosen

    def _is_worse(self) -> bool:
        """Whether the last epoch's risk is above the lowest by more than a standard error of their difference."""
        if self.best == len(self.scores) - 1:
            return False
        last, best = (self._groups(self.scores[epoch]) for epoch in (-1, self.best))
        found = compare_scores(last, best, self.prior, self._mix(last), loss=SMOOTH_ERROR)
        return found.difference > found.stderr

    def _risk(self, scores: AnyArray, among: AnyArray) -> float:
        groups = self._groups(scores, among)
        return empirical_risk(pnu(float(self.prior.mean), self._mix(groups)), SMOOTH_ERROR, groups)

    def _groups(self, scores: AnyArray, among: AnyArray | None = None) -> list[AnyArray]:
        """Scores of held-out P, N and U."""
        parts = [rows if among is None else np.intersect1d(rows, among) for rows in self.rows.split()]
        return [scores[rows[~np.isnan(scores[rows])]] for rows in parts]

    def _mix(self, groups: list[AnyArray]) -> float:
        """One that does not hang on the scores, so that epochs can be compared."""
        return shared_mix(float(self.prior.mean), *map(len, groups))

    def _is_judgeable(self, among: AnyArray) -> bool:
        sizes = [len(group) > 0 for group in self._groups(self.scores[0], among)]
        return sum(sizes) >= 2
