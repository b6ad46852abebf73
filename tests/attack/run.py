"""Run every cell in processes of their own, with a time limit for each, and write the summary (`make attack`)."""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import tempfile
from collections import Counter
from pathlib import Path

from tests.attack.cells import Cell, judge, known_reason, read_cells

ROOT = Path(__file__).parents[2]
SECONDS = 600  # for one cell, also on a very busy machine; none takes more than three on a quiet one
OUTCOMES = ("right", "clear", "known", "silent wrong", "raw", "hang")


def run_all(cells: list[Cell]) -> list[tuple[Cell, str, str]]:
    """Outcomes in order; a process that does not answer is ended and replaced."""
    context = multiprocessing.get_context("spawn")
    pool, results = context.Pool(1), []
    for cell in cells:
        try:
            outcome, found = pool.apply_async(judge, (cell,)).get(SECONDS)
        except multiprocessing.TimeoutError:
            outcome, found = "hang", f"no answer within {SECONDS} s"
            pool.terminate()
            pool = context.Pool(1)
        if outcome not in OUTCOMES[:2] and known_reason(cell):
            outcome = "known"
        results.append((cell, outcome, found))
    pool.terminate()
    return results


def summarise(results: list[tuple[Cell, str, str]]) -> str:
    """A table by entry point, and every cell that is neither right nor clear."""
    lines = [
        "# Bad inputs against every entry point",
        "",
        "Written by `make attack`; what each cell must do stands in tests/attack/must. Topics: arrays (rows, labels,",
        "scores in every form), options and tables (of the command line, and files), parameters (of Python functions),",
        "journals (of labels, under faults), http (requests to the labelling page), between (units, decimal marks,",
        "dates, label words and Excel between fit and predict), identity (identifiers, indexes, rows of the fit).",
        "Cells that are known to fail (tests/attack/known.csv) are counted apart and listed with the reason.",
        "",
        f"| entry | cells | {' | '.join(OUTCOMES)} |",
        f"|---|{'---|' * (1 + len(OUTCOMES))}",
    ]
    rows = [("all", outcome) for _, outcome, _ in results]
    rows += [(f"**{cell.topic}**", outcome) for cell, outcome, _ in results]
    rows += [(f"{cell.topic}: {cell.entry}", outcome) for cell, outcome, _ in results]
    for entry in dict.fromkeys(name for name, _ in rows):
        counts = Counter(outcome for name, outcome in rows if name == entry)
        lines.append(f"| {entry} | {counts.total()} | {' | '.join(str(counts[o]) for o in OUTCOMES)} |")
    known = {f"{cell.topic}, {cell.input}": known_reason(cell) for cell, outcome, _ in results if outcome == "known"}
    lines += ["", "## Known", "", *(f"- {name}: {reason}" for name, reason in known.items())] if known else []
    mended = [cell.name for cell, outcome, _ in results if outcome in OUTCOMES[:2] and known_reason(cell)]
    lines += (
        ["", "## Mended", "", "Take these out of known.csv:", "", *(f"- {name}" for name in mended)] if mended else []
    )
    faults = [one for one in results if one[1] not in OUTCOMES[:3]]
    lines += ["", "## Faults", ""] if faults else []
    lines += [
        f"- {cell.name} ({cell.must}): {outcome}, {' '.join(found.split())[:160]}" for cell, outcome, found in faults
    ]
    return "\n".join(lines) + "\n"


def main() -> int:
    cells = read_cells()
    topics = sorted({cell.topic for cell in cells})
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("topics", nargs="*", metavar="TOPIC", help=f"{', '.join(topics)}; all of them by default")
    asked = parser.parse_args().topics
    if unknown := set(asked) - set(topics):
        parser.error(f"There is no topic {', '.join(sorted(unknown))}, only {', '.join(topics)}.")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["TMPDIR"] = folder  # processes that are ended leave their files there
        text = summarise(run_all([cell for cell in cells if not asked or cell.topic in asked]))
    if not asked:
        (ROOT / "results" / "attack.md").write_text(text, encoding="utf-8")
    print(text)
    return int("## Faults" in text)


if __name__ == "__main__":
    sys.exit(main())
