"""The risks as a loss for neural networks (extra `torch`), unbiased or non-negative, and batches that hold P, N and U.

A flexible network can push the part of a risk that is read off U below zero, which no expectation of a loss can be:

    r = u (E_U[ℓ(−g)] − θ E_P[ℓ(−g)])    stands for    u (1 − θ) E_N[ℓ(−g)] ≥ 0,    u being U's weight,

and likewise with ℓ(g) and N. Kiryo, Niu, du Plessis and Sugiyama (NeurIPS 2017) stop at r = 0 and step back when a
batch goes below it. All of this is read off the weight table of the risk, so PU, NU, PNU and PUNU are one case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from operator import index
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from pnulearn._arrays import AnyArray
from pnulearn._machine.extras import import_extra
from pnulearn._problem.labels import UNLABELED, decode_labels, refuse_more_than_two
from pnulearn.losses import Loss, as_loss
from pnulearn.risks import Risk

with import_extra("torch", "pnulearn.torch"):
    import torch
    from torch.nn import functional

GROUPS = {"positive": 1, "negative": 0, "unlabeled": UNLABELED}  # codes in the order of a risk's rows


def label_codes(y: ArrayLike, unlabeled: Any = None, pos_label: Any = None) -> torch.Tensor:
    """The labels as the losses here read them: 1 positive, 0 negative, −1 unlabelled.

    >>> label_codes(["spam", None, "ham"])
    tensor([ 1, -1,  0])
    """
    labels = decode_labels(y, unlabeled, pos_label)
    refuse_more_than_two(labels.classes)
    return torch.as_tensor(labels.codes)


class PNULoss(torch.nn.Module):
    """A risk as a loss of the scores g of one batch: loss(scores, codes) is differentiable in the scores.

    >>> from pnulearn import risks
    >>> scores = torch.tensor([3.0, -1.0, 2.0, -2.0, -2.0], requires_grad=True)
    >>> codes = label_codes([1, 0, None, None, None])
    >>> PNULoss(risks.pu(prior=0.7), loss="sigmoid")(scores, codes).item()  # the unbiased risk is −0.26
    0.033...

    Parameters
    ----------
    risk : a weight table such as `risks.pnu(prior=0.3, eta=0.5)`.
    loss : a name or `Loss` of `pnulearn.losses`, or a function of a tensor of margins.
    nonnegative : False is the unbiased risk. True is nnPU's rule: r counts as max(r, −tolerance u), and below that the
        step is along −step_back ∇r, with the supervised part of the risk kept and the rest left out. "abs" counts r
        without its sign.
    tolerance, step_back : Kiryo's β and γ.
    """

    def __init__(
        self,
        risk: Risk,
        loss: str | Loss | Callable[[torch.Tensor], torch.Tensor] = "sigmoid",
        *,
        nonnegative: bool | Literal["abs"] = True,
        tolerance: float = 0.0,
        step_back: float = 1.0,
    ):
        super().__init__()
        if nonnegative not in (True, False, "abs"):
            raise ValueError(f"nonnegative must be True, False or 'abs', got {nonnegative!r}.")
        if not tolerance >= 0 or not 0 <= step_back <= 1:
            raise ValueError(f"Need tolerance >= 0 and step_back in [0, 1], got {tolerance!r} and {step_back!r}.")
        if nonnegative:
            _require_unbiased(risk)
        self.risk = risk
        self.loss = loss
        self.nonnegative = nonnegative
        self.tolerance = tolerance
        self.step_back = step_back
        self.register_buffer("table", torch.as_tensor(risk.table), persistent=False)
        self._margin_loss = margin_loss(loss)

    def forward(self, scores: torch.Tensor, codes: torch.Tensor) -> torch.Tensor:
        """The risk of one batch; with the non-negative rule, its gradient is the step to take."""
        means = self._means(_one_column(scores), codes)
        table = self.table.to(means)
        if not self.nonnegative:
            return (table * means).sum()
        value, step = self._correct(table, means.detach())
        surrogate = (step * means).sum()
        return surrogate + (value - surrogate).detach()

    def extra_repr(self) -> str:
        """What `print(loss)` shows between the brackets."""
        return f"{self.risk}, loss={self.loss!r}, nonnegative={self.nonnegative!r}"

    def _means(self, g: torch.Tensor, codes: torch.Tensor) -> torch.Tensor:
        """Mean losses of shape (3, 2): rows P, N, U; columns ℓ(g), ℓ(−g)."""
        group = torch.as_tensor(list(GROUPS.values()), device=codes.device)
        member = (codes[:, None] == group).to(g)
        counts = member.sum(dim=0)
        self._require_groups(counts.tolist(), codes, len(g))
        losses = torch.stack([self._margin_loss(g), self._margin_loss(-g)], dim=1)
        return (member.T @ losses) / counts.clamp(min=1)[:, None]

    def _correct(self, table: torch.Tensor, means: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The non-negative risk, and the table whose gradient is the step."""
        borrowed = table.clamp(max=0)  # what U holds of the other class, taken off again
        borrowed[2] = table[2]
        r = (borrowed * means).sum(dim=0)
        floor = -self.tolerance * table[2]
        if self.nonnegative == "abs":
            return ((table - borrowed) * means).sum() + r.abs().sum(), table - 2 * borrowed * (r < 0)
        below = r < floor
        value = ((table - borrowed) * means).sum() + torch.maximum(r, floor).sum()
        # P's own loss pairs with the column that P is taken off from, and N's likewise: the columns change places.
        left_out = (borrowed * below).flip(1)
        left_out[2] = 0
        return value, table + left_out - (1 + self.step_back) * borrowed * below

    def _require_groups(self, counts: list[float], codes: torch.Tensor, n_scores: int) -> None:
        if len(codes) != n_scores:
            raise ValueError(f"{n_scores} scores came with {len(codes)} codes.")
        if sum(counts) != n_scores:
            raise ValueError("codes must be 1, 0 and -1 (positive, negative, unlabelled): label_codes(y) makes them.")
        for name, count, weights in zip(GROUPS, counts, self.risk.table, strict=True):
            if weights.any() and not count:
                raise ValueError(
                    f"This batch has no {name} rows, and the risk needs them: {self.risk}. "
                    "Draw batches with PNUBatchSampler."
                )


