"""Fixtures that several test modules share."""

from __future__ import annotations

import os
import shutil

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy starts its threads

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.preprocessing import minmax_scale

from tests.shuffle import shuffled

ROOT = Path(__file__).parents[1]
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
CHROMIUM_FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Another order if PNULEARN_ORDER asks for one."""
    if seed := os.environ.get("PNULEARN_ORDER"):
        items[:] = shuffled(items, seed)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real data that lies beside the repository during development; it is not part of the product."""
    folder = Path(os.environ.get("PNULEARN_SHARED", ROOT.parent / "shared"))
    if not folder.is_dir():
        pytest.skip(f"no folder of real data at {folder.name!r} beside the repository (set PNULEARN_SHARED)")
    return folder


@pytest.fixture(scope="session")
def load_set(shared: Path) -> Callable[[str], tuple[np.ndarray, np.ndarray]]:
    """Load a real set by name: features scaled to [0, 1], labels ±1."""

    def load(name: str) -> tuple[np.ndarray, np.ndarray]:
        with np.load(shared / "data" / f"{name}.npz") as file:
            return minmax_scale(file["X"].astype(float)), file["y"].astype(int)

    return load


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Chromium, where it is installed; nothing is installed or downloaded here."""
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine")
    api = pytest.importorskip("playwright.sync_api")
    with api.sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_FLAGS)
        yield launched
        launched.close()


@pytest.fixture
def gaussians() -> Callable[..., tuple[np.ndarray, np.ndarray]]:
    """Two overlapping Gaussian classes, most rows unlabelled: X and y with 1, 0 and NaN."""

    def draw(n_positive=12, n_negative=8, n_unlabeled=80, prior=0.4, dimension=3, seed=0):
        rng = np.random.default_rng(seed)
        truth = np.concatenate([np.ones(n_positive), np.zeros(n_negative), rng.random(n_unlabeled) < prior])
        X = rng.normal(size=(len(truth), dimension)) + 1.2 * truth[:, None]
        y = truth.copy()
        y[n_positive + n_negative :] = np.nan
        return X, y

    return draw
