"""The page of benchmarks/labeling_loop.py: from rows to tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.special import rel_entr

from pnulearn._intervals.confidence_sequences import mixture_bound

METHODS = {
    "random": "all rows at random",
    "mixture": "our mixture",
    "uncertainty": "scikit-activeml's uncertainty",
    "by class": "as many of either class",
}
HALVES = {
    "Sets that the mixture was not chosen on": ("phoneme", "magic", "spambase", "phishing"),
    "Sets that it was chosen on": ("banana", "image", "waveform", "german"),
}
WIDTHS = (0.15, 0.1)
TARGETS = (0.5, 0.25, 0.1)  # of the way from the error at 20 labels to the lowest one
WAY = np.arange(0.1, 0.91, 0.05)
RESAMPLES = 1000
CONFIDENCE = 0.95
Row = dict[str, Any]


def page(rows: list[Row], learner: str) -> str:
    runs = {(row["set"], row["run"]) for row in rows}
    parts = [
        f"# The labelling loop, with {learner}",
        f"{len(runs)} runs on {len({name for name, _ in runs})} real sets, each from no label on, by "
        "`benchmarks/labeling_loop.py`. Errors on at most 2,000 rows outside the pool, in %. Intervals are stated at "
        "95 %, for all times together. Random and mixture have their first rows in common: five with logistic "
        "regression, 20 with `PNUClassifier`.",
    ]
    for title, names in HALVES.items():
        some = [row for row in rows if row["set"] in names]
        if some:
            parts += [f"## {title}", f"{', '.join(names)}; {count(some)} runs.", *tables(some)]
    parts += [
        *("## Number of labels to reach an error", needed_labels(rows)),
        *("## Number of labels to know the prior", needed_for_prior(rows)),
        *("## By set, after 60 labels", by_set(rows)),
    ]
    return "\n\n".join(parts)


def checked(rows: list[Row]) -> list[int]:
    """Numbers of labels at which random rows were judged."""
    return sorted({point["n"] for row in rows if row["method"] == "random" for point in row["points"]})


def count(rows: list[Row]) -> int:
    return len({(row["set"], row["run"]) for row in rows})


def tables(rows: list[Row]) -> Iterator[str]:
    numbers = checked(rows)
    yield "Error of the model:"
    yield table(
        "labels", numbers, [(METHODS[m], [percent(mean(rows, m, n, "error")) for n in numbers]) for m in present(rows)]
    )
    gain = [difference(rows, n) for n in numbers]
    yield table("labels", numbers, [("mixture less random, with standard error", gain)])
    yield "Coverage of the intervals of the error and of the share of positives, and their mean half-width:"
    yield table("labels", numbers, list(cover_lines(rows)))
    yield ("Standard deviation of the error of the estimate, in reported standard errors (1 if these are right):")
    yield table("labels", numbers, list(spread_lines(rows)))
    yield "Stopping when the error's interval is as narrow as the goal (checked at the numbers of labels above):"
    yield table("wished", [f"± {100 * width:.0f} %" for width in WIDTHS], list(stop_lines(rows)))
    yield "Absolute error of the prior in use (only the first two methods give an interval):"
    yield table(
        "labels", numbers, [(METHODS[m], [number(mean(rows, m, n, "prior")) for n in numbers]) for m in present(rows)]
    )


def present(rows: list[Row]) -> list[str]:
    return [method for method in METHODS if any(row["method"] == method for row in rows)]


def points(rows: list[Row], method: str, n: int) -> dict[tuple[str, int], Row]:
    found = {}
    for row in rows:
        for point in row["points"]:
            if row["method"] == method and point["n"] == n:
                found[row["set"], row["run"]] = point | {"truth": row["prior"]}
    return found


def mean(rows: list[Row], method: str, n: int, what: str) -> float:
    """Over the runs of this method, which for the first three are the same."""
    some = points(rows, method, n).values()
    if what == "prior":
        return float(np.mean([abs(p["prior"][0] - p["truth"]) for p in some if "prior" in p] or [np.nan]))
    return float(np.mean([p[what] for p in some] or [np.nan]))


def difference(rows: list[Row], n: int) -> str:
    ours, random = points(rows, "mixture", n), points(rows, "random", n)
    gaps = 100 * np.array([ours[key]["error"] - random[key]["error"] for key in ours if key in random])
    return f"{gaps.mean():+.1f} ± {gaps.std(ddof=1) / np.sqrt(len(gaps)):.1f}" if len(gaps) > 1 else ""


def cover_lines(rows: list[Row]) -> Iterator[tuple[str, list[str]]]:
    for method in ("random", "mixture"):
        every = [points(rows, method, n).values() for n in checked(rows)]
        held = [[p["stated"][1] <= p["error"] <= p["stated"][2] for p in some] for some in every]
        yield f"{METHODS[method]}: cover, error", [percent(np.mean(one)) for one in held]
        yield f"{METHODS[method]}: ±, error", [percent(np.mean([half(p["stated"]) for p in some])) for some in every]
        held = [[p["prior"][1] <= p["truth"] <= p["prior"][2] for p in some] for some in every]
        yield f"{METHODS[method]}: cover, share", [percent(np.mean(one)) for one in held]
        yield f"{METHODS[method]}: ±, share", [percent(np.mean([half(p["prior"]) for p in some])) for some in every]


def spread_lines(rows: list[Row]) -> Iterator[tuple[str, list[str]]]:
    for method in ("random", "mixture"):
        for what, truth, name in (("stated", "error", "error"), ("prior", "truth", "share")):
            every = [points(rows, method, n).values() for n in checked(rows)]
            gaps = [[(p[what][0] - p[truth]) / standard_error(p[what], p["n"]) for p in some] for some in every]
            yield f"{METHODS[method]}: {name}", [f"{np.nanstd(some):.2f}" for some in gaps]


def standard_error(stated: list[float], n_labels: int) -> float:
    """What an interval was made from; not a number where it has no end inside (0, 1)."""
    value, low, high = stated
    end = high if high < 1 else low
    if not (0 < end < 1 and 0 < value < 1):
        return np.nan
    distance = rel_entr(value, end) + rel_entr(1 - value, 1 - end)
    return float(np.sqrt(value * (1 - value) * distance / mixture_bound(n_labels, CONFIDENCE)))


def half(stated: list[float]) -> float:
    return (stated[2] - stated[1]) / 2


def stop_lines(rows: list[Row]) -> Iterator[tuple[str, list[str]]]:
    for method in ("random", "mixture"):
        for what, truth in (("stated", "error"), ("prior", "truth")):
            cells = []
            for width in WIDTHS:
                stopped = list(stops(rows, method, what, width))
                held = [p[what][1] <= p[truth] <= p[what][2] for p in stopped]
                labels = np.mean([p["n"] for p in stopped]) if stopped else np.nan
                cells.append(f"{percent(np.mean(held or [np.nan]))} of {len(held)}, after {labels:.0f} labels")
            name = "error" if what == "stated" else "share"
            yield f"{METHODS[method]}: cover of the {name}", cells


def stops(rows: list[Row], method: str, what: str, width: float) -> Iterator[Row]:
    """The first point of every run whose interval is narrow enough."""
    for row in rows:
        if row["method"] == method:
            known = [p for p in row["points"] if half(p[what]) <= width]
            yield from ({**p, "truth": row["prior"]} for p in known[:1])


def needed_labels(rows: list[Row]) -> str:
    """Labels at which the mean curve of a set falls to targets between its first and its last error."""
    lines, every, numbers = [], [], checked(rows)
    for name in sorted({row["set"] for row in rows}):
        curves = {m: curves_of(rows, name, m, numbers) for m in ("random", "mixture", "uncertainty")}
        mean_of = {m: some.mean(axis=0) for m, some in curves.items() if len(some)}
        start, end = mean_of["random"][[0, -1]]
        cells = []
        for part in TARGETS:
            reached = [reach(mean, numbers, end + part * (start - end)) for mean in mean_of.values()]
            cells.append(" / ".join("-" if n > numbers[-1] else f"{n:.0f}" for n in reached))
        if is_falling(curves["random"]):
            every.append(resample(curves["random"], curves["mixture"], numbers))
            cells.append(saving(every[-1]))
        else:
            cells = [*["-"] * len(TARGETS), "random rows do not lower the error"]
        lines.append((name, cells))
    lines.append(("mean of these sets", [*[""] * len(TARGETS), saving(np.mean(every, axis=0))]))
    heads = [
        *[f"{100 * (1 - part):.0f} % of the way" for part in TARGETS],
        "labels that the mixture saves, all the way",
    ]
    note = (
        f"Random / mixture / uncertainty, on the way from the error of random rows at {numbers[0]} labels to theirs at "
        f"{numbers[-1]}; read off mean curves. The last column is the mean of random less mixture from 10 to 90 % of "
        "the way, with its standard error by drawing runs anew, in pairs; below twice that there is no difference. "
        "Where a curve does not come so far, its last number of labels counts."
    )
    return f"{note}\n\n{table('set', heads, lines)}"


def is_falling(curves: Any) -> bool:
    """Whether the error of random rows falls by more than two standard errors: if not, there is no way to go."""
    fall = curves[:, 0] - curves[:, -1]
    return bool(fall.mean() > 2 * fall.std(ddof=1) / np.sqrt(len(fall)))


def curves_of(rows: list[Row], name: str, method: str, numbers: list[int]) -> Any:
    """Errors, one line for each run."""
    some = sorted((row["run"], row["points"]) for row in rows if row["set"] == name and row["method"] == method)
    return np.array([[p["error"] for p in found if p["n"] in numbers] for _, found in some])


def resample(random: Any, mixture: Any, numbers: list[int]) -> Any:
    """Labels that the mixture saves on average over the way: of all runs, and then of runs drawn anew."""
    n, rng = min(len(random), len(mixture)), np.random.default_rng(0)
    start, end = random.mean(axis=0)[[0, -1]]
    targets = end + WAY * (start - end)
    found = []
    for runs in [np.arange(n), *rng.integers(0, n, (RESAMPLES, n))]:
        both = [np.mean(curves[runs], axis=0) for curves in (random, mixture)]
        reached = [[min(reach(mean, numbers, target), numbers[-1]) for target in targets] for mean in both]
        found.append(np.mean(reached[0]) - np.mean(reached[1]))
    return np.array(found)


def saving(drawn: Any) -> str:
    value, error = drawn[0], drawn[1:].std(ddof=1)
    verdict = "no difference" if abs(value) < 2 * error else "fewer" if value > 0 else "more"
    return f"{value:+.0f} ± {error:.0f}: {verdict}"


def reach(curve: Any, numbers: list[int], target: float) -> float:
    """The number of labels at which a curve first falls to a target, between its points by a straight line."""
    for k, value in enumerate(curve):
        if value <= target:
            if k == 0:
                return float(numbers[0])
            before = curve[k - 1]
            return numbers[k - 1] + (numbers[k] - numbers[k - 1]) * (before - target) / (before - value)
    return np.inf


def needed_for_prior(rows: list[Row]) -> str:
    """Where the share of positives is first stated as narrowly as wished for."""
    numbers, lines = checked(rows), []
    for method in ("random", "mixture"):
        runs = sum(row["method"] == method for row in rows)
        for width in WIDTHS:
            found = sorted(p["n"] for p in stops(rows, method, "prior", width))
            by = [f"{100 * sum(n <= most for n in found) / max(runs, 1):.0f} %" for most in numbers]
            lines.append((f"{METHODS[method]}: ± {100 * width:.0f} % or less", by))
    note = "Runs that had stated the share of positives so narrowly by that number of labels (uncertainty never can):"
    return f"{note}\n\n{table('labels', numbers, lines)}"


def by_set(rows: list[Row]) -> str:
    lines = []
    for name in sorted({row["set"] for row in rows}):
        some = [row for row in rows if row["set"] == name]
        held = [
            p["stated"][1] <= p["error"] <= p["stated"][2]
            for row in some
            if row["method"] == "mixture"
            for p in row["points"]
        ]
        errors = [percent(mean(some, method, 60, "error")) for method in METHODS]
        lines.append((name, [*errors, percent(np.mean(held))]))
    return table("set", [*METHODS.values(), "cover, mixture, all numbers"], lines)


def percent(share: Any) -> str:
    return "" if np.isnan(share) else f"{100 * share:.1f}"


def number(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.3f}"


def table(corner: str, heads: Any, lines: list[tuple[str, list[str]]]) -> str:
    rule = "|---" * (len(list(heads)) + 1) + "|"
    body = [f"| {name} | {' | '.join(cells)} |" for name, cells in lines]
    return "\n".join([f"| {corner} | {' | '.join(map(str, heads))} |", rule, *body])
