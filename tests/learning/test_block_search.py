"""Rows in blocks give what rows all at once give."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from tests.problems import mixture

from pnulearn import PNUClassifier, losses
from pnulearn._kernels.gaussian import GaussianBasis
from pnulearn._kernels.registry import KERNELS
from pnulearn._learning import block_search, from_rows
from pnulearn._learning.block_search import BlockSearch
from pnulearn._learning.from_rows import choose_search
from pnulearn._learning.search import Problem, RowSearch
from pnulearn._problem.folds import assign_folds
from pnulearn._problem.labels import decode_labels
from pnulearn._problem.row_keys import row_keys
from pnulearn._problem.samples import Samples
from pnulearn._solvers.candidates import Mixes
from pnulearn._solvers.iterative import candidate_solver, squashing
from pnulearn._solvers.moments import LabeledMoments, Moments, MomentSums

RNG = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(block_search, "BLOCK_ROWS", 128)


def problem_of(
    kernel="rbf", sampling="by_class", n_classes=2, labeled=0.03, weighted=False, held_out=False, loss="squared"
):
    X, y, _ = mixture(900, n_classes=n_classes, labeled=labeled)
    weight = RNG.integers(1, 4, size=len(X)).astype(float) if weighted else np.ones(len(X))
    samples = Samples(X, decode_labels(y).codes, weight, n_classes, sampling)
    keys = row_keys(X, 0)
    bandwidth = None if kernel == "linear" else [4.0, 2.0, 1.0, 3.0]
    basis = KERNELS[kernel].choose(X, samples.codes >= 0, keys, X[:20], bandwidth)
    fold = assign_folds(samples.codes, 3, keys, weight)
    splits = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(3)]
    prior, chosen = np.full(n_classes, 1 / n_classes), losses.LOSSES[loss]
    mixes = Mixes.of("pnu", [-0.5, 0.0, 0.3, 1.0])
    problem = Problem(samples, prior, basis, mixes, np.array([0.01, 1.0]), candidate_solver(chosen), squashing(chosen))
    problem = replace(problem, quadratic=chosen.quadratic is not None)
    if held_out:
        return replace(problem, held_out=samples.take(np.arange(0, 900, 2)))
    return replace(problem, splits=splits)


@pytest.mark.parametrize(
    "given",
    [
        {},
        {"weighted": True},
        {"sampling": "random"},
        {"kernel": "linear", "weighted": True},
        {"kernel": "laplace"},
        {"n_classes": 3},
        {"labeled": 0.4, "n_classes": 3, "weighted": True},
        {"labeled": 0.4, "kernel": "linear", "sampling": "random"},
        {"held_out": True},
    ],
    ids=str,
)
def test_blocks_give_what_all_rows_at_once_give(given):
    problem = problem_of(**given)
    rows, blocks = RowSearch(problem), BlockSearch(problem)
    explored, fits = rows.explore(), blocks.explore()
    for one, other in zip(explored, fits, strict=True):
        for name in ("weight", "positive", "first", "second"):
            assert_allclose(getattr(other.tally, name), getattr(one.tally, name), atol=1e-9)
    shape = len(problem.basis.bandwidths), len(problem.mixes), len(problem.alphas)
    weight, n_folds = RNG.random(shape), 0 if given.get("held_out") else 3
    weight[0] = 0 if shape[0] > 1 else weight[0]
    fold_weights = [RNG.random(shape) for _ in range(n_folds)]
    model, by_blocks = (
        search.assemble(found, weight, fold_weights) for search, found in ((rows, explored), (blocks, fits))
    )
    assert_array_equal(by_blocks.used, model.used)
    features = sum(
        problem.basis.features(problem.prepared, index) @ (by_blocks.coef - model.coef)[:, place].T
        for place, index in enumerate(np.flatnonzero(weight.any(axis=(1, 2))))
    )
    assert_allclose(features, 0, atol=1e-8)
    assert_allclose(by_blocks.intercept, model.intercept, atol=1e-9)
    assert_allclose(by_blocks.validation_scores, model.validation_scores, atol=1e-8)
    if n_folds:
        assert_allclose(by_blocks.judging_scores, model.judging_scores, atol=1e-8)


def test_threads_do_not_change_a_bit():
    problem = problem_of()
    one, two = (BlockSearch(problem, n_jobs).explore() for n_jobs in (1, 2))
    for a, b in zip(one, two, strict=True):
        assert_array_equal(a.tally.second, b.tally.second)


def test_blocks_are_for_many_rows_that_are_each_held_out_once(monkeypatch):
    problem = problem_of()
    assert choose_search(problem.samples, problem.basis) is RowSearch
    monkeypatch.setattr(from_rows, "KEPT_AT_MOST", 10_000)
    assert choose_search(problem.samples, problem.basis) is BlockSearch
    assert problem.holds_each_row_out_once
    twice = [problem.splits[0], *problem.splits]
    assert not replace(problem, splits=twice).holds_each_row_out_once


def test_a_classifier_takes_the_road_by_itself_with_the_same_answer(monkeypatch):
    X, y, _ = mixture(900, labeled=0.05)
    model = PNUClassifier(centers=20, cv=5, random_state=0)
    kept = model.fit(X, y).decision_function(X), model.risk_, model.search_.squared
    monkeypatch.setattr(from_rows, "KEPT_AT_MOST", 10_000)
    monkeypatch.setattr(RowSearch, "explore", None)
    blocks = model.fit(X, y).decision_function(X), model.risk_, model.search_.squared
    assert_allclose(blocks[0], kept[0], atol=1e-9)
    assert blocks[1].value == pytest.approx(kept[1].value, abs=1e-9)
    assert_allclose(blocks[2], kept[2], atol=1e-9)


def test_fourth_powers_are_the_exponentials_of_half_the_bandwidth():
    basis = GaussianBasis(RNG.normal(size=(7, 3)), 1.7 * np.array([1 / 8, 1 / 4, 1 / 2, 1.0, 3 / 2, 2.0]))
    prepared, seen = basis.prepare(RNG.normal(size=(11, 3))), set()
    for index, features in basis.every_features(prepared, range(6)):
        assert_allclose(features, basis.features(prepared, index), rtol=1e-12, atol=1e-300)
        seen.add(index)
    assert seen == set(range(6))


def test_sums_grow_by_blocks_and_with_weights():
    rows, weight = RNG.normal(size=(50, 6)), RNG.random(50)
    sums = MomentSums(6)
    for part in (slice(0, 20), slice(20, 20), slice(20, 50)):
        sums.add(rows[part], weight[part])
    found = sums.moments()
    assert_allclose(found.outer, (rows * weight[:, None]).T @ rows, atol=1e-12)
    assert_allclose(found.total, weight @ rows)
    assert found.weight == pytest.approx(weight.sum())


def test_labelled_moments_from_classes_leave_absent_ones_out():
    rows = RNG.normal(size=(10, 3))
    classes = [Moments.of(rows[:4]), Moments.zero(3), Moments.of(rows[4:])]
    prior = np.array([0.2, 0.5, 0.3])
    found = LabeledMoments.of(classes, prior, np.arange(3))
    means = rows[:4].mean(axis=0), rows[4:].mean(axis=0)
    assert_allclose(found.total, 0.2 * means[0] + 0.3 * means[1])
    assert_allclose(found.signed[2], -0.2 * means[0] + 0.3 * means[1])
    assert_allclose(found.signed_share, [-0.1, -0.5, 0.1])
    assert_allclose(found.outer, 0.2 * rows[:4].T @ rows[:4] / 4 + 0.3 * rows[4:].T @ rows[4:] / 6)


def test_memory_is_asked_for_by_the_road_that_will_be_taken(monkeypatch):
    """What the features of all rows would need is refused only where they are all made."""
    X, y, _ = mixture(900, labeled=0.05)
    monkeypatch.setattr("pnulearn._learning.settings.free_memory", lambda: 1_200_000)
    monkeypatch.setattr("pnulearn._learning.settings.ALWAYS_FREE", 0)
    model = PNUClassifier(centers=20, random_state=0, prior=0.3, mix=0.5, alpha=0.1)
    with pytest.raises(MemoryError, match="900 rows x 20 basis functions need about"):
        model.fit(X, y)
    monkeypatch.setattr(from_rows, "KEPT_AT_MOST", 10_000)
    model.fit(X, y)
