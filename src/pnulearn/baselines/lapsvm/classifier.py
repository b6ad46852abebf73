"""Laplacian support vector machine (Belkin et al. 2006; Melacci and Belkin 2011)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._parameters import parameters
from pnulearn.baselines._rival.grid import Candidate, candidates
from pnulearn.baselines._rival.rival import Parts, Rival, stack_outputs
from pnulearn.baselines._rival.training import RivalTraining
from pnulearn.baselines.lapsvm.deformed import DeformedPath, Expand, deformed_once
from pnulearn.baselines.lapsvm.graph import GraphWeights, laplacian, neighbor_graph
from pnulearn.baselines.lapsvm.margin import hinge_machine, squared_hinge_machine

MANY = 0.1  # of all pairs: with more neighbours, as equal rows have, dense matrices are faster

MACHINES: dict[str, Callable[..., Any]] = {"squared_hinge": squared_hinge_machine, "hinge": hinge_machine}


@parameters
class LaplacianSVM(Rival):
    """A support vector machine whose scores vary little between neighbouring rows.

    With f(x) = k(x)'a, the bias b outside both penalties and L the Laplacian of the neighbour graph, minimises

        Σ_labelled c_i ℓ(y_i (f(x_i) + b)) + alpha ‖f‖² + (manifold / n²) f'Lf.

    The class weights c_i = θ_y / n_y correct for a labelled share that differs from the population's; with
    prior="labeled" they are 1/l, which is the original method. One Cholesky factorisation and one
    eigendecomposition per bandwidth serve every (alpha, manifold). More than two classes: each against the rest.

    Parameters
    ----------
    loss
        "squared_hinge" (exact Newton steps) or "hinge".
    alpha, manifold
        weights of the two penalties; None searches 10⁻⁵ … 10² for each.
    kernel : str
        "rbf", "linear", "laplace" or "polynomial".
    n_neighbors, graph, normalized
        the graph's k, "heat" or "binary" weights, and which Laplacian.
    threshold
        "margin" keeps the bias of the machine; "prior" moves it so that the share of positives among the unlabelled
        rows is the prior.

    Examples
    --------
    >>> X = np.array([[0.0], [0.2], [1.0], [1.2], [0.1], [1.1]])
    >>> y = np.array([0, 0, 1, 1, np.nan, np.nan])
    >>> model = LaplacianSVM(alpha=0.01, manifold=1.0, bandwidth=0.5, prior=0.5, n_neighbors=2)
    >>> model.fit(X, y).predict(X).tolist()
    [0.0, 0.0, 1.0, 1.0, 0.0, 1.0]
    """

    _without_unlabeled: ClassVar = "an SVM that is smooth over the labelled rows only"

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

    def _learn(self, training: RivalTraining, grid: Sequence[Candidate]) -> Iterator[Parts]:
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
        training: RivalTraining,
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
    """A threshold that leaves that share of the scores above it, midway between two scores.

    >>> _upper_quantile(np.array([1.0, 2.0, 3.0, 4.0]), 0.25)
    3.5
    """
    ordered = np.sort(scores)[::-1]
    n_above = int(np.clip(round(share * len(ordered)), 0, len(ordered)))
    padded = np.concatenate([[ordered[0] + 2], ordered, [ordered[-1] - 2]])
    return float((padded[n_above] + padded[n_above + 1]) / 2)
