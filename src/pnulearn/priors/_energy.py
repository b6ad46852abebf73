"""The class prior at which the mixture of the labelled classes is nearest to U in energy distance."""

from __future__ import annotations

from dataclasses import field
from typing import Any

from pnulearn._arrays import AnyArray
from pnulearn._kernels.gaussian import distances
from pnulearn._parameters import parameters
from pnulearn.priors._estimate import PriorEstimate
from pnulearn.priors._estimator import PriorEstimator, generator
from pnulearn.priors._groups import read_groups, standardize
from pnulearn.priors._mixture import match_mixture


def energy_prior(
    X: Any,
    codes: AnyArray,
    weight: AnyArray | None = None,
    *,
    n_classes: int = 2,
    bias_correction: bool = True,
    confidence: float = 0.9,
    n_bootstrap: int = 500,
    random_state: Any = 0,
) -> PriorEstimate:
    """The prior from mean distances between the classes and U (codes −1 for U, else the class; 1 is positive).

        θ = (A_PN − A_NN + A_NU − A_PU) / (2 A_PN − A_PP − A_NN),    A_cd = mean Euclidean distance of c to d.

    `bias_correction` leaves the distance of a row to itself out of A_PP and A_NN. Without it, as published, the
    estimate is biased towards 1/2, strongly so in high dimension. For more than two classes the result is the nearest
    point of the simplex. Columns are standardised first. At most 5000 distinct unlabelled rows and 2000 of each class
    are used, drawn at random independently of the row order.

    Parameters
    ----------
    X : array, sparse matrix or data frame (rows, columns)
        Features.
    codes : array (rows,)
        −1 for U, else the class; 1 is positive.
    weight : array (rows,), optional
        Weights of the rows.
    n_classes : int
        Number of classes.
    bias_correction : bool
        Leave the pairs of a row with itself out.
    confidence : float
        Confidence level of the interval.
    n_bootstrap : int
        Resamples for the interval; 0 skips it.
    random_state : int, RandomState or None
        Seed; an int makes the result repeatable.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [0.2], [1.0], [1.2], [0.1], [0.15], [0.05], [1.1]])
    >>> print(energy_prior(X, np.array([0, 0, 1, 1, -1, -1, -1, -1]), n_bootstrap=0))
    0.219 (energy, no interval)
    """
    groups = standardize(read_groups(X, codes, weight, n_classes))
    return match_mixture(
        groups,
        distances,
        method="energy",
        bias_correction=bias_correction,
        confidence=confidence,
        n_bootstrap=n_bootstrap,
        rng=generator(random_state),
    )


@parameters
class EnergyPrior(PriorEstimator):
    """Class prior(s) at which the mixture of the labelled classes is nearest to U in energy distance.

    `bias_correction=False` is the published V-statistic; see `energy_prior` for the formula and the bias.

    Parameters
    ----------
    bias_correction : bool
        Leave the pairs of a row with itself out.

    Examples
    --------
    >>> X = [[0.0], [0.2], [1.0], [1.2], [0.1], [0.15], [0.05], [1.1]]
    >>> EnergyPrior(n_bootstrap=0).fit(X, ["no", "no", "yes", "yes", None, None, None, None]).prior_
    0.219
    """

    method = "energy"

    bias_correction: bool = field(default=True, kw_only=False)
    n_bootstrap: int = 500

    def estimate(self, X: Any, codes: AnyArray, weight: AnyArray | None = None, n_classes: int = 2) -> PriorEstimate:
        return energy_prior(
            X,
            codes,
            weight,
            n_classes=n_classes,
            bias_correction=self.bias_correction,
            confidence=self.confidence,
            n_bootstrap=self.n_bootstrap,
            random_state=self.random_state,
        )
