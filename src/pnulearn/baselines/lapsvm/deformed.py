"""The kernel that a graph bends: what is left of a manifold penalty once the unlabelled rows are solved away.

Minimising over f = Ka with penalty α a'Ka + γ f'Lf and a loss on the labelled rows only is a supervised problem of
size l with the kernel K̃ = (α K⁻¹ + γ L)⁻¹: f = K̃_L β, where β lives on the labelled rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from pnulearn._arrays import AnyArray

SMALLEST_PIVOT = 1e-12  # relative to the largest; the kernel has no more digits than that

Expand = Callable[[AnyArray], AnyArray]


def deformed_once(
    gram: AnyArray, smoothness: Any, labeled: AnyArray, alpha: float, manifold: float
) -> tuple[AnyArray, Expand]:
    """K̃ on the labelled rows, and the map from β to the coefficients a of f(x) = k(x)'a.

    One LU factorisation of αI + γLK; a = (αI + γLK)⁻¹ β on the labelled rows.
    """
    n = len(gram)
    system = smoothness @ gram
    system *= manifold
    system[np.diag_indices(n)] += alpha
    selection = np.zeros((n, len(labeled)))
    selection[labeled, np.arange(len(labeled))] = 1
    # The transpose is what LAPACK can overwrite; solving with it avoids another n × n copy.
    lu = linalg.lu_factor(system.T, overwrite_a=True, check_finite=False)
    columns = linalg.lu_solve(lu, selection, trans=1, overwrite_b=True, check_finite=False)
    deformed = gram[labeled] @ columns
    return (deformed + deformed.T) / 2, columns.__matmul__


@dataclass(frozen=True)
class DeformedPath:
    """K = RR' (pivoted Cholesky) and R'LR = E diag(d) E': then K̃ = RE diag(1 / (α + γd)) (RE)' for every α and γ.

    `labeled_map` is the labelled rows of RE, `to_coef` maps E'R⁻¹f to coefficients on the pivot rows.
    """

    labeled_map: AnyArray
    roughness: AnyArray
    to_coef: AnyArray
    pivots: AnyArray
    n: int

    @classmethod
    def factorize(cls, gram: AnyArray, smoothness: Any, labeled: AnyArray) -> DeformedPath:
        """One pivoted Cholesky factorisation and one eigendecomposition of the size of the kernel's rank.

        `gram` is overwritten, so that no more than three n × n matrices exist at once.
        """
        factor, pivots, top = pivoted_cholesky(gram)
        rough = _congruence(factor, smoothness)
        on_labeled = factor[labeled]
        del factor
        roughness, rotation = linalg.eigh(rough.T, overwrite_a=True, check_finite=False, driver="evd")
        del rough
        to_coef = linalg.solve_triangular(top, rotation, trans=1, lower=True, check_finite=False)
        return cls(on_labeled @ rotation, np.maximum(roughness, 0), to_coef, pivots, len(gram))

    def at(self, alpha: float, manifold: float) -> tuple[AnyArray, Expand]:
        """The same as `deformed_once`, for the price of a few thin products."""
        weight = 1 / (alpha + manifold * self.roughness)

        def expand(beta: AnyArray) -> AnyArray:
            coef = np.zeros(self.n)
            coef[self.pivots] = self.to_coef @ (weight * (self.labeled_map.T @ beta))
            return coef

        return (self.labeled_map * weight) @ self.labeled_map.T, expand


def pivoted_cholesky(gram: AnyArray) -> tuple[AnyArray, AnyArray, AnyArray]:
    """R of shape (n, rank) with RR' = K, the rows on which R is triangular, and that triangle; overwrites K.

    >>> factor, pivots, top = pivoted_cholesky(np.array([[1.0, 1.0], [1.0, 1.0]]))
    >>> factor.tolist()
    [[1.0], [1.0]]
    """
    n = len(gram)
    tolerance = SMALLEST_PIVOT * float(np.diag(gram).max())
    packed, order, rank, _ = linalg.lapack.dpstrf(gram.T, tol=tolerance, lower=1, overwrite_a=1)
    for column in range(1, rank):
        packed[:column, column] = 0
    factor = np.empty((n, rank))
    factor[order - 1] = packed[:, :rank]
    return factor, order[:rank] - 1, packed[:rank, :rank]


def _congruence(factor: AnyArray, smoothness: Any, block: int = 512) -> AnyArray:
    """R'LR, a block of columns at a time."""
    rank = factor.shape[1]
    product = np.empty((rank, rank))
    for start in range(0, rank, block):
        columns = slice(start, start + block)
        product[columns] = (smoothness @ factor[:, columns]).T @ factor
    return product
