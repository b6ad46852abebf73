"""Support vector machines on a given kernel matrix: coefficients β and bias b of f = Kβ + b.

Both minimise Σ c_i ℓ(y_i f_i) + β'Kβ with the bias unpenalised.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg
from sklearn.svm import SVC

from pnulearn._arrays import AnyArray

MOST_STEPS = 100


def hinge_machine(gram: AnyArray, signs: AnyArray, weight: AnyArray) -> tuple[AnyArray, float]:
    """ℓ(m) = max(0, 1 − m). libsvm minimises f'K⁻¹f/2 + C Σ hinge, hence the half."""
    machine = SVC(kernel="precomputed", C=1.0, tol=1e-5).fit(gram / 2, signs, sample_weight=weight)
    beta = np.zeros(len(signs))
    beta[machine.support_] = machine.dual_coef_[0] / 2
    return beta, float(machine.intercept_[0])


def squared_hinge_machine(gram: AnyArray, signs: AnyArray, weight: AnyArray) -> tuple[AnyArray, float]:
    """ℓ(m) = max(0, 1 − m)². Newton's method: on rows inside the margin it is a least-squares problem.

    The steps end when the set of those rows repeats, and the minimum is then exact; a step that would raise the
    objective is halved.
    """
    beta, bias = np.zeros(len(signs)), 0.0
    fitted = np.zeros(len(signs))
    value = float(weight.sum())
    for _ in range(MOST_STEPS):
        inside = np.flatnonzero(signs * fitted < 1)
        target_beta, target_bias = _least_squares(gram, signs, weight, inside)
        step = 1.0
        while True:
            new_beta = beta + step * (target_beta - beta)
            new_bias = bias + step * (target_bias - bias)
            new_fitted = gram @ new_beta + new_bias
            new_value = _objective(new_fitted, new_beta, new_bias, signs, weight)
            if new_value <= value * (1 + 1e-12) or step < 1e-6:
                break
            step /= 2
        beta, bias, fitted, value = new_beta, new_bias, new_fitted, new_value
        if step == 1.0 and np.array_equal(np.flatnonzero(signs * fitted < 1), inside):
            break
    return beta, bias


def _least_squares(gram: AnyArray, signs: AnyArray, weight: AnyArray, inside: AnyArray) -> tuple[AnyArray, float]:
    """[[0, 1'], [1, K_SS + diag(1/c)]] [b; β_S] = [0; y_S], and β = 0 elsewhere."""
    regularised = gram[np.ix_(inside, inside)] + np.diag(1 / weight[inside])
    right = np.column_stack([signs[inside], np.ones(len(inside))])
    toward_signs, toward_ones = linalg.solve(regularised, right, assume_a="pos").T
    bias = float(toward_signs.sum() / toward_ones.sum())
    beta = np.zeros(len(signs))
    beta[inside] = toward_signs - bias * toward_ones
    return beta, bias


def _objective(fitted: AnyArray, beta: AnyArray, bias: float, signs: AnyArray, weight: AnyArray) -> float:
    return float(weight @ np.maximum(0, 1 - signs * fitted) ** 2 + beta @ (fitted - bias))
