"""Table 1: sixteen sets, 10 or 50 labels, 300 unlabelled rows, labelled share 0.7 where the population has 0.5."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from experiments.datasets import BENCHMARK, KNOWN
from experiments.methods import find_method, measure, method_names
from experiments.summary import Summary, Table, Text, comparable, comparable_paired, show_cell, write_text
from experiments.trials import Cell, Experiment, Row, Settings, Trial, counts, draw_trial, load_scaled

QUICK_SETS = ("two-gaussians", "generated-banana", "generated-waveform", "breast-cancer")
LABELED_SIZES = (10, 50)
LABELED_SHARE = 0.7
N_UNLABELED = 300
PRIOR = 0.5
VALIDATION = (10, 10)
QUICK_METHODS = (
    "pnu",
    "pnu-average",
    "punu",
    "pn",
    "pu",
    "self-training",
    "label-spreading",
    "svm",
    "logistic",
)
BASELINES = ("er", "lapsvm", "smir", "wellsvm", "s4vm")
METHODS = (*QUICK_METHODS, "pn-labeled", "pnu-both", *BASELINES, *(f"{name}-labeled" for name in BASELINES))

# What the paper prints: mean error in percent, boldface (*), standard error.
# set, labels | PNU | PUNU | ER | LapSVM | SMIR | WellSVM | S4VM
PAPER = """
banana    10 | 30.1* 1.0 | 32.1* 1.1 | 35.8  1.0 | 36.9  1.0 | 37.7  1.1 | 41.8  0.6 | 45.3  1.0
banana    50 | 19.0* 0.6 | 26.4  1.2 | 20.6  0.7 | 21.3  0.7 | 21.1  1.0 | 42.6  0.5 | 38.7  0.9
phoneme   10 | 32.5  0.8 | 33.5  1.0 | 33.4  1.2 | 36.5  1.5 | 36.4  1.2 | 28.4* 0.6 | 33.7  1.4
phoneme   50 | 28.1  0.5 | 32.8  0.9 | 27.8  0.6 | 27.0  0.8 | 28.6  1.0 | 26.8  0.4 | 25.1* 0.2
magic     10 | 31.7* 0.8 | 34.1  0.9 | 34.2  1.1 | 37.9  1.3 | 36.0  1.2 | 30.1* 0.8 | 33.3  0.9
magic     50 | 29.9* 0.8 | 33.4  0.9 | 30.9  0.5 | 31.0  0.9 | 30.8* 0.9 | 28.8* 0.8 | 29.2* 0.4
image     10 | 29.8* 0.9 | 31.7* 0.8 | 33.7  1.1 | 36.6  1.2 | 36.7  1.2 | 34.7  1.1 | 35.9  1.0
image     50 | 20.7* 0.8 | 26.6  1.1 | 20.8* 0.8 | 20.3* 1.0 | 20.9* 0.9 | 27.2  1.0 | 23.2  0.7
susy      10 | 44.6* 0.6 | 45.0* 0.6 | 47.7  0.4 | 48.2  0.4 | 45.1* 0.7 | 48.0  0.3 | 46.8  0.3
susy      50 | 38.9* 0.6 | 41.5  0.6 | 37.9* 0.7 | 43.1  0.6 | 43.9  0.8 | 43.8  0.7 | 42.1  0.4
german    10 | 40.8* 0.9 | 42.4* 0.7 | 43.6  0.9 | 45.9  0.7 | 46.2  0.8 | 42.4* 0.8 | 42.0* 0.7
german    50 | 36.2* 0.8 | 39.0  0.8 | 38.9  0.6 | 40.6  0.6 | 38.4  1.1 | 38.5  1.0 | 34.9* 0.5
waveform  10 | 17.4* 0.6 | 18.0* 0.9 | 18.5  0.6 | 24.9  1.4 | 18.0* 1.0 | 16.7* 0.6 | 20.8  0.8
waveform  50 | 16.3  0.6 | 23.7  1.2 | 14.2* 0.4 | 18.1  0.8 | 15.4* 0.6 | 15.5  0.5 | 15.3  0.3
ijcnn1    10 | 43.6  0.6 | 40.3* 1.0 | 49.7  0.1 | 49.2  0.3 | 44.0  1.0 | 45.9  0.7 | 49.3  0.8
ijcnn1    50 | 34.5* 0.8 | 37.1  0.9 | 35.5* 0.8 | 33.4* 1.1 | 49.4  0.3 | 46.2  0.8 | 48.6  0.4
g50c      10 | 11.4  0.6 | 12.5  0.6 | 23.3  2.3 | 39.8  1.6 | 21.9  1.3 | 6.6* 0.4 | 27.0  1.4
g50c      50 | 12.5  1.1 | 10.1  0.6 | 8.7  0.4 | 22.5  1.5 | 10.6  0.6 | 7.4* 0.4 | 12.1  0.5
covtype   10 | 46.2* 0.4 | 46.0* 0.4 | 46.0* 0.5 | 47.1  0.5 | 47.9  0.5 | 46.9* 0.6 | 46.4* 0.4
covtype   50 | 41.3* 0.5 | 42.3  0.5 | 41.0* 0.4 | 41.5* 0.5 | 46.2  0.8 | 43.6  0.6 | 40.8* 0.4
spambase  10 | 27.2  0.9 | 28.1  1.1 | 31.8  1.4 | 39.7  1.4 | 30.9  1.3 | 23.8* 0.8 | 36.1  1.5
spambase  50 | 23.4  1.0 | 26.6  1.0 | 22.1  0.7 | 28.5  1.3 | 20.9  0.5 | 19.1* 0.4 | 24.5  0.9
splice    10 | 38.3* 0.8 | 39.3* 0.8 | 43.9  0.8 | 47.9  0.5 | 41.6  0.7 | 42.0  1.0 | 42.4  0.6
splice    50 | 30.6* 0.8 | 34.7  0.9 | 30.9* 0.8 | 38.8  1.0 | 30.6* 0.9 | 40.9  0.8 | 35.9  0.7
phishing  10 | 24.2* 1.2 | 25.8* 1.0 | 27.3* 1.6 | 37.2  1.6 | 27.6  1.6 | 27.5  1.4 | 31.7  1.3
phishing  50 | 15.8* 0.6 | 18.3  0.8 | 15.4* 0.5 | 21.1  1.3 | 14.7* 0.8 | 17.2  0.7 | 16.7  0.8
a9a       10 | 31.4* 0.9 | 31.3* 1.0 | 34.3  1.2 | 41.0  1.1 | 37.3  1.3 | 33.1* 1.2 | 34.3  1.2
a9a       50 | 27.9  0.6 | 29.9  0.8 | 28.6  0.7 | 33.3  1.0 | 26.9* 0.7 | 28.9  0.8 | 26.2* 0.4
coil2     10 | 38.7* 0.8 | 40.1* 0.8 | 42.8  0.7 | 43.9  0.8 | 43.2  0.8 | 39.1* 0.9 | 44.0  0.8
coil2     50 | 23.2* 0.6 | 30.5  0.9 | 23.6* 0.9 | 22.8* 0.9 | 25.1  0.9 | 22.6* 0.8 | 25.4  0.8
w8a       10 | 35.9* 0.9 | 33.6* 1.0 | 41.6  1.0 | 46.6  0.8 | 39.4  0.9 | 42.1  0.8 | 43.0  0.8
w8a       50 | 28.1* 0.7 | 27.6* 0.6 | 27.0* 0.9 | 38.7  0.8 | 28.0* 0.9 | 33.7  0.8 | 35.2  1.0
"""
PAPER_METHODS = ("pnu", "punu", "er", "lapsvm", "smir", "wellsvm", "s4vm")

Place = tuple[str, int]  # set and number of labels
Errors = Mapping[Place, Mapping[str, Mapping[int, float]]]  # then method, then trial

HEAD = (
    "Mean error in percent and its standard error. Bold: the best method and those that a one-sided, unpaired t-test "
    "at 5 % does not find worse, as in the paper. The counts say in how many cells a method is bold, and in how many "
    "it would be with a paired test."
)


def cells(sets: Sequence[str], trials: int) -> Iterator[Cell]:
    """Every trial, all sets once before any set twice, so that a stopped run is a smaller run."""
    for trial in range(trials):
        for name in sets:
            for size in LABELED_SIZES:
                yield {"set": name, "n_labeled": size, "trial": trial}


def run(cell: Cell, methods: Sequence[str], settings: Settings) -> Iterator[Row]:
    """One row per method: its error on the test rows and the seconds it took to learn."""
    trial = draw(cell, settings)
    for name in methods:
        yield {**cell, "method": name, **measure(trial, name)}


def draw(cell: Cell, settings: Settings) -> Trial:
    """The rows of one trial, the same for every method."""
    X, positive = load_scaled(cell["set"], settings.data, settings.download)
    return draw_trial(
        X,
        positive,
        labeled=counts(cell["n_labeled"], LABELED_SHARE),
        unlabeled=counts(N_UNLABELED, PRIOR),
        validation=VALIDATION,
        prior=PRIOR,
        key=("table-1", *cell.values()),
    )


@dataclass(frozen=True)
class Printed:
    """One cell of the paper's table."""

    mean: float
    stderr: float
    bold: bool


