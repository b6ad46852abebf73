"""MLflow saves and loads every classifier in the format of skops, as the guide says (docs/guide/export.md)."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from pnulearn import AutoPNU, LabeledOnly, PNUClassifier, PriorAdjusted

pytestmark = [pytest.mark.thorough, pytest.mark.filterwarnings("ignore")]  # MLflow warns at its import
mlflow = pytest.importorskip("mlflow.sklearn", reason="MLflow is the extra 'mlflow'")
sio = pytest.importorskip("skops.io")

rng = np.random.default_rng(0)
TRUTH = (rng.random(200) < 0.4).astype(int)
X = rng.normal(size=(200, 2)) + 2 * TRUTH[:, None]
Y = np.where(np.arange(200) < 80, TRUTH, np.nan)
MODELS = [
    PNUClassifier(kernel="linear", prior=0.4, cv=3, random_state=0),
    PriorAdjusted(LogisticRegression(), 0.4, random_state=0),
    LabeledOnly(LogisticRegression()),
    AutoPNU(("pnu", "logistic"), random_state=0),
]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_a_model_comes_back_from_mlflow_with_the_same_answers(model, tmp_path):
    model.fit(X, Y)
    trusted = sio.get_untrusted_types(data=sio.dumps(model))
    mlflow.save_model(
        model,
        str(tmp_path / "model"),
        serialization_format="skops",
        skops_trusted_types=trusted,
        pip_requirements=["pnulearn"],  # otherwise MLflow imports the model in another process to find them
    )
    loaded = mlflow.load_model(str(tmp_path / "model"))
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))


def test_mlflow_refuses_our_types_unless_they_are_trusted(tmp_path):
    """If this fails, the guide's paragraph on `skops_trusted_types` is out of date."""
    model = MODELS[0].fit(X, Y)
    with pytest.raises(Exception, match="untrusted types"):
        mlflow.save_model(model, str(tmp_path / "model"), serialization_format="skops", pip_requirements=["pnulearn"])
