"""Every display draws on given axes what the model or the data says."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import NotFittedError

from pnulearn import PNUClassifier
from pnulearn.inspection import Effect
from pnulearn.plots import (
    BandwidthDisplay,
    BoundaryDisplay,
    EffectDisplay,
    ImportanceDisplay,
    PriorDisplay,
    RiskSurfaceDisplay,
    ScoreDisplay,
    VarianceRatioDisplay,
    variance_ratio,
)
from pnulearn.priors import PriorEstimate

matplotlib = pytest.importorskip("matplotlib")


@pytest.fixture
def ax():
    from matplotlib.figure import Figure

    return Figure().subplots()


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    positive = rng.random(150) < 0.4
    X = rng.normal(size=(150, 2)) + 2 * positive[:, None]
    y = np.where(np.arange(150) < 40, positive.astype(float), np.nan)
    return X, y, PNUClassifier(cv=3, random_state=0).fit(X, y)


def test_risk_surface_marks_the_chosen_candidate(problem, ax):
    model = problem[2]
    display = RiskSurfaceDisplay.from_estimator(model, ax=ax)
    assert display.ax_ is ax
    drawn = ax.collections[0].get_array().reshape(len(model.search_.mixes), len(model.search_.alphas))
    np.testing.assert_array_equal(drawn, model.search_.zero_one[model.search_.best[0]])
    (alpha,), (mix,) = ax.lines[0].get_data()
    assert (model.search_.alphas[alpha], model.search_.mixes[mix]) == (model.alpha_, model.mix_)


def test_bandwidths_share_the_whole_model(problem, ax):
    display = BandwidthDisplay.from_estimator(problem[2], ax=ax)
    assert sum(bar.get_height() for bar in ax.patches) == pytest.approx(1)
    np.testing.assert_allclose(ax.lines[0].get_ydata(), display.risk)


def test_prior_with_interval_and_labelled_share(problem, ax):
    _, y, model = problem
    display = PriorDisplay.from_estimator(model, y, ax=ax)
    np.testing.assert_allclose(ax.lines[0].get_xdata(), model.prior_interval_)
    assert display.labeled_share == np.nanmean(y)


def test_a_prior_that_is_a_distribution_has_its_density_drawn(ax):
    estimate = PriorEstimate.of_range(0.2, 0.5)
    PriorDisplay(estimate.value, estimate.interval, None, estimate).plot(ax)
    x, height = ax.collections[0].get_paths()[0].vertices.T
    assert x[height.argmax()] == pytest.approx(estimate.mode, abs=0.01)
    assert height.max() == pytest.approx(1, abs=0.01)


def test_scores_of_three_groups(problem, ax):
    X, y, model = problem
    display = ScoreDisplay.from_estimator(model, X, y, ax=ax)
    assert [len(display.scores[name]) for name in ("positive", "negative", "unlabeled")] == [
        np.sum(y == 1),
        np.sum(y == 0),
        np.isnan(y).sum(),
    ]
    again = ScoreDisplay.from_predictions(y, model.decision_function(X), ax=ax.figure.add_subplot())
    np.testing.assert_array_equal(again.scores["positive"], display.scores["positive"])


def test_boundary_is_where_the_score_vanishes(problem, ax):
    X, y, model = problem
    display = BoundaryDisplay.from_estimator(model, X, y, resolution=150, ax=ax)
    line = np.concatenate(ax.collections[1].get_paths()[0].to_polygons(closed_only=False))
    assert np.abs(model.decision_function(line)).max() < 0.02
    assert display.score.shape == (150, 150)
    with pytest.raises(ValueError, match="two columns"):
        BoundaryDisplay.from_estimator(model, X[:, :1], y)


def test_variance_ratio_agrees_with_a_simulation():
    """Zero-one PNU risk at its best mix against PN, with classifiers that err on 20 % of P and 30 % of N."""
    rng = np.random.default_rng(0)
    prior, sizes, rates = 0.3, (15, 10, 60), (0.2, 0.3)
    called = prior * rates[0] + (1 - prior) * (1 - rates[1])
    misses, alarms, negatives = (rng.binomial(n, p, 200_000) / n for n, p in zip(sizes, (*rates, called), strict=True))
    pn = prior * misses + (1 - prior) * alarms
    control = negatives - prior * misses - (1 - prior) * (1 - alarms)
    best = -np.cov(pn, control)[0, 1] / np.var(control)
    assert variance_ratio(prior, *sizes, rates) == pytest.approx(np.var(pn + best * control) / np.var(pn), rel=0.02)


def test_variance_ratio_falls_with_unlabelled_rows(ax):
    display = VarianceRatioDisplay.from_counts(0.3, 10, 10, 200, ax=ax)
    assert (np.diff(display.ratio) <= 0).all()
    assert display.ratio[0] <= 1
    assert display.here[0] == 200


def test_displays_ask_for_a_fitted_model(ax):
    with pytest.raises(NotFittedError):
        RiskSurfaceDisplay.from_estimator(PNUClassifier(), ax=ax)


def test_without_axes_a_figure_is_made():
    matplotlib.use("Agg")
    from matplotlib import pyplot

    display = VarianceRatioDisplay.from_counts(0.3, 10, 10)
    assert display.figure_ is display.ax_.figure
    pyplot.close(display.figure_)


def test_importances_are_drawn_most_important_on_top(problem, ax):
    X, y, model = problem
    display = ImportanceDisplay.from_estimator(model, X, y, random_state=0, n_repeats=2, ax=ax)
    assert [label.get_text() for label in ax.get_yticklabels()] == [one.column for one in display.importances][::-1]
    drawn = [line.get_xdata()[0] for line in ax.lines if line.get_marker() == "o"]
    np.testing.assert_allclose(drawn[::-1], [100 * one.rise.value for one in display.importances])
    with pytest.raises(ValueError, match="LogisticRegression has no class prior: pass prior="):
        ImportanceDisplay.from_estimator(LogisticRegression().fit(X[:40], y[:40]), X, y)


def test_the_prior_of_a_pipelines_last_step_is_found(problem, ax):
    X, y, _ = problem
    model = make_pipeline(StandardScaler(), PNUClassifier(cv=3, prior=0.4, random_state=0)).fit(X, y)
    assert len(ImportanceDisplay.from_estimator(model, X, y, n_repeats=1, ax=ax).importances) == 2


def test_effects_of_numbers_are_curves_and_of_categories_points(ax):
    numbers = Effect("price in $", [1.0, 2.0, 3.0], np.array([[0.1, 0.5, 0.9]]), np.zeros((1, 3)), np.ones((1, 3)), [1])
    EffectDisplay(numbers).plot(ax)
    np.testing.assert_array_equal(ax.lines[0].get_ydata(), [0.1, 0.5, 0.9])
    assert ax.get_xlabel() == r"price in \$"
    two = np.array([[0.2, 0.7], [0.8, 0.3]])
    ax.clear()
    EffectDisplay(Effect("city", ["Graz", "Rom"], two, two, two, ["a", "b"])).plot(ax)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["Graz", "Rom"]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "b"]


def test_an_effect_is_drawn_from_a_classifier(problem, ax):
    X, _, model = problem
    display = EffectDisplay.from_estimator(model, X, 1, n_points=4, ax=ax)
    np.testing.assert_array_equal(ax.lines[0].get_xdata(), display.effect.values)


def test_feature_names_are_kept_through_a_pipeline(problem):
    X, y, _ = problem
    frame = pd.DataFrame(X, columns=["height", "width"])
    scaler = StandardScaler().set_output(transform="pandas")
    model = make_pipeline(scaler, PNUClassifier(cv=3, prior=0.4, random_state=0)).fit(frame, y)
    assert model.feature_names_in_.tolist() == ["height", "width"]
    assert model[-1].feature_names_in_.tolist() == ["height", "width"]
    assert model[:-1].get_feature_names_out().tolist() == ["height", "width"]
