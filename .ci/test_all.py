"""The tests that `make test` leaves out: installs a browser and PyTorch where it may, names what it still skips."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
WANTED = {"torch": "torch==2.13.0", "shap": "shap", "mlflow.sklearn": "mlflow-skinny>=3.4", "skl2onnx": "skl2onnx"}
REASONS = {  # with which the tests of a module skip
    "torch": "PyTorch is the extra 'torch'",
    "shap": "shap is not installed",
    "mlflow.sklearn": "MLflow is the extra 'mlflow'",
    "skl2onnx": "skl2onnx is an extra",
}
SECONDS = 900


def attempt(*command: str) -> bool:
    """Whether the command came to a good end within the time."""
    try:
        return subprocess.run(command, capture_output=True, timeout=SECONDS, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def install() -> dict[str, str]:
    """What could not be had, by the reason with which tests then skip."""
    missing = {}
    if not shutil.which("chromium") and not (
        hasattr(os, "geteuid")
        and os.geteuid() == 0
        and attempt("apt-get", "update")
        and attempt("apt-get", "install", "--yes", "--no-install-recommends", "chromium")
    ):
        missing["no Chromium on this machine"] = "apt-get install chromium was not possible"
    for module, package in WANTED.items():  # pip finds a build without CUDA where there is one
        if not attempt(sys.executable, "-c", f"import {module}") and not attempt(
            *(sys.executable, "-m", "pip", "install", "--quiet", package)
        ):
            missing[REASONS[module]] = f"{package} could not be installed within {SECONDS} s"
    return missing


def main() -> int:
    named = install() | {
        "Ray is not installed": "its recipe is tested where it is; hundreds of megabytes",
        "no folder of real data": "it is not part of the repository",
        "tabpfn is not installed": "its weights are not in the package",
        "tabicl is not installed": "its weights are not in the package",
    }
    command = [sys.executable, "-m", "pytest", "-n", "2", "--dist", "worksteal", "-rs", "-m", "thorough"]
    result = subprocess.run(command, cwd=ROOT, text=True, capture_output=True, check=False)
    print(result.stdout, result.stderr)
    skips = re.findall(r"^SKIPPED .*$", result.stdout, re.M)
    strange = [line for line in skips if not any(reason in line for reason in named)]
    for reason, cause in named.items():
        print(f"Allowed to skip: {reason} ({cause})")
    for line in strange:
        print(f"Not allowed: {line}")
    return 1 if strange else result.returncode if result.returncode != 5 else 0


if __name__ == "__main__":
    sys.exit(main())
