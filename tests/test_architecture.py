"""What the import contract cannot see: nobody reaches into another object's private parts, and the map is true."""

import ast
import re
import tomllib
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

import pnulearn

ROOT = Path(pnulearn.__file__).parent
MODULES = sorted(ROOT.rglob("*.py"))
# scikit-learn and Dask make these names part of what they hand out.
FOREIGN = {"_meta", "_repr_html_inner", "_repr_mimebundle_"}
# A scorer is called with any classifier there is, so nothing more can be said of it.
ANY_CLASSIFIER = {"metrics/_scorer.py", "plots/_columns.py"}


def own_names(tree: ast.Module) -> set[str]:
    """Private names that a module defines itself: methods, functions and attributes of self."""
    names = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    targets = (node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store))
    return names | {node.attr for node in targets if _is_own(node)}


def foreign_privates(tree: ast.Module) -> list[str]:
    """`x._name` where x is neither self nor cls nor super(), and the module does not define _name."""
    own = own_names(tree) | FOREIGN
    return [
        f"line {node.lineno}: {ast.unparse(node)}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and node.attr.startswith("_")
        and not node.attr.endswith("__")
        and not _is_own(node)
        and node.attr not in own
    ]


def unknown_estimators(tree: ast.Module) -> list[str]:
    """Parameters `estimator: Any`."""
    arguments = (node for node in ast.walk(tree) if isinstance(node, ast.arg) and node.arg == "estimator")
    return [f"line {one.lineno}" for one in arguments if one.annotation and ast.unparse(one.annotation) == "Any"]


def _is_own(node: ast.Attribute) -> bool:
    return ast.unparse(node.value) in ("self", "cls", "super()")


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_module_uses_what_is_private_to_another(path):
    tree = ast.parse(path.read_text())
    assert foreign_privates(tree) == []
    if str(path.relative_to(ROOT)) not in ANY_CLASSIFIER:
        assert unknown_estimators(tree) == []


def test_the_rules_find_what_they_are_for():
    tree = ast.parse("def learn(estimator: Any):\n    estimator._basis(1)\n    estimator._statistics = 2")
    assert sorted(foreign_privates(tree)) == ["line 2: estimator._basis", "line 3: estimator._statistics"]
    assert unknown_estimators(tree) == ["line 1"]
    assert foreign_privates(ast.parse("class A:\n    def _f(self, other):\n        return other._f(self._g)")) == []


MAP = (Path(__file__).parents[1] / "docs" / "architecture.md").read_text()
PARTS = {path.stem for path in ROOT.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
NAMED = sorted(set(re.findall(r"\b([a-z_]+)\.([A-Za-z_]+)\b", MAP)) - {("pnulearn", "streaming")})


def test_the_map_names_every_part_and_no_other():
    rows = re.findall(r"^\| `(\w+)` \|", MAP, re.MULTILINE)
    assert sorted(rows) == sorted(PARTS - {"__init__", "__main__"})


def test_the_map_shows_the_layers_of_the_contract():
    contract = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["tool"]["importlinter"]
    layers = [layer.replace("pnulearn.", "").split(" : ") for layer in contract["contracts"][0]["layers"]]
    drawn = MAP.split("## Layers")[1].split("## ")[0].split("    cli\n")[1].strip()
    assert [sorted(line.strip().split(", ")) for line in ["cli", *drawn.splitlines()]] == list(map(sorted, layers))
    assert len(layers) <= 10


@pytest.mark.parametrize(("module", "name"), [pair for pair in NAMED if pair[1] not in ("py", "toml", "md")])
def test_what_the_map_names_exists(module, name):
    homes = [path for path in MODULES if path.stem == module or path.parent.name == module]
    assert any(re.search(rf"\b(def|class) {name}\b|^{name}\b", path.read_text(), re.MULTILINE) for path in homes)


CONTRIBUTING = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text()
FOLDERS = "src|tests|docs|benchmarks|experiments|results"
PATHS = sorted(set(re.findall(rf"`(?:python )?((?:{FOLDERS})/[\w./-]*)", CONTRIBUTING)))


@pytest.mark.parametrize("path", PATHS)
def test_every_path_in_contributing_exists(path):
    """Of a path with a placeholder (NAME, TOPIC) the folder."""
    there = re.split("[^/]*(?:NAME|TOPIC)", path)[0]
    assert (Path(__file__).parents[1] / there).exists()


SCRIPTS = sorted(
    path
    for folder in ("benchmarks", "examples", "experiments", "docs")
    for path in (Path(__file__).parents[1] / folder).rglob("*.py")
    if "_build" not in path.parts and "auto_examples" not in path.parts
)


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_what_scripts_import_of_the_package_is_there(path):
    """Benchmarks are not run by the tests, and import private names."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "pnulearn":
            if node.module.startswith("pnulearn.torch") and find_spec("torch") is None:
                continue
            module = import_module(node.module)
            for name in node.names:
                assert hasattr(module, name.name) or find_spec(f"{node.module}.{name.name}"), ast.unparse(node)
