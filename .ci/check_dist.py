"""Build wheel and sdist, and try the wheel as a stranger would: `make dist-check`.

In an empty environment with core dependencies only, fit, save and load must work and every missing extra must say what
to install (first_contact.py); a client project must pass `mypy --strict` (typed_client.py). With the extra `analyst`
alone, the commands must go from an Excel file to a report, predictions and an export of labels.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from pnulearn import AutoPNU, save

HERE = Path(__file__).parent
ROOT = HERE.parent
DIST = ROOT / "dist"


def main() -> None:
    shutil.rmtree(DIST, ignore_errors=True)
    run(sys.executable, "-m", "build", "--installer", "uv", "--outdir", DIST, ROOT)
    packages = sorted(DIST.iterdir())
    run(sys.executable, "-m", "twine", "check", "--strict", *packages)
    with tempfile.TemporaryDirectory() as folder:
        # Away from the clone: `import pnulearn` must find the wheel, and mypy must read no settings of ours.
        table = write_table(Path(folder))
        boosted = AutoPNU(("boosting",), prior=0.5, random_state=0).fit(table[["a", "b"]], table["y"])
        save(boosted, Path(folder) / "boosted.pnu")
        for package in packages:
            python = install(package, Path(folder) / package.suffix.lstrip("."))
            run(python, "-I", HERE / "first_contact.py", cwd=folder)
        client = shutil.copy(HERE / "typed_client.py", folder)
        options = ("--strict", "--config-file=", "--python-executable", python)
        run(sys.executable, "-m", "mypy", *options, client, cwd=folder)
        wheel = next(package for package in packages if package.suffix == ".whl")
        analyse(install(f"{wheel}[analyst]", Path(folder) / "analyst"), Path(folder))
    print("Wheel and sdist install and work; missing extras say what to install; a typed client type-checks.")


def write_table(folder: Path) -> pd.DataFrame:
    """A table, also as an Excel file."""
    rng = np.random.default_rng(0)
    truth = rng.random(120) < 0.5
    table = pd.DataFrame({"a": rng.normal(size=120) + 2 * truth, "b": rng.normal(size=120)})
    table["y"] = np.where(np.arange(120) < 40, np.where(truth, "yes", "no"), None)
    table.to_excel(folder / "table.xlsx", index=False)
    return table


def analyse(python: Path, folder: Path) -> None:
    """What needs each of the extras of `analyst` (cli, report, excel and label), and a model of one that is missing."""
    pnulearn = (python, "-I", "-m", "pnulearn")
    run(*pnulearn, "fit", "table.xlsx", "--label", "y", "--model", "m.pnu", "--report", "r.html", cwd=folder)
    run(*pnulearn, "predict", "table.xlsx", "--model", "m.pnu", "--out", "p.xlsx", cwd=folder)
    assert len(pd.read_excel(folder / "p.xlsx", engine="openpyxl")) == 120
    run(python, "-I", "-c", "import pnulearn.labeling._server", cwd=folder)
    load = [str(python), "-I", "-c", "import pnulearn; pnulearn.load('boosted.pnu')"]
    refused = subprocess.run(load, cwd=folder, capture_output=True, text=True)
    assert "pip install 'pnulearn[boosting]'" in refused.stderr, refused


def install(package: Path | str, environment: Path) -> Path:
    """An empty environment with this package and its core dependencies; its Python."""
    run(sys.executable, "-m", "uv", "venv", "--quiet", "--python", sys.executable, environment)
    python = environment / "bin" / "python"
    run(sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", python, package)
    return python


def run(*command: object, cwd: Path | str = ROOT) -> None:
    subprocess.run([str(word) for word in command], check=True, cwd=cwd)


if __name__ == "__main__":
    main()
