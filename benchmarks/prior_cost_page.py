"""results/prior-cost.md: what is asked of an unknown prior, and what the rows of prior_cost say of it, in tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np
from page_section import RESULTS, write_section

SETS = (
    *("banana", "phoneme", "magic", "image", "susy", "german", "waveform", "ijcnn1", "g50c", "covtype", "spambase"),
    *("splice", "phishing", "a9a", "coil2", "w8a", "breast-cancer", "digits-parity"),
)
HALVES = {"sets the rules were chosen on": SETS[:16:2], "the other sets": (*SETS[1:16:2], *SETS[16:])}
PRIORS = (0.1, 0.3, 0.5, 0.7, 0.9)
LABELS = (10, 20, 50, 100)
WAYS = {"random": ("before", "new", "known"), "class": ("new", "range", "known")}  # the worst, better, the best
UNSEEN = 30  # the first draw that came after all rules
WORDS = {"random": "at random", "class": "by class"}
Rows = list[dict]
Cell = Callable[[Rows], str]


def write_page(rows: Rows) -> None:
    """Aims and tables; what is written beside them stays."""
    page = RESULTS / "prior-cost.md"
    write_section(page, "Aims", aims(rows))
    write_section(page, "Aims, draws that no rule has seen", aims([row for row in rows if row["draw"] >= UNSEEN]))
    for n_unlabeled in sorted({row["unlabeled"] for row in rows}):
        some = [row for row in rows if row["unlabeled"] == n_unlabeled]
        for title, text in sections(some, f"{n_unlabeled:,} unlabelled rows"):
            write_section(page, title, text)


def aims(rows: Rows) -> str:
    """All problems of both sizes, by number of labels."""
    drawn = Counter((row["unlabeled"], row["labels"], row["prior"], row["sampling"]) for row in rows)
    heading = (
        f"{len(rows):,} problems, {min(drawn.values())} to {max(drawn.values())} draws of every number of unlabelled "
        "rows and of labels, prior and sampling.\nFigures are for 10, 20, 50 and 100 labels, with standard errors."
    )
    sets = {name: np.mean(covers([row for row in rows if row["set"] == name], "new")) for name in names(rows)}
    worst = min(sets, key=sets.__getitem__)
    of_priors = [
        np.mean(prior_covers([row for row in rows if row["prior"] == end], how)) for end in (0.1, 0.9) for how in WAYS
    ]
    found = {
        "labels at random close 60, 70, 70 % of the gap with 10, 20, 50 labels": by_labels(rows, "random", closed),
        "by class a range of ± .1 closes 60 %": by_labels(rows, "class", closed),
        "by class no prior worse by more than half a point": "the number used is the earlier one",
        "`risk_` covers 92 %, prior known": both(rows, lambda some: share(covers(some, "known"))),
        "`risk_` covers 92 %, prior unknown": both(rows, lambda some: share(covers(some, "new"))),
        "no set below 80 %, prior unknown": f"worst {sets[worst]:.0%} ({worst})",
        "mean of `risk_` within 1.5 points of the truth from 20 labels on": both(rows, bias),
        "the prior's 90 % interval covers 87 to 93 %": ", ".join(
            f"{share(prior_covers(rows, how))} ({WORDS[how]})" for how in WAYS
        ),
        "and at least 82 % at .1 and .9": f"{min(of_priors):.0%} to {max(of_priors):.0%}",
    }
    return "\n".join(
        [f"{heading}\n", "| aim | found |", "|---|---|", *(f"| {aim} | {text} |" for aim, text in found.items())]
    )


def both(rows: Rows, cell: Cell) -> str:
    return "; ".join(f"{by_labels(rows, how, cell)} ({WORDS[how]})" for how in WAYS)


def by_labels(rows: Rows, sampling: str, cell: Cell) -> str:
    parts = ([row for row in rows if (row["sampling"], row["labels"]) == (sampling, n)] for n in LABELS)
    return ", ".join(cell(some) for some in parts if some)


def share(held: list[bool]) -> str:
    return f"{np.mean(held):.0%} ± {100 * np.std(held) / np.sqrt(len(held)):.0f}"


def bias(rows: Rows) -> str:
    found = 100 * np.array(biases(rows, "new"))
    return f"{found.mean():+.1f} ± {found.std() / np.sqrt(len(found)):.1f}"


def closed(rows: Rows) -> str:
    """The part of the gap between the worst way and the best that a better one closes; its error is of the ratio."""
    worst, better, best = (np.array([row[way]["error"] for row in rows]) for way in WAYS[rows[0]["sampling"]])
    gap = np.mean(worst - best)
    part = np.mean(worst - better) / gap
    if gap < 0.0005:
        return "-"
    return f"{part:.0%} ± {100 * np.std(worst - better - part * (worst - best)) / gap / np.sqrt(len(rows)):.0f}"


def names(rows: Rows) -> list[str]:
    return list(dict.fromkeys(row["set"] for row in rows))


def sections(rows: Rows, size: str) -> Iterator[tuple[str, str]]:
    for title, some in {"all sets": SETS, **HALVES}.items():
        yield f"{size}, {title}", "\n\n".join(tables([row for row in rows if row["set"] in some]))
    yield f"{size}, by prior", by_prior(rows)
    yield f"{size}, by set", by_set(rows)


def tables(rows: Rows) -> Iterator[str]:
    """Error, gap closed, cover and bias of the stated risk, and cover of the prior's interval, by number of labels."""
    for sampling, ways in WAYS.items():
        lines = [
            f"Labels {WORDS[sampling]}, errors in %:\n",
            f"| labels | problems | {' | '.join(f'error, {way}' for way in ways)} | gap closed "
            "| cover of risk_ 95 %, new / known | risk_ less truth, new / known | cover of the prior 90 % |",
            "|" + "---|" * (len(ways) + 6),
        ]
        for n_labels in LABELS:
            some = [row for row in rows if row["sampling"] == sampling and row["labels"] == n_labels]
            if some:
                lines.append(line(some, ways, n_labels))
        yield "\n".join(lines)


