"""The objective is the empirical risk, written so that it can be minimised."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pnulearn import risks
from pnulearn._solvers.objectives import objective, shares_in_means
from pnulearn.losses import LOSSES, Loss

PRIOR = 0.3
EVERY_RISK = {
    "pn": risks.pn(PRIOR),
    "pu": risks.pu(PRIOR),
    "nu": risks.nu(PRIOR),
    "punu": risks.punu(PRIOR, 0.4),
    "pnpu": risks.pnu(PRIOR, 0.6),
    "pnnu": risks.pnu(PRIOR, -0.6),
}
TRAINED = [LOSSES[name] for name in ("squared", "logistic", "double_hinge", "hyperbolic", "ramp", "sigmoid")]


def draw(seed=0):
    """Codes, weights and scores of a random problem with the three groups mixed up."""
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.repeat([1, 0, -1], [4, 6, 15]))
    return codes, rng.uniform(0.5, 2, len(codes)), rng.normal(size=len(codes)) * 2


def weighted_risk(risk, loss, codes, weight, scores):
    """The definition: weighted means over P, N and U."""
    means = [
        [np.average(loss(side * scores[codes == code]), weights=weight[codes == code]) for side in (1, -1)]
        for code in (1, 0, -1)
    ]
    return float(np.sum(risk.table * means))


@pytest.mark.parametrize("loss", TRAINED, ids=str)
@pytest.mark.parametrize("risk", EVERY_RISK.values(), ids=EVERY_RISK)
def test_the_value_is_the_empirical_risk(loss, risk):
    codes, weight, scores = draw()
    shares = shares_in_means(codes, weight, np.flatnonzero(codes < 0), np.array([1 - PRIOR, PRIOR]), own=1)
    terms = objective(risk, loss, shares)
    assert_allclose(terms.value(scores), weighted_risk(risk, loss, codes, weight, scores), atol=1e-12)
    assert (terms.weight >= 0).all()


@pytest.mark.parametrize("loss", TRAINED, ids=str)
def test_derivatives_are_the_numerical_ones(loss):
    codes, weight, scores = draw()
    shares = shares_in_means(codes, weight, np.flatnonzero(codes < 0), np.array([1 - PRIOR, PRIOR]), own=1)
    terms, step = objective(EVERY_RISK["pnpu"], loss, shares), 1e-5

    def change(of):
        bumps = step * np.eye(len(scores))
        return np.array([(of(scores + bump) - of(scores - bump)) / (2 * step) for bump in bumps])

    assert_allclose(terms.derivative(scores), change(terms.value), atol=1e-9)
    if loss.smooth:
        assert_allclose(terms.curvature(scores), change(terms.derivative).diagonal(), atol=1e-9)


def test_the_broad_parabola_lies_above_every_logistic_term_and_meets_it_at_both_ends():
    terms = objective(risks.pn(PRIOR), LOSSES["logistic"], np.array([[1.0], [0], [0]]))
    grid = np.linspace(-30, 30, 601)
    for at in (0.0, 0.7, -4.0, 12.0):
        (curvature,), (slope,) = terms.broad_curvature(np.array([at])), terms.derivative(np.array([at]))
        parabola = terms.value(np.array([at])) + slope * (grid - at) + curvature * (grid - at) ** 2 / 2
        value = np.array([terms.value(np.array([g])) for g in grid])
        assert (parabola >= value - 1e-9).all()
        assert_allclose(np.interp(-at, grid, parabola), terms.value(np.array([-at])), atol=1e-9)


@pytest.mark.parametrize("loss", TRAINED, ids=str)
@pytest.mark.parametrize("risk", EVERY_RISK.values(), ids=EVERY_RISK)
def test_rows_that_are_not_used_make_no_difference(loss, risk):
    codes, weight, scores = draw()
    shares = shares_in_means(codes, weight, np.flatnonzero(codes < 0), np.array([1 - PRIOR, PRIOR]), own=1)
    terms = objective(risk, loss, shares)
    rows = np.flatnonzero(terms.used)
    assert len(rows) == sum(
        (codes == code).sum() for code, row in zip((1, 0, -1), risk.table, strict=True) if row.any()
    )
    assert_allclose(terms.take(rows).value(scores[rows]), terms.value(scores), atol=1e-12)


def test_symmetric_losses_have_one_objective_for_pnu_and_punu():
    codes, weight, _ = draw()
    shares = shares_in_means(codes, weight, np.flatnonzero(codes < 0), np.array([1 - PRIOR, PRIOR]), own=1)
    for eta in (-0.8, 0.0, 0.3):
        pnu = objective(risks.pnu(PRIOR, eta), LOSSES["ramp"], shares)
        punu = objective(risks.punu(PRIOR, (1 - eta) / 2), LOSSES["ramp"], shares)
        assert_allclose(pnu.weight, punu.weight, atol=1e-15)
        assert_allclose((pnu.side * pnu.weight), (punu.side * punu.weight), atol=1e-15)


def test_labelled_rows_may_stand_for_the_population_too():
    codes, weight, scores = draw()
    shares = shares_in_means(codes, weight, np.arange(len(codes)), np.array([1 - PRIOR, PRIOR]), own=1)
    loss = LOSSES["logistic"]
    expected = PRIOR * np.average(
        loss(scores[codes == 1]) - loss(-scores[codes == 1]), weights=weight[codes == 1]
    ) + np.average(loss(-scores), weights=weight)
    assert_allclose(objective(risks.pu(PRIOR), loss, shares).value(scores), expected)


def test_other_classes_make_up_the_negatives_in_proportion_to_their_priors():
    codes, prior = np.array([0, 1, 1, 2, 2, 2]), np.array([0.2, 0.5, 0.3])
    shares = shares_in_means(codes, np.ones(6), np.array([], dtype=int), prior, own=0)
    assert_allclose(shares[0], [1, 0, 0, 0, 0, 0])
    assert_allclose(shares[1], [0, 5 / 16, 5 / 16, 1 / 8, 1 / 8, 1 / 8])
    assert_allclose(shares[2], 0)


@pytest.mark.parametrize("name", ["pu", "nu", "punu", "pnpu", "pnnu"])
def test_the_hinge_is_refused_where_it_is_not_convex_and_the_fitting_losses_are_named(name):
    shares = np.full((3, 6), 1 / 6)
    with pytest.raises(
        ValueError, match=r"hinge.*'squared', 'logistic', 'double_hinge', 'hyperbolic', 'ramp', 'sigmoid'.*risk='pn'"
    ):
        objective(EVERY_RISK[name], LOSSES["hinge"], shares)


def test_a_loss_without_gap_is_trained_on_the_pn_risk():
    class SquaredHinge(Loss):
        name, convex, smooth = "squared_hinge", True, True

        def __call__(self, margin):
            return np.maximum(0, 1 - np.asarray(margin)) ** 2

    codes, weight, scores = draw()
    shares = shares_in_means(codes, weight, np.flatnonzero(codes < 0), np.array([1 - PRIOR, PRIOR]), own=1)
    terms = objective(EVERY_RISK["pn"], SquaredHinge(), shares)
    assert_allclose(terms.value(scores), weighted_risk(EVERY_RISK["pn"], SquaredHinge(), codes, weight, scores))


def test_a_risk_that_takes_more_than_it_gives_on_some_rows_has_no_convex_form():
    risk = risks.Risk(positive=(1.0, 0.0), negative=(-1.0, 0.0))  # one sample counts, the other counts against
    shares = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    with pytest.raises(ValueError, match=r"logistic loss cannot be trained .* 'squared', .* fits risk='pn'") as refusal:
        objective(risk, LOSSES["logistic"], shares)
    named = {name for name in LOSSES if f"'{name}'" in str(refusal.value)}
    assert named == {"squared", "logistic", "double_hinge", "hyperbolic", "ramp", "sigmoid"}


@pytest.mark.parametrize(("second", "fits"), [(1e-12, True), (-1e-12, True), (2e-12, False), (-2e-12, False)])
def test_a_coefficient_of_at_most_a_trillionth_counts_as_rounding(second, fits):
    class NoGap(Loss):
        name, convex, smooth = "no_gap", True, True

        def __call__(self, margin):
            return np.maximum(0, 1 - np.asarray(margin)) ** 2

    risk, shares = risks.Risk(positive=(1.0, second)), np.array([[1.0], [0.0], [0.0]])
    if fits:
        assert objective(risk, NoGap(), shares).weight.tolist() == [1.0]
    else:
        with pytest.raises(ValueError, match="cannot be trained"):
            objective(risk, NoGap(), shares)
