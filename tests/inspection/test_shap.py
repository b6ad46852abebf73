"""shap takes the classifier as it takes any other."""

import numpy as np
import pytest

from pnulearn import PNUClassifier

shap = pytest.importorskip("shap", reason="shap is not installed; its import alone takes 40 s")

pytestmark = pytest.mark.thorough


def test_shapley_values_add_up_to_the_score():
    rng = np.random.default_rng(0)
    positive = rng.random(120) < 0.4
    X = rng.normal(size=(120, 2)) + 2 * positive[:, None]
    y = np.where(np.arange(120) < 40, positive.astype(float), np.nan)
    model = PNUClassifier(prior=0.4, cv=3, random_state=0).fit(X, y)
    values = shap.Explainer(model.decision_function, X[:30], seed=0)(X[:5], silent=True)
    total = values.base_values + values.values.sum(axis=1)
    np.testing.assert_allclose(total, model.decision_function(X[:5]), atol=1e-8)
