"""The class prior at which the mean of U in feature space is nearest to the mixture of the class means."""

from __future__ import annotations

from dataclasses import field
from functools import partial
from typing import Any, ClassVar

import numpy as np
from sklearn.metrics import euclidean_distances

from pnulearn._arrays import AnyArray
from pnulearn._parameters import parameters
from pnulearn._problem.inputs import LARGEST, SMALLEST
from pnulearn.priors._estimate import PriorEstimate
from pnulearn.priors._estimator import PriorEstimator, generator
from pnulearn.priors._groups import read_groups, standardize, typical_distance
from pnulearn.priors._mixture import match_mixture


@parameters
class KernelMeanPrior(PriorEstimator):
    """Kernel mean matching (maximum mean discrepancy) with a Gaussian kernel, in closed form:

        θ = ⟨μ_U − μ_N, μ_P − μ_N⟩ / ‖μ_P − μ_N‖²

    with inner products averaged over pairs of different rows (`bias_correction`). It is the formula of the energy
    distance with 1 − k(x, x') in place of ‖x − x'‖. `bandwidth` is σ of exp(−‖x − x'‖² / (2σ²)) on standardised
    columns, by default half the median distance.

    Parameters
    ----------
    bandwidth : float, optional
        σ on standardised columns; half the median distance by default.
    bias_correction : bool
        Leave the pairs of a row with itself out.
    """

    method = "kernel_mean"
    limits: ClassVar = {"bandwidth": (SMALLEST, LARGEST, True)}

    bandwidth: float | None = field(default=None, kw_only=False)
    bias_correction: bool = True
    n_bootstrap: int = 500

    def estimate(self, X: Any, codes: AnyArray, weight: AnyArray | None = None, n_classes: int = 2) -> PriorEstimate:
        groups = standardize(read_groups(X, codes, weight, n_classes))
        bandwidth = typical_distance(groups.unlabeled.X) / 2 if self.bandwidth is None else self.bandwidth
        return match_mixture(
            groups,
            partial(one_minus_gaussian, bandwidth=bandwidth),
            method=self.method,
            bias_correction=self.bias_correction,
            confidence=self.confidence,
            n_bootstrap=self.n_bootstrap,
            rng=generator(self.random_state),
        )


def one_minus_gaussian(A: Any, B: Any, bandwidth: float) -> AnyArray:
    """1 − exp(−‖a − b‖² / (2σ²)): half the squared distance of two rows in feature space."""
    return -np.expm1(-euclidean_distances(A, B, squared=True) / (2 * bandwidth**2))
