"""WellSVM (Li, Tsang, Kwok, Zhou 2013): a convex relaxation of the SVM over unknown labels, by label generation."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np

from pnulearn._parameters import parameters
from pnulearn.baselines._rival.grid import Candidate, candidates
from pnulearn.baselines._rival.rival import Parts, Rival
from pnulearn.baselines._rival.training import RivalTraining
from pnulearn.baselines.wellsvm.label_generation import complete_labels, kernel_root, share_of

WORK = 20  # n³ flops at the speed of a matrix product: what fits with C_unlabeled = 0.1 took


@parameters
class WellSVM(Rival):
    """A large-margin classifier of labelled and unlabelled rows, by a convex relaxation over the unknown labels.

    Over the label vectors y that agree with the known labels and make the share `prior` of U positive, the widest
    margin is sought of the squared-hinge SVM without bias. Relaxed to mixtures Σ_t μ_t y_t y_t' this is convex:

        min over a in the simplex, max over μ in the simplex of ½ a'(K ∘ Σ_t μ_t y_t y_t' + diag(1/C_i)) a,

    and the y_t are generated one by one, each the most violated. The labels so found are then made consistent with
    the SVM trained on them, which is the classifier.

    Parameters
    ----------
    C, C_unlabeled
        cost C_i of a labelled and of an unlabelled row; None searches 10⁻⁵ … 10².
    kernel : str
        "rbf", "linear", "laplace" or "polynomial".
    prior
        share of positives forced on the unlabelled rows; "labeled" is the original's choice.

    Examples
    --------
    >>> X = np.array([[-1.0], [-0.8], [1.0], [1.2], [-0.9], [1.1]])
    >>> y = np.array([0, 0, 1, 1, np.nan, np.nan])
    >>> model = WellSVM(C_unlabeled=0.1, bandwidth=0.5, prior=0.5).fit(X, y)
    >>> model.predict(X).tolist(), model.transduction_.tolist()
    ([0.0, 0.0, 1.0, 1.0, 0.0, 1.0], [0.0, 0.0, 1.0, 1.0, 0.0, 1.0])
    """

    _without_unlabeled: ClassVar = "a plain SVM"
    _multi_class: ClassVar = False
    _cheaper: ClassVar = "A random part of the unlabelled rows costs less."

    C: Any = 1.0
    C_unlabeled: Any = None
    kernel: str = "rbf"

    def _grid(self) -> dict[str, Sequence[float]]:
        return {"C": candidates("C", self.C), "C_unlabeled": candidates("C_unlabeled", self.C_unlabeled)}

    def _work(self, n_rows: int) -> float:
        return WORK * n_rows**3

    def _learn(self, training: RivalTraining, grid: Sequence[Candidate]) -> Iterator[Parts]:
        signs, unlabeled = training.signs, training.unlabeled
        n_positive = share_of(training.shares[1], len(unlabeled))
        if len(unlabeled) and n_positive in (0, len(unlabeled)):
            warnings.warn(
                f"A share of {training.shares[1]:.3g} positives gives all {len(unlabeled)} unlabelled rows one class.",
                UserWarning,
                stacklevel=2,
            )
        root = kernel_root(training.gram)
        for candidate in grid:
            cost = np.where(signs == 0, float(candidate["C_unlabeled"]), float(candidate["C"]))
            labels, coef = complete_labels(training.gram, signs, cost, n_positive, root)
            yield {"dual_coef": coef, "intercept": 0.0, "transduction": self.classes_[(labels > 0).astype(int)]}
