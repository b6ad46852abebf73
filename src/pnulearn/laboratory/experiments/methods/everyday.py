"""What a scikit-learn user would try first, tuned on the same validation labels.

Where class weights exist they are those of the known prior 1/2 ("balanced").
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.spatial.distance import pdist
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import ParameterGrid
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier
from sklearn.svm import SVC

from pnulearn._basis.gaussian import BANDWIDTH_FACTORS
from pnulearn.laboratory.experiments.methods import Method, register_method
from pnulearn.laboratory.experiments.trials import Trial

STRENGTHS = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)  # C, from strong to weak regularisation

Grid = Mapping[str, Sequence[Any]]


def _gammas(trial: Trial) -> list[float]:
    """1 / (2 σ²) for the paper's bandwidths."""
    median = float(np.median(pdist(trial.X[:1000])))
    return [1 / (2 * (factor * median) ** 2) for factor in BANDWIDTH_FACTORS[::-1]]


def _validation_error(model: Any, trial: Trial) -> float:
    assert trial.X_val is not None
    assert trial.y_val is not None
    wrong = model.predict(trial.X_val) != trial.y_val
    positive = trial.y_val == 1
    return float(trial.prior * wrong[positive].mean() + (1 - trial.prior) * wrong[~positive].mean())


def _best(build: Callable[..., Any], grid: Grid, trial: Trial) -> Any:
    """The candidate with the least error on the validation labels; of equals the first, the most regularised."""
    best, least = None, np.inf
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", message="y contains no unlabeled samples")
        for parameters in ParameterGrid(dict(grid)):
            model = build(**parameters)
            error = _validation_error(model, trial)
            if error < least - 1e-12:
                best, least = model, error
    return best


def _mark_unlabeled(trial: Trial) -> np.ndarray:
    """Labels with scikit-learn's −1 for unlabelled rows."""
    return np.where(np.isnan(trial.y), -1, trial.y).astype(int)


def _svm(trial: Trial) -> Any:
    rows = ~np.isnan(trial.y)

    def build(C: float, gamma: float) -> Any:
        return SVC(C=C, gamma=gamma, class_weight="balanced").fit(trial.X[rows], trial.y[rows])

    return _best(build, {"C": STRENGTHS, "gamma": _gammas(trial)}, trial)


def _logistic(trial: Trial) -> Any:
    rows = ~np.isnan(trial.y)

    def build(C: float) -> Any:
        return LogisticRegression(C=C, class_weight="balanced", max_iter=1000).fit(trial.X[rows], trial.y[rows])

    return _best(build, {"C": STRENGTHS}, trial)


def _self_training(trial: Trial) -> Any:
    y = _mark_unlabeled(trial)

    def build(C: float, threshold: float) -> Any:
        learner = LogisticRegression(C=C, class_weight="balanced", max_iter=1000)
        return SelfTrainingClassifier(learner, threshold=threshold).fit(trial.X, y)

    return _best(build, {"C": STRENGTHS, "threshold": (0.75,)}, trial)


def _label_spreading(trial: Trial) -> Any:
    y = _mark_unlabeled(trial)

    def build(gamma: float, alpha: float) -> Any:
        return LabelSpreading(kernel="rbf", gamma=gamma, alpha=alpha, max_iter=100).fit(trial.X, y)

    return _best(build, {"gamma": _gammas(trial), "alpha": (0.2, 0.5, 0.8, 0.99)}, trial)


for name, title, learn in (
    ("self-training", "Self-training", _self_training),
    ("label-spreading", "Label spreading", _label_spreading),
    ("svm", "SVM", _svm),
    ("logistic", "Logistic", _logistic),
):
    register_method(Method(name, title, learn, "everyday"))
