"""Public names appear and vanish on purpose only."""

import subprocess
import sys

import pnulearn


def test_all_is_sorted_and_true():
    assert sorted(pnulearn.__all__) == pnulearn.__all__
    assert all(hasattr(pnulearn, name) for name in pnulearn.__all__)


def test_a_fit_needs_nothing_beyond_the_core():
    code = """
import sys

class Absent:
    names = "pandas polars matplotlib jinja2 pyarrow dask distributed typer rich torch onnx skops cvxpy".split()

    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in self.names:
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Absent())
import numpy as np, pnulearn
rng = np.random.default_rng(0)
X = rng.normal(size=(350, 3)); y = np.r_[np.ones(35), np.zeros(15), np.full(300, np.nan)]
pnulearn.PNUClassifier(random_state=0).fit(X, y).predict(X)
print("fitted")
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.stdout.strip() == "fitted", result.stderr
