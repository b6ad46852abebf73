"""Store one more model of today's code, for all later versions to read.

`python tests/files/stored/write.py table-v2` adds table-v2.pnu and its answers. A file that is there is never
rewritten: it stands for the files of users. Add one whenever model files hold something that they did not hold before.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import pnulearn
from pnulearn._tables.frames import as_table
from pnulearn.tables.model import TableModel, fit_table

STORED = Path(__file__).parent
# What every stored model is asked, by the part of its name before the dash.
ROWS: dict[str, Any] = {
    "classifier": np.linspace(-2, 2, 20).reshape(10, 2),
    "table": pd.DataFrame({"age": [20.0, 35.5, None, 61.0], "city": ["Kobe", "Nara", "Kobe", None]}),
}


def fit_classifier() -> pnulearn.PNUClassifier:
    """Three classes named in words, an estimated prior, a loss and a kernel with attributes of their own."""
    rng = np.random.default_rng(0)
    truth = rng.integers(3, size=90)
    X = rng.normal(size=(90, 2)) + 1.5 * (truth - 1)[:, None]
    y = np.where(np.arange(90) < 45, np.array(["ham", "other", "spam"], dtype=object)[truth], None)
    search = {"mix": [0.0, 0.5], "alpha": [0.001, 0.01], "bandwidth": [1.0, 2.0], "centers": 8, "cv": 3}
    return pnulearn.PNUClassifier(loss="logistic", random_state=0, **search).fit(X, y)


def fit_model() -> TableModel:
    """Numbers and categories with empty cells, and a prior that is given."""
    rng = np.random.default_rng(0)
    truth = rng.random(90) < 0.4
    age = np.where(rng.random(90) < 0.1, np.nan, 30 + 15 * truth + rng.normal(0, 12, 90).round(1))
    city = np.where(rng.random(90) < 0.1, None, np.where(rng.random(90) < 0.3 + 0.4 * truth, "Nara", "Kobe"))
    bought = np.where(np.arange(90) < 40, np.where(truth, "yes", "no"), None)
    frame = pd.DataFrame({"age": age, "city": city, "bought": bought})
    return fit_table(as_table(frame), "bought", prior=0.4, centers=10, cv=3).model


def ask(model: Any, rows: Any) -> dict[str, Any]:
    """Labels and probabilities of the rows."""
    if isinstance(model, TableModel):
        found = model.predict(rows)
        return {"labels": found.labels.tolist(), "probability": found.probability.tolist()}
    return {"labels": model.predict(rows).tolist(), "probability": model.predict_proba(rows).tolist()}


def store(name: str) -> None:
    """Write the model of that name and add its answers."""
    path, kind = STORED / f"{name}.pnu", name.split("-")[0]
    if path.exists():
        raise SystemExit(f"{path.name} is there already, and stored models are never rewritten. Choose another name.")
    model = {"classifier": fit_classifier, "table": fit_model}[kind]()
    model.save(path)
    answers = STORED / "answers.json"
    known = json.loads(answers.read_text()) if answers.exists() else {}
    answers.write_text(json.dumps(known | {name: ask(model, ROWS[kind])}, indent=1) + "\n")


if __name__ == "__main__":
    for one in sys.argv[1:]:
        store(one)
