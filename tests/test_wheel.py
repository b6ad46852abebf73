"""The wheel holds the package and nothing else: no experiments, no tests, no module that only they would use."""

import zipfile
from pathlib import Path, PurePosixPath

import grimp
import pytest
from hatchling.builders.wheel import WheelBuilder

ROOT = Path(__file__).parents[1]
# Besides Python: the marker of a typed package, the labelling page and the report's templates.
OTHER_FILES = {"pnulearn": {".typed"}, "pnulearn/labeling/page": {".html", ".css", ".js", ".svg"}}
OTHER_FILES["pnulearn/report/templates"] = {".html", ".css"}


@pytest.fixture(scope="module")
def contents(tmp_path_factory):
    """Every file of the wheel but its metadata."""
    (path,) = WheelBuilder(str(ROOT)).build(directory=str(tmp_path_factory.mktemp("wheel")), versions=["standard"])
    with zipfile.ZipFile(path) as wheel:
        return [PurePosixPath(name) for name in wheel.namelist() if ".dist-info/" not in name]


def test_the_wheel_holds_the_folder_of_the_package_and_nothing_else(contents):
    files = [path for path in (ROOT / "src").rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    assert {path.parts[0] for path in contents} == {"pnulearn"}
    assert sorted(map(str, contents)) == sorted(path.relative_to(ROOT / "src").as_posix() for path in files)


def test_the_wheel_holds_no_data_and_no_tests(contents):
    others = [path for path in contents if path.suffix != ".py"]
    assert [
        str(path) for path in others if (path.suffix or path.name) not in OTHER_FILES.get(str(path.parent), ())
    ] == []
    wrong = {"test", "tests", "conftest", "experiments", "benchmarks"}
    assert [str(path) for path in contents if wrong & {*path.parts, path.stem, path.stem.partition("_")[0]}] == []


def test_the_package_itself_uses_every_module():
    """A module that nothing in the package imports would serve tests or experiments alone."""
    graph = grimp.build_graph("pnulearn", cache_dir=None)
    modules = [module for module in graph.modules if not graph.find_children(module)]
    unused = [module for module in modules if not graph.find_modules_that_directly_import(module)]
    # what the command `pnulearn` runs, and a module that users import
    assert sorted(unused) == ["pnulearn.__main__", "pnulearn.ranking"]
