"""Rows left out in closed form against models that are fitted without them."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pnulearn._solvers import leave_one_out as left_out
from pnulearn._solvers.candidates import Mixes, Training
from pnulearn._solvers.leave_one_out import can_leave_out
from pnulearn._solvers.leave_one_out import left_out_scores as leave_out
from pnulearn._solvers.ridge import quadratic_candidates
from pnulearn.losses import Squared

SQUARED = Squared().quadratic
ALPHAS = np.array([1e-4, 0.01, 1.0])


def training(counts, n_unlabeled, *, size=8, single_set=False, seed=0, mixes=None):
    """Classes of so many rows each, all of weight one."""
    rng = np.random.default_rng(seed)
    codes = np.concatenate([np.repeat(np.arange(len(counts)), counts), np.full(n_unlabeled, -1)])
    features = rng.normal(size=(len(codes), size)) / np.sqrt(size) + 0.3 * codes[:, None]
    population = np.arange(len(codes)) if single_set else np.flatnonzero(codes < 0)
    prior = np.arange(1, len(counts) + 1) / np.arange(1, len(counts) + 1).sum()
    mixes = Mixes.of("pnu", [-1.0, -0.3, 0.0, 0.4, 1.0]) if mixes is None else mixes
    return Training(features, codes, np.ones(len(codes)), population, prior, mixes, ALPHAS, False)


def left_out_scores(rows, alike, quadratic):
    return leave_out(rows, alike, quadratic)[0]


def refitted_scores(rows, out, quadratic=SQUARED):
    """Scores of rows `out` by candidates that were learnt from all the others."""
    kept = np.setdiff1d(np.arange(len(rows.codes)), out)
    population = np.flatnonzero(np.isin(kept, rows.population))
    without = replace(
        rows, table=rows.table[kept], codes=rows.codes[kept], weight=rows.weight[kept], population=population
    )
    return quadratic_candidates(without, quadratic).scores(rows.table[out])


@pytest.mark.parametrize(
    ("counts", "mixes"),
    [
        ((6, 9), None),
        ((2, 3), None),
        ((4, 5, 3), None),
        ((6, 9), Mixes.of("punu", [0.0, 0.4, 1.0])),
        ((6, 9), Mixes.of("pn", None)),
    ],
)
def test_labelled_rows_are_scored_by_models_fitted_without_them(counts, mixes):
    rows = training(counts, 40, mixes=mixes)
    found = left_out_scores(rows, np.arange(len(rows.codes)), SQUARED)
    for row in np.flatnonzero(rows.codes >= 0):
        assert_allclose(found[..., [row]], refitted_scores(rows, [row]), atol=1e-8)


def test_any_quadratic_loss_is_served():
    rows, quadratic = training((6, 9), 40), (0.7, -0.9, 0.3)
    found = left_out_scores(rows, np.arange(len(rows.codes)), quadratic)
    assert_allclose(found[..., [2]], refitted_scores(rows, [2], quadratic), atol=1e-8)


@pytest.mark.parametrize("quadratic", [SQUARED, (0.7, -0.9, 0.3)])
def test_models_of_all_rows_come_along(quadratic):
    rows = training((4, 5, 3), 40)
    along, separate = leave_out(rows, np.arange(52), quadratic)[1], quadratic_candidates(rows, quadratic)
    assert_allclose(along.scores(rows.table), separate.scores(rows.table), atol=1e-9)
    weight = np.random.default_rng(0).random((5, 3))
    for ours, theirs in zip(along.average(weight), separate.average(weight), strict=True):
        assert_allclose(ours, theirs, atol=1e-9)


def test_without_unlabelled_rows_labels_are_enough():
    rows = training((6, 9), 0, mixes=Mixes.of("pn", None))
    found = left_out_scores(rows, np.arange(15), SQUARED)
    assert_allclose(found[..., [4]], refitted_scores(rows, [4]), atol=1e-8)


def test_one_labelled_class_is_enough():
    rows = training((0, 9), 40, mixes=Mixes.of("pu", None))
    found = left_out_scores(rows, np.arange(49), SQUARED)
    assert_allclose(found[..., [4]], refitted_scores(rows, [4]), atol=1e-8)


def solved_without(rows, out, scaled=None):
    """Scores of row out[0] by normal equations written out, without the terms of rows `out`; others keep their weights.

    The class `scaled` has one kind of row less than it had, and so has U on the right-hand side.
    """
    theta = rows.prior[1]
    q = np.zeros(len(rows.codes))
    for code, share in ((0, 1 - theta), (1, theta)):
        n = np.sum(rows.codes == code)
        kinds = len(np.unique(rows.table[rows.codes == code], axis=0))
        q[rows.codes == code] = share / n * (kinds / (kinds - 1) if code == scaled else 1)
    u = np.isin(np.arange(len(q)), rows.population) / len(rows.population)
    kinds = len(np.unique(rows.table[rows.population], axis=0))
    balance = kinds / (kinds - 1) if u[out[0]] else 1
    q[out], u[out] = 0, 0
    found = np.empty((1, len(rows.mixes), len(rows.alphas)))
    for c, (share, tilt) in enumerate(zip(rows.mixes.shares, rows.mixes.tilts, strict=True)):
        A = (rows.table * ((1 - share) * q + share * u)[:, None]).T @ rows.table
        b = (q * (np.where(rows.codes == 1, 1, -1) + tilt) - tilt * balance * u) @ rows.table
        for j, alpha in enumerate(rows.alphas):
            found[0, c, j] = rows.table[out[0]] @ np.linalg.solve(A + 4 * alpha * np.eye(len(A)), b)
    return found


@pytest.fixture(autouse=True)
def exact_leverages(monkeypatch):
    monkeypatch.setattr(left_out, "EXACT", 1000)


@pytest.mark.parametrize("single_set", [False, True])
def test_an_unlabelled_row_is_taken_out_and_the_others_stay_as_they_are(single_set):
    rows = training((6, 9), 120, single_set=single_set)
    found = left_out_scores(rows, np.arange(len(rows.codes)), SQUARED)
    for row in (15, 60, 134):
        assert_allclose(found[..., row], solved_without(rows, [row]), atol=1e-8)


def test_a_labelled_row_of_a_single_set_leaves_its_class_and_the_population():
    rows = training((6, 9), 120, single_set=True)
    found = left_out_scores(rows, np.arange(len(rows.codes)), SQUARED)
    assert_allclose(found[..., 3], solved_without(rows, [3], scaled=0), atol=1e-8)
    assert_allclose(found[..., 9], solved_without(rows, [9], scaled=1), atol=1e-8)


def test_the_error_in_scores_of_unlabelled_rows_is_their_share_of_u():
    """Without the row the others of U should weigh n/(n − 1) times as much."""
    errors = []
    for n in (60, 240):
        rows = training((6, 9), n)
        found = left_out_scores(rows, np.arange(len(rows.codes)), SQUARED)
        errors.append(np.median([np.abs(found[..., [i]] - refitted_scores(rows, [i])).mean() for i in range(20, 50)]))
    assert errors[1] < errors[0] / 3


def test_a_model_that_is_all_but_constant_calls_a_row_by_its_own_sides():
    """With a huge penalty and features that hardly vary, what is missing from U would decide if it was not made up."""
    rows = training((7, 7), 60, size=3)
    table = 1 + 0.01 * rows.table
    rows = replace(rows, table=table, alphas=np.array([100.0]), prior=np.array([0.5, 0.5]))
    found = left_out_scores(rows, np.arange(74), SQUARED)
    for row in (0, 9, 20, 50):
        assert_allclose(found[..., [row]], refitted_scores(rows, [row]), atol=1e-7, rtol=0.05)


def test_equal_rows_are_left_out_together():
    rows = training((6, 9), 100)
    rows.table[[1, 20, 50]] = rows.table[0]
    alike = np.arange(len(rows.codes))
    alike[[1, 20, 50]] = 0
    found = left_out_scores(rows, alike, SQUARED)
    assert_allclose(found[..., 0], solved_without(rows, [0, 1, 20, 50], scaled=0), atol=1e-8)
    assert_allclose(found[..., 20], solved_without(rows, [20, 0, 1, 50]), atol=1e-8)
    assert np.abs(left_out_scores(rows, np.arange(115), SQUARED) - found).max() > 0.01


def test_leverages_of_many_unlabelled_rows_follow_from_those_of_some(monkeypatch):
    rows = training((12, 18), 300, size=20)
    alike = np.arange(len(rows.codes))
    every = left_out_scores(rows, alike, SQUARED)
    monkeypatch.setattr(left_out, "EXACT", 64)
    some = left_out_scores(rows, alike, SQUARED)
    assert_allclose(some[..., :30], every[..., :30], atol=1e-12)
    assert np.abs(some - every).mean() < 0.01 * np.abs(every).mean()
    assert np.abs(some - every).max() > 0


def test_a_class_of_one_kind_of_row_has_no_scores():
    rows = training((1, 9), 40)
    found = left_out_scores(rows, np.arange(50), SQUARED)
    assert np.isnan(found[..., 0]).all()
    assert np.isfinite(found[..., 1:]).all()


def test_many_labels_tiny_penalties_and_a_row_that_is_most_of_its_class_are_for_folds():
    codes, weight, alike = np.array([0, 0, 1, 1, -1]), np.ones(5), np.arange(5)
    assert can_leave_out(codes, weight, alike, ALPHAS)
    assert not can_leave_out(codes, weight, alike, np.array([1e-9]))
    assert not can_leave_out(codes, np.array([1, 9.0, 1, 1, 1]), alike, ALPHAS)
    assert can_leave_out(codes, np.array([1, 1, 1, 1, 9.0]), alike, ALPHAS)
    many = np.arange(left_out.MOST_LABELED + 1)
    assert not can_leave_out(many % 2, np.ones(len(many)), many, ALPHAS)
