"""Every command of the command line on small tables, as a program would call it: what it answers in JSON."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

from pnulearn.__main__ import main

TABLES = Path(__file__).parent / "tables"
TIMES_AND_VERSIONS = ("seconds", "versions")
TWO = "customers.csv --label bought --drop plan --drop score --drop other --drop drawn --drop weight"
RANDOM = "customers.csv --label bought --drop plan --drop score --drop other --at-random drawn --weights weight"
THREE = "customers.csv --label plan --drop bought --drop score --drop other --drop drawn --drop weight"
JUDGED = "later.csv --label bought"

# Commands that follow each other in a folder of their own.
SESSIONS: dict[str, list[str]] = {
    "two_classes": [
        f"fit {TWO} --model rbf.pnu",
        f"fit {TWO} --labels random --kernel linear --folds 3 --prior 0.3..0.5 --model linear.pnu",
        "info rbf.pnu",
        "info linear.pnu",
        "predict new.csv --model rbf.pnu --only",
        "predict new.csv --model linear.pnu --keep id --stream-above 0",
        f"evaluate {JUDGED} --model rbf.pnu",
        f"evaluate {JUDGED} --model linear.pnu --labels random --costs 5 1 --confidence 0.9",
        f"evaluate {JUDGED} --model rbf.pnu --at-random drawn --weights weight --stream-above 0",
        f"compare {JUDGED} --model rbf.pnu --model linear.pnu --prior 0.4",
        "export linear.pnu --onnx linear.onnx",
        "export rbf.pnu --onnx rbf.onnx --precision float32",
    ],
    "other_ways_to_fit": [
        f"fit {RANDOM} --set mix=[0,0.5] --set alpha=[0.01,0.1]",
        f"fit {TWO} --loss logistic --kernel linear --set mix=0 --set alpha=0.1 --prior 0.4 --folds 2",
        f"fit {TWO} --as age=category --as post=text --scale minmax --risk punu --kernel linear --folds 3 --prior em",
        f"fit {TWO} --most-unlabeled 60 --set columns=given --set centers=30 --prior 0.4",
    ],
    "one_pass": [
        f"fit {TWO} --stream-above 0 --set centers=30 --model streamed.pnu",
        "predict new.csv --model streamed.pnu --only",
    ],
    "three_classes": [
        f"fit {THREE} --kernel linear --model three.pnu",
        "info three.pnu",
        "predict new.csv --model three.pnu --only",
    ],
    "other_learners": [
        f"fit {TWO} --learner auto --prior 0.45 --folds 3 --set mix=[0,0.5] --set alpha=0.1 --model auto.pnu",
        "info auto.pnu",
        "predict new.csv --model auto.pnu --only",
        f"evaluate {JUDGED} --model auto.pnu",
        f"fit {TWO} --learner logistic --folds 3 --model logistic.pnu",
        "predict new.csv --model logistic.pnu --only",
    ],
    "without_a_model": [
        "columns customers.csv --label bought",
        "columns customers.csv --as age=category --drop note",
        f"evaluate {JUDGED} --score score --prior 0.4",
        f"evaluate {JUDGED} --score score --helper other --threshold 0.1 --drop plan",
        f"evaluate {JUDGED} --score score --prior 0.4 --costs 1 2",
        f"compare {JUDGED} --score score --score other --prior 0.3..0.5",
        f"prior {TWO}",
        f"prior {TWO} --labels random",
        f"prior {RANDOM}",
        f"prior {TWO} --method energy",
        "advise --n-positive 20 --n-negative 30 --n-unlabeled 500 --prior 0.3 --errors 0.15 --width 0.1",
        f"advise {TWO} --width 0.1",
        "label customers.csv --label bought --export labelled.csv",
        "fit labelled.csv --label bought --drop plan --drop score --drop other --kernel linear",
    ],
    "groups_and_windows": [
        f"evaluate {JUDGED} --score score --sampling random --by plan",
        f"compare {JUDGED} --score score --score other --sampling random --by plan",
        "judge later.csv --human bought --judge score",
        "judge later.csv --human bought --judge other --judge score --by plan --confidence 0.9",
        f"fit {TWO} --kernel linear --folds 3 --prior 0.4 --model linear.pnu",
        "monitor linear.pnu later.csv --by plan --state state.json",
    ],
}


def run_session(name: str) -> dict[str, Any]:
    """What the commands of a session answer, by command."""
    with inside_a_folder(TABLES):
        Path("empty").mkdir()
        return {command: answer(f"{command} --json") for command in SESSIONS[name]}


def answer(command: str) -> Any:
    """What `pnulearn` writes: a JSON object, or a list of them if it writes lines."""
    bytes_written = BytesIO()
    printed = TextIOWrapper(bytes_written, encoding="utf-8", write_through=True)
    messages = StringIO()
    with patch.object(sys, "argv", ["pnulearn", *command.split()]), redirect_stdout(printed), redirect_stderr(messages):
        try:
            main()
        except SystemExit as done:
            if done.code:
                raise AssertionError(f"pnulearn {command}: {messages.getvalue()}") from done
    lines = [_timeless(json.loads(line)) for line in bytes_written.getvalue().decode().splitlines()]
    return lines[0] if len(lines) == 1 else lines


@contextmanager
def inside_a_folder(*sources: Path) -> Iterator[None]:
    """A new working folder with copies of these files and of what is in these folders."""
    before = Path.cwd()
    with TemporaryDirectory() as folder:
        for source in sources:
            for path in source.iterdir() if source.is_dir() else [source]:
                shutil.copy(path, folder)
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


def _timeless(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _timeless(part) for key, part in value.items() if key not in TIMES_AND_VERSIONS}
    return value
