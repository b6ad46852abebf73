"""Which rows to label: error, stated error and prior against the number of labels, an oracle answering.

    PNULEARN_DATA=folder OPENBLAS_NUM_THREADS=1 python benchmarks/labeling_loop.py rows.jsonl --runs 20 > page.md

Real sets, starting from no label. Every run is appended to rows.jsonl when it is done; a second call goes on where the
first stopped, `--runs 0` only prints the page. The sets that the mixture was chosen on, with other draws, are reported
apart.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from real_sets import real_set
from sklearn.linear_model import LogisticRegression

from pnulearn._arrays import AnyArray
from pnulearn.labeling import Goal, Labeler, from_skactiveml
from pnulearn.labeling._learner import Learner, TrainingSet, default_model
from pnulearn.labeling._strategies import MIXTURE

CHOSEN_ON = ("banana", "image", "waveform", "german")  # and on mnist_4v9 and ijcnn1
OTHERS = ("phoneme", "magic", "spambase", "phishing")
TEST = 2000
GOAL = 0.1


@dataclass(frozen=True)
class Plan:
    """What a model is cheap enough for."""

    title: str
    pool: int
    checked: tuple[int, ...]  # numbers of labels at which models are judged
    refit_every: int | None  # as for `Labeler`: None is its default, 0 learns at the numbers above only


PLANS = {
    "logistic": Plan("logistic regression", 1000, (20, 30, 40, 60, 80, 120, 160, 200), None),
    "pnu": Plan("the default `PNUClassifier`", 500, (20, 30, 40, 60, 80, 120), 0),
}
MODEL = {"name": "pnu"}
OURS: dict[str, dict[Any, float]] = {"random": {"random": 1.0}, "mixture": dict(MIXTURE)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rows", type=Path, help="JSON lines that results are appended to")
    parser.add_argument("--runs", type=int, default=20, help="of every set; 0 prints only")
    parser.add_argument("--model", choices=["logistic", "pnu"], default="pnu", help="logistic is ten times faster")
    parser.add_argument("--first", type=int, default=0, help="number of the first run, to share runs out")
    parser.add_argument("--sets", default=",".join(CHOSEN_ON + OTHERS))
    parser.add_argument("--methods", default="random,mixture,uncertainty,by class")
    parser.add_argument("--try", dest="tried", default="{}", help='mixtures by name: {"a": {"random": 1, "margin": 1}}')
    options = parser.parse_args()
    OURS.update(json.loads(options.tried))
    MODEL["name"] = options.model
    run(
        options.rows,
        options.sets.split(","),
        options.methods.split(","),
        range(options.first, options.first + options.runs),
    )
    from labeling_loop_page import page

    print(page(read(options.rows), PLANS[options.model].title))


def run(path: Path, sets: list[str], methods: list[str], runs: range) -> None:
    done = {(row["set"], row["run"], row["method"]) for row in read(path)}
    for number in runs:
        for name in sets:
            found = real_set(name)
            if found is None:
                continue
            for method in methods:
                if (name, number, method) in done:
                    continue
                points = simulate(found[0], (found[1] > 0).astype(int), method, number)
                with path.open("a") as file:
                    file.write(json.dumps({"set": name, "run": number, "method": method, **points}) + "\n")
                print(number, name, method, file=sys.stderr, flush=True)


def simulate(X: AnyArray, y: AnyArray, method: str, number: int) -> dict[str, Any]:
    """One run: pool and test are drawn anew, the same for every method."""
    rng = np.random.default_rng([number, len(X)])
    rows = rng.permutation(len(X))
    size = PLANS[MODEL["name"]].pool
    pool, test = rows[:size], rows[size : size + TEST]
    if len(test) < 500:
        pool, test = rows[: len(rows) // 2], rows[len(rows) // 2 :]
    ask = by_class if method == "by class" else loop
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        points = list(ask(X[pool], y[pool], method, number, lambda model: wrong(model, X[test], y[test])))
    return {"prior": float(y.mean()), "points": points}


def loop(X: AnyArray, y: AnyArray, method: str, number: int, test: Callable[[Any], float]) -> Iterator[dict[str, Any]]:
    mixture = {uncertainty(): 1.0} if method == "uncertainty" else OURS[method]
    # who draws no row at random has nothing but the labels to tell the prior by
    model = new_model(number)
    if method == "uncertainty" and MODEL["name"] == "pnu":
        model.set_params(prior="labeled")
    plan = PLANS[MODEL["name"]]
    labeler = Labeler(
        X,
        classes=[0, 1],
        model=model,
        mixture=mixture,
        n_random=0 if method == "uncertainty" else None,
        goal=Goal(GOAL),
        refit_every=0 if method == "random" else plan.refit_every,  # which rows are random hangs on no model
        random_state=number,
    )
    for n in range(1, plan.checked[-1] + 1):
        draw = labeler.next()
        labeler.answer(int(y[draw.row]))
        if n not in plan.checked:
            continue
        progress = labeler.refresh()
        guess = majority(progress.counts)
        point: dict[str, Any] = {"n": n, "error": test(progress.model or guess)}
        if progress.error is not None:
            error, prior = progress.error, progress.prior[1]
            point |= {
                "stated": [error.value, error.low, error.high],
                "prior": [prior.value, prior.low, prior.high],
                "more": progress.n_more,
            }
        elif progress.model is not None:
            point["prior"] = [progress.counts[1] / n]
        yield point


def by_class(
    X: AnyArray, y: AnyArray, method: str, number: int, test: Callable[[Any], float]
) -> Iterator[dict[str, Any]]:
    """As many labels of either class, the prior read off the unlabelled rows."""
    rng = np.random.default_rng([number, 1])
    of_class = [rng.permutation(np.flatnonzero(y == code)) for code in (0, 1)]
    learner = Learner(X, 2, new_model(number), number)
    for n in (n for n in PLANS[MODEL["name"]].checked if n // 2 <= min(map(len, of_class))):
        rows = np.concatenate([some[: n // 2] for some in of_class])
        model = learner.learn(TrainingSet(rows, y[rows], np.ones(len(rows))), None).model
        yield {"n": n, "error": test(model), "prior": [float(getattr(model, "prior_", 0.5))]}


def new_model(number: int) -> Any:
    return default_model(number) if MODEL["name"] == "pnu" else LogisticRegression(C=10.0, max_iter=500)


def uncertainty() -> Callable[..., AnyArray]:
    """scikit-activeml's uncertainty sampling with the loop's own model; it always takes the row of greatest utility."""
    from skactiveml.base import SkactivemlClassifier
    from skactiveml.pool import UncertaintySampling

    class Fitted(SkactivemlClassifier):
        def __init__(
            self,
            model: Any = None,
            classes: Any = None,
            missing_label: float = np.nan,
            cost_matrix: Any = None,
            random_state: Any = None,
        ) -> None:
            super().__init__(classes, missing_label, cost_matrix, random_state)
            self.model = model

        def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
            self.classes_ = np.array([0, 1])
            return self

        def predict_proba(self, X: Any) -> AnyArray:
            return self.model.predict_proba(X)

    def strategy(model: Any, X: Any, state: Any) -> AnyArray:
        if model is None:
            return np.ones(len(state.left))
        clf = Fitted(model, classes=[0, 1]).fit(X, None)
        query = UncertaintySampling(method="least_confident", random_state=0)
        return from_skactiveml(query, sharpness=np.inf, clf=clf, fit_clf=False)(model, X, state)

    strategy.__name__ = "uncertainty"
    return strategy


def majority(counts: dict[Any, int]) -> Any:
    from sklearn.dummy import DummyClassifier

    code = max(counts, key=counts.get)  # type: ignore[arg-type]
    return DummyClassifier(strategy="constant", constant=code).fit([[0.0]], [code])


def wrong(model: Any, X: AnyArray, y: AnyArray) -> float:
    return float(np.mean(model.predict(X) != y))


def read(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


if __name__ == "__main__":
    main()
