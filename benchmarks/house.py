"""The shape of the code at one or more git revisions, side by side: `python benchmarks/house.py b9d9401 HEAD`.

`.` stands for the files as they are, committed or not. A default fit and `pnulearn fit --report` are run and traced by
the interpreter that runs this, with the package of the revision.
"""

from __future__ import annotations

import ast
import io
import json
import os
import statistics
import subprocess
import sys
import tempfile
import tokenize
import tomllib
from collections import Counter
from pathlib import Path

TABLE = Path(__file__).resolve().parents[1] / "tests" / "frozen" / "tables" / "customers.csv"
LONG = 30
COMMANDS = ("fit", "evaluate")
NO_CODE = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
BRANCHES = (ast.If, ast.IfExp, ast.For, ast.While, ast.ExceptHandler, ast.Assert, ast.match_case, ast.Lambda)
TRACED = """
import json, os, sys, warnings
import numpy as np
import pnulearn
{prepare}
root = os.path.dirname(pnulearn.__file__)
crossed = set()

def note(frame, event, argument):
    code = frame.f_code
    if event == "call" and code.co_filename.startswith(root) and code.co_name != "<module>":
        crossed.add((code.co_filename, code.co_qualname))

warnings.simplefilter("ignore")
sys.setprofile(note)
try:
    {run}
except SystemExit:
    pass
sys.setprofile(None)
sys.stdout = sys.__stdout__
print(json.dumps([len(crossed), len(dict(crossed))]))
"""
FIT = {
    "prepare": """
rng = np.random.default_rng(20)
truth = np.concatenate([np.arange(50) % 10 < 7, rng.random(300) < 0.5])
X = rng.normal(size=(350, 20)) + 0.7 * truth[:, None]
y = np.where(np.arange(350) < 50, truth, np.nan)
pnulearn.PNUClassifier(random_state=0).fit(X, y)  # imports are no part of the fit
""",
    "run": "pnulearn.PNUClassifier(random_state=0).fit(X, y)",
}
REPORT = {
    "prepare": f"""
from pnulearn.__main__ import main
options = "--label bought --labels random --drop plan --drop score --drop other --report page.html --json"
sys.argv = ["pnulearn", "fit", {str(TABLE)!r}, *options.split()]
sys.stdout = open(os.devnull, "w")
""",
    "run": "main()",
}


def main(revisions: list[str]) -> None:
    columns = [measure_revision(revision) for revision in revisions]
    print(f"| | {' | '.join(revisions)} |\n|---|{'---|' * len(revisions)}")
    for row in columns[0]:
        print(f"| {row} | {' | '.join(column[row] for column in columns)} |")


def measure_revision(revision: str) -> dict[str, str]:
    """Every row of the table, as text."""
    if revision == ".":
        return measure_folder(Path.cwd())
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.run(["git", "archive", revision, "src", "pyproject.toml"], check=True, capture_output=True)
        subprocess.run(["tar", "-x", "-C", folder], input=archive.stdout, check=True)
        return measure_folder(Path(folder))


def measure_folder(folder: Path) -> dict[str, str]:
    root = folder / "src" / "pnulearn"
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(root.rglob("*.py"))}
    trees = {path: ast.parse(text) for path, text in texts.items()}
    lengths = sorted(len(text.splitlines()) for text in texts.values())
    bodies = sorted(length for tree in trees.values() for length in body_lengths(tree))
    code = sum(len(code_lines(texts[path]) - docstring_lines(trees[path])) for path in texts)
    imports = sum(map(count_import_lines, trees.values()))
    packages = [path.parent.relative_to(folder / "src") for path in texts if path.name == "__init__.py"]
    names = Counter(path.name for path in texts if path.name not in ("__init__.py", "__main__.py"))
    return {
        "files": f"{len(lengths)}",
        "lines": f"{sum(lengths):,}",
        "lines of code": f"{code:,}",
        "imports, % of code": f"{100 * imports / code:.1f}",
        "comments on a line of their own": f"{sum(map(count_comments, texts.values()))}",
        "packages / levels": f"{len(packages)} / {max(len(package.parts) for package in packages)}",
        "file names used more than once / most often": (
            f"{sum(count > 1 for count in names.values())} / {max(names.values())}"
        ),
        "modules that one other imports": f"{count_imported_once(root, trees)}",
        "lines of a file: median / p90 / largest": f"{_spread(lengths)}",
        "lines of a function's body: median / p90 / largest": f"{_spread(bodies)}",
        f"functions with a body over {LONG} lines": f"{sum(length > LONG for length in bodies)} of {len(bodies)}",
        "public modules and packages in the root": f"{len(public_modules(root))}",
        "layers of the import contract": f"{count_layers(folder / 'pyproject.toml')}",
        **{f"complexity of the command {name}": f"{command_complexity(root, trees, name)}" for name in COMMANDS},
        "default fit: functions / files": trace(root, FIT),
        "`pnulearn fit --report`: functions / files": trace(root, REPORT),
    }