def line(rows: Rows, ways: tuple[str, ...], n_labels: int) -> str:
    cover = " / ".join(f"{np.mean(covers(rows, way)):.3f}" for way in ("new", "known"))
    bias = " / ".join(f"{100 * np.mean(biases(rows, way)):+.1f}" for way in ("new", "known"))
    prior = np.mean(prior_covers(rows, rows[0]["sampling"]))
    errors = " | ".join(f"{100 * np.mean([row[way]['error'] for row in rows]):.1f}" for way in ways)
    return f"| {n_labels} | {len(rows)} | {errors} | {closed(rows)} | {cover} | {bias} | {prior:.3f} |"


def covers(rows: Rows, way: str) -> list[bool]:
    return [row[way]["risk"][1] <= row[way]["error"] <= row[way]["risk"][2] for row in rows if row[way]["risk"]]


def biases(rows: Rows, way: str) -> list[float]:
    return [row[way]["risk"][0] - row[way]["error"] for row in rows if row[way]["risk"]]


def prior_covers(rows: Rows, sampling: str) -> list[bool]:
    some = [(row["new"]["prior"], row["prior"]) for row in rows if row["sampling"] == sampling]
    return [low <= prior <= high for (_, low, high), prior in some]


def by_prior(rows: Rows) -> str:
    lines = [
        "| prior | before, at random | new | known | by class: before and new | known "
        "| cover of the prior 90 %, by class | at random |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for prior in PRIORS:
        some = [row for row in rows if row["prior"] == prior]
        errors = [mean_error(some, "random", way) for way in ("before", "new", "known")]
        errors += [mean_error(some, "class", way) for way in ("new", "known")]
        cover = [f"{np.mean(prior_covers(some, how)):.3f}" for how in ("class", "random")]
        lines.append(f"| {prior} | {' | '.join(errors)} | {' | '.join(cover)} |")
    return "\n".join(lines)


def mean_error(rows: Rows, sampling: str, way: str) -> str:
    return f"{100 * np.mean([row[way]['error'] for row in rows if row['sampling'] == sampling]):.1f}"


def by_set(rows: Rows) -> str:
    lines = ["| set | cover of risk_ 95 %, new | known |", "|---|---|---|"]
    for name in names(rows):
        some = [row for row in rows if row["set"] == name]
        lines.append(f"| {name} | {np.mean(covers(some, 'new')):.3f} | {np.mean(covers(some, 'known')):.3f} |")
    return "\n".join(lines)