def printed() -> dict[tuple[str, int, str], Printed]:
    """The paper's numbers by (set, number of labels, method).

    >>> printed()["banana", 10, "pnu"]
    Printed(mean=30.1, stderr=1.0, bold=True)
    """
    found = {}
    for line in PAPER.strip().splitlines():
        (name, size), *cells = (part.split() for part in line.split("|"))
        for method, (mean, stderr) in zip(PAPER_METHODS, cells, strict=True):
            found[name, int(size), method] = Printed(float(mean.rstrip("*")), float(stderr), mean.endswith("*"))
    return found


def by_cell(rows: Iterable[Row]) -> Errors:
    """Errors by set and size, method and trial; sets in the paper's order, others after them."""
    found: dict[Place, dict[str, dict[int, float]]] = defaultdict(lambda: defaultdict(dict))
    for row in rows:
        found[row["set"], row["n_labeled"]][row["method"]][row["trial"]] = row["error"]
    order = {name: place for place, name in enumerate(BENCHMARK)}
    return {key: found[key] for key in sorted(found, key=lambda key: (order.get(key[0], len(order)), *key))}


def summaries(errors: Mapping[str, Mapping[int, float]]) -> dict[str, Summary]:
    return {method: Summary.of(list(trials.values())) for method, trials in errors.items()}


