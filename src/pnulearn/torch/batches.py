"""Batches of row numbers that hold P, N and U, as every term of a risk needs rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import index
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike

from pnulearn._arrays import AnyArray
from pnulearn._problem.inputs import read_random_state
from pnulearn._problem.samples import Sampling, check_sampling, population_of
from pnulearn.torch.codes import GROUPS


class PNUBatchSampler(torch.utils.data.Sampler):
    """Batches of row numbers with a fixed number of rows of every group at hand, for DataLoader(batch_sampler=...).

    Every group is shuffled and dealt out, again and again, so each batch mean is an unbiased estimate of the group's
    mean. An epoch ends when the slowest group has been dealt once; groups with few rows come round more often.

    Parameters
    ----------
    codes : array (rows,)
        1 positive, 0 negative, −1 unlabelled, as `label_codes` gives them.
    batch_size : int or three ints
        Rows per batch, shared evenly as far as the groups go: their means enter a risk with like weights. Or three
        numbers, for P, N and U.
    sampling : str
        "case_control" draws U from the unlabelled rows. "single_set" draws it from all rows, for labels that were drawn
        at random from the population: a labelled row may then come twice, once with its label and once without.
    random_state : int, RandomState or None
        Seed; an int makes the batches repeatable.

    Attributes
    ----------
    batch_codes
        Codes of the rows of any batch, since all have the same order: P, N, U. Pass them to the loss.

    Examples
    --------
    >>> from pnulearn.torch import label_codes
    >>> codes = label_codes([1, 1, 0, 0, 0] + [None] * 12)
    >>> batches = PNUBatchSampler(codes, batch_size=8, random_state=0)
    >>> [len(rows) for rows in batches], batches.batch_codes.tolist()
    ([8, 8, 8, 8], [1, 1, 0, 0, 0, -1, -1, -1])
    """

    def __init__(
        self,
        codes: ArrayLike,
        batch_size: int | Sequence[int] = 128,
        *,
        sampling: Sampling = "case_control",
        random_state: Any = None,
    ):
        check_sampling(sampling)
        values = np.asarray(codes)
        if values.ndim != 1 or not len(values) or not np.isin(values, list(GROUPS.values())).all():
            raise ValueError("codes must be a row of 1, 0 and -1 (positive, negative, unlabelled): see label_codes.")
        self.groups = [np.flatnonzero(values == code) for code in (1, 0)] + [population_of(values, sampling)]
        counts = [len(rows) for rows in self.groups]
        self.sizes = list(batch_size) if isinstance(batch_size, Sequence) else _even_shares(index(batch_size), counts)
        if len(self.sizes) != 3 or any(not 0 <= k <= n for k, n in zip(self.sizes, counts, strict=True)):
            raise ValueError(f"batch_size={batch_size!r} does not go with {counts} rows of P, N and U.")
        if not any(self.sizes):
            raise ValueError(f"batch_size must be positive, got {batch_size!r}.")
        self.batch_codes = torch.as_tensor(np.repeat(list(GROUPS.values()), self.sizes))
        self.random = read_random_state(random_state)

    def __len__(self) -> int:
        """Batches per epoch."""
        return max(-(-len(rows) // k) for rows, k in zip(self.groups, self.sizes, strict=True) if k)

    def __iter__(self) -> Iterator[list[int]]:
        decks = [self._deal(rows, k) for rows, k in zip(self.groups, self.sizes, strict=True) if k]
        for _ in range(len(self)):
            yield np.concatenate([next(deck) for deck in decks]).tolist()

    def _deal(self, rows: AnyArray, size: int) -> Iterator[AnyArray]:
        """`size` rows at a time; a batch that the shuffled rows no longer fill takes the rest from the next shuffle."""
        deck = self.random.permutation(rows)
        while True:
            if len(deck) < size:
                deck = np.concatenate([deck, self.random.permutation(rows)])
            yield deck[:size]
            deck = deck[size:]


def _even_shares(total: int, counts: list[int]) -> list[int]:
    """Rows per group: even shares, what a small group cannot fill going to the others.

    >>> _even_shares(100, [8, 200, 3000])
    [8, 46, 46]
    """
    present = sorted((n, k) for k, n in enumerate(counts) if n)
    if total < len(present):
        raise ValueError(f"batch_size={total} is less than one row of each of {len(present)} groups.")
    shares = [0] * len(counts)
    for place, (n, k) in enumerate(present):
        shares[k] = min(n, (total - sum(shares)) // (len(present) - place))
    return shares
