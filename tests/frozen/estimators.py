"""Estimators that the golden numbers leave out and that no model file of ours holds: what they answer after a fit."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from pnulearn import AutoPNU, PNUClassifier, PriorAdjusted
from pnulearn.ranking import PNURanker

QUICK = PNUClassifier(mix=[0.0, 0.5], alpha=[0.01, 0.1], centers=20)
MODELS: dict[str, Any] = {
    "PriorAdjusted forest": PriorAdjusted(RandomForestClassifier(20, random_state=0), 0.3, random_state=0),
    "PriorAdjusted pipeline": PriorAdjusted(make_pipeline(StandardScaler(), SVC()), random_state=0),
    "AutoPNU": AutoPNU(pnu=QUICK, prior=0.3, cv=3, random_state=0),
    "PNURanker": PNURanker(prior=0.3, random_state=0),
    "PNURanker logistic": PNURanker(loss="logistic", kernel="linear", mix=0.2, alpha=0.1, random_state=0),
}
THREE = {
    "PriorAdjusted, three classes": PriorAdjusted(LogisticRegression(), random_state=0),
    "AutoPNU, three classes": AutoPNU(("pnu", "forest", "logistic", "boosting"), QUICK, cv=3, random_state=0),
}


def fits() -> dict[str, Any]:
    """Priors, intervals, decisions and scores of ten rows, by model."""
    rng = np.random.default_rng(0)
    truth = np.concatenate([np.arange(40) % 2, rng.random(120) < 0.3]).astype(int)
    X = rng.normal(size=(160, 3)) + 1.5 * truth[:, None]
    three = np.array(["a", "b", "c"])[(X[:, 0] > 0).astype(int) + (X[:, 1] > 0.5)]
    y = np.where(np.arange(160) < 40, truth, np.nan)
    y_three = np.where(np.arange(160) < 60, three, None)
    found = {name: _answers(model.fit(X, y), X[:10]) for name, model in MODELS.items()}
    return found | {name: _answers(model.fit(X, y_three), X[:10]) for name, model in THREE.items()}


def _answers(model: Any, X: Any) -> dict[str, Any]:
    found = {"predict": model.predict(X).tolist(), "decision_function": model.decision_function(X).tolist()}
    found |= {"classes": model.classes_.tolist(), "prior": np.asarray(model.prior_).tolist()}
    risk = getattr(model, "risk_", None)
    if risk is not None:
        found["risk"] = [risk.value, risk.low, risk.high]
    if hasattr(model, "auc_"):
        found["auc"] = [model.auc_.value, model.auc_.low, model.auc_.high]
    if hasattr(model, "members_"):
        found["members"] = {one.name: [one.weight, one.risk and one.risk.value] for one in model.members_}
    return found
