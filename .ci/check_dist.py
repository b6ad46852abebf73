"""Build wheel and sdist, and try the wheel as a stranger would: `make dist-check`.

In an empty environment with core dependencies only, fit, save and load must work and every missing extra must say what
to install (first_contact.py); a client project must pass `mypy --strict` (typed_client.py).
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

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
        for package in packages:
            python = install(package, Path(folder) / package.suffix.lstrip("."))
            run(python, "-I", HERE / "first_contact.py", cwd=folder)
        client = shutil.copy(HERE / "typed_client.py", folder)
        options = ("--strict", "--config-file=", "--python-executable", python)
        run(sys.executable, "-m", "mypy", *options, client, cwd=folder)
    print("Wheel and sdist install and work; missing extras say what to install; a typed client type-checks.")


def install(package: Path, environment: Path) -> Path:
    """An empty environment with this package and its core dependencies; its Python."""
    run(sys.executable, "-m", "uv", "venv", "--quiet", "--python", sys.executable, environment)
    python = environment / "bin" / "python"
    run(sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", python, package)
    return python


def run(*command: object, cwd: Path | str = ROOT) -> None:
    subprocess.run([str(word) for word in command], check=True, cwd=cwd)


if __name__ == "__main__":
    main()
