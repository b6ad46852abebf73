"""The recipe for Ray in the documentation, where Ray is installed."""

import re
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from tests.problems import COLUMNS, mixture, table, write_parquet

from pnulearn import PNUClassifier
from pnulearn.streaming import collect_statistics, fit_statistics

ray = pytest.importorskip("ray", reason="Ray is not installed")
GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "scaling.md"


@pytest.fixture
def driver():
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False)
    yield
    ray.shutdown()


@pytest.mark.usefixtures("driver")
def test_the_recipe_gives_the_bits_of_one_process(tmp_path):
    paths, rows = [], []
    for day in range(3):
        X, y, _ = mixture(2000, labeled=0.1, seed=day)
        paths.append(str(write_parquet(tmp_path / f"day{day}.parquet", X, y, rows=1000)))
        rows.append(table(X, y).to_pandas())
    recipe = re.search(r"## Ray\n.*?```\{code-block\} python\n(.*?)```", GUIDE.read_text(), re.DOTALL)[1]
    recipe = recipe.replace("PNUClassifier(", "PNUClassifier(centers=20, bandwidth=2.0, ")  # which takes less time
    names = {"paths": paths, "sample": rows[0], "columns": list(COLUMNS)}
    exec(recipe, names)
    parts = [collect_statistics(path, names["design"], target="label") for path in paths]
    wanted = fit_statistics(PNUClassifier(random_state=0), parts[0] + parts[1] + parts[2])
    assert_array_equal(names["model"].coef_, wanted.coef_)
    assert np.mean(names["model"].decision_function(rows[0][list(COLUMNS)]) > 0) > 0.05
