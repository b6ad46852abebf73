"""PNU risks as PyTorch losses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch.nn import functional

from pnulearn._problem.labels import UNLABELED, decode_labels, refuse_more_than_two
from pnulearn.losses import Loss, as_loss
from pnulearn.risks import Risk

# Codes of the groups of rows.

GROUPS = {"positive": 1, "negative": 0, "unlabeled": UNLABELED}  # codes in the order of a risk's rows


def label_codes(y: ArrayLike, unlabeled: Any = None, pos_label: Any = None) -> torch.Tensor:
    """Labels as codes for the losses of this module: 1 positive, 0 negative, −1 unlabelled.

    Parameters
    ----------
    y : array (rows,)
        Labels; missing values and `unlabeled` mark unlabelled rows.
    unlabeled : object, optional
        The value in y that marks unlabelled rows; missing values always do.
    pos_label : object, optional
        The positive class, by default the greater label.

    Examples
    --------
    >>> label_codes(["spam", None, "ham"])
    tensor([ 1, -1,  0])
    """
    labels = decode_labels(y, unlabeled, pos_label)
    refuse_more_than_two(labels.classes)
    return torch.as_tensor(labels.codes)


# Unbiased and non-negative risks.

MarginLoss = Callable[[torch.Tensor], torch.Tensor]


class PNULoss(torch.nn.Module):
    """A risk as a PyTorch loss: loss(scores, codes) of one batch, differentiable in the scores.

    Parameters
    ----------
    risk : Risk
        A weight table such as `risks.pnu(prior=0.3, eta=0.5)`.
    loss : str, Loss or function
        A name or `Loss` of `pnulearn.losses`, or a function of a tensor of margins.
    nonnegative : bool or "abs"
        False is the unbiased risk. True is the nnPU rule (Kiryo et al., 2017): r, the part of the risk that is
        estimated from U for one class, is replaced by max(r, −tolerance u), where u is the weight of U. If r is below
        that, the gradient of this part is −step_back ∇r, the supervised part is kept and the rest is left out. "abs"
        replaces r by abs(r).
    tolerance : float
        β of Kiryo et al.
    step_back : float
        γ of Kiryo et al.

    Examples
    --------
    >>> from pnulearn import risks
    >>> from pnulearn.torch import label_codes
    >>> scores = torch.tensor([3.0, -1.0, 2.0, -2.0, -2.0], requires_grad=True)
    >>> codes = label_codes([1, 0, None, None, None])
    >>> PNULoss(risks.pu(prior=0.7), loss="sigmoid")(scores, codes).item()  # the unbiased risk is −0.26
    0.033...
    """

    def __init__(
        self,
        risk: Risk,
        loss: str | Loss | MarginLoss = "sigmoid",
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
        """The risk of one batch. With the non-negative rule, its gradient is that of the corrected risk.

        Parameters
        ----------
        scores : tensor (rows,) or (rows, 1)
            g(x), positive for the positive class.
        codes : tensor (rows,)
            1 positive, 0 negative, −1 unlabelled, as returned by `label_codes`.
        """
        means = self._means(_one_column(scores), codes)
        table = self.table.to(means)
        if not self.nonnegative:
            return (table * means).sum()
        value, step = self._correct(table, means.detach())
        surrogate = (step * means).sum()
        return surrogate + (value - surrogate).detach()

    def extra_repr(self) -> str:
        """The text that `print(loss)` shows in parentheses."""
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
        """The value of the non-negative risk, and the table of weights that gives its gradient."""
        borrowed = table.clamp(max=0)  # negative weights, which subtract the other class from U
        borrowed[2] = table[2]
        r = (borrowed * means).sum(dim=0)
        floor = -self.tolerance * table[2]
        if self.nonnegative == "abs":
            return ((table - borrowed) * means).sum() + r.abs().sum(), table - 2 * borrowed * (r < 0)
        below = r < floor
        value = ((table - borrowed) * means).sum() + torch.maximum(r, floor).sum()
        # The supervised loss of P belongs to the column other than the one from which P is subtracted, as for N. Hence
        # the columns are exchanged.
        left_out = (borrowed * below).flip(1)
        left_out[2] = 0
        return value, table + left_out - (1 + self.step_back) * borrowed * below

    def _require_groups(self, counts: list[float], codes: torch.Tensor, n_scores: int) -> None:
        if len(codes) != n_scores:
            raise ValueError(f"scores and codes must have the same length, got {n_scores} and {len(codes)}.")
        if sum(counts) != n_scores:
            raise ValueError("codes must be 1, 0 or -1 (positive, negative, unlabelled). Use label_codes(y).")
        for name, count, weights in zip(GROUPS, counts, self.risk.table, strict=True):
            if weights.any() and not count:
                raise ValueError(
                    f"This batch has no {name} rows, and the risk needs them: {self.risk}. "
                    "Draw batches with PNUBatchSampler."
                )


def margin_loss(loss: str | Loss | MarginLoss) -> MarginLoss:
    """A loss as a function of a tensor of margins.

    Parameters
    ----------
    loss : str, Loss or function
        A name or `Loss` of `pnulearn.losses`; a function of a tensor of margins is returned unchanged.

    Examples
    --------
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
        raise ValueError(
            f"The {loss.name} loss cannot train a network. Pass another loss, or a function of a tensor of margins."
        )
    return _SMOOTH[loss.name]


_SMOOTH: dict[str, MarginLoss] = {
    "logistic": lambda m: functional.softplus(-m),
    "sigmoid": lambda m: torch.sigmoid(-m),
    "hyperbolic": lambda m: (torch.sqrt(1 + m * m) - m) / 2,
}


def _one_column(scores: torch.Tensor) -> torch.Tensor:
    if scores.ndim == 2 and scores.shape[1] == 1:
        scores = scores[:, 0]
    if scores.ndim != 1:
        raise ValueError(f"scores must be one per row, shape (n,) or (n, 1), got {tuple(scores.shape)}.")
    return scores if scores.dtype == torch.float64 else scores.float()


def _require_unbiased(risk: Risk) -> None:
    """Raise a ValueError unless the columns estimate θ E_P[ℓ(g)] and (1 − θ) E_N[ℓ(−g)], as the rule requires."""
    p, n, u = risk.table
    prior, rest = risk.table.sum(axis=0)
    if not np.allclose([*(p + prior * u), *(n + rest * u), prior + rest], [prior, 0, 0, rest, 1], atol=1e-9):
        raise ValueError(f"nonnegative needs an unbiased risk such as risks.pnu(prior, eta), got {risk}.")
