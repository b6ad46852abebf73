"""Theory of the paper: error bounds, variances of risks, and the mixes that minimise the variance.

Theorems 1 and 2 are `error_bound`. Theorems 3 and 4 are `Psi`, extended to a finite number of unlabelled rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from math import inf, log, sqrt
from operator import itemgetter
from typing import Any, Literal

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._numbers import read_number
from pnulearn.losses import LOSSES
from pnulearn.risks import Risk, pnu_table

# number of deviations that are bounded simultaneously
BOUNDED_LOSSES = {"ramp": 3, "truncated_squared": 4}


def error_bound(
    empirical: float,
    risk: Risk,
    sizes: Sequence[float],
    *,
    loss: Literal["ramp", "truncated_squared"] = "ramp",
    radius: float,
    delta: float = 0.05,
) -> float:
    """Upper bound on the error rate that holds uniformly for all models of that radius with probability 1 − δ.

    Theorem 1 (ramp):  2 R̂ + (2 C_w C_φ + √(2 ln(3/δ))) χ;  Theorem 2 (truncated squared):  4 R̂ + (4 C_w C_φ +
    √(2 ln(4/δ))) χ;  χ = Σ c_s / √n_s, where c_s follows from the weights of the risk (see `confidence_term`).

    >>> from pnulearn.risks import pnu
    >>> round(error_bound(0.05, pnu(0.3, 0.5), (1000, 1000, 10_000), radius=2), 3)
    0.308

    Parameters
    ----------
    empirical : the empirical value of this risk with this loss, or with the squared instead of the truncated loss.
    risk : the risk, e.g. `risks.pnu(0.3, 0.5)`.
    sizes : n_P, n_N, n_U.
    loss : "ramp" or "truncated_squared".
    radius : C_w C_φ, a bound on |w| times one on |φ(x)|; √b bounds |φ(x)| for b Gaussian basis functions.
    delta : probability that the bound does not hold.
    """
    read_number("delta", delta, 0, 1, ends=False)
    read_number("empirical", empirical)
    read_number("radius", radius, 0)
    if not isinstance(loss, str) or loss not in BOUNDED_LOSSES:
        raise ValueError(f"loss must be one of {', '.join(map(repr, BOUNDED_LOSSES))}, got {loss!r}.")
    factor, lipschitz = LOSSES[loss].zero_one_factor, LOSSES[loss].lipschitz
    assert factor is not None
    assert lipschitz is not None
    constant = 2 * factor * lipschitz * radius + sqrt(2 * log(BOUNDED_LOSSES[loss] / delta))
    return factor * empirical + constant * confidence_term(risk, sizes, loss)


def confidence_term(risk: Risk, sizes: Sequence[float], loss: str = "ramp") -> float:
    """χ = Σ c_s / √n_s, the rate at which the bound decreases with the sample sizes.

    For the ramp loss ℓ(−m) = 1 − ℓ(m), so the weights of a sample combine to c = |w − w′|. For the truncated squared
    loss, weights of opposite sign enter through the composite loss ℓ(m) − ℓ(−m), which has the same Lipschitz constant
    as ℓ, and weights of the same sign add up: c = max(|w|, |w′|, |w + w′|).
    """
    sizes = _checked_sizes(sizes)
    first, second = risk.table.T
    ways = [first - second] if loss == "ramp" else [first, second, first + second]
    weights = np.abs(ways).max(axis=0)
    return float(sum(c / sqrt(n) if n else inf for c, n in zip(weights, sizes, strict=True) if c))


def pu_against_pn(prior: float, n_positive: float, n_negative: float, n_unlabeled: float) -> float:
    """α_PU,PN = (θ/√n_P + 1/√n_U) / ((1 − θ)/√n_N) of Niu et al. (2016); above 1, PN has the smaller bound.

    >>> round(pu_against_pn(0.3, 10, 10, 1000), 2)
    0.57
    """
    read_number("prior", prior, 0, 1, ends=False)
    _refuse_no_rows(n_positive=n_positive, n_negative=n_negative, n_unlabeled=n_unlabeled)
    return (prior / sqrt(n_positive) + 1 / sqrt(n_unlabeled)) / ((1 - prior) / sqrt(n_negative))


def nu_against_pn(prior: float, n_positive: float, n_negative: float, n_unlabeled: float) -> float:
    """α_NU,PN = ((1 − θ)/√n_N + 1/√n_U) / (θ/√n_P); above 1, PN has the smaller bound."""
    read_number("prior", prior, 0, 1, ends=False)
    _refuse_no_rows(n_positive=n_positive, n_negative=n_negative, n_unlabeled=n_unlabeled)
    return pu_against_pn(1 - prior, n_negative, n_positive, n_unlabeled)


def least_variance_mix(positive: Any, negative: Any, unlabeled: Any = 0.0) -> Any:
    """η* = (ψ_N − ψ_P) / (ψ_P + ψ_N + ψ_U), the PNU mix of least variance, for numbers or for arrays."""
    return (negative - positive) / (negative + positive + unlabeled)


def forced_mix(n_positive: float, n_negative: float, n_unlabeled: float) -> float | None:
    """The only possible mix if a sample is missing: PN without U, PU without N, NU without P; None if none is missing.

    >>> forced_mix(5, 5, 0), forced_mix(5, 0, 9), forced_mix(0, 5, 9), forced_mix(5, 5, 9)
    (0.0, 1.0, -1.0, None)
    """
    if not n_unlabeled:
        return 0.0
    if n_positive and n_negative:
        return None
    return 1.0 if n_positive else -1.0


@dataclass(frozen=True)
class Psi:
    """Variances of the three terms of a risk with a symmetric loss, ℓ(m) + ℓ(−m) = 1 (zero-one, ramp, sigmoid).

    ψ_P = θ² Var_P[ℓ(g)] / n_P,  ψ_N = (1 − θ)² Var_N[ℓ(−g)] / n_N,  ψ_U = Var_U[ℓ(−g)] / n_U; ψ_U = 0 for infinite U.
    PUNU at γ equals PNU at η = 1 − 2 γ, so the formulas apply to both.

    >>> psi = Psi.of_rates(0.2, 0.25, prior=0.3, sizes=(10, 10, 100))
    >>> round(psi.best_mix, 3), round(psi.ratio(psi.best_mix), 3)
    (0.593, 0.567)
    """

    positive: float
    negative: float
    unlabeled: float = 0.0

    @classmethod
    def of_rates(
        cls, false_negative_rate: float, false_positive_rate: float, *, prior: float, sizes: Sequence[float]
    ) -> Psi:
        """ψ of the zero-one loss, from the two error rates of a classifier; infinite for a missing sample."""
        said_positive = prior * (1 - false_negative_rate) + (1 - prior) * false_positive_rate
        rates = np.array([false_negative_rate, false_positive_rate, said_positive])
        spread = np.array([prior**2, (1 - prior) ** 2, 1.0]) * rates * (1 - rates)
        return cls(*(float(v / n) if n else inf for v, n in zip(spread, sizes, strict=True)))

    @property
    def labeled(self) -> float:
        """Variance of the PN risk, ψ_P + ψ_N."""
        return self.positive + self.negative

    @property
    def best_mix(self) -> float:
        """η* = (ψ_N − ψ_P) / (ψ_P + ψ_N + ψ_U), the PNU mix of least variance; 0 if all variances are 0."""
        forced = forced_mix(self.positive < inf, self.negative < inf, self.unlabeled < inf)
        if forced is not None:
            return forced
        return least_variance_mix(self.positive, self.negative, self.unlabeled) if any(astuple(self)) else 0.0

    @property
    def best_punu_mix(self) -> float:
        """γ* = (1 − η*) / 2; with infinite U it is ψ_P / (ψ_P + ψ_N), Theorem 3."""
        return (1 - self.best_mix) / 2

    def variance(self, mix: float) -> float:
        """Var[PNU at η] = (1 + η)² ψ_P + (1 − η)² ψ_N + η² ψ_U."""
        weights = ((1 + mix) ** 2, (1 - mix) ** 2, mix**2)
        parts = (self.positive, self.negative, self.unlabeled)
        return sum(w * psi for w, psi in zip(weights, parts, strict=True) if w)

    def ratio(self, mix: float) -> float:
        """Variance of the PNU risk divided by that of the PN risk."""
        return self.variance(mix) / self.labeled


def helpful_mixes(psi: Psi) -> tuple[float, float]:
    """The open interval of mixes whose variance is below that of PN: between 0 and 2 η* (Theorems 3 and 4).

    >>> low, high = helpful_mixes(Psi(1.0, 2.0))
    >>> low, round(high, 3)
    (0.0, 0.667)
    """
    low, high = sorted((0.0, 2 * psi.best_mix))
    return max(low, -1.0), min(high, 1.0)


def unlabeled_to_help(psi: Psi, n_unlabeled: float, mix: float) -> float:
    """Number of unlabelled rows above which PNU at that fixed mix has less variance than PN; may be infinite.

    `psi.unlabeled` is the value for `n_unlabeled` rows. At the paper's mix, (ψ_N − ψ_P)/(ψ_N + ψ_P), the result is
    Var_U / (ψ_P + ψ_N). The finite-sample mix reduces the variance for any number of rows.

    >>> psi = Psi.of_rates(0.2, 0.25, prior=0.3, sizes=(10, 10, 1))
    >>> round(unlabeled_to_help(psi, 1, Psi(psi.positive, psi.negative).best_mix), 1)
    22.8
    """
    gain = 2 * mix * (psi.negative - psi.positive) - mix**2 * psi.labeled
    return mix**2 * psi.unlabeled * n_unlabeled / gain if gain > 0 else inf


def unlabeled_enough(psi: Psi, n_unlabeled: float, share: float = 0.9) -> float:
    """Number of unlabelled rows that give this share of the variance reduction with infinite U.

    With the finite-sample mix, the reduction is (ψ_N − ψ_P)² / (ψ_P + ψ_N + ψ_U).
    """
    return share / (1 - share) * psi.unlabeled * n_unlabeled / psi.labeled


def heuristic_mix(prior: float, n_positive: float, n_negative: float) -> float:
    """The mix of least variance if losses have the same variance on P and N, and U is infinite; it needs no scores.

    η = (ψ_N − ψ_P) / (ψ_N + ψ_P) with ψ_P = θ² / n_P and ψ_N = (1 − θ)² / n_N.

    >>> round(heuristic_mix(0.3, 10, 10), 4)
    0.6897
    """
    read_number("prior", prior, 0, 1, ends=False)
    _refuse_no_rows(n_positive=n_positive, n_negative=n_negative)
    return Psi(prior**2 / n_positive, (1 - prior) ** 2 / n_negative).best_mix


def _refuse_no_rows(**sizes: Any) -> None:
    """Raise a ValueError unless sizes are positive. They need not be integers; only U may be infinite."""
    for name, size in sizes.items():
        if name != "n_unlabeled" or size != inf:
            read_number(name, size, 0, ends=False)


def _checked_sizes(sizes: Any) -> tuple[float, ...]:
    """Validated n_P, n_N and n_U, some of which may be 0."""
    if not isinstance(sizes, Sequence | np.ndarray) or len(sizes) != 3:
        raise ValueError(f"sizes must be three numbers of rows (of P, N and U), got {sizes!r}.")
    return tuple(read_number(f"sizes[{place}]", size, 0) for place, size in enumerate(sizes))


def risk_variance(risk: Risk, covariance: AnyArray) -> float:
    """Variance of an empirical risk, for any loss: Σ over samples s of  w_s′ Σ_s w_s, with w_s the risk's weights.

    `covariance` has shape (3, 2, 2): the covariances of the mean losses of g and −g on P, N and U.
    """
    return _variance(risk.table, covariance)


def _variance(table: AnyArray, covariance: AnyArray) -> float:
    return float(np.einsum("ci,cij,cj->", table, covariance, table))


def prior_slope(mix: float, means: AnyArray) -> float:
    """Derivative of the PNU risk with respect to the prior, given the mean losses (3, 2) of g and −g.

    Every risk is linear in the prior. For the zero-one loss the derivative is (FNR − FPR) + η (FNR + FPR − 1).

    >>> fnr, fpr, called = 0.3, 0.1, 0.4
    >>> means = np.array([[fnr, 1 - fnr], [1 - fpr, fpr], [1 - called, called]])
    >>> round(prior_slope(0.5, means), 3)  # 0.2 - 0.3
    -0.1
    """
    return float(np.sum((pnu_table(0.75, mix) - pnu_table(0.25, mix)) * means)) / 0.5


def best_mix(prior: float, covariance: AnyArray, prior_sd: float = 0.0, means: AnyArray | None = None) -> float:
    """The mix in [−1, 1] whose PNU risk has the least variance, for any loss and any number of rows.

    An uncertain prior adds (prior_sd × slope)², which needs the mean losses (3, 2). The variance is a parabola in the
    mix on either side of 0; the result is the lower of the two clipped minima.
    """
    read_number("prior", prior, 0, 1)
    means = np.zeros((3, 2)) if means is None else means
    base, found = pnu_table(prior, 0.0), []
    for side in (1.0, -1.0):
        drifts = prior_sd * prior_slope(0.0, means), prior_sd * prior_slope(side, means)
        mix = side * _best_share(base, pnu_table(prior, side), covariance, drifts)
        drift = prior_sd * prior_slope(mix, means)
        found.append((_variance(pnu_table(prior, mix), covariance) + drift**2, mix))
    return min(found, key=itemgetter(0))[1]


def best_share(base: Risk, other: Risk, covariance: AnyArray, drifts: tuple[float, float] = (0.0, 0.0)) -> float:
    """γ in [0, 1] of least variance in (1 − γ) base + γ other: PNPU, PNNU or PUNU, for any loss.

    `drifts` are the signed standard deviations of one more error, which is perfectly correlated between both risks.
    """
    return _best_share(base.table, other.table, covariance, drifts)


def _best_share(base: AnyArray, other: AnyArray, covariance: AnyArray, drifts: tuple[float, float]) -> float:
    step, drift = other - base, drifts[1] - drifts[0]
    curvature = _variance(step, covariance) + drift**2
    slope = float(np.einsum("ci,cij,cj->", base, covariance, step)) + drifts[0] * drift
    return float(np.clip(-slope / curvature, 0, 1)) if curvature > 0 else 0.0
