"""The shape of the code at one or more git revisions, side by side: `python benchmarks/house.py 775c0ca main`."""

from __future__ import annotations

import ast
import statistics
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

LONG = 30
PUBLIC = (
    *("losses", "risks", "theory", "metrics", "advice", "priors", "baselines", "tables", "streaming", "report"),
    *("ranking", "labeling", "inspection"),
    *("plots", "onnx", "torch", "cli"),
)


def main(revisions: list[str]) -> None:
    columns = [measure_revision(revision) for revision in revisions]
    print(f"| | {' | '.join(revisions)} |\n|---|{'---|' * len(revisions)}")
    for row in columns[0]:
        print(f"| {row} | {' | '.join(column[row] for column in columns)} |")


def measure_revision(revision: str) -> dict[str, str]:
    """Every row of the table, as text, from a copy of the revision's files."""
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.run(["git", "archive", revision, "src", "pyproject.toml"], check=True, capture_output=True)
        subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
        root = Path(folder) / "src" / "pnulearn"
        texts = {path: path.read_text(encoding="utf-8") for path in sorted(root.rglob("*.py"))}
        trees = [ast.parse(text) for text in texts.values()]
        lengths = sorted(len(text.splitlines()) for text in texts.values())
        described = sum(map(count_docstring_lines, trees))
        bodies = [length for tree in trees for length in body_lengths(tree)]
        return {
            "files": f"{len(lengths)}",
            "lines": f"{sum(lengths):,}",
            "lines without docstrings": f"{sum(lengths) - described:,}",
            "lines of a file: median / p90 / largest": (
                f"{statistics.median(lengths):.0f} / {lengths[int(0.9 * len(lengths))]} / {lengths[-1]}"
            ),
            "public modules and packages in the root": f"{len(public_modules(root))}",
            "layers of the import contract": f"{count_layers(Path(folder) / 'pyproject.toml')}",
            f"functions with a body over {LONG} lines": f"{sum(length > LONG for length in bodies)} of {len(bodies)}",
            "errors of mypy --strict on public modules": f"{count_strict_errors(root)}",
        }


def public_modules(root: Path) -> list[str]:
    """What a user could import from the root, by its name."""
    found = [path.stem for path in root.iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()]
    return [name for name in found if not name.startswith("_")]


def docstring_node(node: ast.AST) -> ast.Expr | None:
    body = getattr(node, "body", None)
    if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) or not body:
        return None
    first = body[0]
    return first if isinstance(first, ast.Expr) and ast.get_docstring(node) is not None else None


def count_docstring_lines(tree: ast.Module) -> int:
    found = [text for node in ast.walk(tree) if (text := docstring_node(node)) is not None]
    return sum((text.end_lineno or text.lineno) - text.lineno + 1 for text in found)


def body_lengths(tree: ast.Module) -> list[int]:
    """Lines of every function's body, its docstring left out."""
    lengths = []
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            body = node.body[docstring_node(node) is not None :]
            lengths.append((node.end_lineno or node.lineno) - body[0].lineno + 1 if body else 0)
    return lengths


def count_layers(settings: Path) -> int:
    contracts = tomllib.loads(settings.read_text(encoding="utf-8"))["tool"]["importlinter"]["contracts"]
    return max(len(contract.get("layers", ())) for contract in contracts)


def count_strict_errors(root: Path) -> int:
    """Errors inside the modules that are public today, where the revision has them."""
    names = [name for name in PUBLIC if (root / name).is_dir() or (root / f"{name}.py").is_file()]
    paths = [str(root / name) if (root / name).is_dir() else str(root / f"{name}.py") for name in names]
    options = ("--strict", "--config-file=", "--ignore-missing-imports", "--no-error-summary", "--python-version=3.11")
    command = [sys.executable, "-m", "mypy", *options, "--cache-dir", str(root.parent / "cache"), *paths]
    answer = subprocess.run(command, capture_output=True, text=True, cwd=root.parent, check=False).stdout
    places = tuple(f"pnulearn/{name}{end}" for name in names for end in ("/", ".py:"))
    return sum(": error:" in line and line.startswith(places) for line in answer.splitlines())


if __name__ == "__main__":
    main(sys.argv[1:] or ["HEAD"])
