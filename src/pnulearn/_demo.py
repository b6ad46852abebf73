"""`pnulearn demo`: a report for a messy table, then two data sets on which unlabelled rows help more and less.

The table is generated: 1,500 customers of a shop, of whom 100, drawn at random, were asked whether they would renew.
The truth about all others is known, but not in the table.
"""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import minmax_scale

from pnulearn._arrays import AnyArray
from pnulearn._estimators.classifier import PNUClassifier
from pnulearn._table_classifier import TableClassifier
from pnulearn.report._columns import look_at_columns
from pnulearn.report._page import say_columns
from pnulearn.tables._verdict import percent

TABLE, TRUTH, REPORT = "shop.csv", "shop-truth.txt", "shop-report.html"
N_CUSTOMERS, N_PHONED = 1_500, 100
CITIES = ("Leeds", "York", "Hull", "Bath", "Derby", "Exeter", "Lincoln", "Oxford", "Preston", "Ripon", "Truro", "Wells")
HAPPY, CROSS, PLAIN = (
    words.split()
    for words in (
        "great fast thanks love friendly helpful easy recommend quick lovely",
        "late broken refund waiting rude cancel wrong missing slow complaint",
        "the order delivery my account again with your shop it was and very for this box address",
    )
)
SEEDS = range(5)
MODELS = ("logistic regression", "labels and prior", "with unlabelled rows")


def run() -> None:
    """Fit a model to the shop's table, compare the verdict with the truth, write a report; then two comparisons."""
    start = time.perf_counter()
    try:
        _show_shop()
    except ImportError as error:  # tables need optional dependencies
        print(f"{error}\n")
    for comparison in COMPARISONS:
        comparison.show()
    print(
        "Unlabelled rows help where labels are few and the model's errors are unequal in the two classes; where a few\n"
        "labels are enough, they hardly matter. Before you fit, `pnulearn advise` says which it will be; afterwards\n"
        "the report compares the model with a supervised one."
    )
    print(f"\n{time.perf_counter() - start:.0f} s")


def write_table(folder: Path) -> AnyArray:
    """Write shop.csv, whose column "renews" is mostly empty, and shop-truth.txt; returns the truth.

    Parameters
    ----------
    folder : Path
        Output folder. Files with these names and other content are not replaced.
    """
    rng = np.random.default_rng(0)
    columns, truth = _draw_shop(rng)
    answers = np.where(truth, "yes", "no")
    phoned = np.isin(np.arange(N_CUSTOMERS), rng.permutation(N_CUSTOMERS)[:N_PHONED])
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow([*columns, "renews"])
    writer.writerows(zip(*columns.values(), np.where(phoned, answers, ""), strict=True))
    for name, content in ((TABLE, text.getvalue()), (TRUTH, "\n".join(answers) + "\n")):
        path, encoded = folder / name, content.encode()
        if path.exists() and path.read_bytes() != encoded:
            raise FileExistsError(
                f"{str(path)!r} exists and was not written by the demo. Run `pnulearn demo` in another folder."
            )
        path.write_bytes(encoded)
    return truth


def _draw_shop(rng: np.random.Generator) -> tuple[dict[str, list[str]], AnyArray]:
    """Columns as text: currency signs, percent, dates by day and month, cities, messages, gaps; and who would renew."""
    n = N_CUSTOMERS
    mood, spend = rng.random(n), rng.lognormal(4.5, 0.8, n)
    months, newsletter = rng.integers(0, 48, n), rng.random(n) < 0.45
    logit = 6 * (mood - 0.5) + 1.2 * (np.log(spend) - 4.5) + newsletter - months / 16 + 0.6
    truth = rng.random(n) < 1 / (1 + np.exp(-3 * logit))
    last = np.datetime64("2026-06-30") - (30.4 * months + rng.integers(0, 30, n)).astype(int)
    gap = rng.random(n) < 0.1
    frequency = 1 / np.arange(1, len(CITIES) + 1)
    columns = {
        "customer": [f"C-{number:05d}" for number in rng.permutation(n)],
        "spent": ["" if g else f"£{value:,.2f}" for value, g in zip(spend, gap, strict=True)],
        "discount": [f"{value:.0f} %" for value in rng.choice([0, 5, 10, 15, 20], n)],
        "last order": [f"{str(day)[8:]}/{str(day)[5:7]}/{str(day)[:4]}" for day in last],
        "city": rng.choice(CITIES, n, p=frequency / frequency.sum()).tolist(),
        "newsletter": ["yes" if value else "no" for value in newsletter],
        "last message": [_message(rng, value) for value in mood],
    }
    return columns, truth


def _message(rng: np.random.Generator, mood: float) -> str:
    told = [str(rng.choice(HAPPY if rng.random() < mood else CROSS)) for _ in range(rng.integers(5, 11))]
    return " ".join(rng.permutation(told + rng.choice(PLAIN, rng.integers(4, 12)).tolist()).tolist())


