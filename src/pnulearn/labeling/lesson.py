"""What a model is fitted to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._problem.labels import UNLABELED
from pnulearn.labeling.draws import Sample

# Power of the weights in training. One makes the training risk unbiased and noisy, nought ignores how rows were chosen;
# one half had the lowest error on the sets that it was chosen on (results/labeling-loop.md).
TEMPER = 0.5


@dataclass(frozen=True)
class Lesson:
    """Labelled rows with their weights.

    Parameters
    ----------
    rows : array of int
        Their numbers.
    codes : array of int
        Their classes.
    weight : array
        Their weights.
    """

    rows: AnyArray
    codes: AnyArray
    weight: AnyArray

    @classmethod
    def of(cls, sample: Sample, given: AnyArray, is_weighted: bool) -> Lesson:
        """The rows that were drawn, in their order, and then other labels that were there before.

        Parameters
        ----------
        sample : Sample
            Rows that were drawn.
        given : array of int (rows,)
            Classes of rows that had a label, −1 for all others.
        is_weighted : bool
            Whether drawn rows weigh by their chances.
        """
        before = np.setdiff1d(np.flatnonzero(given != UNLABELED), sample.rows)
        of_drawn = np.maximum(sample.training_weight, 0) ** TEMPER if is_weighted else np.ones(len(sample))
        rows, codes = np.concatenate([sample.rows, before]), np.concatenate([sample.codes, given[before]])
        return cls(rows, codes, np.concatenate([of_drawn, np.ones(len(before))]))

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, some: AnyArray) -> Lesson:
        return Lesson(self.rows[some], self.codes[some], self.weight[some])
