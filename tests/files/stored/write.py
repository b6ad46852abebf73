"""Store one more model of today's code, for all later versions to read.

`python -m tests.files.stored.write table-v2.pnu` adds that line of FILES and its answers. A file that is there is never
rewritten: it stands for the files of users. Add one whenever model files hold something that they did not hold before.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pnulearn
from pnulearn.streaming import PNUStatistics, collect_statistics, fit_statistics, make_design
from pnulearn.tables._model import TableModel

STORED = Path(__file__).parent
NEW_ROWS = np.linspace(-2, 2, 20).reshape(10, 2)
NEW_CUSTOMERS = pd.DataFrame({"age": [20.0, 35.5, None, 61.0], "city": ["Kobe", "Nara", "Kobe", None]})
SEARCH = {"prior": 0.4, "mix": [0.0, 0.5], "alpha": [0.001, 0.01], "centers": 8, "cv": 3, "random_state": 0}
WORDS = ("late parcel", "broken and late", "great", "great and fast", "fast parcel", "wrong")


def plain_rows(n_classes: int) -> tuple[Any, Any]:
    """Rows in two columns and labels in words, half of them missing."""
    rng = np.random.default_rng(0)
    truth = rng.integers(n_classes, size=90)
    X = rng.normal(size=(90, 2)) + 1.5 * (truth - 1)[:, None]
    return X, np.where(np.arange(90) < 45, np.array(["ham", "other", "spam"], dtype=object)[truth], None)


def fit_classifier(n_classes: int = 2, **options: Any) -> pnulearn.PNUClassifier:
    prior = {} if n_classes == 2 else {"prior": {"ham": 0.2, "other": 0.3, "spam": 0.5}}
    return pnulearn.PNUClassifier(**SEARCH | prior | options).fit(*plain_rows(n_classes))


def fit_pipeline() -> Any:
    return make_pipeline(StandardScaler(), pnulearn.PNUClassifier(**SEARCH)).fit(*plain_rows(2))


def fit_auto(*learners: str) -> pnulearn.AutoPNU:
    own = pnulearn.PNUClassifier(mix=0.0, alpha=0.1, centers=8)
    return pnulearn.AutoPNU(learners, own, prior=0.4, cv=3, random_state=0).fit(*plain_rows(2))


def customers(kinds: bool = False) -> pd.DataFrame:
    """Numbers and categories with empty cells, or a column of every kind."""
    rng = np.random.default_rng(0)
    truth = rng.random(90) < 0.4
    age = np.where(rng.random(90) < 0.1, np.nan, 30 + 15 * truth + rng.normal(0, 12, 90).round(1))
    city = np.where(rng.random(90) < 0.1, None, np.where(rng.random(90) < 0.3 + 0.4 * truth, "Nara", "Kobe"))
    bought = np.where(np.arange(90) < 40, np.where(truth, "yes", "no"), None)
    frame = pd.DataFrame({"age": age, "city": city, "bought": bought})
    if kinds:
        days = pd.Timestamp("2024-03-01") + pd.to_timedelta(rng.integers(300, size=90) + 150 * truth, unit="D")
        frame["member"] = np.where(rng.random(90) < 0.2 + 0.5 * truth, "yes", "no")
        frame["post"] = [f"N{code}" for code in rng.integers(10, 90, size=90)]
        frame["joined"] = days.strftime("%Y-%m-%d")
        frame["note"] = [WORDS[k] for k in rng.integers(3, size=90) + 3 * truth]
        frame["bought"] = np.where(bought == "yes", np.where(rng.random(90) < 0.5, "often", "once"), bought)
    return frame


def fit_customers(kinds: bool = False, **options: Any) -> TableModel:
    wanted = {"kinds": {"post": "codes", "note": "text"}} if kinds else {"prior": 0.4}
    settings = {} if "learner" in options else {"settings": {"centers": 10}}
    return pnulearn.TableClassifier(cv=3, **settings, **wanted, **options).fit(customers(kinds), "bought").model_


def collect() -> PNUStatistics:
    X, y = plain_rows(2)
    design = make_design(pnulearn.PNUClassifier(kernel="linear", **SEARCH), X, y, dtype="float64")
    return collect_statistics((X, y), design)


# Files ending in .pnu are read by `pnulearn.load`.
FILES: dict[str, Callable[[], Any]] = {
    "classifier-v1.pnu": partial(fit_classifier, 3, loss="logistic", bandwidth=[1.0, 2.0], prior=None),
    **{
        f"classifier-{kernel}.pnu": partial(fit_classifier, kernel=kernel)
        for kernel in ("rbf", "linear", "laplace", "polynomial")
    },
    **{
        f"classifier-{loss}.pnu": partial(fit_classifier, kernel="linear", loss=loss)
        for loss in ("logistic", "double_hinge", "hyperbolic", "ramp", "sigmoid")
    },
    "classifier-hinge.pnu": partial(fit_classifier, risk="pn", loss="hinge", mix=None, bandwidth=1.0),
    "classifier-linear-3.pnu": partial(fit_classifier, 3, kernel="linear"),
    "classifier-laplace-3.pnu": partial(fit_classifier, 3, kernel="laplace"),
    "classifier-ranks.pnu": partial(fit_classifier, columns="both"),
    "classifier-estimated-prior.pnu": partial(fit_classifier, kernel="linear", prior=None),
    "pipeline-v1.pnu": fit_pipeline,
    "auto-v3.pnu": partial(fit_auto, "pnu", "logistic", "svm", "forest"),
    "table-v1.pnu": fit_customers,
    "table-kinds.pnu": partial(fit_customers, kinds=True),
    "table-auto-v3.pnu": partial(fit_customers, learner="logistic"),
    "statistics-v1.npz": collect,
}
# AutoPNU of before 0.2.0: with copies of scikit-learn's models, and without the names of learners.
REFUSED = ("auto-v1.pnu", "table-auto-v1.pnu", "auto-v2.pnu", "table-auto-v2.pnu")


def ask(path: Path) -> dict[str, Any]:
    """What the model in a file answers to fixed rows: labels and probabilities."""
    if path.suffix == ".npz":
        model: Any = fit_statistics(pnulearn.PNUClassifier(kernel="linear", **SEARCH), PNUStatistics.load(path))
    else:
        model = pnulearn.load(path)
    if not path.name.startswith("table-"):
        return {"labels": model.predict(NEW_ROWS).tolist(), "probability": model.predict_proba(NEW_ROWS).tolist()}
    found = model.predict(customers(kinds=True)[:12] if "kinds" in path.name else NEW_CUSTOMERS)
    return {"labels": found.labels.tolist(), "probability": found.probability.tolist()}


def store(name: str) -> None:
    """Write the file of that name and add its answers."""
    path = STORED / name
    if path.exists():
        raise SystemExit(f"{path.name} is there already, and stored models are never rewritten. Choose another name.")
    if name not in FILES:
        raise SystemExit(f"No model is called {name!r}. Add a line to FILES, where these are: {', '.join(FILES)}")
    model = FILES[name]()
    model.save(path) if hasattr(model, "save") else pnulearn.save(model, path)
    answers = STORED / "answers.json"
    known = json.loads(answers.read_text()) if answers.exists() else {}
    known[name] = ask(path)
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in known.items()]
    answers.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    for one in sys.argv[1:]:
        store(one)
