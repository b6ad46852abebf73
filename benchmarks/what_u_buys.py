"""What unlabelled rows buy, one ingredient after the other: the prior, the basis, the risk, averaging, ranks.

    PNULEARN_DATA=folder python benchmarks/what_u_buys.py [trials] [rows.jsonl]   # what is missing, then the page
    python benchmarks/what_u_buys.py 0                                            # the page alone

The draws are those of benchmarks/any_classifier.py at prior .5, where the labels are 70 % positive. The honest
supervised model has seen no unlabelled row: its kernel has centres at labelled rows alone.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from any_classifier import N_LABELED, N_UNLABELED, merge, read, run

PRIOR = 0.5
BARE = "PN, centres labelled, shares of the labels"
# what is added, the method with it, the method without it
STEPS = [
    ("the population's prior", "PN, centres labelled", BARE),
    ("U in the basis: centres at unlabelled rows", "PN, centres at U too", "PN, centres labelled"),
    ("U in the risk: PNU instead of PN", "PNU", "PN, centres at U too"),
    ("U in the risk alone, centres at labelled rows", "PNU, centres labelled", "PN, centres labelled"),
    ("U in basis and risk", "PNU", "PN, centres labelled"),
    ("averaging all candidates instead of the best", "PNU", "PNU, one candidate"),
    ('columns as given and as ranks (`columns="both"`)', "PNU, columns both", "PNU"),
    ("all of it", "PNU, columns both", BARE),
]
METHODS = list(dict.fromkeys(method for _, *pair in STEPS for method in reversed(pair)))


def page(rows: list[dict[str, Any]]) -> str:
    """Mean errors, and what every step gains on the same draws."""
    draws = [row for row in merge(rows) if row["prior"] == PRIOR and set(METHODS) <= row["errors"].keys()]
    errors = {method: np.array([row["errors"][method] for row in draws]) for method in METHODS}
    sets = np.array([row["set"] for row in draws])
    lines = [
        "# Ablation: what unlabelled rows gain",
        "",
        f"Output of `python benchmarks/what_u_buys.py`: {len(draws)} draws of {len(set(sets))} of the paper's sets, "
        f"{N_LABELED} labels of which 70 %",
        f"are positive where the population has 50 %, {N_UNLABELED} unlabelled rows. Test errors in percent.",
        "The supervised model that has seen no unlabelled row is the one with labelled centres. The prior is known",
        "where it is used. Standard errors are over sets.",
        "",
        "| model | error |",
        "|---|---|",
        *(f"| {method} | {errors[method].mean():.1f} |" for method in METHODS),
        "",
        "| what is added | gain | ± | sets where it gains |",
        "|---|---|---|---|",
    ]
    for words, with_it, without in STEPS:
        gain = errors[without] - errors[with_it]
        by_set = [gain[sets == name].mean() for name in sorted(set(sets))]
        spread = np.std(by_set, ddof=1) / np.sqrt(len(by_set))
        lines.append(f"| {words} | {gain.mean():+.1f} | {spread:.1f} | {sum(g > 0 for g in by_set)} of {len(by_set)} |")
    return "\n".join(lines) + "\n"


def main(arguments: list[str]) -> None:
    warnings.simplefilter("ignore")
    path = Path(arguments[1] if len(arguments) > 1 else "results/rows/any-classifier.jsonl")
    trials = int(arguments[0]) if arguments else 4
    if trials:
        run(path, trials, PRIOR, METHODS, exactly=True)
    Path("results/what-u-buys.md").write_text(page(read(path)))


if __name__ == "__main__":
    main(sys.argv[1:])
