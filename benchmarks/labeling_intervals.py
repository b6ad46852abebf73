"""Whether all intervals of a labelling session hold: with skipped rows, wrong answers, and models that change.

    OPENBLAS_NUM_THREADS=1 python benchmarks/labeling_intervals.py results/rows/labeling-intervals.jsonl [--runs 20]

First, a fixed model in an unlimited population: error .02, .1 or .3, looked at after every fifth label from the 20th to
the 120th. The person skips 70 % of the rows that the model gets wrong, or answers 5 or 10 % of the rows wrongly, of
which a tenth is asked twice. Second, sessions of `Labeler` with logistic regression on sets of scikit-learn, at 90 and
95 %, looked at after every label from the tenth to the 100th; the truth is the error of the current model on all rows.
Every session is appended to the file when it is done; a second call goes on where the first stopped. A page is printed.
"""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import datasets
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from pnulearn.labeling import AnswerErrors, Labeler, Sample
from pnulearn.labeling import _estimates as estimates
from pnulearn.labeling._draws import PENDING

LOOKS = range(20, 121, 5)
REPEAT = 0.1
CASES = {  # error, share of the model's errors that are skipped, share of wrong answers
    "nothing special": [(0.02, 0.0, 0.0), (0.1, 0.0, 0.0), (0.3, 0.0, 0.0)],
    "70 % of the model's errors skipped": [(0.02, 0.7, 0.0), (0.1, 0.7, 0.0), (0.3, 0.7, 0.0)],
    "5 % of the answers wrong": [(0.02, 0.0, 0.05), (0.1, 0.0, 0.05), (0.3, 0.0, 0.05)],
    "10 % of the answers wrong": [(0.02, 0.0, 0.1), (0.1, 0.0, 0.1), (0.3, 0.0, 0.1)],
}
SETS = ("breast cancer", "digits, even", "two Gaussians")


def fixed_model(seed: int, error: float, skipped: float, wrong: float) -> dict[str, Any]:
    """One session with a fixed model: whether all intervals hold, with and without allowance, and the last widths."""
    rng, n = np.random.default_rng(seed), LOOKS[-1]
    is_wrong = rng.random(n) < error
    is_off, seen = is_wrong & (rng.random(n) < skipped), is_wrong ^ (rng.random(n) < wrong)
    again = [(0, int((rng.random(2) < wrong).sum() == 1)) for _ in range(int(REPEAT * n))]
    ours, plain = [], []
    for k in LOOKS:
        sample = Sample(np.arange(k), np.where(is_off[:k], PENDING, 0), np.ones(k), 1e6 - np.arange(k))
        share = estimates.judge_share(sample, seen[:k], 0.95)
        checked = AnswerErrors.of(again[: int(REPEAT * k)] if wrong else [], 2, 0.95)
        ours.append(share if checked is None else checked.correct(share, k, 0.95))
        known = sample.is_known
        plain.append(estimates.judge_share(sample[known], seen[:k][known], 0.95))
    return {
        "held": [all(one.low <= error <= one.high for one in shares) for shares in (ours, plain)],
        "half_width": [round(shares[-1].half_width, 4) for shares in (ours, plain)],
    }


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    if name == "breast cancer":
        X, y = datasets.load_breast_cancer(return_X_y=True)
        return StandardScaler().fit_transform(X), y
    if name == "digits, even":
        X, y = datasets.load_digits(return_X_y=True)
        return X / 16, (y % 2 == 0).astype(int)
    rng = np.random.default_rng(0)
    y = (rng.random(1500) < 0.3).astype(int)
    return rng.normal(size=(1500, 5)) + y[:, None] * np.array([1.0, 0.5, 0.3, 0.0, 0.0]), y


def changing_model(name: str, mixture: str | None, seed: int) -> dict[str, Any]:
    """One session of `Labeler`: estimate, truth and the interval at two levels after every label."""
    X, y = load(name)
    model = LogisticRegression(C=0.1, max_iter=200)
    labeler = Labeler(X, classes=[0, 1], model=model, mixture=mixture, refit_every=0, random_state=seed)
    held = {0.9: True, 0.95: True}
    for n in range(1, 101):
        draw = labeler.next()
        assert draw is not None
        labeler.answer(int(y[draw.row]), draw)
        if n < 10:
            continue
        progress = labeler.refresh()
        assert progress.error is not None
        usual = max(progress.counts, key=lambda name: progress.counts[name])
        said = np.full(len(y), usual) if progress.model is None else progress.model.predict(X)
        truth = float(np.mean(said != y))
        for level in held:
            share = estimates.state_share(progress.error.value, progress.error.n_effective, n, level)
            held[level] &= share.low <= truth <= share.high
    assert progress.error is not None
    return {"held": [held[0.9], held[0.95]], "half_width": round(progress.error.half_width, 4)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rows", type=Path)
    parser.add_argument(
        "--runs", type=int, default=20, help="sessions of `Labeler` per set; ten times as many simulated"
    )
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = [json.loads(line) for line in options.rows.read_text().splitlines()] if options.rows.exists() else []
    done = {json.dumps(row["cell"]) for row in rows}
    cells: list[list[Any]] = [
        ["fixed", case, *values, seed] for seed in range(10 * options.runs) for case in CASES for values in CASES[case]
    ]
    cells += [["changing", s, m, seed] for seed in range(options.runs) for s in SETS for m in ("random", "mixture")]
    with options.rows.open("a") as file:
        for cell in cells:
            if json.dumps(cell) in done:
                continue
            if cell[0] == "fixed":
                found = fixed_model(cell[-1], *cell[2:5])
            else:
                found = changing_model(cell[1], None if cell[2] == "mixture" else cell[2], cell[-1])
            rows.append({"cell": cell} | found)
            file.write(json.dumps(rows[-1]) + "\n")
            file.flush()
    report(rows)


def report(rows: list[dict[str, Any]]) -> None:
    print(
        "# Intervals while labelling\n\nBy `benchmarks/labeling_intervals.py`: share of sessions in which "
        "all intervals hold.\n"
    )
    print(
        "A fixed model, 95 %, 20 to 120 labels; in brackets without the allowance for skipped rows and wrong answers.\n"
    )
    print("| | error | sessions | all hold | ± at 120 labels |\n|---|---|---|---|---|")
    for case, settings in CASES.items():
        for values in settings:
            own = [row for row in rows if row["cell"][:5] == ["fixed", case, *values]]
            held, width = (np.mean([row[key] for row in own], axis=0) for key in ("held", "half_width"))
            print(
                f"| {case} | {values[0]:g} | {len(own)} | {held[0]:.3f} ({held[1]:.3f}) | "
                f"{100 * width[0]:.1f} ({100 * width[1]:.1f}) |"
            )
    print("\nModels that change with every label (logistic regression), 10 to 100 labels.\n")
    print("| set | rows chosen | sessions | 90 % | 95 % | ± at 100 labels, 95 % |\n|---|---|---|---|---|---|")
    for name in SETS:
        for mixture in ("random", "mixture"):
            own = [row for row in rows if row["cell"][:3] == ["changing", name, mixture]]
            if own:
                held, width = (np.mean([row[key] for row in own], axis=0) for key in ("held", "half_width"))
                print(f"| {name} | {mixture} | {len(own)} | {held[0]:.2f} | {held[1]:.2f} | {100 * width:.1f} |")


if __name__ == "__main__":
    main()
