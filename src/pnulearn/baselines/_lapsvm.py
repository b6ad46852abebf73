"""Laplacian SVM (Belkin, Niyogi and Sindhwani, 2006): an SVM with a smoothness penalty on a neighbour graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar, Literal

import numpy as np
from scipy import linalg, sparse
from scipy.sparse import csgraph
from sklearn.svm import SVC

from pnulearn._arrays import AnyArray
from pnulearn._kernels.gaussian import distances
from pnulearn._parameters import parameters
from pnulearn.baselines._base import Baseline, BaselineTraining, Candidate, Parts, candidates, stack_outputs

# Neighbourhood graphs and their Laplacians.

ROWS_AT_ONCE = 1000
TIED = 1e-8  # relative difference below which distances count as equal

GraphWeights = Literal["heat", "binary"]


def neighbor_graph(X: Any, n_neighbors: int = 6, weights: GraphWeights = "heat") -> sparse.csr_matrix:
    """Symmetric k-nearest-neighbour weights W = max(A, A').

    Two rows are joined if either is among the k nearest of the other. The weight is 1 ("binary") or
    exp(−d² / (2t²)) with t the mean distance to a neighbour ("heat"). If several rows are tied for the last of the k
    places, up to rounding, their weights are averaged over all choices among them.

    >>> neighbor_graph(np.array([[0.0], [1.0], [3.0]]), 1, "binary").toarray()
    array([[0., 1., 0.],
           [1., 0., 1.],
           [0., 1., 0.]])
    """
    if weights not in ("heat", "binary"):
        raise ValueError(f"graph weights must be 'heat' or 'binary', got {weights!r}.")
    if not isinstance(n_neighbors, Integral) or n_neighbors < 1:
        raise ValueError(f"n_neighbors must be a whole number of at least 1, got {n_neighbors!r}.")
    n = X.shape[0]
    n_neighbors = min(n_neighbors, n - 1)
    if n_neighbors == 0:  # a single row
        return sparse.csr_matrix((1, 1))
    parts = [_neighbors(X, np.arange(i, min(i + ROWS_AT_ONCE, n)), n_neighbors) for i in range(0, n, ROWS_AT_ONCE)]
    rows, columns, share, apart = (np.concatenate(part) for part in zip(*parts, strict=True))
    heat = 1.0 if weights == "binary" else _heat(apart, np.average(apart, weights=share))
    graph = sparse.csr_matrix((share * heat, (rows, columns)), shape=(n, n))
    return sparse.csr_matrix(graph.maximum(graph.T))


def _neighbors(X: Any, rows: AnyArray, n_neighbors: int) -> tuple[AnyArray, AnyArray, AnyArray, AnyArray]:
    """Rows, their neighbours, the weights of the neighbours (below 1 for ties) and the distances."""
    apart = distances(X[rows], X)
    apart[np.arange(len(rows)), rows] = np.inf
    farthest = np.partition(apart, n_neighbors - 1, axis=1)[:, [n_neighbors - 1]]
    nearer = apart < (1 - TIED) * farthest
    tied = (apart <= (1 + TIED) * farthest) & ~nearer
    left = n_neighbors - nearer.sum(axis=1, keepdims=True)
    share = np.where(tied, left / tied.sum(axis=1, keepdims=True), nearer)
    row, column = np.nonzero(share)
    return rows[row], column, share[row, column], apart[row, column]


def _heat(apart: AnyArray, scale: float) -> AnyArray:
    return np.exp(-(apart**2) / (2 * scale**2)) if scale > 0 else np.ones_like(apart)


def laplacian(graph: Any, normalized: bool = False) -> sparse.csr_matrix:
    """D − W, or D^(−1/2) (D − W) D^(−1/2): symmetric, positive semi-definite.

    >>> laplacian(neighbor_graph(np.array([[0.0], [1.0], [3.0]]), 1, "binary")).toarray()
    array([[ 1., -1.,  0.],
           [-1.,  2., -1.],
           [ 0., -1.,  1.]])
    """
    return sparse.csr_matrix(csgraph.laplacian(graph, normed=normalized))


# The deformed kernel K̃ on the labelled rows, which includes the manifold penalty on all rows.

SMALLEST_PIVOT = 1e-12  # relative to the largest; the kernel is not more accurate than that

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
    # LAPACK can overwrite the transpose, which avoids another n × n copy.
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
        """The same result as `deformed_once`, from a few thin matrix products."""
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


# Support vector machines on a given kernel matrix: coefficients β and bias b of f = Kβ + b.

MOST_STEPS = 100


def hinge_machine(gram: AnyArray, signs: AnyArray, weight: AnyArray) -> tuple[AnyArray, float]:
    """SVM with loss ℓ(m) = max(0, 1 − m). libsvm minimises f'K⁻¹f/2 + C Σ hinge, hence the factor 1/2."""
    machine = SVC(kernel="precomputed", C=1.0, tol=1e-5).fit(gram / 2, signs, sample_weight=weight)
    beta = np.zeros(len(signs))
    beta[machine.support_] = machine.dual_coef_[0] / 2
    return beta, float(machine.intercept_[0])


def squared_hinge_machine(gram: AnyArray, signs: AnyArray, weight: AnyArray) -> tuple[AnyArray, float]:
    """SVM with loss ℓ(m) = max(0, 1 − m)², by Newton's method: a least-squares problem on the rows inside the margin.

    It converges to the exact minimum when the set of these rows no longer changes. A step that would increase the
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


MANY = 0.1  # share of non-zero entries above which a dense Laplacian is faster (many equal rows)

MACHINES: dict[str, Callable[..., Any]] = {"squared_hinge": squared_hinge_machine, "hinge": hinge_machine}


@parameters
class LaplacianSVM(Baseline):
    """Support vector machine with a penalty on differences of scores between neighbouring rows.

    With f(x) = k(x)'a, the bias b outside both penalties and L the Laplacian of the neighbour graph, minimises

        Σ_labelled c_i ℓ(y_i (f(x_i) + b)) + alpha ‖f‖² + (manifold / n²) f'Lf.

    The class weights c_i = θ_y / n_y correct for class shares of the labels that differ from the population; with
    prior="labeled" they are 1/l, which is the original method (Belkin et al. 2006; Melacci and Belkin 2011). One
    Cholesky factorisation and one eigendecomposition per bandwidth are enough for all (alpha, manifold). More than two
    classes: one against the rest.

    Parameters
    ----------
    loss
        "squared_hinge" (exact Newton steps) or "hinge".
    alpha, manifold
        weights of the two penalties; None searches 10⁻⁵ … 10² for each.
    kernel : str
        "rbf", "linear", "laplace" or "polynomial".
    n_neighbors, graph, normalized
        k of the graph, its weights ("heat" or "binary"), and whether the Laplacian is normalised.
    threshold
        "margin" keeps the bias of the SVM; "prior" changes it so that the share of predicted positives among the
        unlabelled rows equals the prior.

    Examples
    --------
    >>> X = np.array([[0.0], [0.2], [1.0], [1.2], [0.1], [1.1]])
    >>> y = np.array([0, 0, 1, 1, np.nan, np.nan])
    >>> model = LaplacianSVM(alpha=0.01, manifold=1.0, bandwidth=0.5, prior=0.5, n_neighbors=2)
    >>> model.fit(X, y).predict(X).tolist()
    [0.0, 0.0, 1.0, 1.0, 0.0, 1.0]
    """

    _without_unlabeled: ClassVar = "an SVM with a graph of the labelled rows only"

    loss: str = "squared_hinge"
    alpha: Any = None
    manifold: Any = None
    kernel: str = "rbf"
    n_neighbors: int = 6
    graph: GraphWeights = "heat"
    normalized: bool = False
    threshold: str = "margin"

    def _grid(self) -> dict[str, Sequence[float]]:
        if not isinstance(self.loss, str) or self.loss not in MACHINES:
            raise ValueError(f"loss must be one of {', '.join(map(repr, MACHINES))}, got {self.loss!r}.")
        if self.threshold not in ("margin", "prior"):
            raise ValueError(f"threshold must be 'margin' or 'prior', got {self.threshold!r}.")
        return {
            "alpha": candidates("alpha", self.alpha),
            "manifold": candidates("manifold", self.manifold, zero=True),
        }

    def _learn(self, training: BaselineTraining, grid: Sequence[Candidate]) -> Iterator[Parts]:
        smoothness = laplacian(neighbor_graph(training.X, self.n_neighbors, self.graph), self.normalized)
        smoothness /= len(training.codes) ** 2
        if smoothness.nnz > MANY * len(training.codes) ** 2:
            smoothness = smoothness.toarray()
        free = training.gram[training.unlabeled] if self.threshold == "prior" else None
        if len(grid) == 1:
            kernels = iter([deformed_once(training.gram, smoothness, training.labeled, **_penalties(grid[0]))])
        else:
            path = DeformedPath.factorize(training.gram, smoothness, training.labeled)
            kernels = (path.at(**_penalties(candidate)) for candidate in grid)
        for deformed, expand in kernels:
            yield stack_outputs(
                [self._machine(training, deformed, expand, free, *output) for output in training.outputs]
            )

    def _machine(
        self,
        training: BaselineTraining,
        deformed: AnyArray,
        expand: Expand,
        free: AnyArray | None,
        signs: AnyArray,
        share: float,
    ) -> Parts:
        beta, bias = MACHINES[self.loss](deformed, signs, training.balance)
        coef = expand(beta)
        if free is not None and len(free):
            bias = -_upper_quantile(free @ coef, share)
        return {"dual_coef": coef, "intercept": bias}


def _penalties(candidate: Candidate) -> dict[str, float]:
    return {"alpha": candidate["alpha"], "manifold": candidate["manifold"]}


def _upper_quantile(scores: AnyArray, share: float) -> float:
    """The threshold that is exceeded by that share of the scores, midway between two scores.

    >>> _upper_quantile(np.array([1.0, 2.0, 3.0, 4.0]), 0.25)
    3.5
    """
    ordered = np.sort(scores)[::-1]
    n_above = int(np.clip(round(share * len(ordered)), 0, len(ordered)))
    padded = np.concatenate([[ordered[0] + 2], ordered, [ordered[-1] - 2]])
    return float((padded[n_above] + padded[n_above + 1]) / 2)
