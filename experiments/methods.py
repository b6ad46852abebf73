"""Every method that the experiments can run, by name: ours, the paper's baselines, and scikit-learn's.

A new method is one call of `register_method`, here or in a plugin file. The methods of Table 1 choose their
hyper-parameters on the validation labels of a trial, those of Table 2 (`linear-...`) by five-fold cross-validation.
"""

from __future__ import annotations

import importlib.util
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy.spatial.distance import pdist
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, ParameterGrid
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier
from sklearn.svm import SVC

from experiments.trials import Row, Trial, weighted_error
from pnulearn import PNUClassifier, baselines
from pnulearn._kernels.gaussian import BANDWIDTH_FACTORS
from pnulearn.priors import energy_prior

GROUPS = ("pnulearn", "baseline", "scikit-learn")  # in the order of a table's columns


@dataclass(frozen=True)
class Method:
    """A name for rows and options, a title for tables, and a function from a trial to a model with `predict`.

    `group` is one of `GROUPS`: "pnulearn", "baseline" (of the paper) or "scikit-learn" (and anything else).
    """

    name: str
    title: str
    learn: Callable[[Trial], Any]
    group: str = "pnulearn"


REGISTRY: dict[str, Method] = {}


def register_method(method: Method) -> Method:
    """Make a method known by name."""
    if method.group not in GROUPS:
        raise ValueError(f"group must be one of {', '.join(GROUPS)}, got {method.group!r}.")
    REGISTRY[method.name] = method
    return method


def find_method(name: str) -> Method:
    """The method of that name."""
    if name not in REGISTRY:
        raise KeyError(f"No method is called {name!r}. Known: {', '.join(REGISTRY)}.")
    return REGISTRY[name]


def method_names(among: Iterable[str] | None = None) -> list[str]:
    """All known names, or those among some, in the order of a table's columns."""
    kept = REGISTRY if among is None else set(among)
    return [name for group in GROUPS for name in REGISTRY if REGISTRY[name].group == group and name in kept]


def measure(trial: Trial, name: str) -> Row:
    """Test error in percent, processor seconds of learning including the search, and the prior it ended up with."""
    start = time.process_time()
    model = find_method(name).learn(trial)
    seconds = time.process_time() - start
    row = {"error": round(100 * trial.error(model.predict(trial.X_test)), 4), "seconds": round(seconds, 4)}
    prior = getattr(model, "prior_", None)
    return row if prior is None or prior == trial.prior else {**row, "prior_used": round(float(prior), 5)}


def load_plugins(paths: Iterable[str]) -> None:
    """Run files that call `register_method` or `datasets.register`, each once."""
    for path in paths:
        _load_plugin(str(Path(path).resolve()))


@cache
def _load_plugin(path: str) -> None:
    spec = importlib.util.spec_from_file_location(f"experiments_plugin_{Path(path).stem}", path)
    if spec is None or spec.loader is None or not Path(path).is_file():
        raise FileNotFoundError(f"{path!r} is not a Python file. A plugin is a .py file that calls register_method.")
    spec.loader.exec_module(importlib.util.module_from_spec(spec))


# The paper's own methods with the squared loss: PNU, PUNU and the supervised and PU risks they are made of.


def _pnu(**parameters: Any) -> Callable[[Trial], PNUClassifier]:
    def learn(trial: Trial) -> PNUClassifier:
        common: dict[str, Any] = {
            "prior": trial.prior,
            "columns": "given",
            "centers": "all",
            "random_state": trial.seed,
        }
        model = PNUClassifier(**common | parameters)
        return model.fit(trial.X, trial.y, X_val=trial.X_val, y_val=trial.y_val)

    return learn


ARG_MIN = {"selection": "best", "tie_break": "first"}  # as the paper's code chose

for name, title, parameters in (
    ("pnu", "PNU", ARG_MIN),
    ("pnu-average", "PNU averaged", {"selection": "average"}),
    ("punu", "PUNU", {"risk": "punu", **ARG_MIN}),
    ("pn", "PN", {"risk": "pn", **ARG_MIN}),
    ("pu", "PU", {"risk": "pu", **ARG_MIN}),
    ("pn-average", "PN averaged", {"risk": "pn", "selection": "average"}),
    ("pn-labeled", "PN, centres at labelled rows", {"risk": "pn", "selection": "average", "centers": "labeled"}),
    ("pnu-both", "PNU averaged, columns as given and as ranks", {"selection": "average", "columns": "both"}),
    ("pnu-ties", "PNU, ties by risk", {"selection": "best"}),
):
    register_method(Method(name, title, _pnu(**parameters)))


