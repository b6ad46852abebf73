"""A loss that declares another quadratic is trained with that one, by the closed form."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from tests.problems import mixture

from pnulearn import PNUClassifier, risks
from pnulearn.losses import Loss, Squared


class Parabola(Loss):
    """2 m² − 3 m + 1: steeper and least at 3/4."""

    name, convex, smooth, quadratic = "parabola", True, True, (2.0, -3.0, 1.0)

    def __call__(self, margin):
        return 2 * np.square(margin) - 3 * np.asarray(margin) + 1

    def derivative(self, margin):
        return 4 * np.asarray(margin) - 3


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("risk", ["pnu", "punu"])
def test_the_closed_form_finds_what_scipy_finds(risk, kernel):
    X, y, _ = mixture(120)
    mix, alpha, prior, loss = 0.3, 0.05, 0.4, Parabola()
    given = {"mix": mix, "alpha": alpha, "bandwidth": 2.0, "centers": X[:6], "cv": 2, "random_state": 0}
    model = PNUClassifier(risk, loss, kernel, prior=prior, **given).fit(X, y)
    features = X if kernel == "linear" else np.exp(-((X[:, None] - X[:6]) ** 2).sum(axis=2) / 8)
    weights = getattr(risks, risk)(prior, mix).table
    groups = [features[y == 1], features[y == 0], features[np.isnan(y)]]

    def value(w):
        g = [rows @ w[:-1] + w[-1] * (kernel == "linear") for rows in groups]
        terms = sum(a * loss(s).mean() + b * loss(-s).mean() for (a, b), s in zip(weights, g, strict=True))
        return terms + alpha * w[:-1] @ w[:-1]

    found = minimize(value, np.zeros(features.shape[1] + 1), method="BFGS", options={"gtol": 1e-9}).x
    assert_allclose(model.coef_.ravel(), found[:-1], atol=1e-5)
    if kernel == "linear":
        assert_allclose(model.intercept_, found[-1], atol=1e-5)


def test_facts_that_do_not_hold_are_refused():
    X, y, _ = mixture(60)
    for fact, value in {"quadratic": (1.0, -1.0, 0.0), "link": "logit"}.items():
        wrong = type("Wrong", (Squared,), {"name": "wrong", fact: value})()
        with pytest.raises(ValueError, match=f"declares {fact}="):
            PNUClassifier(loss=wrong, prior=0.4, cv=2).fit(X, y)
