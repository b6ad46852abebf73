"""The tables of results/judge.md, from the rows that judge_frozen.py draws."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import numpy as np
from scipy.stats import binom

PRIORS, SIZES, ACCURACIES = (0.05, 0.3, 0.5, 0.9), (5, 20, 100), (0.8, 0.9, 0.95)
DRAWS = 20  # of a cell in a block
Rows = list[dict[str, Any]]
Sums = dict[tuple[Any, ...], dict[str, float]]
WORDS = """
Cover: share of draws in which the 95 % interval contains the truth; a cell is a model, a prior and a number of labels.
The worst of 36 cells is low by chance alone: a cover of .95 is seen as .95 minus about 2.5 √(.05 / draws).
The methods for intervals of average precision, AUC and the best threshold were chosen on the sets phoneme and spambase.
"""
HELPER_WORDS = """
Mean squared error over that of the labels alone, of all three models together. In brackets the least variance that any
combination of the labels with the model's and the helper's decisions can reach, every rate being known beforehand (an
oracle; computed, not simulated): with these 1,000 unlabelled rows, and with unlimited ones. Where it is above
the aim of .6, .35 and .2 at prior 1/2, the aim is out of reach for that number of rows.
"""


def pooled(rows: Rows, *names: str) -> Sums:
    """Sums over all rows that agree in these names."""
    total: Sums = {}
    for row in rows:
        sums = total.setdefault(tuple(row[name] for name in names), {})
        for name in ("hits", "square", "width", "draws", "right", "mcnemar", "labels"):
            sums[name] = sums.get(name, 0.0) + row.get(name, 0.0)
    return total


def table(title: str, words: str, heads: Sequence[str], rows: Iterator[Sequence[str]]) -> list[str]:
    lines = ["", f"## {title}", *(["", words.strip()] if words else []), ""]
    lines += [f"| {' | '.join(heads)} |", "|" + "---|" * len(heads)]
    return lines + [f"| {' | '.join(row)} |" for row in rows]


def report(rows: Rows) -> str:
    by_part: dict[str, Rows] = {
        part: [] for part in ("metrics", "unknown", "threshold", "oracle", "compare", "width", "ppi")
    }
    for row in rows:
        by_part[row["part"]].append(row)
    metrics = by_part["metrics"] + by_part["unknown"]
    lines = ["# Coverage of intervals for fixed models", ""]
    lines += ["Written by `python benchmarks/judge_frozen.py`, which describes the protocol."]
    heads = ["metric", "prior", "draws", "cover", "worst of the cells", "draws there"]
    lines += table("Coverage of 95 % intervals", WORDS, heads, covers(metrics + by_part["threshold"]))
    lines += ["", unlikely(metrics + by_part["threshold"])]
    heads = ["prior", "labels of each class", "U alone", *(f"helper right in {a:.0%}" for a in ACCURACIES), "widths"]
    lines += table("Gain by a second model (helper)", HELPER_WORDS, heads, helped(metrics, by_part["oracle"]))
    heads = ["models", "prior", "labels of each class", "draws", "cover", "right verdicts", "McNemar"]
    lines += table("Which of two models is better", "", heads, compared(by_part["compare"]))
    heads = ["model", "prior", "wished width", "labels of each class", "mean width", "cover"]
    words = "Labels as `pnulearn advise --width` asks for, 1,000 unlabelled rows."
    lines += table("Number of labels for a given width", words, heads, widths(by_part["width"]))
    heads = ["helper right", "prior", "labels", "cover: ours, ppi", "root mean square error", "width"]
    words = "Labels drawn at random, the same draws; the prior is not given."
    lines += table("Compared with ppi-python", words, heads, beside_ppi(by_part["ppi"]))
    return "\n".join(lines)


def covers(rows: Rows) -> Iterator[list[str]]:
    cells = pooled(rows, "metric", "prior_is", "of", "prior", "n")
    for (metric, kind), sums in pooled(rows, "metric", "prior_is").items():
        mine = {key[2:]: cell for key, cell in cells.items() if key[:2] == (metric, kind)}
        where, worst = min(mine.items(), key=lambda item: item[1]["hits"] / item[1]["draws"])
        at = f"{where[0]}, prior {where[1]:g}, {where[2]} + {where[2]} labels"
        cover, least = (one["hits"] / one["draws"] for one in (sums, worst))
        yield [metric, kind, f"{sums['draws']:.0f}", f"{cover:.3f}", f"{least:.2f} ({at})", f"{worst['draws']:.0f}"]


def unlikely(rows: Rows, cover: float = 0.93, level: float = 0.001) -> str:
    """Which cells hold the truth so seldom that chance is no excuse."""
    cells = pooled(rows, "metric", "prior_is", "of", "prior", "n")
    found = [
        f"{key[0]}, {key[1]} prior: {key[2]}, prior {key[3]:g}, {key[4]} + {key[4]} labels"
        for key, cell in cells.items()
        if binom.cdf(cell["hits"], cell["draws"], cover) < level
    ]
    words = f"Of {len(cells)} cells {len(found)} contain the truth so rarely that it would happen in fewer than one of "
    return f"{words}{1 / level:,.0f} runs if they covered {cover:g}{': ' if found else '.'}{'; '.join(found)}"


def helped(rows: Rows, oracle: Rows) -> Iterator[list[str]]:
    sums = pooled([row for row in rows if row["prior_is"] == "known"], "metric", "prior", "n")
    least = pooled([row for row in oracle if row["block"] == 0], "metric", "prior", "n")
    for prior, n in product(PRIORS, SIZES):
        base = sums.get(("error, labels alone", prior, n))
        if base is None:
            continue
        plain = sums["error", prior, n]
        cells, wide = [f"{plain['square'] / base['square']:.2f}"], [f"{plain['width'] / base['width']:.2f}"]
        for accuracy in ACCURACIES:
            one = sums[f"error, helper right in {accuracy:.0%}", prior, n]
            bounds = [least.get((f"{accuracy:.0%}{name}", prior, n)) for name in ("", ", unlimited U")]
            said = ", ".join(f"{bound['square'] / bound['width']:.2f}" for bound in bounds if bound)
            cells.append(f"{one['square'] / base['square']:.2f} ({said})")
            wide.append(f"{one['width'] / base['width']:.2f}")
        yield [f"{prior:g}", str(n), *cells, ", ".join(wide)]


def compared(rows: Rows) -> Iterator[list[str]]:
    for (pair, prior, n), one in pooled(rows, "of", "prior", "n").items():
        shares = [one[name] / one["draws"] for name in ("hits", "right", "mcnemar")]
        yield [pair, f"{prior:g}", str(n), f"{one['draws']:.0f}", *(f"{share:.3f}" for share in shares)]


def widths(rows: Rows) -> Iterator[list[str]]:
    labels = {(row["of"], row["prior"], row["n"]): row["labels"] for row in rows}
    for key, one in pooled(rows, "of", "prior", "n").items():
        width, cover = one["width"] / one["draws"], one["hits"] / one["draws"]
        yield [key[0], f"{key[1]:g}", f"{key[2] / 100:g}", str(labels[key]), f"{width:.3f}", f"{cover:.2f}"]


def beside_ppi(rows: Rows) -> Iterator[list[str]]:
    pairs = pooled(rows, "of", "prior", "n", "metric")
    for accuracy, prior, n in dict.fromkeys(key[:3] for key in pairs):
        two = [pairs[accuracy, prior, n, name] for name in ("pnu_risk", "ppi_py")]
        cover, width = (", ".join(f"{one[k] / one['draws']:.3f}" for one in two) for k in ("hits", "width"))
        error = ", ".join(f"{np.sqrt(one['square'] / one['draws']):.3f}" for one in two)
        yield [f"{float(accuracy):.0%}", f"{prior:g}", str(n), cover, error, width]