def public_modules(root: Path) -> list[str]:
    """What a user could import from the root, by its name."""
    found = [path.stem for path in root.iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()]
    return [name for name in found if not name.startswith("_")]


def code_lines(text: str) -> set[int]:
    """Numbers of lines with anything but comments and blanks; docstrings are still among them."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    spans = [(one.start[0], one.end[0]) for one in tokens if one.type not in NO_CODE]
    return {line for first, last in spans for line in range(first, last + 1)}


def count_comments(text: str) -> int:
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return sum(one.type == tokenize.COMMENT and not one.line[: one.start[1]].strip() for one in tokens)


def count_import_lines(tree: ast.Module) -> int:
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    return sum((node.end_lineno or node.lineno) - node.lineno + 1 for node in found)


def count_imported_once(root: Path, trees: dict[Path, ast.Module]) -> int:
    """Modules of the package, packages apart, that exactly one other file imports."""
    modules = {".".join(path.relative_to(root.parent).with_suffix("").parts): path for path in trees}
    importers: dict[str, set[Path]] = {name: set() for name in modules if not name.endswith("__")}
    for path, tree in trees.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                for name in (node.module, *(f"{node.module}.{one.name}" for one in node.names)):
                    importers.get(name, set()).add(path)
    return sum(len(found) == 1 for found in importers.values())


def docstring_node(node: ast.AST) -> ast.Expr | None:
    body = getattr(node, "body", None)
    if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) or not body:
        return None
    first = body[0]
    return first if isinstance(first, ast.Expr) and ast.get_docstring(node) is not None else None


def docstring_lines(tree: ast.Module) -> set[int]:
    found = [text for node in ast.walk(tree) if (text := docstring_node(node)) is not None]
    return {line for text in found for line in range(text.lineno, (text.end_lineno or text.lineno) + 1)}


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


def command_complexity(root: Path, trees: dict[Path, ast.Module], name: str) -> int:
    """McCabe's number of the function of that name in the command line."""
    commands = [tree for path, tree in trees.items() if path.is_relative_to(root / "cli")]
    nodes = [node for tree in commands for node in tree.body if isinstance(node, ast.FunctionDef)]
    return max(complexity(node) for node in nodes if node.name == name)


def complexity(function: ast.FunctionDef) -> int:
    """One more than the branches of its body as radon counts: tests, loops, handlers, `and`, `or`, comprehensions."""
    total = 1
    for node in (part for statement in function.body for part in ast.walk(statement)):
        total += isinstance(node, BRANCHES)
        total += len(node.values) - 1 if isinstance(node, ast.BoolOp) else 0
        total += 1 + len(node.ifs) if isinstance(node, ast.comprehension) else 0
    return total


def trace(root: Path, program: dict[str, str]) -> str:
    """How many functions of the package, and in how many files, a program calls."""
    environment = os.environ | {"PYTHONPATH": str(root.parent), "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", TRACED.format(**program)]
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"The traced program failed:\n{done.stderr}")
    functions, files = json.loads(done.stdout.splitlines()[-1])
    return f"{functions:,} / {files}"


def _spread(lengths: list[int]) -> str:
    return f"{statistics.median(lengths):.0f} / {lengths[int(0.9 * len(lengths))]} / {lengths[-1]}"


if __name__ == "__main__":
    main(sys.argv[1:] or ["HEAD"])
