"""S4VM (Li and Zhou 2011, 2015): gain over the supervised SVM, whichever of many separators is the true one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from scipy.optimize import linprog
from sklearn.svm import SVC

from pnulearn._arrays import AnyArray
from pnulearn._parameters import parameters
from pnulearn._problem.row_keys import row_keys
from pnulearn.baselines._rival.grid import Candidate, candidates
from pnulearn.baselines._rival.rival import Parts, Rival
from pnulearn.baselines._rival.training import RivalTraining
from pnulearn.baselines.s4vm.separators import Balance, representatives, sample_separators
from pnulearn.baselines.s4vm.shared_kernel_svm import SharedKernelSVM, narrow_columns

TIE = 1e-6  # votes this close to even are left to the supervised SVM
ROUNDING = 1e-9  # a score that is less is zero, and zero votes for the negative class
EXACT = 1e-8  # of the supervised SVM's slopes
STEPS = 100  # of the solver per start, over all rounds of its search: what fits with C_unlabeled = 0.1 took


@parameters
class S4VM(Rival):
    """A semi-supervised SVM that would rather repeat the supervised SVM than do worse.

    Many large-margin separators fit the labelled and unlabelled rows about equally well. S4VM samples them, keeps a
    few different ones, and labels the unlabelled rows so that the gain over the supervised SVM is greatest if the
    least favourable of them is the truth. New rows are labelled by the vote that proves this labelling the safest:

        sign( (1 + caution) Σ_t weight_t sign f_t(x) + (caution − 1) sign f_svm(x) ).

    Parameters
    ----------
    C, C_unlabeled
        cost of a margin error on a labelled and on an unlabelled row; None searches 10⁻⁵ … 10².
    kernel : str
        "rbf", "linear", "laplace" or "polynomial".
    n_starts, n_separators
        labellings to start from, and separators kept of those found.
    caution
        how many rows won outweigh one row lost.
    prior
        the mean label of all rows is kept within 0.1 of what this share of positives in U implies.

    Examples
    --------
    >>> X = np.array([[0.0], [0.2], [1.0], [1.2], [0.1], [1.1]])
    >>> y = np.array([0, 0, 1, 1, np.nan, np.nan])
    >>> model = S4VM(C_unlabeled=0.1, bandwidth=0.5, prior=0.5, random_state=0).fit(X, y)
    >>> model.predict(X).tolist(), model.transduction_.tolist()
    ([0.0, 0.0, 1.0, 1.0, 0.0, 1.0], [0.0, 0.0, 1.0, 1.0, 0.0, 1.0])
    """

    _parts: ClassVar = ("dual_coef", "intercept", "vote")
    _without_unlabeled: ClassVar = "a plain SVM"
    _multi_class: ClassVar = False
    _cheaper: ClassVar = "Fewer n_starts, or a random part of the unlabelled rows, cost less."

    C: Any = 1.0
    C_unlabeled: Any = None
    kernel: str = "rbf"
    n_starts: int = 100
    n_separators: int = 10
    caution: float = 3.0

    def _grid(self) -> dict[str, Sequence[float]]:
        for name in ("n_starts", "n_separators"):
            value = getattr(self, name)
            if not isinstance(value, (int, np.integer)) or value < 1:
                raise ValueError(f"{name} must be a whole number of at least 1, got {value!r}.")
        if not isinstance(self.caution, Real) or not 0 < self.caution < np.inf:
            raise ValueError(f"caution must be a positive number (3 in the original), got {self.caution!r}.")
        return {"C": candidates("C", self.C), "C_unlabeled": candidates("C_unlabeled", self.C_unlabeled)}

    def _work(self, n_rows: int) -> float:
        return 3 * n_rows**3 + 2 * STEPS * (self.n_starts + 1) * n_rows**2

    def _learn(self, training: RivalTraining, grid: Sequence[Candidate]) -> Iterator[Parts]:
        # Starts are drawn for rows in the order of their content, so that their order in X does not matter.
        order = np.lexsort((training.codes, row_keys(training.X, training.seed)))
        back = np.argsort(order)
        training = replace(training, X=None, gram=training.gram[np.ix_(order, order)], codes=training.codes[order])
        svms = {C: supervised_svm(training.gram, training.signs, C) for C in {c["C"] for c in grid}}
        columns = narrow_columns(training.gram)
        for candidate in grid:
            parts = self._voters(training, candidate, columns, *svms[candidate["C"]])
            own = {"dual_coef": parts["dual_coef"][:, back], "transduction": parts["transduction"][back]}
            yield {**parts, **own}

    def _voters(
        self, training: RivalTraining, candidate: Candidate, columns: AnyArray, coef: AnyArray, bias: float
    ) -> Parts:
        """The separators kept and the supervised SVM (last), with the weight of each in the vote."""
        signs, unlabeled = training.signs, training.unlabeled
        if len(unlabeled) == 0:
            parts = {"dual_coef": coef[None], "intercept": np.array([bias]), "vote": np.ones(1)}
            return parts | {"worst_case_gain": 0.0, "transduction": self.classes_[training.codes]}
        supervised = np.where(training.gram[unlabeled] @ coef + bias > ROUNDING, 1.0, -1.0)
        cost = np.where(signs == 0, float(candidate["C_unlabeled"]), float(candidate["C"]))
        machine = SharedKernelSVM(training.gram, cost, columns)
        mean_label = (signs.sum() + len(unlabeled) * (2 * training.shares[1] - 1)) / len(signs)
        balance = Balance.around(mean_label, signs)
        found = sample_separators(machine, signs, supervised, balance, self.n_starts, self.n_separators, training.seed)
        kept = representatives(found, self.n_separators)
        worst = safest_labels(kept.labels, supervised, self.caution)
        codes = training.codes.copy()
        codes[unlabeled] = worst.labels > 0
        return {
            "dual_coef": np.vstack([kept.coef, coef]),
            "intercept": np.append(kept.offset, bias),
            "vote": np.append((1 + self.caution) * worst.weight, self.caution - 1) / (2 * self.caution),
            "worst_case_gain": worst.gain,
            "transduction": self.classes_[codes],
        }

    def _respond(self, gram: AnyArray, parts: Parts) -> AnyArray:
        """The vote, between −1 and 1; an even one is decided by the supervised SVM."""
        scores = gram @ parts["dual_coef"].T + parts["intercept"]
        vote = np.where(scores > ROUNDING, 1.0, -1.0) @ parts["vote"]
        tie_break = TIE * scores[:, -1] / (1 + np.abs(scores[:, -1]))
        return np.where(np.abs(vote) > TIE, vote, 0.0) + tie_break


def supervised_svm(kernel: AnyArray, signs: AnyArray, C: float) -> tuple[AnyArray, float]:
    """Coefficients over all rows (zero for the unlabelled ones) and bias of the SVM of the labelled rows."""
    labeled = np.flatnonzero(signs)
    machine = SVC(C=C, kernel="precomputed", tol=EXACT).fit(kernel[np.ix_(labeled, labeled)], signs[labeled])
    coef = np.zeros(len(signs))
    coef[labeled[machine.support_]] = machine.dual_coef_[0]
    return coef, float(machine.intercept_[0])


@dataclass(frozen=True)
class WorstCase:
    """The safest labelling of the unlabelled rows, its guaranteed gain, and the weights that prove it is the safest."""

    gain: float
    labels: AnyArray
    weight: AnyArray


def safest_labels(separators: AnyArray, supervised: AnyArray, caution: float) -> WorstCase:
    """max over y in [−1, 1]^u of min over t of gain − caution · loss of y over the supervised labels, were y_t true.

    Gain counts the rows that y gets right and the supervised labels wrong, loss the opposite. In numbers that is
    c_t'y + d_t with c_t = ((1 + λ) y_t + (λ − 1) y_svm) / 4 and d_t = ((1 − λ) u − (1 + λ) y_t'y_svm) / 4, λ = caution.
    The multipliers of the t constraints sum to one, and the sign of Σ_t weight_t c_t is the answer where it is not 0.
    """
    slopes = ((1 + caution) * separators + (caution - 1) * supervised) / 4
    levels = ((1 - caution) * len(supervised) - (1 + caution) * separators @ supervised) / 4
    if len(separators) == 1:
        labels = np.where(np.abs(slopes[0]) < 1e-9, supervised, np.sign(slopes[0]))
        return WorstCase(float(np.abs(slopes[0]).sum() + levels[0]), labels, np.ones(1))
    objective = np.append(np.zeros(len(supervised)), -1.0)
    limits = np.column_stack([-slopes, np.ones(len(slopes))])
    bounds = [(-1.0, 1.0)] * len(supervised) + [(None, None)]
    solution = linprog(objective, A_ub=limits, b_ub=levels, bounds=bounds, method="highs")
    labels = np.where(np.abs(solution.x[:-1]) < 1e-9, supervised, np.sign(solution.x[:-1]))
    return WorstCase(float(-solution.fun), labels, -solution.ineqlin.marginals)
