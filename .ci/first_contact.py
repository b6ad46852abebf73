"""What a stranger meets who installed the core only: fit, save and load work, each missing extra names its remedy."""

import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import requires, version
from pathlib import Path

import numpy as np

import pnulearn

X = np.random.default_rng(0).normal(size=(60, 2)) + np.repeat([[1.0], [-1.0], [1.0], [-1.0]], 15, axis=0)
y = np.where(np.arange(60) < 30, np.arange(60) < 15, np.nan)


def main() -> None:
    assert Path(pnulearn.__file__).is_relative_to(sys.prefix), f"{pnulearn.__file__} is not the installed wheel"
    assert pnulearn.__version__ == version("pnulearn")
    with tempfile.TemporaryDirectory() as folder:
        model = fit_save_and_load(Path(folder))
        uses = uses_of_extras(model, Path(folder))
        named = {word.split("=='")[-1].rstrip("'") for word in map(marker, requires("pnulearn") or []) if word}
        assert named - {"dev", "docs", "bench"} == set(uses), f"no check for {named ^ set(uses)}"
        for extra, tries in uses.items():
            for use in tries:
                check_remedy(extra, use)


def marker(requirement: str) -> str:
    found = re.search(r"extra == '[\w-]+'|extra == \"[\w-]+\"", requirement)
    return found[0].replace('"', "'").replace(" ", "") if found else ""


def fit_save_and_load(folder: Path) -> "pnulearn.PNUClassifier":
    model = pnulearn.PNUClassifier(random_state=0).fit(X, y)
    model.save(folder / "m.pnu")
    again = pnulearn.load(folder / "m.pnu")
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    assert model.score(X, np.arange(60) % 30 < 15) > 0.8
    return model


def uses_of_extras(model: "pnulearn.PNUClassifier", folder: Path) -> dict[str, list[Callable[[], object]]]:
    """For every extra, things to do that need it."""
    table = folder / "t.csv"
    np.savetxt(table, np.c_[X, y], delimiter=",", header="a,b,y", comments="")
    (folder / "t.parquet").write_bytes(b"PAR1 and the rest")
    return {
        "cli": [lambda: run_command("fit", str(table)), lambda: run_command("--help"), lambda: pnulearn.cli],
        "io": [
            lambda: pnulearn.tables.read_table(folder / "t.parquet"),
            lambda: pnulearn.tables.read_table(table),
            lambda: pnulearn.streaming.fit_files(model, str(table), target="y"),
            lambda: pnulearn.streaming.predict_files(model, str(table), folder / "out.csv"),
        ],
        "dask": [lambda: pnulearn.streaming.OnCluster()],
        "report": [
            lambda: pnulearn.plots.PriorDisplay.from_estimator(model),
            lambda: pnulearn.plots.RiskSurfaceDisplay.from_estimator(model),
            lambda: pnulearn.advise(9, 9, 99, prior=0.3).plot(),
            lambda: pnulearn.estimate_prior(X, y).plot(),
        ],
        "onnx": [lambda: pnulearn.onnx.to_onnx(model), lambda: pnulearn.onnx.save_onnx(model, folder / "m.onnx")],
        "skops": [lambda: pnulearn.save(pnulearn.AutoPNU(("logistic",), prior=0.3).fit(X, y), folder / "auto.pnu")],
        "excel": [],  # read through pyarrow, which is asked for first
        "skl2onnx": [],  # needs onnx, which is asked for first
        "mlflow": [],  # imported by users, not by this package
        "boosting": [],  # a file with a model of CatBoost needs skops first; see check_dist.py
        "analyst": [],  # several of the others, tried together in check_dist.py
        "torch": [lambda: pnulearn.torch],
        "label": [lambda: import_module("pnulearn.labeling._server")],
    }


def run_command(*arguments: str) -> None:
    done = subprocess.run([sys.executable, "-m", "pnulearn", *arguments], capture_output=True, text=True)
    assert done.returncode == 2, done
    raise ImportError(done.stderr)


def check_remedy(extra: str, use: Callable[[], object]) -> None:
    try:
        use()
    except Exception as error:
        message = str(error)
        if f"pip install 'pnulearn[{extra}]'" in message and "Traceback" not in message:
            return
        raise AssertionError(f"extra {extra!r}: {type(error).__name__}: {message}") from error
    raise AssertionError(f"a use of the extra {extra!r} worked without it")


if __name__ == "__main__":
    main()
