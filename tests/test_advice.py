"""Advice: its numbers are the theory's, its words follow the numbers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import LogisticRegression

from pnulearn.advice import advise, advise_for


def test_the_numbers_are_those_of_the_variance_formula():
    """Minimise (1 + η)² ψ_P + (1 − η)² ψ_N + η² ψ_U by brute force."""
    advice = advise(12, 8, 200, prior=0.3, error_rates=(0.1, 0.25))
    etas = np.linspace(-1, 1, 20001)
    psi_p, psi_n = 0.09 * 0.1 * 0.9 / 12, 0.49 * 0.25 * 0.75 / 8
    share = 0.3 * 0.9 + 0.7 * 0.25
    variance = (1 + etas) ** 2 * psi_p + (1 - etas) ** 2 * psi_n + etas**2 * share * (1 - share) / 200
    assert_allclose(advice.mix, etas[variance.argmin()], atol=2e-4)
    assert_allclose(advice.variance_ratio, variance.min() / (psi_p + psi_n), rtol=1e-6)
    assert_allclose(advice.limit_ratio, 4 * psi_p * psi_n / (psi_p + psi_n) ** 2)


def test_from_about_23_rows_the_papers_mix_helps():
    advice = advise(10, 10, 300, prior=0.3, error_rates=(0.2, 0.25))
    assert 20 < advice.unlabeled_to_help < 25
    psi = advice.psi(20)
    assert psi.ratio(advice.paper_mix) > 1 > psi.ratio(psi.best_mix)
    assert advice.psi(25).ratio(advice.paper_mix) < 1


def test_the_next_label_is_the_one_that_lowers_the_variance_more():
    """Negatives are the noisier class at prior 0.3, but unlabelled rows stand in for them."""
    assert advise(10, 10, 0, prior=0.3).label_next == "negative"
    assert advise(10, 10, 300, prior=0.3).label_next == "positive"
    assert advise(10, 10, 300, prior=0.7).label_next == "negative"
    for prior, sizes in ((0.2, (30, 5, 50)), (0.6, (5, 30, 500)), (0.5, (9, 11, 10))):
        advice = advise(*sizes, prior)
        positive = advise(sizes[0] + 1, sizes[1], sizes[2], prior)
        negative = advise(sizes[0], sizes[1] + 1, sizes[2], prior)
        variances = [a.psi().variance(a.mix) for a in (positive, negative)]
        assert advice.label_next == ("positive" if variances[0] < variances[1] else "negative")


def test_balanced_classes_have_little_to_gain():
    advice = advise(20, 20, 1000, prior=0.5)
    assert advice.best == "pn"
    assert_allclose(advice.variance_ratio, 1)
    assert "reduce the variance little" in str(advice)


@pytest.mark.parametrize(("sizes", "best", "label"), [((5, 0, 50), "pu", "negative"), ((0, 5, 50), "nu", "positive")])
def test_a_missing_class_is_done_without_and_asked_for(sizes, best, label):
    advice = advise(*sizes, prior=0.4)
    assert advice.best == best
    assert advice.label_next == label
    assert best.upper() in str(advice)


def test_measured_rates_come_from_the_model(gaussians):
    X, y = gaussians(40, 30, 100)
    labeled = ~np.isnan(y)
    model = LogisticRegression().fit(X[labeled], y[labeled])
    advice = advise_for(model, X, y, prior=0.4)
    wrong = np.sum(model.predict(X[y == 1]) == 0)
    assert_allclose(advice.error_rates[0], (wrong + 1) / 42)
    assert advice.measured
    assert "measured" in str(advice)


def test_the_plot_shows_both_mixes():
    pytest.importorskip("matplotlib").use("agg")
    ax = advise(10, 10, 300, prior=0.3).plot()
    assert len(ax.lines) == 4
    assert_allclose(ax.lines[3].get_ydata(), [advise(10, 10, 300, prior=0.3).variance_ratio])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((10, 10, 300, 30), "between 0 and 1, got 30"),
        ((10, -1, 300, 0.3), "n_negative must be a whole number"),
        ((0, 0, 300, 0.3), "Learning is impossible"),
        ((5, 0, 0, 0.3), "Learning is impossible"),
    ],
)
def test_impossible_questions_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        advise(*arguments)


@pytest.mark.parametrize("size", [float("nan"), float("inf"), None, "ten", 1.5, -1])
def test_sizes_that_are_no_whole_numbers(size):
    with pytest.raises(ValueError, match="n_unlabeled must be a whole number"):
        advise(10, 10, size, prior=0.3)


@pytest.mark.parametrize("rates", [0.2, (0.1,), (0.1, "a"), (0.1, float("nan")), (0.0, 0.1)])
def test_error_rates_that_are_no_shares(rates):
    with pytest.raises(ValueError, match="error_rates must be two shares"):
        advise(10, 10, 100, prior=0.3, error_rates=rates)


def test_a_prior_that_is_a_range_comes_with_what_would_narrow_it():
    sharp, vague = advise(10, 10, 300, prior=0.3), advise(10, 10, 300, prior=(0.1, 0.5))
    assert sharp.narrowing is None
    assert vague.narrowing.interval == pytest.approx((0.1, 0.5), abs=1e-3)
    assert str(vague).endswith(str(vague.narrowing))
    assert "labelled at random" in str(vague)
    assert "labelled at random" not in str(sharp)


def test_without_unlabelled_rows_nothing_is_said_about_how_classes_vary():
    words = str(advise(10, 10, 0, prior=0.3))
    assert "no unlabelled rows" in words
    assert "alike" not in words


def test_where_nothing_is_to_gain_no_number_of_rows_brings_it():
    advice = advise(20, 20, 1000, prior=0.5)
    assert advice.limit_ratio == pytest.approx(1)
    assert advice.unlabeled_enough == float("inf")
    assert "90 %" not in str(advice)


def test_the_ratio_is_said_to_be_about_judging():
    assert "In evaluation" in str(advise(10, 10, 300, prior=0.3))
