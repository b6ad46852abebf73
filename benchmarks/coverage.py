"""Coverage of the intervals of `pnu_risk` for any model when the prior is estimated too.

    PNULEARN_DATA=folder OPENBLAS_NUM_THREADS=1 python benchmarks/coverage.py rows.jsonl --draws 5 > table.md

A random forest, naive Bayes and logistic regression are trained once on 100 rows of each real set and frozen. Then rows
to judge them with are drawn again and again: labels at random, as many of each class, or (at a prior of .3) 70 %
positive, and 300 unlabelled rows. The prior comes from `estimate_prior` on these rows, and from the counts of labels
where they were drawn at random. `cover` is the share of 95 % intervals that hold the error on rows set apart, at the
true prior; `rmse` is the error of the estimate beside that of the labels alone under the same prior. Rows are appended
as they come, in a random order; `--seconds` of processor time stop it, and `--draws 0` only prints. Rules were chosen
on every second set and other draws.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
from prior_cost import draw_rows, load, read, shuffled
from prior_cost_page import HALVES, LABELS, PRIORS, SETS
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from pnulearn import estimate_prior
from pnulearn.metrics import pnu_risk
from pnulearn.priors import PriorEstimate

MODELS = {
    "forest": RandomForestClassifier(100, random_state=0),
    "naive Bayes": GaussianNB(var_smoothing=1e-3),
    "logistic": LogisticRegression(),
}
DRAWN = {"random": "at random", "class": "by class", "uneven": "by class, 70 % positive, prior .3"}
N_TRAINING = 50  # of each class
N_UNLABELED = 300
KEY = ("set", "prior", "labels", "sampling", "draw")
Array = np.ndarray


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rows", type=Path, help="JSON lines that results are appended to")
    parser.add_argument("--draws", type=int, default=5, help="of every set, prior, size and sampling; 0 prints only")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="of processor time, after which to stop")
    options = parser.parse_args()
    run(options.rows, options.draws, options.seconds)
    print(report(read(options.rows)))


def run(path: Path, n_draws: int, seconds: float) -> None:
    done = {tuple(row[name] for name in KEY) for row in read(path)}
    for draw in range(n_draws):
        uneven = product([draw], LABELS, ["uneven"], [0.3], SETS)
        for _, n_labels, sampling, prior, name in [*shuffled(draw, list(SETS)), *uneven]:
            key = (name, prior, n_labels, sampling, draw)
            answer = None if key in done or load(name) is None else judge(*key)
            if answer is None:
                continue
            result = {**dict(zip(KEY, key, strict=True)), **answer}
            with path.open("a") as file:
                file.write(json.dumps(result) + "\n")
            if time.process_time() > seconds:
                return


@cache
def frozen(name: str) -> tuple[Array, Array, list]:
    """Rows that no model has seen, their labels, and the models' scores for them, which do not change any more."""
    X, y = load(name)
    rng = np.random.default_rng(len(X))
    training = np.concatenate([rng.permutation(np.flatnonzero(y == code))[:N_TRAINING] for code in (0, 1)])
    rest = np.setdiff1d(np.arange(len(X)), training)
    scores = [model.fit(X[training], y[training]).predict_proba(X[rest])[:, 1] - 0.5 for model in MODELS.values()]
    return X[rest], y[rest], scores


def judge(name: str, prior: float, n_labels: int, sampling: str, draw: int) -> dict | None:
    """Estimate, interval, estimate of the labels alone and truth, for every model; and the prior's interval."""
    X, y, scores = frozen(name)
    drawn = draw_rows(np.arange(len(X)), y, prior, n_labels, N_UNLABELED, sampling, draw)
    if drawn is None:
        return None
    places, known, test, y_test = drawn
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        belief = estimate_prior(X[places], known, random_state=0)
        if sampling == "random":  # as pnu_risk(..., sampling="random") does
            belief = PriorEstimate.of_counts([(known == 0).sum(), (known == 1).sum()]).combine(belief)
    answer: dict = {"prior_interval": [belief.low, belief.high]}
    for model, score in zip(MODELS, scores, strict=True):
        found = pnu_risk(known, score[places], prior=belief)
        alone = error_rate(score[places], known, belief.mean)
        answer[model] = [found.value, found.low, found.high, alone, error_rate(score[test], y_test, prior)]
    return answer


def error_rate(scores: Array, labels: Array, prior: float) -> float:
    return float(prior * np.mean(scores[labels == 1] <= 0) + (1 - prior) * np.mean(scores[labels == 0] > 0))


def report(rows: list[dict]) -> str:
    parts = [
        f"{len(rows)} draws of evaluation rows, {len({row['set'] for row in rows})} sets. Errors in points.",
        "\n".join(by_labels(rows)),
        "\n".join(by_model(rows)),
        "\n".join(by_prior(rows)),
        "\n".join(by_half(rows)),
    ]
    return "\n\n".join(parts)


def by_labels(rows: list[dict]) -> Iterator[str]:
    yield "| labels | drawn | judged | cover 95 % | width | rmse | labels alone | cover of the prior 90 % |"
    yield "|---|---|---|---|---|---|---|---|"
    for sampling, n_labels in product(DRAWN, LABELS):
        some = [row for row in rows if row["sampling"] == sampling and row["labels"] == n_labels]
        if some:
            yield f"| {n_labels} | {DRAWN[sampling]} | {summary(some, list(MODELS))} | {prior_cover(some):.3f} |"


def by_model(rows: list[dict]) -> Iterator[str]:
    yield "| model | judged | cover 95 % | width | rmse | labels alone |"
    yield "|---|---|---|---|---|---|"
    for model in MODELS:
        yield f"| {model} | {summary(rows, [model])} |"


def by_prior(rows: list[dict]) -> Iterator[str]:
    yield "| prior | judged | cover 95 % | width | rmse | labels alone | cover of the prior 90 % |"
    yield "|---|---|---|---|---|---|---|"
    for prior in PRIORS:
        some = [row for row in rows if row["prior"] == prior]
        if some:
            yield f"| {prior} | {summary(some, list(MODELS))} | {prior_cover(some):.3f} |"


def by_half(rows: list[dict]) -> Iterator[str]:
    yield "| sets | judged | cover 95 % | width | rmse | labels alone | cover of the prior 90 % |"
    yield "|---|---|---|---|---|---|---|"
    for title, names in HALVES.items():
        some = [row for row in rows if row["set"] in names]
        if some:
            yield f"| {title} | {summary(some, list(MODELS))} | {prior_cover(some):.3f} |"


def summary(rows: list[dict], models: list[str]) -> str:
    value, low, high, alone, truth = np.array([row[model] for row in rows for model in models]).T
    cover = np.mean((low <= truth) & (truth <= high))
    errors = [100 * np.sqrt(np.mean((estimate - truth) ** 2)) for estimate in (value, alone)]
    return f"{len(value)} | {cover:.3f} | {100 * np.mean(high - low):.1f} | {errors[0]:.1f} | {errors[1]:.1f}"


def prior_cover(rows: list[dict]) -> float:
    return float(np.mean([row["prior_interval"][0] <= row["prior"] <= row["prior_interval"][1] for row in rows]))


if __name__ == "__main__":
    main()
