"""Options that mean nothing: the table holds them as they would be typed, such as `--prior 50`."""

from __future__ import annotations

import shlex
import warnings
from functools import cache
from typing import Any

from tests.attack.commands import QUICK, ask, workplace

COUNTS = ("--n-positive", "10", "--n-negative", "10", "--n-unlabeled", "50")
BASES: dict[str, tuple[str, ...]] = {
    "fit": ("fit", "clean.csv", "-l", "label", "--drop", "said", *QUICK, "--json"),
    "columns": ("columns", "clean.csv", "-l", "label", "--json"),
    "predict": ("predict", "clean.csv", "-m", "model.pnu", "--json"),
    "evaluate": ("evaluate", "clean.csv", "-l", "label", "-m", "model.pnu", "--prior", "0.4", "--json"),
    "evaluate_scores": ("evaluate", "clean.csv", "-l", "label", "-s", "said", "--prior", "0.4", "--json"),
    "fit_learner": (
        "fit",
        "clean.csv",
        "-l",
        "label",
        "--drop",
        "said",
        "--prior",
        "0.4",
        "--learner",
        "logistic",
        "--json",
    ),
    "fit_stream": ("fit", "clean.csv", "-l", "label", "--drop", "said", *QUICK, "--stream-above", "0", "--json"),
    "predict_stream": ("predict", "clean.csv", "-m", "model.pnu", "--stream-above", "0", "--json"),
    "evaluate_stream": (
        *("evaluate", "clean.csv", "-l", "label", "-m", "model.pnu", "--prior", "0.4", "--stream-above", "0", "--json"),
    ),
    "label": ("label", "clean.csv", "-l", "label", "--no-open", "--export", "labelled.csv", "--overwrite", "--json"),
    "compare": ("compare", "clean.csv", "-l", "label", "-m", "model.pnu", "-s", "said", "--prior", "0.4", "--json"),
    "judge": ("judge", "clean.csv", "--human", "label", "--judge", "said", "--json"),
    "monitor": ("monitor", "model.pnu", "clean.csv", "--by", "c", "--json"),
    "prior": ("prior", "clean.csv", "-l", "label", "--drop", "said", "--json"),
    "advise": ("advise", "clean.csv", "-l", "label", "--prior", "0.4", "--json"),
    "advise_numbers": ("advise", *COUNTS, "--prior", "0.4", "--json"),
    "info": ("info", "model.pnu", "--json"),
    "export": ("export", "model.pnu", "--onnx", "exported.onnx", "--json"),
}
STREAM = ("fit_stream", "evaluate_stream")
LEARN = ("fit", "columns", "evaluate", "evaluate_scores", "compare", "prior", "advise", "fit_learner", *STREAM)
GROUPS: dict[str, Any] = {
    "LEARN": LEARN,
    "PRIOR": ("fit", "evaluate", "evaluate_scores", "compare", "advise", "advise_numbers", "fit_learner", *STREAM),
    "TABLE": (*LEARN, "predict", "predict_stream", "label"),
    "MODEL": ("predict", "evaluate", "compare"),
    "STREAMED": ("fit", "predict", "evaluate"),
    "ALL": tuple(BASES),
}


def answer(input: str, entry: str) -> Any:
    """What the command says with these options behind its usual ones; names of files are those of the workplace."""
    return ask(*map(_placed, (*BASES[entry], *shlex.split(input))))


def _placed(word: str) -> str:
    """FOLDER stands for the workplace, and a file that is there for its path."""
    place = workplace()
    if word in ("exported.onnx", "labelled.csv") or (word and "/" not in word and (place / word).is_file()):
        return str(place / word)
    return word.replace("FOLDER", str(place))


@cache
def expected(entry: str) -> Any:
    """The same without them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return answer("", entry)
