"""Positives and unlabelled rows alone: priors, errors and their intervals, the test of SCAR, and other packages.

    python benchmarks/positive_unlabelled.py grid --draws 40       # one sample: priors .05 to .7, frequencies .1 to .9
    python benchmarks/positive_unlabelled.py scar --draws 200      # size and power of check_scar
    PNULEARN_DATA=folder python benchmarks/positive_unlabelled.py priors --draws 1   # methods for the prior, real sets
    PNULEARN_DATA=folder python benchmarks/positive_unlabelled.py models --draws 5   # errors and AUC on real sets
    PNULEARN_DATA=folder python benchmarks/positive_unlabelled.py models --draws 5 --unlabeled 2000
    python benchmarks/positive_unlabelled.py page > results/positive-unlabelled.md

Every line is appended to results/rows/positive-unlabelled-NAME.csv as soon as it is known; a second run continues.
Sets of scikit-learn are always there, the folder (and its subfolder raw) holds npz files with X and y. Methods of
pulearn and pu-toolbox are left out if the packages are not installed.
"""

from __future__ import annotations

import argparse
import csv
import os
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn import datasets
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import pairwise_distances, roc_auc_score
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from pnulearn import AutoPNU, PNUClassifier, check_scar, estimate_prior, pnu_risk
from pnulearn.priors._resolve import prior_estimator

