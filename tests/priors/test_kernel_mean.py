"""Kernel mean matching against its formula in inner products of means."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pnulearn.priors import KernelMeanPrior


@pytest.mark.parametrize("bias_correction", [True, False])
def test_closed_form_equals_the_ratio_of_inner_products(bias_correction):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    codes = np.array([1] * 12 + [0] * 15 + [-1] * 33)
    X[codes == 1] += 1.5
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    K = np.exp(-((Z[:, None] - Z[None]) ** 2).sum(axis=2) / (2 * 0.7**2))
    P, N, U = (codes == c for c in (1, 0, -1))

    def mean(A, B):
        block = K[np.ix_(A, B)]
        if bias_correction and A is B:
            n = len(block)
            return (block.sum() - np.trace(block)) / (n * (n - 1))
        return block.mean()

    top = mean(P, U) - mean(P, N) - mean(N, U) + mean(N, N)
    expected = top / (mean(P, P) + mean(N, N) - 2 * mean(P, N))
    found = KernelMeanPrior(0.7, bias_correction=bias_correction, n_bootstrap=0).estimate(X, codes)
    assert_allclose(found.raw, expected, rtol=1e-7)


def test_wide_kernels_match_plain_means():
    """For σ → ∞ the kernel mean is the mean: θ = ⟨m_U − m_N, m_P − m_N⟩ / |m_P − m_N|² (V-statistic)."""
    rng = np.random.default_rng(1)
    X, codes = rng.normal(size=(50, 3)), np.array([1] * 10 + [0] * 10 + [-1] * 30)
    X[codes == 1] += 1
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    p, n, u = (Z[codes == c].mean(axis=0) for c in (1, 0, -1))
    found = KernelMeanPrior(1e3, bias_correction=False, n_bootstrap=0).estimate(X, codes)
    assert_allclose(found.raw, (u - n) @ (p - n) / ((p - n) @ (p - n)), rtol=1e-3)
