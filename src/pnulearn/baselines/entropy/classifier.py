"""Entropy regularisation (Grandvalet and Bengio 2004): logistic regression that wants to be sure on U."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pnulearn._arrays import AnyArray
from pnulearn._basis.kernels import KERNELS
from pnulearn._learning.calibration import probabilities
from pnulearn._parameters import parameters
from pnulearn.baselines._rival.grid import Candidate, candidates
from pnulearn.baselines._rival.rival import Parts, Rival, stack_outputs
from pnulearn.baselines._rival.training import RivalTraining
from pnulearn.baselines.entropy.confidence import ConfidenceObjective
from pnulearn.baselines.entropy.descent import minimize_confidence
from pnulearn.baselines.entropy.rotation import Rotated, rotate

EXACT, ENOUGH_TO_COMPARE = 1e-8, 1e-5
# Entropy has a local minimum for every way of labelling U. Starting from the supervised solution and raising its
# weight step by step follows the minimum that the labels suggest.
LADDER = (0.01, 0.1, 1.0, 10.0, 100.0)


@parameters
class EntropyRegularizedClassifier(Rival):
    """Logistic regression, with a price on uncertain predictions for the unlabelled rows.

    With g(x) = φ(x)'w (+ w₀), p = 1 / (1 + e⁻ᵍ) and H(p) the entropy in nats, minimises

        Σ_labelled c_i log(1 + exp(−y_i g_i)) + (entropy / u) Σ_unlabelled H(p_j) + alpha w'w.

    The class weights c_i = θ_y / n_y correct for a labelled share that differs from the population's; with
    prior="labeled" they are 1/l, which is the original method. The problem is not convex; it is solved for rising
    weights of the entropy, each from the solution before. More than two classes: each against the rest.

    Parameters
    ----------
    alpha, entropy
        weights of the two penalties; None searches 10⁻⁵ … 10² for each.
    kernel
        "linear" (the columns and an unpenalised intercept), or "rbf", "laplace", "polynomial" (around every training
        row, no intercept).

    Examples
    --------
    >>> X = np.array([[0.0], [0.2], [1.0], [1.2], [0.1], [1.1]])
    >>> y = np.array([0, 0, 1, 1, np.nan, np.nan])
    >>> model = EntropyRegularizedClassifier(alpha=0.001, entropy=0.1, bandwidth=0.5, prior=0.5).fit(X, y)
    >>> model.predict(X).tolist()
    [0.0, 0.0, 1.0, 1.0, 0.0, 1.0]
    """

    _parts: ClassVar = ("coef", "intercept")
    _without_unlabeled: ClassVar = "a plain logistic regression"

    alpha: Any = None
    entropy: Any = None
    kernel: str = "rbf"

    def predict_proba(self, X: Any) -> AnyArray:
        """Class probabilities under the population prior, one column per class.

        Parameters
        ----------
        X : array, sparse matrix or data frame (rows, columns)
            Features.
        """
        check_is_fitted(self)
        scores = self.decision_function(X)
        return probabilities(scores, np.tile([1.0, 0.0], (1 if scores.ndim == 1 else scores.shape[1], 1)))

    def _grid(self) -> dict[str, Sequence[float]]:
        return {"alpha": candidates("alpha", self.alpha), "entropy": candidates("entropy", self.entropy, zero=True)}

    @property
    def _intercept(self) -> bool:
        """Whether the basis functions are the columns and an intercept, instead of kernels around rows."""
        return KERNELS[self.kernel].intercept

    @property
    def _needs_gram(self) -> bool:
        return not self._intercept

    def _features(self, X: Any, centers: Any, bandwidth: float | None) -> Any:
        return X if self._intercept else super()._features(X, centers, bandwidth)

    def _respond(self, gram: Any, parts: Parts) -> AnyArray:
        return gram @ parts["coef"] + parts["intercept"]

    def _learn(self, training: RivalTraining, grid: Sequence[Candidate]) -> Iterator[Parts]:
        rotated = rotate(training.gram)
        outputs = [self._solve_grid(training, rotated, signs, grid) for signs, _ in training.outputs]
        for solutions in zip(*outputs, strict=True):
            yield stack_outputs([self._part(rotated, solution) for solution in solutions])

    def _solve_grid(
        self, training: RivalTraining, rotated: Rotated, signs: AnyArray, grid: Sequence[Candidate]
    ) -> list[AnyArray]:
        """The minimiser of every candidate, for one output."""
        objective = ConfidenceObjective(rotated, training, signs, intercept=self._intercept)
        tolerance = EXACT if len(grid) == 1 else ENOUGH_TO_COMPARE
        alphas, entropies = (np.array(sorted({c[name] for c in grid})) for name in ("alpha", "entropy"))
        supervised = self._supervised(training, rotated, signs, alphas, tolerance)
        solved = _follow_paths(objective, supervised, alphas, entropies, tolerance)
        return [solved[c["entropy"]][np.searchsorted(alphas, c["alpha"])] for c in grid]

    def _supervised(
        self, training: RivalTraining, rotated: Rotated, signs: AnyArray, alphas: AnyArray, tolerance: float
    ) -> AnyArray:
        """Where the paths start: minimisers without entropy, which need no more directions than labelled rows span."""
        labeled = training.labeled
        known = replace(training, X=None, gram=training.gram[labeled], codes=training.codes[labeled])
        span = rotate(known.gram)
        objective = ConfidenceObjective(span, known, signs, intercept=self._intercept)
        start = np.zeros((len(alphas), objective.size))
        solutions = minimize_confidence(objective, start, alphas, np.zeros(len(alphas)), tolerance)
        k = len(span.lengths)
        return np.column_stack([rotated.lower(span.lift(solutions[:, :k].T)).T, solutions[:, k:]])

    def _part(self, rotated: Rotated, solution: AnyArray) -> Parts:
        coef, bias = (solution[:-1], solution[-1]) if self._intercept else (solution, 0.0)
        return {"coef": rotated.lift(coef), "intercept": float(bias)}


def _follow_paths(
    objective: ConfidenceObjective, supervised: AnyArray, alphas: AnyArray, entropies: AnyArray, tolerance: float
) -> dict[float, AnyArray]:
    """Solutions of all alphas for every entropy weight. Only rungs of the ladder hand on their solutions, so that what
    a weight gives does not depend on which others are asked for."""
    weights = sorted({*entropies, *(rung for rung in LADDER if rung < max(entropies))})
    below = [max((i for i in range(k) if weights[i] in LADDER), default=-1) for k in range(len(weights))]
    n, m = len(alphas), len(weights)
    parents = [i * n + a if i >= 0 else -1 for i in below for a in range(n)]
    solutions = minimize_confidence(
        objective, np.tile(supervised, (m, 1)), np.tile(alphas, m), np.repeat(weights, n), tolerance, np.array(parents)
    )
    return dict(zip(weights, np.split(solutions, m), strict=True))