ROWS = Path(__file__).parents[1] / "results" / "rows"
SIZE = 1000
GRID_PRIORS, FREQUENCIES = (0.05, 0.1, 0.3, 0.5, 0.7), (0.1, 0.3, 0.5, 0.7, 0.9)
SHARED = 0.3  # share of the negatives that are distributed like positives, where the prior is not identified
SCAR_CASES = ((500, 0.3, 0.5, 2.0), (1000, 0.3, 0.2, 2.0), (1000, 0.5, 0.2, 4.0), (2000, 0.3, 0.1, 3.0))
BIASES = (0.0, 0.25, 0.5, 1.0)
SET_PRIORS = (0.1, 0.3, 0.5, 0.7)
# Sets on which the coefficients of "combined" were chosen: every second one of 36.
CHOSEN_ON = frozenset(
    [
        "a9a",
        "cifar_cat_v_dog_effnet",
        "covtype",
        "fmnist_tshirt_v_shirt",
        "german",
        "image",
        "mnist_4v9",
        "phishing",
        "raw_abalone",
        "raw_churn",
        "raw_diamonds",
        "raw_marketing",
        "raw_student",
        "raw_wine",
        "sk_38",
        "sk_digits",
        "splice",
        "w8a",
    ]
)
METHODS = ("combined", "bbe", "dedpul", "pe", "tice", "km2", "penl1")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=[*RUNS, "page"])
    parser.add_argument("--draws", type=int, default=1)
    parser.add_argument("--unlabeled", type=int, default=300, help="unlabelled rows of the real sets")
    parser.add_argument("--methods", help="methods separated by commas; all by default")
    parser.add_argument("--sets", help="real sets separated by commas; all by default")
    parser.add_argument("--prior", type=float, help="one of the priors of grid or priors; all by default")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.what == "page":
        print_page()
        return
    keys, run = RUNS[options.what]
    path = ROWS / f"positive-unlabelled-{options.what}.csv"
    done = {tuple(line[key] for key in keys) for line in read(path)}
    for key, answer in run(options):
        if tuple(map(str, key)) in done:
            continue
        found = answer()
        new = not path.exists()
        with path.open("a", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            if new:
                writer.writerow([*keys, *found])
            writer.writerow(
                [*key, *(f"{value:.5f}" if isinstance(value, float) else value for value in found.values())]
            )


def read(path: Path) -> list[dict[str, str]]:
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


# One sample: some positives of a random sample are labelled.


def draw_sample(prior: float, frequency: float, shared: float, draw: int) -> tuple[Any, Any, Any]:
    """X, y (1 for labelled positives, 0 for unlabelled rows) and the truth; the classes are 3 deviations apart."""
    rng = np.random.default_rng([draw, round(100 * prior), round(100 * frequency), round(100 * shared)])
    truth = rng.random(SIZE) < prior
    like = truth | (rng.random(SIZE) < shared)
    X = rng.normal(size=(SIZE, 4)) + 1.5 * like[:, None]
    return X, (truth & (rng.random(SIZE) < frequency)).astype(int), truth


def run_grid(options: argparse.Namespace) -> Iterator[tuple[Any, Callable[[], dict[str, Any]]]]:
    for draw in range(options.draws):
        for shared in (0.0, SHARED):
            for prior in GRID_PRIORS if options.prior is None else [options.prior]:
                for frequency in FREQUENCIES:
                    yield (
                        (draw, shared, prior, frequency),
                        lambda a=(prior, frequency, shared, draw): grid_cell(*a),
                    )


def grid_cell(prior: float, frequency: float, shared: float, draw: int) -> dict[str, Any]:
    X, y, truth = draw_sample(prior, frequency, shared, draw)
    found = {"n_labeled": int(y.sum()), "in_table": float(truth.mean())}
    names = ("estimate", "low", "high", "score_error", "risk", "risk_low", "risk_high", "model_error", "model_risk")
    names = (
        *names,
        "model_low",
        "model_high",
        "bound_low",
        "bound_high",
        "bound_error",
        "bound_risk_low",
        "bound_risk_high",
    )
    if y.sum() < 3:
        return found | dict.fromkeys(names, float("nan"))
    options = {"sampling": "random", "unlabeled": 0}
    estimate = estimate_prior(X, y, random_state=0, **options)
    score = X.sum(axis=1) - 3
    risk = pnu_risk(y, score, prior=prior, **options)
    values = [estimate.value, estimate.low, estimate.high, float(np.mean((score > 0) != truth))]
    values += [risk.value, risk.low, risk.high]
    nothing = float("nan")
    X_new, _, truth_new = draw_sample(prior, frequency, shared, draw + 1000)

    def fit(prior: Any) -> list[float]:
        model = PNUClassifier(risk="pu", prior=prior, random_state=0, **options).fit(X, y)
        error = float(np.mean((model.decision_function(X_new) > 0) != truth_new))
        return [error, model.risk_.value, model.risk_.low, model.risk_.high]

    values += fit(estimate) if draw < 5 else [nothing] * 4
    if shared:
        bound = estimate_prior(X, y, "bound", random_state=0, **options)
        error, _, low, high = fit(bound) if draw < 5 else [nothing] * 4
        values += [bound.low, bound.high, error, low, high]
    else:
        values += [nothing] * 5
    return found | dict(zip(names, values, strict=True))


# The test of SCAR: log-probability of a label rises by `bias` per standard deviation of one column of the positives.


def run_scar(options: argparse.Namespace) -> Iterator[tuple[Any, Callable[[], dict[str, Any]]]]:
    for draw in range(options.draws):
        for case in range(len(SCAR_CASES)):
            for bias in BIASES:
                yield (draw, case, bias), lambda a=(draw, case, bias): scar_cell(*a)


def scar_cell(draw: int, case: int, bias: float) -> dict[str, Any]:
    n, prior, frequency, gap = SCAR_CASES[case]
    rng = np.random.default_rng([draw, case])
    truth = rng.random(n) < prior
    X = rng.normal(size=(n, 4)) + gap / 2 * truth[:, None]
    chance = frequency * np.exp(bias * (X[:, 0] - gap / 2) - bias**2 / 2)
    y = (truth & (rng.random(n) < chance)).astype(int)
    found = check_scar(X, y, prior=prior, sampling="random", unlabeled=0)
    return {"p_value": found.p_value}


# Real sets: 50 labelled positives, and unlabelled rows with a known share of positives.


def load_sets() -> dict[str, Any]:
    found: dict[str, Any] = {}
    cancer, digits = (load(return_X_y=True) for load in (datasets.load_breast_cancer, datasets.load_digits))
    found["sk_cancer"] = cancer[0], cancer[1] == 1
    found["sk_digits"] = digits[0], digits[1] % 2 == 1
    pair = np.isin(digits[1], (3, 8))
    found["sk_38"] = digits[0][pair], digits[1][pair] == 8
    folder = Path(os.environ.get("PNULEARN_DATA", "."))
    for path in sorted([*folder.glob("*.npz"), *folder.glob("raw/*.npz")]):
        with np.load(path) as data:
            if not {"X", "y"} <= set(data):
                continue
            labels = data["y"]
        values = np.unique(labels)
        if len(values) == 2:
            found[("raw_" if path.parent.name == "raw" else "") + path.stem] = path, labels == values[1]
    return found


def draw_set(where: Any, is_positive: Any, prior: float, n_unlabeled: int, draw: int) -> tuple[Any, Any, Any, Any]:
    """Standardised rows (P, then U), labels, the truth of all, and their test part: rows of U."""
    if isinstance(where, Path):
        with np.load(where) as data:
            where = data["X"]
    rng = np.random.default_rng([draw, round(100 * prior), n_unlabeled])
    positive, negative = (rng.permutation(np.flatnonzero(is_positive == side)) for side in (True, False))
    n_positive = rng.binomial(n_unlabeled, prior)
    rest = positive[50:]
    rows = [
        positive[:50],
        rng.choice(rest, n_positive, replace=n_positive > len(rest)),
        rng.choice(negative, n_unlabeled - n_positive, replace=n_unlabeled - n_positive > len(negative)),
    ]
    truth = np.repeat([1, 1, 0], [len(part) for part in rows])
    X = StandardScaler().fit_transform(np.nan_to_num(np.asarray(where[np.concatenate(rows)], dtype=float)))
    return X, np.repeat([1, 0], [50, n_unlabeled]), truth, n_positive / n_unlabeled


def run_priors(options: argparse.Namespace) -> Iterator[tuple[Any, Callable[[], dict[str, Any]]]]:
    methods = chosen(prior_methods(), options)
    for draw in range(options.draws):
        for name, (where, is_positive) in load_sets().items():
            if min(is_positive.sum() - 50, (~is_positive).sum()) < 50:
                continue
            for prior in SET_PRIORS if options.prior is None else [options.prior]:
                drawn: list[Any] = []  # drawn once, and only if a method needs it
                for method, answer in methods.items():
                    key = (name, prior, draw, options.unlabeled, method)
                    source = (where, is_positive, prior, options.unlabeled, draw)
                    yield key, lambda d=drawn, s=source, answer=answer: answer(*_drawn(d, s)[:2])


def chosen(methods: dict[str, Any], options: argparse.Namespace) -> dict[str, Any]:
    return {name: methods[name] for name in options.methods.split(",")} if options.methods else methods


def _drawn(kept: list[Any], source: Any) -> Any:
    if not kept:
        kept.append(draw_set(*source))
    return kept[0]


def prior_methods() -> dict[str, Callable[[Any, Any], dict[str, Any]]]:
    def ours(method: str) -> Callable[[Any, Any], dict[str, Any]]:
        def answer(X: Any, y: Any) -> dict[str, Any]:
            n_bootstrap = {} if method == "combined" else {"n_bootstrap": 0}
            found = prior_estimator(method, random_state=0, unlabeled=0, **n_bootstrap).fit(X, y).estimate_
            return {"estimate": float(found.value), "low": float(found.low), "high": float(found.high)}

        return answer

    def theirs(make: Callable[[], Any], read: Callable[[Any, float], float]) -> Callable[[Any, Any], dict[str, Any]]:
        def answer(X: Any, y: Any) -> dict[str, Any]:
            nothing = float("nan")
            return {"estimate": read(make().fit(X, y), y.mean()), "low": nothing, "high": nothing}

        return answer

    found = {name: ours(name) for name in METHODS}
    try:
        from pulearn import HistogramMatchPriorEstimator

        of_rest = lambda one, share: float((one.pi_ - share) / (1 - share))  # noqa: E731 - pi_ is that of all rows
        found["pulearn histogram"] = theirs(HistogramMatchPriorEstimator, of_rest)
    except ImportError:
        pass
    try:
        from pu_toolbox.prior.pen_l1 import ClassPriorEstimator

        found["pu-toolbox PEN-L1"] = theirs(ClassPriorEstimator, lambda one, _: float(one.class_prior_))
    except ImportError:
        pass
    return found


def run_models(options: argparse.Namespace) -> Iterator[tuple[Any, Callable[[], dict[str, Any]]]]:
    """Errors on the unlabelled rows' truth, at the known and at the estimated prior (that of each package, or ours)."""
    methods = chosen(model_methods(), options)
    wanted = options.sets.split(",") if options.sets else list(load_sets())
    for draw in range(options.draws):
        for name, (where, is_positive) in load_sets().items():
            if name not in wanted or min(is_positive.sum() - 50, (~is_positive).sum()) < 300:
                continue
            drawn: list[Any] = []
            source = (where, is_positive, 0.3, options.unlabeled, draw)
            for method, fit in methods.items():
                yield (name, draw, options.unlabeled, method), lambda d=drawn, s=source, f=fit: judge(f, *_drawn(d, s))


def judge(fit: Callable[[Any, Any, Any], Any], X: Any, y: Any, truth: Any, share: float) -> dict[str, Any]:
    rest = y == 0
    known, unknown = (fit(X, y, prior) for prior in (share, None))
    return {
        "known": float(np.mean((known[rest] > 0) != truth[rest])),
        "unknown": float(np.mean((unknown[rest] > 0) != truth[rest])),
        "auc": float(roc_auc_score(truth[rest], known[rest])),
    }


def model_methods() -> dict[str, Callable[[Any, Any, Any], Any]]:
    def estimated(X: Any, y: Any) -> float:
        return float(estimate_prior(X, y, unlabeled=0, random_state=0).value)

    def at_prior(scores: Any, y: Any, share: float) -> Any:
        """Scores moved so that a share of the unlabelled rows is positive."""
        return scores - np.quantile(scores[y == 0], 1 - share)

    def pnu(X: Any, y: Any, prior: Any) -> Any:
        return PNUClassifier(risk="pu", prior=prior, unlabeled=0, random_state=0).fit(X, y).decision_function(X)

    def auto(X: Any, y: Any, prior: Any) -> Any:
        return AutoPNU(prior=prior, unlabeled=0, random_state=0).fit(X, y).decision_function(X)

    found: dict[str, Callable[[Any, Any, Any], Any]] = {"PNUClassifier": pnu, "AutoPNU": auto}
    try:
        from pulearn import BaggingPuClassifier, ElkanotoPuClassifier

        def bagging(X: Any, y: Any, prior: Any) -> Any:
            model = BaggingPuClassifier(
                DecisionTreeClassifier(random_state=0), n_estimators=100, max_samples=int(y.sum()), random_state=0
            ).fit(X, y)
            scores = model.oob_decision_function_[:, 1]
            scores = np.nan_to_num(scores, nan=float(np.nanmean(scores)))
            return at_prior(scores, y, estimated(X, y) if prior is None else prior)

        def elkan_noto(X: Any, y: Any, prior: Any) -> Any:
            model = ElkanotoPuClassifier(LogisticRegression(max_iter=500), hold_out_ratio=0.2, random_state=0).fit(X, y)
            scores = model.predict_proba(X)[:, 1]
            return scores - 0.5 if prior is None else at_prior(scores, y, prior)

        found |= {"pulearn bagging": bagging, "pulearn Elkan-Noto": elkan_noto}
    except ImportError:
        pass
    try:
        from pu_toolbox.estimators.risk.upu import UPUClassifier

        def upu(X: Any, y: Any, prior: Any) -> Any:
            share = estimated(X, y) if prior is None else prior
            width = float(np.median(pairwise_distances(X[:300])))
            return UPUClassifier(share, basis="rbf", kernel_width=width, random_state=0).fit(X, y).decision_function(X)

        found["pu-toolbox uPU"] = upu
        import torch
        from pu_toolbox.estimators.risk.nnpu import NonNegativePUClassifier

        def nnpu(X: Any, y: Any, prior: Any) -> Any:
            share = estimated(X, y) if prior is None else prior
            torch.manual_seed(0)
            network = torch.nn.Sequential(torch.nn.Linear(X.shape[1], 64), torch.nn.ReLU(), torch.nn.Linear(64, 1))
            return NonNegativePUClassifier(network, class_prior=share, random_state=0).fit(X, y).decision_function(X)

        found["pu-toolbox nnPU"] = nnpu
    except ImportError:
        pass
    return found


RUNS: dict[str, Any] = {
    "grid": (("draw", "shared", "prior", "frequency"), run_grid),
    "scar": (("draw", "case", "bias"), run_scar),
    "priors": (("set", "prior", "draw", "n_unlabeled", "method"), run_priors),
    "models": (("set", "draw", "n_unlabeled", "method"), run_models),
}


# The page.


def print_page() -> None:
    lines = {name: read(ROWS / f"positive-unlabelled-{name}.csv") for name in RUNS}
    print("# Positives and unlabelled rows alone\n")
    print("Written by `python benchmarks/positive_unlabelled.py page`; its docstring has the commands of the runs.\n")
    print_grid(lines["grid"])
    print_scar(lines["scar"])
    print_priors(lines["priors"])
    print_models(lines["models"])
    print("Which of pulearn's own tests pass is said in docs/guide/from-pulearn.md.")


def column(lines: list[dict[str, str]], name: str) -> Any:
    return np.array([float(line[name]) for line in lines])


def print_table(head: list[str], rows: list[list[Any]]) -> None:
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")
    print()


def print_grid(lines: list[dict[str, str]]) -> None:
    lines = [line for line in lines if line["estimate"] != "nan"]
    if not lines:
        return
    print(f"## One sample of {SIZE} rows\n")
    print(
        "Two normal classes in four columns at a distance of 3, some of the positives labelled, "
        '`sampling="random"`. Identified: the prior follows from P and U. Not identified: 30 % of the negatives are '
        "distributed like positives, so that P and U give only the upper bound. Draws with fewer than three labels "
        "are left out. The risk of a fixed score is at the known prior; the risk of the model at the estimated one.\n"
    )
    missing = sorted(set(GRID_PRIORS) - set(column(lines, "prior").tolist()))
    if missing:
        print(f"Not run since the interval of the prior last changed: priors {', '.join(map(str, missing))}.\n")
    for shared, words in ((0.0, "Identified"), (SHARED, "Not identified")):
        rows = []
        for prior in (*GRID_PRIORS, "all"):
            some = [one for one in lines if float(one["shared"]) == shared and prior in ("all", float(one["prior"]))]
            if not some:
                continue
            truth, found = column(some, "prior"), column(some, "estimate")
            bound = truth + (1 - truth) * shared
            low, high = column(some, "low"), column(some, "high")
            held = (low <= truth) & (truth <= high)
            risk, error = column(some, "risk"), column(some, "score_error")
            true_risk = truth_of_score(truth, shared)
            fits = [one for one in some if one["model_error"] != "nan"]
            model = column(fits, "model_error")
            inside = (column(fits, "model_low") <= model) & (model <= column(fits, "model_high"))
            risks = (column(some, "risk_low") <= true_risk) & (true_risk <= column(some, "risk_high"))
            least = min(float(risk.min()), float(column(fits, "model_risk").min()))
            rows.append(
                [
                    prior,
                    len(some),
                    f"{found.mean():.3f}",
                    f"{np.abs(found - truth).mean():.3f}",
                    f"{held.mean():.2f}",
                    f"{(high >= bound).mean():.2f}",
                    f"{(high - low).mean():.2f}",
                    f"{risks.mean():.2f}",
                    f"{(risk - error).mean():+.3f}",
                    f"{inside.mean():.2f} ({len(fits)})",
                    f"{least:.3f}",
                ]
            )
        print(f"### {words}\n")
        head = ["prior", "draws", "mean estimate", "mean error", "90 % interval covers", "upper end reaches the bound"]
        head += ["mean width", "`pnu_risk` covers (95 %)", "its bias", "`risk_` covers (fits)", "least risk"]
        print_table(head, rows)
    print(
        "Where the prior is not identified, the upper end is a bound and the estimate is near it. Intervals of the "
        "prior and of `risk_` then miss the truth, and nothing in the rows can tell: pass what is known of the prior, "
        'or `prior="bound"`, which does not assume that it is identified:\n'
    )
    print_bound(lines)
    print("Cover of the prior's 90 % interval by label frequency, identified:\n")
    rows = []
    for prior in GRID_PRIORS:
        row: list[Any] = [prior]
        for frequency in FREQUENCIES:
            some = [
                one
                for one in lines
                if (float(one["shared"]), float(one["prior"]), float(one["frequency"])) == (0.0, prior, frequency)
            ]
            inside = [float(one["low"]) <= prior <= float(one["high"]) for one in some]
            row.append(f"{np.mean(inside):.2f}" if some else "")
        rows.append(row)
    print_table(["prior", *map(str, FREQUENCIES)], rows)


def print_bound(lines: list[dict[str, str]]) -> None:
    rows = []
    for prior in (*GRID_PRIORS, "all"):
        some = [one for one in lines if one["bound_low"] != "nan" and prior in ("all", float(one["prior"]))]
        if not some:
            continue
        truth, low, high = (column(some, name) for name in ("prior", "bound_low", "bound_high"))
        fits = [one for one in some if one["bound_error"] != "nan"]
        error, least, most = (column(fits, f"bound_{name}") for name in ("error", "risk_low", "risk_high"))
        row = [prior, len(some), f"{np.mean((low <= truth) & (truth <= high)):.2f}", f"{np.mean(high - low):.2f}"]
        row += [f"{np.mean((least <= error) & (error <= most)):.2f} ({len(fits)})", f"{np.mean(most - least):.2f}"]
        rows.append([*row, f"{100 * error.mean():.1f}", f"{100 * column(fits, 'model_error').mean():.1f}"])
    head = ["prior", "draws", "90 % interval covers", "mean width", "`risk_` covers (fits)", "its mean width"]
    print_table([*head, "error of the model, %", "error of the default, %"], rows)


def truth_of_score(prior: Any, shared: float) -> Any:
    """The error of the fixed score in the population: its classes are normal, so rates follow from the normal law."""
    from scipy.stats import norm

    miss, alarm = norm.cdf((3 - 6) / 2), norm.sf(3 / 2)
    return prior * miss + (1 - prior) * ((1 - shared) * alarm + shared * (1 - miss))


def print_scar(lines: list[dict[str, str]]) -> None:
    if not lines:
        return
    print("## The test of SCAR\n")
    print(
        "Share of draws in which `check_scar` rejects at 5 %, at the known prior. The probability of a label rises by "
        "the factor exp(bias) per standard deviation of one of four columns; bias 0 is SCAR.\n"
    )
    rows = []
    for case, (n, prior, frequency, gap) in enumerate(SCAR_CASES):
        row: list[Any] = [n, prior, frequency, gap]
        for bias in BIASES:
            some = [one for one in lines if int(one["case"]) == case and float(one["bias"]) == bias]
            row.append(f"{np.mean(column(some, 'p_value') < 0.05):.3f} ({len(some)})" if some else "")
        rows.append(row)
    head = [
        "rows",
        "prior",
        "label frequency",
        "distance of the classes",
        *(f"bias {bias:g} (draws)" for bias in BIASES),
    ]
    print_table(head, rows)


def print_priors(lines: list[dict[str, str]]) -> None:
    if not lines:
        return
    names = sorted({line["set"] for line in lines})
    chosen = CHOSEN_ON
    print("## Methods for the prior\n")
    print(
        f"Mean absolute error on {len(names)} sets with 50 positives and 300 unlabelled rows. The "
        "coefficients of `combined`, the default, were chosen on half of 36 sets; the other half counts. Its figures "
        "were seen during the choice, so they are somewhat optimistic. Errors are those of the draws that all methods "
        "have; coverage and width are those of all draws.\n"
    )
    rows = []
    methods = list(dict.fromkeys(line["method"] for line in lines))
    seen = Counter(_draw_of(line) for line in lines)
    for method in methods:
        row: list[Any] = [method]
        for half in (False, True):
            some = [one for one in lines if one["method"] == method and (one["set"] in chosen) is half]
            some = [one for one in some if one["estimate"] != "nan"]
            compared = [one for one in some if seen[_draw_of(one)] == len(methods)]
            gap = column(compared, "estimate") - column(compared, "prior")
            row += [len(compared), f"{np.abs(gap).mean():.3f}", f"{gap.mean():+.3f}"]
            if not half:
                low = column(some, "low")
                if np.isnan(low).any():
                    row += ["", ""]
                else:
                    truth, high = column(some, "prior"), column(some, "high")
                    row += [f"{np.mean((low <= truth) & (truth <= high)):.2f}", f"{np.mean(high - low):.2f}"]
        rows.append(row)
    head = ["method", "draws, other half", "error", "bias", "90 % interval covers", "width"]
    print_table([*head, "draws, half of the choice", "error", "bias"], rows)


def _draw_of(line: dict[str, str]) -> tuple[str, ...]:
    return line["set"], line["prior"], line["draw"], line["n_unlabeled"]


def print_models(lines: list[dict[str, str]]) -> None:
    if not lines:
        return
    print("## Models\n")
    for size in sorted({line["n_unlabeled"] for line in lines}, key=int):
        own = [line for line in lines if line["n_unlabeled"] == size]
        names = {line["set"] for line in own}
        print(
            f"{len(names)} sets, 50 positives, {size} unlabelled rows with 30 % positives, errors in % of the "
            "unlabelled rows. Bagging, uPU and nnPU take our estimate where the prior is unknown; Elkan-Noto its own. "
            "nnPU is a network with one hidden layer of 64 units, otherwise with its defaults.\n"
        )
        answers = {(line["set"], line["draw"], line["method"]): line for line in own}
        rows = []
        for method in dict.fromkeys(line["method"] for line in own):
            some = [line for line in own if line["method"] == method]
            row = [method, f"{len(some)} ({len({line['set'] for line in some})})"]
            row += [f"{100 * column(some, name).mean():.1f}" for name in ("known", "unknown", "auc")]
            pairs = [(line, answers.get((line["set"], line["draw"], "AutoPNU"))) for line in some]
            row += [less(pairs, name) if method != "AutoPNU" else "" for name in ("known", "unknown", "auc")]
            rows.append(row)
        head = ["method", "fits (sets)", "prior known", "prior unknown", "AUC"]
        print_table([*head, "AutoPNU less this: known", "unknown", "AUC"], rows)


def less(pairs: list[Any], name: str) -> str:
    """Mean difference of AutoPNU and another method on the same draws, in points, with a standard error over sets."""
    by_set: dict[str, list[float]] = {}
    for line, auto in pairs:
        if auto is not None:
            by_set.setdefault(line["set"], []).append(100 * (float(auto[name]) - float(line[name])))
    means = [float(np.mean(part)) for part in by_set.values()]
    return f"{np.mean(means):+.1f} ± {np.std(means, ddof=1) / np.sqrt(len(means)):.1f}" if len(means) > 1 else ""


if __name__ == "__main__":
    main()
