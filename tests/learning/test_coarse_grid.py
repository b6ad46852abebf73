"""Losses that are solved model by model search a part of the grid, unless somebody asks for the whole."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pnulearn import PNUClassifier
from pnulearn._learning.settings import Settings
from pnulearn._solvers.candidates import ALPHAS, ETAS, Mixes

COARSE = ([-0.8, -0.4, 0.0, 0.4, 0.8], [1e-5, 1e-3, 1e-1, 1e1])


def grid(risk="pnu", **options):
    settings = Settings.of(PNUClassifier(risk, random_state=0, **options).get_params(deep=False)).for_risk(risk)
    return Mixes.of(risk, settings.mix).values, settings.alphas


@pytest.mark.parametrize("loss", ["logistic", "double_hinge", "hyperbolic", "ramp", "sigmoid"])
def test_losses_without_closed_form_search_a_coarse_grid(loss):
    for found, expected in zip(grid(loss=loss), COARSE, strict=True):
        assert_allclose(found, expected, atol=1e-15)
    assert_allclose(grid("punu", loss=loss)[0], [0.1, 0.3, 0.5, 0.7, 0.9])


@pytest.mark.parametrize(
    "options",
    [{"loss": "squared"}, {"loss": "logistic", "alpha": ALPHAS}, {"loss": "logistic", "selection": "best"}],
    ids=["squared", "alpha", "best"],
)
def test_the_whole_grid_is_searched_in_closed_form_or_if_asked_for(options):
    mixes, alphas = grid(**options)
    assert_allclose(mixes, ETAS)
    assert_allclose(alphas, ALPHAS)


def test_what_is_given_stays():
    mixes, alphas = grid(loss="logistic", mix=[0.0, 0.5])
    assert_allclose(mixes, [0.0, 0.5])
    assert_allclose(alphas, ALPHAS)


def test_a_risk_without_mixes_keeps_all_alphas():
    assert_allclose(grid("pn", loss="logistic")[1], ALPHAS)


def test_a_fit_shows_the_grid_that_it_searched():
    rng = np.random.default_rng(0)
    truth = np.arange(60) % 2
    X = rng.normal(size=(60, 2)) + 2 * truth[:, None]
    y = np.where(np.arange(60) < 20, truth, np.nan)
    options = {"loss": "logistic", "prior": 0.5, "bandwidth": 2.0, "random_state": 0}
    model = PNUClassifier(**options).fit(X, y)
    assert model.search_.weight.shape == (1, 5, 4)
    assert PNUClassifier(**options, alpha=ALPHAS).fit(X, y).search_.weight.shape == (1, 21, 8)
    y[truth == 0] = np.nan
    with pytest.warns(UserWarning, match="PU risk"):
        assert PNUClassifier(**options).fit(X, y).search_.weight.shape == (1, 1, 8)
