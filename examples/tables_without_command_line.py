"""Tables from Python, as the command line does it
===============================================

A table with text, dates, categories and missing cells, most of whose labels are missing: read, fitted, evaluated,
reported and saved with `TableClassifier`. Each cell names the command that does the same; as a script it
compares the numbers.

    python examples/tables_without_command_line.py FOLDER

FOLDER holds telco.csv (customers who left, or did not) and hr.xlsx (employees who left, or did not).
"""

# %%
# A hundred customers were asked, picked at random; for the others it is not known whether they will leave. The model is
# evaluated on held-out rows with labels of their own.
import contextlib
import io
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from pnulearn import TableClassifier
from pnulearn.cli import run

FOLDER = Path(sys.argv[1] if len(sys.argv) > 1 else "../shared/data/tables")


def hide_labels(frame: pd.DataFrame, label: str, n_labels: int, seed: int) -> pd.DataFrame:
    """Labels of so many rows, picked at random."""
    chosen = np.random.default_rng(seed).permutation(len(frame))[:n_labels]
    return frame.assign(**{label: frame[label].where(np.isin(np.arange(len(frame)), chosen))})


def command(*words: str) -> dict[str, Any]:
    """What a command answers with --json."""
    answer = io.StringIO()
    with contextlib.redirect_stdout(answer):
        assert run([*words, "--json", "--quiet"]) == 0
    return json.loads(answer.getvalue())


def same(ours: dict[str, Any], theirs: dict[str, Any], *names: str) -> None:
    """The answers agree in these facts, to the last digit. Advice names parameters in one and options in the other."""
    plain = json.loads(json.dumps(ours))
    for verdict in (plain.get("verdict", {}), theirs.get("verdict", {})):
        verdict.pop("advice", None)
        verdict.pop("concerns", None)
    assert all(plain[name] == theirs[name] for name in names), [(plain[name], theirs[name]) for name in names]
    print("  the command says the same:", ", ".join(names))


work = Path(tempfile.mkdtemp())
telco = pd.read_csv(FOLDER / "telco.csv")
hide_labels(telco[:3000], "Churn", 100, seed=0).to_csv(work / "customers.csv", index=False)
hide_labels(telco[3000:4000], "Churn", 150, seed=1).to_csv(work / "fresh.csv", index=False)

# %%
# `pnulearn fit customers.csv --label Churn --sampling random --model churn.pnu --report churn.html`
model = TableClassifier(sampling="random").fit(work / "customers.csv", "Churn")
print(model.verdict_.headline)
model.save(work / "churn.pnu")
model.report(work / "churn.html")
theirs = command("fit", str(work / "customers.csv"), "--label", "Churn", "--sampling", "random")
same(model.facts(), theirs, "verdict", "prior", "validation_error", "validation_interval", "columns", "left_out")

# %%
# A data frame gives the same model as its file.
frame = pd.read_csv(work / "customers.csv")
again = TableClassifier(sampling="random").fit(frame.drop(columns="Churn"), frame["Churn"])
assert np.allclose(again.predict_proba(frame), model.predict_proba(work / "customers.csv"), atol=1e-9)

# %%
# `pnulearn columns customers.csv --label Churn`
print(pd.DataFrame(model.columns_)[["column", "kind", "features", "missing"]].head(6).to_string(index=False))

# %%
# `pnulearn evaluate fresh.csv --label Churn --model churn.pnu --sampling random --costs 5 1`
judged = model.evaluate(work / "fresh.csv", "Churn", costs=(5, 1))
print(f"The error on fresh rows: {judged.error}")
paths = [str(work / "fresh.csv"), "--label", "Churn", "--model", str(work / "churn.pnu")]
theirs = command("evaluate", *paths, "--sampling", "random", "--costs", "5", "1")
same(judged.facts(), theirs, "error_rate", "interval", "prior", "cost_per_row", "rows")

# %%
# `pnulearn predict fresh.csv --model churn.pnu`
loaded = TableClassifier.load(work / "churn.pnu")
print("Called 'Yes':", int(np.sum(loaded.predict(work / "fresh.csv") == "Yes")), "of 1,000 customers.")

# %%
# An Excel table, and several learners that are averaged.
# `pnulearn fit employees.xlsx --label Attrition --sampling random --learner auto`
hr = pd.read_excel(FOLDER / "hr.xlsx", engine="openpyxl")
hide_labels(hr, "Attrition", 200, seed=0).to_excel(work / "employees.xlsx", index=False)
employees = TableClassifier(sampling="random", learner="auto").fit(work / "employees.xlsx", "Attrition")
print(employees.verdict_.headline)
theirs = command(
    "fit", str(work / "employees.xlsx"), "--label", "Attrition", "--sampling", "random", "--learner", "auto"
)
same(employees.facts(), theirs, "verdict", "prior", "learners", "validation_error")
