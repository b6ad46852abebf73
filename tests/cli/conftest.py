"""A table as people have it: 30 positives, 20 negatives, many empty labels, a category, free text, gaps."""

import csv

import numpy as np
import pytest

from pnulearn.cli import run

HEADER = ["age", "income", "city", "note", "bought"]


def write_customers(path, n_positive=30, n_negative=20, n_unlabeled=300, seed=0):
    rng = np.random.default_rng(seed)
    positive = np.r_[np.ones(n_positive), np.zeros(n_negative), rng.random(n_unlabeled) < 0.3].astype(bool)
    labels = ["yes"] * n_positive + ["no"] * n_negative + [""] * n_unlabeled
    age = rng.normal(40 + 15 * positive, 8)
    income = rng.lognormal(3 + 0.8 * positive, 0.4)
    city = np.where(rng.random(len(positive)) < 0.2 + 0.6 * positive, "Kyōto", "Nara")
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(HEADER)
        for i in rng.permutation(len(labels)):
            shown = "" if i % 50 == 7 else f"{age[i]:.1f}"
            writer.writerow([shown, f"{income[i]:.2f}", city[i], f"said {i} things, <b>loudly</b>", labels[i]])
    return path


@pytest.fixture(scope="session")
def few(tmp_path_factory):
    """Ten labels: the prior is hardly known."""
    return write_customers(tmp_path_factory.mktemp("tables") / "few.csv", 5, 5)


@pytest.fixture(scope="session")
def many(tmp_path_factory):
    """Half of the labels are positive, and so many of them that they cannot have been drawn at random."""
    return write_customers(tmp_path_factory.mktemp("tables") / "many.csv", 3000, 3000, 6000)


@pytest.fixture(scope="session")
def customers(tmp_path_factory):
    return write_customers(tmp_path_factory.mktemp("tables") / "customers.csv")


@pytest.fixture(scope="session")
def fitted(customers, tmp_path_factory):
    """A model and a report made by the command line, with the exit code."""
    folder = tmp_path_factory.mktemp("models")
    model, report = folder / "model.pnu", folder / "report.html"
    code = run(["fit", str(customers), "--label", "bought", "--folds", "3", "-m", str(model), "-r", str(report)])
    return code, model, report
