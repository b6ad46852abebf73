"""Foundation models for tables, where their packages and weights are at hand: wrapped, and as learners of AutoPNU."""

import warnings

import numpy as np
import pytest

from pnulearn import AutoPNU, PNUClassifier, PriorAdjusted

RNG = np.random.default_rng(0)
TRUTH = np.concatenate([np.repeat([1, 0], [30, 10]), RNG.random(120) < 0.3]).astype(int)
X = RNG.normal(size=(160, 3)) + 1.5 * TRUTH[:, None]
Y = np.where(np.arange(160) < 40, TRUTH, np.nan)


@pytest.mark.thorough
@pytest.mark.parametrize("package, name", [("tabpfn", "TabPFNClassifier"), ("tabicl", "TabICLClassifier")])
def test_a_foundation_model_is_adjusted_and_averaged(package, name):
    module = pytest.importorskip(package, reason=f"{package} is not installed")
    model = getattr(module, name)()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the package, about threads and devices
        try:
            model.fit(X[:40], TRUTH[:40]).predict_proba(X[:2])
        except Exception as error:
            pytest.skip(f"the weights of {package} are not at hand: {error!r:.200}")
        adjusted = PriorAdjusted(model, 0.3, cv=3, random_state=0).fit(X, Y)
        quick = PNUClassifier(mix=[0.0, 0.5], alpha=0.1, centers=20)
        average = AutoPNU(["pnu", model], quick, prior=0.3, cv=3, random_state=0).fit(X, Y)
    assert np.mean(adjusted.predict(X[40:]) != TRUTH[40:]) < 0.2
    assert [member.learner for member in average.members_] == ["PNUClassifier", name]
    assert np.mean(average.predict(X[40:]) != TRUTH[40:]) < 0.2