def methods_in(errors: Errors) -> list[str]:
    return method_names(method for cell in errors.values() for method in cell)


def error_table(errors: Errors) -> Table:
    """One line per set and size, one column per method, then means, trials and counts."""
    methods = methods_in(errors)
    lines = []
    for (name, size), cell in errors.items():
        found, best = summaries(cell), comparable(summaries(cell))
        cells = [Text(show_cell(found.get(method)), method in best) for method in methods]
        lines.append([Text(name), Text(str(size)), *cells])
    unpaired = [comparable(summaries(cell)) for cell in errors.values()]
    paired = [comparable_paired(cell) for cell in errors.values()]
    feet = [
        _foot("mean of all cells", [_mean(errors, method) for method in methods]),
        _foot("trials", [_trials(errors, method) for method in methods]),
        _foot("best/comparable", [str(sum(method in cell for cell in unpaired)) for method in methods]),
        _foot("same, paired", [str(sum(method in cell for cell in paired)) for method in methods]),
    ]
    return Table(["set", "labels", *(find_method(name).title for name in methods)], [*lines, *feet])


def _foot(name: str, words: list[str]) -> list[Text]:
    return [Text(name), Text(""), *map(Text, words)]


def _mean(errors: Errors, method: str) -> str:
    """Over all cells, empty unless the method ran in every one."""
    if not all(method in cell for cell in errors.values()):
        return ""
    return f"{np.mean([np.mean(list(cell[method].values())) for cell in errors.values()]):.2f}"


def _trials(errors: Errors, method: str) -> str:
    counts = {len(cell[method]) for cell in errors.values() if method in cell}
    return str(min(counts)) if len(counts) == 1 else f"{min(counts)} to {max(counts)}"


def same_trials(errors: Errors) -> Errors:
    """Only the methods that ran in every cell, and only the trials that all of them ran."""
    everywhere = [m for m in methods_in(errors) if all(len(cell.get(m, ())) > 1 for cell in errors.values())]
    kept = {}
    for place, cell in errors.items():
        trials = set.intersection(*(set(cell[m]) for m in everywhere)) if everywhere else set()
        kept[place] = {m: {trial: cell[m][trial] for trial in sorted(trials)} for m in everywhere}
    return kept


def _same_trials_section(errors: Errors) -> str:
    """The table again where methods ran different numbers of trials; empty otherwise."""
    kept = same_trials(errors)
    counts = {len(trials) for cell in errors.values() for trials in cell.values()}
    if (
        len(counts) == 1
        or not all(len(t) > 1 for cell in kept.values() for t in cell.values())
        or not any(kept.values())
    ):
        return ""
    text = (
        "Methods that ran in every cell, on the trials that all of them ran: the fair comparison, if with fewer trials."
    )
    return f"## The same trials for all methods\n\n{text}\n\n{error_table(kept).markdown()}"