def _show_shop() -> None:
    truth = write_table(Path())
    print(f"A shop has {len(truth):,} customers. It phoned 100 of them, picked at random: would they renew?")
    print(f"$ pnulearn fit {TABLE} --label renews --sampling random --report {REPORT}\n")
    model = TableClassifier(sampling="random").fit(TABLE, "renews", command=f"pnulearn fit {TABLE} ...")
    print(model.verdict_.headline)
    print(say_columns(look_at_columns(model.fitted_).importances))
    unseen = model.fitted_.codes < 0
    predicted = model.predict(TABLE) == "yes"
    print(
        f"The truth, which the model never saw: it errs on {percent(np.mean(predicted[unseen] != truth[unseen]))} of "
        f"the {unseen.sum():,} customers who were not phoned."
    )
    _write_report(model)


def _write_report(model: TableClassifier) -> None:
    try:
        model.report(REPORT)
    except (ImportError, OSError) as error:
        print(f"No report was written: {error}\n")
    else:
        print(f"The table is {TABLE}. The report: open {Path(REPORT).resolve()} in a browser.\n")


@dataclass(frozen=True, eq=False)
class Comparison:
    """Three models on a data set of scikit-learn: the test errors of `MODELS`.

    Parameters
    ----------
    question : str
        What is to be predicted.
    positive, negative : str
        Names of the two classes.
    load : callable
        Returns features in [0, 1] and True for positive rows.
    n_positive, n_negative, n_unlabeled : int
        Rows of the three kinds.
    prior : float
        Share of positives among unlabelled and test rows, passed to the last two models as `prior`.
    """

    question: str
    positive: str
    negative: str
    load: Callable[[], tuple[AnyArray, AnyArray]]
    n_positive: int
    n_negative: int
    n_unlabeled: int
    prior: float

    def show(self) -> None:
        """Print the mean test errors over `SEEDS`."""
        print(
            f"{self.question} {self.n_positive} labels '{self.positive}', {self.n_negative} '{self.negative}', "
            f"{self.n_unlabeled} unlabelled rows.\nThe labels' class ratio differs from the population's on purpose: "
            f"there, {percent(self.prior)} are {self.positive},\nso that always answering "
            f"'{self.negative}' errs on {percent(self.prior)}. Mean test error over {len(SEEDS)} draws:"
        )
        for model, error in zip(MODELS, np.mean([self.errors(seed) for seed in SEEDS], axis=0), strict=True):
            print(f"  {model:22}{100 * error:7.1f} %")
        print()

    def errors(self, seed: int) -> tuple[float, ...]:
        """Test errors of the three `MODELS` in one draw.

        Parameters
        ----------
        seed : int
            Seed of the draw.
        """
        X, positive = self.load()
        labeled, unlabeled, test = self.draw(positive, np.random.default_rng(seed))
        y = np.where(np.isin(np.arange(len(X)), labeled), positive.astype(float), np.nan)
        train = np.concatenate([labeled, unlabeled])
        models = (
            LogisticRegression(max_iter=1000).fit(X[labeled], y[labeled]),
            PNUClassifier("pn", prior=self.prior, random_state=seed).fit(X[labeled], y[labeled]),
            PNUClassifier(prior=self.prior, random_state=seed).fit(X[train], y[train]),
        )
        return tuple(float(np.mean(model.predict(X[test]) != positive[test])) for model in models)

    def draw(self, positive: AnyArray, rng: np.random.Generator) -> tuple[AnyArray, AnyArray, AnyArray]:
        """Labelled, unlabelled and test rows; the last two have the population's share of positives.

        Parameters
        ----------
        positive : array
            Whether each row is positive.
        rng : Generator
            Random number generator.
        """
        of_each = [rng.permutation(np.flatnonzero(positive == value)) for value in (True, False)]
        labeled = np.concatenate([of_each[0][: self.n_positive], of_each[1][: self.n_negative]])
        rest = [of_each[0][self.n_positive :], of_each[1][self.n_negative :]]
        shares = (self.prior, 1 - self.prior)
        counts = [round(self.n_unlabeled * share) for share in shares]
        unlabeled = np.concatenate([rows[:count] for rows, count in zip(rest, counts, strict=True)])
        rest = [rows[count:] for rows, count in zip(rest, counts, strict=True)]
        n_test = min(len(rows) / share for rows, share in zip(rest, shares, strict=True))
        test = np.concatenate([rows[: int(n_test * share)] for rows, share in zip(rest, shares, strict=True)])
        return labeled, unlabeled, test


def _digits() -> tuple[AnyArray, AnyArray]:
    X, digit = load_digits(return_X_y=True)
    return X / 16, digit % 2 == 0


def _tumours() -> tuple[AnyArray, AnyArray]:
    X, benign = load_breast_cancer(return_X_y=True)
    return minmax_scale(X), benign == 0


COMPARISONS = (
    Comparison("Is a handwritten digit even?", "even", "odd", _digits, 10, 3, 200, 0.3),
    Comparison("Is a tumour malignant?", "malignant", "benign", _tumours, 21, 9, 200, 0.37),
)
