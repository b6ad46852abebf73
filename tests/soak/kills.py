"""Kill every command at random moments: no damaged output, the same answer when it is run again, no leftovers."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from experiments.runner import read_rows
from pnulearn import PNUClassifier, load
from pnulearn.labeling import journal_of
from pnulearn.labeling._table_labeling import read_task
from pnulearn.tables import read_table

ROOT = Path(__file__).parents[2]
FIT = ["--kernel", "linear", "--folds", "2", "--prior", "0.4", "--most-unlabeled", "500"]
STREAM = """
import sys
import pandas as pd
from pnulearn import PNUClassifier, load
from pnulearn.streaming import fit_files, predict_files

def fit(**how):
    model = PNUClassifier(prior=0.4, centers=100, random_state=0)
    parts = [f"{folder}/parts/{k}.parquet" for k in range(8)]
    settings = {"target": "label", "columns": ["a", "b", "c"], "checkpoint": f"{folder}/checkpoint"}
    fit_files(model, parts, checkpoint_seconds=0, **settings, **how).save(f"{folder}/out.pnu")

if __name__ == "__main__":
    what, folder = sys.argv[1:]
    if what == "predict_files":
        model = load(f"{folder}/arrays.pnu")
        predict_files(model, f"{folder}/rows.csv", f"{folder}/out.parquet", keep=["id"], part_rows=500)
    elif what == "fit_files":
        fit(n_jobs=1)
    else:
        from distributed import Client, LocalCluster

        with LocalCluster(2, threads_per_worker=1, dashboard_address=None, silence_logs=50) as workers:
            with Client(workers) as client:
                fit(client=client)
