"""The conda recipe, the Read the Docs file and the source package agree with pyproject.toml and the repository."""

import re
import tomllib
from pathlib import Path

import pytest

yaml = pytest.importorskip("yaml")
ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def read(name):
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


def split(requirement):
    name, bound = re.fullmatch(r"([\w-]+)\s*(.*)", requirement).groups()
    return name, bound


def test_the_conda_recipe_requires_what_the_wheel_requires():
    recipe, project = read("packaging/conda/recipe.yaml"), PROJECT["project"]
    wanted = {*map(split, project["dependencies"]), ("python", project["requires-python"])}
    assert set(map(split, recipe["requirements"]["run"])) == wanted
    extras = {split(one) for many in project["optional-dependencies"].values() for one in many if "[" not in one}
    assert set(map(split, recipe["requirements"]["run_constraints"])) <= extras
    assert recipe["context"]["version"] == project["version"]
    assert recipe["about"]["license"] == project["license"]
    assert recipe["about"]["summary"] == project["description"]
    command, target = next(iter(project["scripts"].items()))
    assert recipe["build"]["python"]["entry_points"] == [f"{command} = {target}"]


def test_one_extra_has_all_that_an_analyst_needs():
    extras = PROJECT["project"]["optional-dependencies"]
    parts = re.fullmatch(r"pnulearn\[(.*)\]", *extras["analyst"])[1].split(",")
    assert {"cli", "report", "excel", "label"} <= set(parts) <= set(extras)
    assert "pip install '.[analyst]'" in (ROOT / "README.md").read_text(encoding="utf-8").partition("## ")[0]


def test_read_the_docs_builds_what_make_docs_builds():
    settings = read(".readthedocs.yaml")
    assert (ROOT / settings["sphinx"]["configuration"]).exists()
    commands = [job.split(maxsplit=1)[1] for job in settings["build"]["jobs"]["pre_build"]]
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert [f"$(PY) {command}" in makefile for command in commands] == [True, True]
    assert set(settings["python"]["install"][0]["extra_requirements"]) <= set(
        PROJECT["project"]["optional-dependencies"]
    )


def test_the_source_package_has_the_documentation():
    included = PROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]
    assert {"src", "tests", "docs", "SECURITY.md", ".readthedocs.yaml", "packaging"} <= set(included)
    assert [name for name in included if not (ROOT / name).exists()] == []
