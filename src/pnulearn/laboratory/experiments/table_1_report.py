"""What the rows of Table 1 say: errors with boldface, counts, and the paper's numbers next to ours."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from pnulearn.laboratory.datasets.catalogue import BENCHMARK, KNOWN
from pnulearn.laboratory.experiments import printed
from pnulearn.laboratory.experiments.methods import find_method, method_names
from pnulearn.laboratory.experiments.rows import Row
from pnulearn.laboratory.experiments.significance import Summary, comparable, comparable_paired
from pnulearn.laboratory.experiments.tables import Table, Text, show_cell, write_text

Place = tuple[str, int]  # set and number of labels
Errors = Mapping[Place, Mapping[str, Mapping[int, float]]]  # then method, then trial

HEAD = (
    "Mean error in percent and its standard error. Bold: the best method and those that a one-sided, unpaired t-test "
    "at 5 % does not find worse, as in the paper. The counts say in how many cells a method is bold, and in how many "
    "it would be with a paired test."
)


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
    seen = {method for cell in errors.values() for method in cell}
    return [name for name in method_names() if name in seen]


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


def compare_with_print(errors: Errors, ours: str = "pnu", theirs: str = "pnu") -> str:
    """Our numbers beside the paper's, with the difference in standard errors."""
    paper = printed.table_1()
    lines, near, matching = [], 0, 0
    for (name, size), cell in errors.items():
        known = paper.get((name, size, theirs))
        if known is None or ours not in cell:
            continue
        mine = Summary.of(list(cell[ours].values()))
        distance = (mine.mean - known.mean) / float(np.hypot(mine.stderr, known.stderr))
        note = KNOWN[name].note
        if "not comparable" not in note and not np.isnan(distance):
            matching, near = matching + 1, near + (abs(distance) <= 2)
        words = (name, str(size), show_cell(mine), f"{known.mean} ({known.stderr})", _show_signed(distance), note)
        lines.append([Text(word) for word in words])
    if not matching:
        return ""
    title = find_method(ours).title
    heading = f"## {title} here and {find_method(theirs).title} in the paper"
    table = Table(["set", "labels", "here", "paper", "difference in s.e.", "data"], lines)
    verdict = f"Within two joint standard errors: {near} of the {matching} cells whose data match."
    return "\n\n".join([heading, table.markdown(), verdict])


def headline(errors: Errors) -> str:
    """Mean over the cells that the paper has too: its PNU, ours, and ours averaged."""
    paper = printed.table_1()
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


def write(rows: Iterable[Row], folder: Path, stem: str = "table-1") -> list[Path]:
    """Write the table as Markdown and LaTeX."""
    errors = by_cell(rows)
    if not errors:
        return []
    table = error_table(errors)
    against = [compare_with_print(errors, method, method) for method in printed.TABLE_1_METHODS if _is_known(method)]
    text = "\n\n".join(
        part
        for part in [
            "# Table 1",
            HEAD,
            table.markdown(),
            headline(errors),
            overall(errors),
            _same_trials_section(errors),
            *against,
        ]
        if part
    )
    return [write_text(folder / f"{stem}.md", text), write_text(folder / f"{stem}.tex", table.latex())]


def _is_known(method: str) -> bool:
    return method in method_names()