"""


def commands(folder: Path) -> dict[str, tuple[list[str], str, Callable[[Path], str]]]:
    """Name -> (command, its output, how the output is told)."""
    run, table = [sys.executable, "-m", "pnulearn"], str(folder / "rows.csv")
    stream, paper = [sys.executable, "-c", STREAM], [sys.executable, "-m", "experiments"]
    labelled = [table, "-l", "label", "--drop", "id"]
    return {
        "fit": ([*run, "fit", *labelled, *FIT, "-m", str(folder / "out.pnu")], "out.pnu", _model),
        "fit, report": ([*run, "fit", *labelled, *FIT, "-r", str(folder / "out.html")], "out.html", _page),
        "predict": (
            [*run, "predict", table, "-m", str(folder / "table.pnu"), "-o", str(folder / "out.csv")],
            "out.csv",
            _bytes,
        ),
        "export": (
            [*run, "export", str(folder / "arrays.pnu"), "--onnx", str(folder / "out.onnx")],
            "out.onnx",
            _bytes,
        ),
        "predict_files": ([*stream, "predict_files", str(folder)], "out.parquet", _bytes),
        "fit_files, checkpoint": ([*stream, "fit_files", str(folder)], "out.pnu", _model),
        "fit_files, Dask": ([*stream, "dask", str(folder)], "out.pnu", _model),
        "evaluate, report": (
            [*run, "evaluate", table, "-l", "label", "-s", "a", "--report", str(folder / "out.html")],
            "out.html",
            _page,
        ),
        "label, export": (
            [*run, "label", table, "-l", "label", "--export", str(folder / "out.csv")],
            "out.csv",
            _bytes,
        ),
        "experiments": (
            [*paper, "figure-1", "--quick", "--trials", "2", "--out", str(folder / "experiments")],
            "experiments",
            _rows,
        ),
    }


def _bytes(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _model(path: Path) -> str:
    """Files of models hold times; what they say is told by their scores."""
    model = load(path)
    rows = pd.read_csv(path.parent / "rows.csv").drop(columns=["id", "label"])
    found = model.decision_function(rows) if hasattr(model, "decision_function") else model.predict(rows).scores
    return hashlib.sha256(np.ascontiguousarray(found).tobytes()).hexdigest()


def _page(path: Path) -> str:
    text = path.read_text(encoding="utf-8")
    if "</html>" not in text:
        raise ValueError("the page has no end")
    return "complete"


def _rows(path: Path) -> str:
    """Rows of all trials, in any order."""
    rows = sorted(json.dumps(row) for row in read_rows(path / "rows" / "figure-1-quick.jsonl"))
    return hashlib.sha256("".join(rows).encode()).hexdigest()


def prepare(folder: Path) -> None:
    """A table with a journal of labels, the same in eight parts, and two models."""
    rng = np.random.default_rng(0)
    truth = np.concatenate([np.ones(200), np.zeros(200), rng.random(4_000) < 0.4])
    rows = pd.DataFrame(rng.normal(size=(len(truth), 3)) + truth[:, None], columns=list("abc"))
    rows["id"] = np.arange(len(rows))
    rows["label"] = np.where(np.arange(len(rows)) < 400, np.where(truth == 1, "yes", "no"), None)
    rows.to_csv(folder / "rows.csv", index=False)
    (folder / "parts").mkdir()
    shuffled = rows.sample(frac=1, random_state=0)
    for place, part in enumerate(np.array_split(np.arange(len(rows)), 8)):
        shuffled.iloc[part].to_parquet(folder / "parts" / f"{place}.parquet", index=False)
    few = rows.iloc[:900]
    y = few["label"].map({"yes": 1.0, "no": 0.0}).astype(float)
    fixed = PNUClassifier("pnu", kernel="linear", prior=0.4, mix=0.2, alpha=0.1, random_state=0)
    fixed.fit(few[["a", "b", "c"]], y.to_numpy()).save(folder / "arrays.pnu")
    command, _, _ = commands(folder)["fit"]
    subprocess.run([*command[:-1], str(folder / "table.pnu")], check=True, capture_output=True)
    labeler = read_task(read_table(folder / "rows.csv"), "label").labeler(
        journal_of(folder / "rows.csv"), refit_every=0
    )
    for _ in range(30):
        row = labeler.next().row
        labeler.answer("yes" if truth[row] == 1 else "no")
    labeler.close()


def files_of(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def clear(folder: Path, before: set[str]) -> None:
    for name in files_of(folder) - before:
        (folder / name).unlink()
    shutil.rmtree(folder / "experiments", ignore_errors=True)


def kill_once(folder: Path, name: str, known: dict[str, Any], before: set[str], rng: random.Random) -> dict[str, Any]:
    """One run that is killed at a random moment, what is left then, and the run after it."""
    command, output, tell = commands(folder)[name]
    path, moment = folder / output, rng.uniform(0.02, 1.0) * known["seconds"]
    started = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        started.wait(moment)
    except subprocess.TimeoutExpired:
        os.killpg(started.pid, signal.SIGKILL)
        started.wait()
    killed = started.returncode != 0
    whole = not path.exists() or path.is_dir() or tell(path) == known["answer"]
    again = subprocess.run(command, capture_output=True, text=True, check=False)
    same = again.returncode == 0 and tell(path) == known["answer"]
    left = sorted(files_of(folder) - before - set(known["files"]))
    clear(folder, before)
    row = {"command": name, "moment": round(moment, 3), "killed": killed, "whole": whole, "same": same, "left": left}
    return row if same else row | {"said": again.stderr[-300:]}


def learn(folder: Path, name: str, before: set[str]) -> dict[str, Any]:
    """Time, answer and files of a run that nobody disturbs."""
    command, output, tell = commands(folder)[name]
    start = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    known = {"seconds": time.perf_counter() - start, "answer": tell(folder / output)}
    known["files"] = sorted(files_of(folder) - before)
    clear(folder, before)
    return known


def summarise(rows: list[dict[str, Any]]) -> str:
    frame = pd.DataFrame(rows)
    frame["left"] = frame["left"].map(len)
    lines = [
        "# Commands killed at random moments",
        "",
        "Written by `make soak` (`tests/soak/kills.py`). Every command is killed (SIGKILL to it and its children) at a",
        "random moment of its usual time, then run again. Damaged: its output was there after the kill and not whole.",
        "Different: the run after it gave another answer (bytes of predictions and exports, bits of a model's scores,",
        "rows of trials). Leftovers: files that an undisturbed run does not leave. Runs that ended before their moment",
        "came are not kills.",
        "",
        "| command | runs | kills | damaged | different | leftovers |",
        "|---|---|---|---|---|---|",
    ]
    for name, part in [("all", frame), *frame.groupby("command", sort=False)]:
        counts = (
            len(part),
            part["killed"].sum(),
            (~part["whole"]).sum(),
            (~part["same"]).sum(),
            (part["left"] > 0).sum(),
        )
        lines.append(f"| {name} | {' | '.join(map(str, counts))} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=1e9, help="begin no kill after this time")
    parser.add_argument("--out", type=Path, default=ROOT / "results" / "soak.md")
    asked = parser.parse_args()
    rng, rows, start = random.Random(0), [], time.monotonic()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        prepare(folder)
        before = files_of(folder)
        known = {name: learn(folder, name, before) for name in commands(folder)}
        while sum(row["killed"] for row in rows) < asked.kills and time.monotonic() - start < asked.seconds:
            name = list(known)[len(rows) % len(known)]
            rows.append(kill_once(folder, name, known[name], before, rng))
            print(json.dumps(rows[-1]), flush=True)
            asked.out.write_text(summarise(rows), encoding="utf-8")
    if any(not row["whole"] or not row["same"] or row["left"] for row in rows):
        sys.exit("Some runs were not as they should be; see above.")


if __name__ == "__main__":
    main()
