"""Drawing the rows of a trial."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from experiments.trials import Pools, TooFewRows, Trial, counts, draw_trial, generator, load_scaled


def _trial(key=("t", 0), n=2000, **changes):
    rng = np.random.default_rng(0)
    positive = rng.random(n) < 0.4
    X = np.column_stack([np.arange(n), positive])
    options = {"labeled": (7, 3), "unlabeled": (150, 150), "validation": (10, 10), "prior": 0.5, "key": key}
    return draw_trial(X, positive, **(options | changes))


def test_no_row_is_used_twice():
    trial = _trial()
    used = np.concatenate([trial.X, trial.X_val, trial.X_test])[:, 0]
    assert len(np.unique(used)) == len(used) == 2000


def test_every_part_has_the_classes_it_was_asked_for():
    trial = _trial(unlabeled=(90, 210))
    truth = trial.X[:, 1]
    assert np.nansum(trial.y == 1) == 7
    assert np.nansum(trial.y == 0) == 3
    assert_allclose(truth[~np.isnan(trial.y)], trial.y[~np.isnan(trial.y)])
    assert truth[np.isnan(trial.y)].sum() == 90
    assert_allclose(trial.X_val[:, 1], trial.y_val)
    assert_allclose(trial.X_test[:, 1], trial.y_test)


def test_a_trial_depends_on_its_key_alone():
    first, again, other = _trial(), _trial(), _trial(key=("t", 1))
    assert_allclose(first.X, again.X)
    assert first.seed == again.seed
    assert not np.array_equal(first.X, other.X)


def test_errors_are_weighted_to_the_prior():
    """3 of 4 positives and 1 of 2 negatives wrong: 0.2 × 0.75 + 0.8 × 0.5."""
    nothing = np.zeros((0, 1))
    trial = Trial(nothing, nothing, None, None, nothing, np.array([1, 1, 1, 1, 0, 0]), prior=0.2, seed=0)
    assert_allclose(trial.error(np.array([1, 0, 0, 0, 1, 0])), 0.55)


def test_a_set_that_is_too_small_is_named_with_what_it_lacks():
    with pytest.raises(TooFewRows, match="needs 9000 more negative rows"):
        _trial(unlabeled=(10, 9000))


def test_nothing_left_to_test_on_is_an_error():
    pools = Pools(np.array([True, True, False]), generator("x"))
    pools.take(1, 1)
    with pytest.raises(TooFewRows):
        pools.rest()


def test_shares_are_rounded_to_whole_rows():
    assert counts(10, 0.7) == (7, 3)
    assert counts(50, 0.7) == (35, 15)
    assert counts(300, 0.5) == (150, 150)


def test_features_are_scaled_to_the_unit_interval(tmp_path):
    np.savez(tmp_path / "mine.npz", X=[[1.0, 5.0], [3.0, 5.0], [2.0, 5.0]], y=[0, 1, 0])
    np.savez(tmp_path / "pixels.npz", X=np.array([[0, 51], [102, 0]], dtype=np.uint8), y=[0, 1])
    X, positive = load_scaled("mine", str(tmp_path))
    assert_allclose(X, [[0, 0], [1, 0], [0.5, 0]])
    assert positive.tolist() == [False, True, False]
    assert_allclose(load_scaled("pixels", str(tmp_path))[0], [[0, 0.2], [0.4, 0]])