def margin_loss(loss: str | Loss | Callable[[torch.Tensor], torch.Tensor]) -> Callable[[torch.Tensor], torch.Tensor]:
    """A loss as a function of tensors, from the facts it declares where they say it all.

    >>> margin_loss("ramp")(torch.tensor([-3.0, 0.0, 3.0]))
    tensor([1.0000, 0.5000, 0.0000])
    """
    if not isinstance(loss, str | Loss):
        return loss
    loss = as_loss(loss)
    if loss.quadratic:
        a, b, c = loss.quadratic
        return lambda m: (a * m + b) * m + c
    if loss.kinks:
        kinks = loss.kinks
        return lambda m: sum(a * functional.relu(t - m) for t, a in kinks)
    if loss.name not in _SMOOTH:
        raise ValueError(f"The {loss.name} loss cannot train a network; a function of a tensor of margins can.")
    return _SMOOTH[loss.name]


_SMOOTH: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "logistic": lambda m: functional.softplus(-m),
    "sigmoid": lambda m: torch.sigmoid(-m),
    "hyperbolic": lambda m: (torch.sqrt(1 + m * m) - m) / 2,
}


class PNUBatchSampler(torch.utils.data.Sampler):
    """Batches of row numbers with a fixed number of rows of every group at hand, for DataLoader(batch_sampler=...).

    Every group is shuffled and dealt out, again and again, so each batch mean is an unbiased estimate of the group's
    mean. An epoch ends when the slowest group has been dealt once; groups with few rows come round more often.

    >>> codes = label_codes([1, 1, 0, 0, 0] + [None] * 12)
    >>> for rows in PNUBatchSampler(codes, batch_size=8, random_state=0):
    ...     print(codes[rows].tolist())
    [1, 1, 0, 0, 0, -1, -1, -1]
    [1, 1, 0, 0, 0, -1, -1, -1]
    [1, 1, 0, 0, 0, -1, -1, -1]
    [1, 1, 0, 0, 0, -1, -1, -1]

    Parameters
    ----------
    codes : 1 positive, 0 negative, −1 unlabelled, as `label_codes` gives them.
    batch_size : rows per batch, shared evenly as far as the groups go: their means enter a risk with like weights. Or
        three numbers, for P, N and U.
    """

    def __init__(self, codes: ArrayLike, batch_size: int | Sequence[int] = 128, *, random_state: int | None = None):
        values = np.asarray(codes)
        self.groups = [np.flatnonzero(values == code) for code in GROUPS.values()]
        counts = [len(rows) for rows in self.groups]
        if values.ndim != 1 or not 0 < sum(counts) == len(values):
            raise ValueError("codes must be a row of 1, 0 and -1 (positive, negative, unlabelled): see label_codes.")
        self.sizes = list(batch_size) if isinstance(batch_size, Sequence) else _even_shares(index(batch_size), counts)
        if len(self.sizes) != 3 or any(not 0 <= k <= n for k, n in zip(self.sizes, counts, strict=True)):
            raise ValueError(f"batch_size={batch_size!r} does not go with {counts} rows of P, N and U.")
        if not any(self.sizes):
            raise ValueError(f"batch_size must be positive, got {batch_size!r}.")
        self.random = check_random_state(random_state)

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


def _one_column(scores: torch.Tensor) -> torch.Tensor:
    if scores.ndim == 2 and scores.shape[1] == 1:
        scores = scores[:, 0]
    if scores.ndim != 1:
        raise ValueError(f"scores must be one per row, shape (n,) or (n, 1), got {tuple(scores.shape)}.")
    return scores if scores.dtype == torch.float64 else scores.float()


def _require_unbiased(risk: Risk) -> None:
    """The rule needs to know what each column stands for: θ E_P[ℓ(g)] and (1 − θ) E_N[ℓ(−g)]."""
    p, n, u = risk.table
    prior, rest = risk.table.sum(axis=0)
    if not np.allclose([*(p + prior * u), *(n + rest * u), prior + rest], [prior, 0, 0, rest, 1], atol=1e-9):
        raise ValueError(f"nonnegative needs an unbiased risk such as risks.pnu(prior, eta), got {risk}.")
