"""What the theory says about a risk before any of it is minimised: variances and the mixes that make them small."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pnulearn.risks import Risk, nu, pn, pnu, pu


def heuristic_mix(prior: float, n_positive: float, n_negative: float) -> float:
    """The mix of least variance if P and N losses vary equally and U is unlimited; it needs no scores.

    η = (ψ_N − ψ_P) / (ψ_N + ψ_P) with ψ_P = θ² / n_P and ψ_N = (1 − θ)² / n_N.

    >>> round(heuristic_mix(0.3, 10, 10), 4)
    0.6897
    """
    psi_positive, psi_negative = prior**2 / n_positive, (1 - prior) ** 2 / n_negative
    return (psi_negative - psi_positive) / (psi_negative + psi_positive)


def risk_variance(risk: Risk, covariance: NDArray) -> float:
    """Variance of an empirical risk: Σ over samples c of  w_c' Σ_c w_c, with w_c the risk's weights.

    `covariance` has shape (3, 2, 2): on P, N and U, that of the mean losses of g and of −g.
    """
    return float(np.einsum("ci,cij,cj->", risk.table, covariance, risk.table))


def best_mix(prior: float, covariance: NDArray) -> float:
    """The mix in [−1, 1] whose PNU risk has the least variance, for any loss and any number of rows.

    On either side of 0 the variance is a parabola in the mix; the lower of the two clipped minima is taken.
    """
    sides = [_best_share(pn(prior), pu(prior), covariance), -_best_share(pn(prior), nu(prior), covariance)]
    return min(sides, key=lambda mix: risk_variance(pnu(prior, mix), covariance))


def _best_share(base: Risk, other: Risk, covariance: NDArray) -> float:
    """γ in [0, 1] of least variance in (1 − γ) base + γ other."""
    step = other + (-1.0) * base
    curvature = risk_variance(step, covariance)
    slope = float(np.einsum("ci,cij,cj->", base.table, covariance, step.table))
    return float(np.clip(-slope / curvature, 0, 1)) if curvature > 0 else 0.0
