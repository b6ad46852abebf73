"""Linear models for Table 2: five-fold cross-validation, and the class prior estimated from the same rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

from pnulearn._estimators.classifier import PNUClassifier
from pnulearn.laboratory.experiments.methods import Method, register_method
from pnulearn.laboratory.experiments.trials import Trial
from pnulearn.priors import energy_prior

STRENGTHS = 10.0 ** np.arange(-4, 4)


def estimated_prior(trial: Trial, bias_correction: bool = True) -> float:
    """By energy distance; without the correction it is what the paper used."""
    codes = np.where(np.isnan(trial.y), -1, trial.y).astype(int)
    return energy_prior(trial.X, codes, bias_correction=bias_correction, n_bootstrap=0).value


def _pnu(bias_correction: bool, **parameters: Any) -> Any:
    def learn(trial: Trial) -> PNUClassifier:
        prior = estimated_prior(trial, bias_correction)
        return PNUClassifier(kernel="linear", prior=prior, random_state=trial.seed, **parameters).fit(trial.X, trial.y)

    return learn


def _pn(trial: Trial) -> PNUClassifier:
    """The same model from the labelled rows alone."""
    rows, prior = ~np.isnan(trial.y), estimated_prior(trial)
    return PNUClassifier("pn", kernel="linear", prior=prior, random_state=trial.seed).fit(trial.X[rows], trial.y[rows])


def _logistic(trial: Trial) -> Any:
    """Logistic regression on the labelled rows, their classes weighted by the estimated prior."""
    rows = ~np.isnan(trial.y)
    prior = estimated_prior(trial)
    model = LogisticRegression(class_weight={1.0: 2 * prior, 0.0: 2 * (1 - prior)}, max_iter=2000)
    search = GridSearchCV(model, {"C": STRENGTHS}, cv=5).fit(trial.X[rows].astype(float), trial.y[rows])
    search.prior_ = prior
    return search


for name, title, learn in (
    ("linear-pnu", "PNU", _pnu(bias_correction=False, selection="best", tie_break="first")),
    ("linear-pnu-average", "PNU averaged", _pnu(bias_correction=True)),
    ("linear-pn-average", "PN averaged", _pn),
):
    register_method(Method(name, title, learn))
register_method(Method("linear-logistic", "Logistic", _logistic, "everyday"))
