"""The registry of kernels by name."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from pnulearn._arrays import AnyArray
from pnulearn._kernels.basis import Kernel, stays_sparse
from pnulearn._kernels.centers import AUTO, BOTH, GIVEN, ViewsBasis
from pnulearn._kernels.gaussian import GaussianBasis
from pnulearn._kernels.laplace import LaplaceBasis
from pnulearn._kernels.linear import LinearBasis
from pnulearn._kernels.polynomial import PolynomialBasis
from pnulearn._kernels.ranks import NormalRanks

KERNELS: dict[str, type[Kernel]] = {
    "rbf": GaussianBasis,
    "linear": LinearBasis,
    "laplace": LaplaceBasis,
    "polynomial": PolynomialBasis,
}


def choose_basis(
    kernel: str,
    X: Any,
    is_labeled: AnyArray,
    keys: AnyArray,
    centers: str | int | ArrayLike = "auto",
    bandwidth: ArrayLike | None = None,
) -> Kernel:
    """The basis functions of a kernel for these rows.

    >>> import numpy as np
    >>> rows = np.array([[0.0], [2.0]])
    >>> choose_basis("rbf", rows, np.array([True, True]), np.array([0, 1])).bandwidths.tolist()
    [0.25, 0.5, 1.0, 2.0, 3.0, 4.0]
    """
    return KERNELS[kernel].choose(X, is_labeled, keys, centers, bandwidth)


def choose_views(
    kernel: str,
    X: Any,
    weight: AnyArray,
    is_labeled: AnyArray,
    keys: AnyArray,
    *,
    centers: str | int | ArrayLike,
    bandwidth: ArrayLike | None,
    columns: str,
) -> Kernel | ViewsBasis:
    """The basis functions for `columns` "given", as "ranks" learnt from all rows, or "both"; "auto" decides.

    A given bandwidth has the unit of the columns as given, and ranks make sparse rows dense.
    """
    if columns == AUTO:
        is_free = KERNELS[kernel].has_bandwidth and bandwidth is None
        columns = BOTH if is_free and not stays_sparse(X) else GIVEN
    chosen = KERNELS[kernel].choose(X, is_labeled, keys, centers, bandwidth)
    if columns == GIVEN:
        return chosen
    return ViewsBasis.choose(chosen, columns, NormalRanks.learn(X, weight), bandwidth)