def overall(errors: Errors, reference: str = "pnu-average") -> str:
    """Every method against one, cell by cell on the trials both ran, and over all cells."""
    lines = []
    for method in methods_in(errors):
        pairs = [(cell[method], cell[reference]) for cell in errors.values() if {method, reference} <= set(cell)]
        shared = [(own, other, set(own) & set(other)) for own, other in pairs]
        gaps = [float(np.mean([own[t] - other[t] for t in trials])) for own, other, trials in shared if trials]
        if method == reference or len(gaps) < 2:
            continue
        total = Summary.of(gaps)
        trials = sorted({len(trials) for *_, trials in shared if trials})
        count = str(trials[0]) if len(trials) == 1 else f"{trials[0]} to {trials[-1]}"
        words = [
            f"{total.mean:+.2f} ({total.stderr:.2f})",
            str(sum(g > 0 for g in gaps)),
            str(sum(g < 0 for g in gaps)),
        ]
        lines.append([Text(w) for w in [find_method(method).title, *words, str(len(gaps)), count]])
    if not lines:
        return ""
    title = find_method(reference).title
    text = (
        f"Error minus that of {title} on the trials both ran, averaged within each cell; the mean over cells and its "
        "standard error over cells."
    )
    table = Table(["method", "difference in points", f"{title} better", "worse", "cells", "trials per cell"], lines)
    return f"## Every method against {title}\n\n{text}\n\n{table.markdown()}"


def compare_with_print(errors: Errors, method: str = "pnu") -> str:
    """Our numbers beside the paper's, with the difference in standard errors."""
    paper = printed()
    lines, near, matching = [], 0, 0
    for (name, size), cell in errors.items():
        known = paper.get((name, size, method))
        if known is None or method not in cell:
            continue
        mine = Summary.of(list(cell[method].values()))
        distance = (mine.mean - known.mean) / float(np.hypot(mine.stderr, known.stderr))
        note = KNOWN[name].note
        if "not comparable" not in note and not np.isnan(distance):
            matching, near = matching + 1, near + (abs(distance) <= 2)
        words = (name, str(size), show_cell(mine), f"{known.mean} ({known.stderr})", _show_signed(distance), note)
        lines.append([Text(word) for word in words])
    if not matching:
        return ""
    title = find_method(method).title
    heading = f"## {title} here and {title} in the paper"
    table = Table(["set", "labels", "here", "paper", "difference in s.e.", "data"], lines)
    verdict = f"Within two joint standard errors: {near} of the {matching} cells whose data match."
    return "\n\n".join([heading, table.markdown(), verdict])


def headline(errors: Errors) -> str:
    """Mean over the cells that the paper has too: its PNU, ours, and ours averaged."""
    paper = printed()
    shared = [place for place in errors if (*place, "pnu") in paper]
    lines = [
        f"{find_method(name).title} here {np.mean([np.mean(list(errors[p][name].values())) for p in shared]):.2f}"
        for name in ("pnu", "pnu-average")
        if shared and all(name in errors[place] for place in shared)
    ]
    if not lines:
        return ""
    printed_mean = np.mean([paper[(*place, "pnu")].mean for place in shared])
    return (
        f"Mean error over the {len(shared)} cells that the paper has: PNU there {printed_mean:.2f}, {', '.join(lines)}."
    )


def _show_signed(distance: float) -> str:
    return "" if np.isnan(distance) else f"{distance:+.1f}"


def write(rows: Iterable[Row], folder: Path, stem: str) -> list[Path]:
    """Write the table as Markdown and LaTeX."""
    errors = by_cell(rows)
    if not errors:
        return []
    table = error_table(errors)
    parts = [
        *("# Table 1", HEAD, table.markdown(), headline(errors), overall(errors), _same_trials_section(errors)),
        *(compare_with_print(errors, method) for method in PAPER_METHODS),
    ]
    text = "\n\n".join(part for part in parts if part)
    return [write_text(folder / f"{stem}.md", text), write_text(folder / f"{stem}.tex", table.latex())]


TABLE_1 = Experiment(
    title="errors of all methods on sixteen sets with 10 and 50 labels",
    sets=BENCHMARK,
    quick_sets=QUICK_SETS,
    trials=50,
    quick_trials=5,
    methods=METHODS,
    quick_methods=QUICK_METHODS,
    cells=cells,
    run=run,
    write=write,
)
