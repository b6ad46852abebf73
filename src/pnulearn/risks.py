"""Risks as tables of six weights: rows P, N, U; columns loss of g, loss of −g.

Every risk of the paper is such a table. The training objective, the validation risk, the variance formula and the
PyTorch loss all use it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import SupportsFloat

import numpy as np
from numpy.typing import ArrayLike

from pnulearn._arrays import FloatArray
from pnulearn._numbers import read_number
from pnulearn.losses import Loss, as_loss

NOTHING = (0.0, 0.0)


@dataclass(frozen=True)
class Risk:
    """The risk Σ over samples c in {P, N, U} of  c[0] E_c[ℓ(g)] + c[1] E_c[ℓ(−g)].

    Risks can be added and multiplied by a number. They print as their formula:

    >>> print(0.5 * pn(prior=0.4) + 0.5 * pu(prior=0.4))
    0.4 E_P[ℓ(g)] − 0.2 E_P[ℓ(−g)] + 0.3 E_N[ℓ(−g)] + 0.5 E_U[ℓ(−g)]
    """

    positive: tuple[float, float] = NOTHING
    negative: tuple[float, float] = NOTHING
    unlabeled: tuple[float, float] = NOTHING

    @property
    def table(self) -> FloatArray:
        """The weights as an array of shape (3, 2)."""
        return np.array([self.positive, self.negative, self.unlabeled], dtype=float)

    def __add__(self, other: Risk) -> Risk:
        return _from_table(self.table + other.table)

    def __rmul__(self, factor: float) -> Risk:
        return _from_table(factor * self.table)

    def at_costs(self, costs: tuple[float, float]) -> Risk:
        """The risk with ℓ(g), the loss of positives, and ℓ(−g), that of negatives, multiplied by their costs.

        >>> print(pn(prior=0.3).at_costs((5.0, 1.0)))
        1.5 E_P[ℓ(g)] + 0.7 E_N[ℓ(−g)]
        """
        return _from_table(self.table * np.asarray(costs))

    def __str__(self) -> str:
        terms = [
            (weight, f"E_{sample}[ℓ({sign}g)]")
            for sample, row in zip("PNU", self.table, strict=True)
            for sign, weight in zip(("", "−"), row, strict=True)
            if weight
        ]
        text = " ".join(f"{'−' if weight < 0 else '+'} {abs(weight):.6g} {mean}" for weight, mean in terms)
        return text.removeprefix("+ ") or "0"


def _from_table(table: FloatArray) -> Risk:
    (p, p_), (n, n_), (u, u_) = table.tolist()
    return Risk((p, p_), (n, n_), (u, u_))


def pn(prior: SupportsFloat) -> Risk:
    """The supervised risk: θ E_P[ℓ(g)] + (1 − θ) E_N[ℓ(−g)].

    >>> print(pn(prior=0.3))
    0.3 E_P[ℓ(g)] + 0.7 E_N[ℓ(−g)]
    """
    prior = _read_prior(prior)
    return Risk(positive=(prior, 0.0), negative=(0.0, 1 - prior))


def pu(prior: SupportsFloat) -> Risk:
    """PU risk: the N term is replaced, since (1 − θ) N = U − θ P.

    >>> print(pu(prior=0.3))
    0.3 E_P[ℓ(g)] − 0.3 E_P[ℓ(−g)] + 1 E_U[ℓ(−g)]
    """
    prior = _read_prior(prior)
    return Risk(positive=(prior, -prior), unlabeled=(0.0, 1.0))


def nu(prior: SupportsFloat) -> Risk:
    """NU risk: the P term is replaced, since θ P = U − (1 − θ) N.

    >>> print(nu(prior=0.3))
    − 0.7 E_N[ℓ(g)] + 0.7 E_N[ℓ(−g)] + 1 E_U[ℓ(g)]
    """
    prior = _read_prior(prior)
    return Risk(negative=(prior - 1, 1 - prior), unlabeled=(1.0, 0.0))


def punu(prior: SupportsFloat, gamma: float) -> Risk:
    """(1 − γ) PU + γ NU, for γ in [0, 1]."""
    read_number("gamma", gamma, 0, 1)
    return (1 - gamma) * pu(prior) + gamma * nu(prior)


def pnpu(prior: SupportsFloat, gamma: float) -> Risk:
    """(1 − γ) PN + γ PU, for γ in [0, 1]."""
    read_number("gamma", gamma, 0, 1)
    return (1 - gamma) * pn(prior) + gamma * pu(prior)


def pnnu(prior: SupportsFloat, gamma: float) -> Risk:
    """(1 − γ) PN + γ NU, for γ in [0, 1]."""
    read_number("gamma", gamma, 0, 1)
    return (1 - gamma) * pn(prior) + gamma * nu(prior)


def pnu(prior: SupportsFloat, eta: float) -> Risk:
    """PNPU at η for η ≥ 0, PNNU at −η for η < 0; η = −1, 0, 1 are NU, PN, PU.

    >>> pnu(0.3, 1.0) == pu(0.3), pnu(0.3, 0.0) == pn(0.3)
    (True, True)
    """
    read_number("eta", eta, -1, 1)
    return _from_table(pnu_table(_read_prior(prior), float(eta)))


def pnu_table(prior: float, eta: float) -> FloatArray:
    """The table of `pnu`, for a prior and a mix that are valid.

    >>> pnu_table(0.5, 0.5).tolist()
    [[0.5, -0.25], [0.0, 0.25], [0.0, 0.5]]
    """
    share = abs(eta)
    of_positive, of_negative = (1 - share) * prior, (1 - share) * (1 - prior)  # PN, then PU or NU is added
    if eta >= 0:
        return np.array([[of_positive + share * prior, 0.0 - share * prior], [0.0, of_negative], [0.0, share]])
    return np.array([[of_positive, 0.0], [share * (prior - 1), of_negative + share * (1 - prior)], [share, 0.0]])


def _read_prior(prior: SupportsFloat) -> float:
    """The prior as a number. A `PriorEstimate` is replaced by its value, since every risk is linear in the prior."""
    is_estimate = hasattr(prior, "__float__") and not isinstance(prior, Real | np.ndarray)
    return read_number("prior", float(prior) if is_estimate else prior, 0, 1)


def empirical_risk(risk: Risk, loss: str | Loss, scores: Sequence[ArrayLike]) -> float:
    """The risk with expectations replaced by sample means; `scores` are g on P, on N and on U.

    Samples with zero weights may be empty.

    >>> round(empirical_risk(pu(0.5), "zero_one", ([1.0, -1.0], [], [1.0, -1.0, -1.0, -1.0])), 3)
    0.25
    """
    loss = as_loss(loss)
    total = 0.0
    for name, weights, g in zip(("positive", "negative", "unlabeled"), risk.table, scores, strict=True):
        if not weights.any():
            continue
        g = np.asarray(g, dtype=float)
        if g.size == 0:
            raise ValueError(f"This risk needs {name} rows, and there are none: {risk}.")
        total += float(weights @ [part.mean() for part in loss.class_losses(g)])
    return total