# The paper's five baselines, each with the known prior and, as in their original codes, with the labelled share. ER,
# LapSVM and SMIR search their full grids. WellSVM and S4VM take seconds per candidate, so they search fewer: three
# bandwidths and few costs of unlabelled rows around the originals' default 0.1; S4VM starts from 30 labellings instead
# of 100.
COARSE_FACTORS = (0.5, 1.0, 2.0)  # of the median distance
COARSE: dict[str, dict[str, Any]] = {
    "WellSVM": {"C_unlabeled": (0.01, 0.1, 1.0)},
    "S4VM": {"C_unlabeled": (0.01, 0.1), "n_starts": 30, "n_separators": 6},
}


def _baseline(classifier: str, labeled_share: bool) -> Callable[[Trial], Any]:
    def learn(trial: Trial) -> Any:
        parameters = dict(COARSE.get(classifier, {}))
        if classifier in COARSE:
            parameters["bandwidth"] = np.median(pdist(trial.X)) * np.array(COARSE_FACTORS)
        prior = "labeled" if labeled_share else trial.prior
        model = getattr(baselines, classifier)(prior=prior, random_state=trial.seed, **parameters)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about candidates that will not be chosen
            return model.fit(trial.X, trial.y, X_val=trial.X_val, y_val=trial.y_val)

    return learn


for name, title, classifier in (
    ("er", "ER", "EntropyRegularizedClassifier"),
    ("lapsvm", "LapSVM", "LaplacianSVM"),
    ("smir", "SMIR", "SMIRClassifier"),
    ("wellsvm", "WellSVM", "WellSVM"),
    ("s4vm", "S4VM", "S4VM"),
):
    register_method(Method(name, title, _baseline(classifier, labeled_share=False), "baseline"))
    register_method(
        Method(f"{name}-labeled", f"{title}, labelled share", _baseline(classifier, labeled_share=True), "baseline")
    )


# scikit-learn's, tuned on the same validation labels. Where class weights exist they are those of the known prior 1/2
# ("balanced").
STRENGTHS = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)  # C, from strong to weak regularisation


def _gammas(trial: Trial) -> list[float]:
    """1 / (2 σ²) for the paper's bandwidths."""
    median = float(np.median(pdist(trial.X[:1000])))
    return [1 / (2 * (factor * median) ** 2) for factor in BANDWIDTH_FACTORS[::-1]]


def _best(build: Callable[..., Any], grid: Mapping[str, Sequence[Any]], trial: Trial) -> Any:
    """The candidate with the least error on the validation labels; of equals the first, the most regularised."""
    assert trial.X_val is not None
    assert trial.y_val is not None
    best, least = None, np.inf
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", message="y contains no unlabeled samples")
        for parameters in ParameterGrid(dict(grid)):
            model = build(**parameters)
            error = weighted_error(model.predict(trial.X_val), trial.y_val, trial.prior)
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
    register_method(Method(name, title, learn, "scikit-learn"))


# Linear models for Table 2, with the class prior estimated from the same rows.


def _estimated_prior(trial: Trial, bias_correction: bool = True) -> float:
    """By energy distance; without the correction it is what the paper used."""
    return energy_prior(trial.X, _mark_unlabeled(trial), bias_correction=bias_correction, n_bootstrap=0).value


def _linear_pnu(bias_correction: bool, **parameters: Any) -> Callable[[Trial], PNUClassifier]:
    def learn(trial: Trial) -> PNUClassifier:
        prior = _estimated_prior(trial, bias_correction)
        return PNUClassifier(kernel="linear", prior=prior, random_state=trial.seed, **parameters).fit(trial.X, trial.y)

    return learn


def _linear_pn(trial: Trial) -> PNUClassifier:
    """The same model from the labelled rows alone."""
    rows, prior = ~np.isnan(trial.y), _estimated_prior(trial)
    return PNUClassifier("pn", kernel="linear", prior=prior, random_state=trial.seed).fit(trial.X[rows], trial.y[rows])


def _linear_logistic(trial: Trial) -> Any:
    """Logistic regression on the labelled rows, their classes weighted by the estimated prior."""
    rows = ~np.isnan(trial.y)
    prior = _estimated_prior(trial)
    model = LogisticRegression(class_weight={1.0: 2 * prior, 0.0: 2 * (1 - prior)}, max_iter=2000)
    search = GridSearchCV(model, {"C": 10.0 ** np.arange(-4, 4)}, cv=5)
    search.fit(trial.X[rows].astype(float), trial.y[rows])
    search.prior_ = prior
    return search


for method in (
    Method("linear-pnu", "PNU", _linear_pnu(bias_correction=False, **ARG_MIN)),
    Method("linear-pnu-average", "PNU averaged", _linear_pnu(bias_correction=True)),
    Method("linear-pn-average", "PN averaged", _linear_pn),
    Method("linear-logistic", "Logistic", _linear_logistic, "scikit-learn"),
):
    register_method(method)
