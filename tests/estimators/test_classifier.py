"""PNUClassifier as users meet it."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from pnulearn import PNUClassifier, PNUStratifiedKFold
from pnulearn._learning import search

QUICK = {"alpha": [1e-2, 1.0], "bandwidth": [1.0, 3.0], "mix": [-0.5, 0.0, 0.5], "prior": 0.4, "random_state": 0}


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("risk", ["pnu", "punu", "pn", "pu", "nu"])
@pytest.mark.parametrize("selection", ["average", "best"])
def test_every_risk_and_kernel_learns(gaussians, risk, kernel, selection):
    X, y = gaussians(40, 30, 150)
    options = {"alpha": [1e-3, 1e-1], "prior": 0.4, "kernel": kernel, "selection": selection}
    options |= {"bandwidth": [1.0, 3.0]} if kernel == "rbf" else {}
    models = [PNUClassifier(risk, random_state=seed, **options).fit(X, y) for seed in range(3)]
    X_test, y_test = gaussians(300, 300, 0, seed=1)
    assert np.mean([model.score(X_test, y_test) for model in models]) > 0.75
    assert all(0.05 < model.risk_.value < 0.35 for model in models)
    assert set(models[0].predict(X)) <= {0.0, 1.0}


def test_two_fits_with_one_seed_agree_bit_for_bit_whatever_n_jobs(gaussians):
    X, y = gaussians()
    scores = [PNUClassifier(random_state=3, n_jobs=n_jobs).fit(X, y).decision_function(X) for n_jobs in (1, 1, 2)]
    assert_array_equal(scores[0], scores[1])
    assert_array_equal(scores[0], scores[2])


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_swapping_classes_with_prior_and_mix_mirrored_flips_the_sign(gaussians, kernel):
    X, y = gaussians()
    options = {"kernel": kernel, "alpha": 0.1, "random_state": 0} | ({"bandwidth": 2.0} if kernel == "rbf" else {})
    model = PNUClassifier(prior=0.25, mix=0.5, **options).fit(X, y)
    mirror = PNUClassifier(prior=0.75, mix=-0.5, **options).fit(X, 1 - y)
    assert_array_equal(model.decision_function(X), -mirror.decision_function(X))


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("sampling", ["by_class", "random"])
@pytest.mark.parametrize("n_unlabeled", [50, 150])  # fewer and more than rows whose leverage is exact
def test_weights_equal_repeated_rows_in_any_order(gaussians, kernel, sampling, n_unlabeled):
    X, y = gaussians(n_unlabeled=n_unlabeled)
    rng = np.random.default_rng(0)
    weight = rng.integers(0, 4, size=len(y))
    rows = rng.permutation(np.repeat(np.arange(len(y)), weight))
    # Weights that count towards a prior say how rows were sampled, so they are no copies there.
    model = PNUClassifier(kernel=kernel, sampling=sampling, prior=0.4 if sampling == "random" else None, random_state=0)
    weighted = model.fit(X, y, sample_weight=weight).decision_function(X)
    repeated = model.fit(X[rows], y[rows]).decision_function(X)
    assert_allclose(weighted, repeated, atol=1e-7)


def test_design_weights_that_count_the_prior_have_no_unit(gaussians):
    """Of rows drawn at random: all weights times 100 change neither the prior nor its interval."""
    X, y = gaussians(30, 30, 100)
    weight = np.where(y == 1, 0.2, 1.0)
    one, other = (
        PNUClassifier(kernel="linear", sampling="random", random_state=0).fit(X, y, sample_weight=factor * weight)
        for factor in (1, 100)
    )
    found, expected = other.prior_estimate_, one.prior_estimate_
    assert_allclose([found.value, found.low, found.high], [expected.value, expected.low, expected.high])
    plain = PNUClassifier(kernel="linear", sampling="random", random_state=0).fit(X, y).prior_estimate_
    assert found.value < plain.value - 0.1


def test_sparse_input_gives_the_same_answer(gaussians):
    X, y = gaussians()
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    for kernel in ("rbf", "linear"):
        dense = PNUClassifier(kernel=kernel, random_state=0, prior=0.4).fit(X, y)
        for make in (sparse.csr_matrix, sparse.csc_matrix, sparse.coo_matrix):
            thin = PNUClassifier(kernel=kernel, random_state=0, prior=0.4).fit(make(X), y)
            assert_allclose(thin.decision_function(make(X)), dense.decision_function(X), atol=1e-8)


@pytest.mark.parametrize(
    "convert",
    [
        lambda X: X.astype(np.float32).astype(float),
        np.asfortranarray,
        lambda X: X.astype(">f8"),
        lambda X: np.repeat(X, 2, axis=0)[::2],
        lambda X: np.frombuffer(X.tobytes()).reshape(X.shape),
    ],
    ids=["float32 values", "Fortran", "big-endian", "strided", "read-only"],
)
def test_storage_of_x_does_not_matter(gaussians, convert):
    X, y = gaussians()
    X = X.astype(np.float32).astype(float)
    expected = PNUClassifier(**QUICK).fit(X, y).decision_function(X)
    assert_allclose(PNUClassifier(**QUICK).fit(convert(X), y).decision_function(X), expected, atol=1e-10)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int8])
def test_small_types_are_accepted(gaussians, dtype):
    X, y = gaussians()
    X = (10 * X).astype(dtype)
    assert_allclose(
        PNUClassifier(**QUICK).fit(X, y).decision_function(X),
        PNUClassifier(**QUICK).fit(X.astype(float), y).decision_function(X.astype(float)),
    )


def test_a_large_offset_costs_no_accuracy(gaussians):
    X, y = gaussians()
    for kernel in ("rbf", "linear"):  # a single candidate, since folds depend on the rows' content
        model = PNUClassifier(kernel=kernel, mix=0.5, alpha=0.01, bandwidth=1.0, prior=0.4)
        expected = model.fit(X, y).decision_function(X)
        assert_allclose(model.fit(X + 1e8, y).decision_function(X + 1e8), expected, atol=1e-5)


def test_pandas_and_polars_names_are_kept_and_checked(gaussians):
    X, y = gaussians()
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = PNUClassifier(**QUICK).fit(frame, pd.Series(y))
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame[["b", "a", "c"]])
    assert_array_equal(
        PNUClassifier(**QUICK).fit(pl.DataFrame(frame), y).predict(pl.DataFrame(frame)), model.predict(frame)
    )


def test_answers_come_in_the_users_labels(gaussians):
    X, y = gaussians()
    words = np.where(np.isnan(y), "?", np.where(y == 1, "spam", "ham"))
    model = PNUClassifier(unlabeled="?", pos_label="ham", **QUICK).fit(X, words)
    assert model.classes_.tolist() == ["spam", "ham"]
    assert set(model.predict(X)) <= {"spam", "ham"}
    assert_array_equal(model.predict(X) == "ham", model.decision_function(X) > 0)


def test_a_missing_group_is_done_without(gaussians):
    X, y = gaussians(40, 40, 150)
    for keep, risk, word in (
        (y != 0, "pu", "negative"),
        (y != 1, "nu", "positive"),
        (~np.isnan(y), "pn", "unlabelled"),
    ):
        with pytest.warns(UserWarning, match=f"no {word} rows"):
            model = PNUClassifier(prior=0.4, pos_label=1, random_state=0).fit(X[keep], y[keep])
        assert model.risk_used_ == risk
        assert model.score(*gaussians(200, 200, 0, seed=1)) > 0.7


def test_probabilities_follow_the_population_prior(gaussians):
    """Labels are half positive, the population a fifth: probabilities on the population must average a fifth."""
    X, y = gaussians(60, 60, 600, prior=0.2)
    model = PNUClassifier(prior=0.2, random_state=0).fit(X, y)
    probability = model.predict_proba(X[np.isnan(y)])
    assert_allclose(probability.sum(axis=1), 1)
    assert abs(probability[:, 1].mean() - 0.2) < 0.04


def test_the_population_of_a_single_set_is_all_rows(gaussians):
    """PU on a single set: U's moments must include the labelled positives."""
    X, y = gaussians(30, 0, 60)
    options = {"mix": None, "alpha": 0.1, "bandwidth": 2.0, "prior": 0.5, "random_state": 0, "centers": X[:20]}
    single = PNUClassifier("pu", sampling="random", pos_label=1, **options).fit(X, y)
    by_hand = PNUClassifier("pu", pos_label=1, **options).fit(
        np.vstack([X[:30], X]), np.concatenate([y[:30], np.full(len(X), np.nan)])
    )
    assert_allclose(single.decision_function(X), by_hand.decision_function(X), atol=1e-9)


def test_held_out_rows_choose_the_candidate(gaussians):
    X, y = gaussians()
    X_val, y_val = gaussians(20, 20, 40, seed=5)
    model = PNUClassifier(selection="best", **QUICK).fit(X, y, X_val=X_val, y_val=y_val)
    errors = []
    for row in model.search_.rows():
        one = PNUClassifier(prior=0.4, random_state=0, **{k: row[k] for k in ("bandwidth", "mix", "alpha")}).fit(X, y)
        g = one.decision_function(X_val)
        fnr, fpr = np.mean(g[y_val == 1] <= 0), np.mean(g[y_val == 0] > 0)
        share = np.mean(g[np.isnan(y_val)] > 0)
        psi_p, psi_n = 0.4**2 / 20, 0.6**2 / 20
        eta = (psi_n - psi_p) / (psi_n + psi_p + 1 / 40)
        errors.append(0.4 * fnr + 0.6 * fpr + eta * (0.4 * fnr - 0.6 * fpr + share - 0.4))
        assert_allclose(row["zero_one"], errors[-1], atol=1e-9)
    assert errors[0] == min(errors)
    with pytest.raises(ValueError, match="both X_val and y_val"):
        PNUClassifier().fit(X, y, X_val=X_val)


@pytest.mark.parametrize("cv", [3, PNUStratifiedKFold(3, random_state=0), KFold(3, shuffle=True, random_state=0)])
def test_any_splitter_will_do(gaussians, cv):
    X, y = gaussians()
    assert PNUClassifier(cv=cv, **QUICK).fit(X, y).score(*gaussians(100, 100, 0, seed=1)) > 0.7


def test_the_average_is_the_weighted_sum_of_its_candidates(gaussians):
    X, y = gaussians()
    model = PNUClassifier(**QUICK).fit(X, y)
    total = np.zeros(len(X))
    for row in model.search_.rows():
        one = PNUClassifier(prior=0.4, random_state=0, **{k: row[k] for k in ("bandwidth", "mix", "alpha")}).fit(X, y)
        total += row["weight"] * one.decision_function(X)
    assert_allclose(model.decision_function(X), total, atol=1e-8)
    assert model.coef_.shape[1] <= 2  # at most one vector per bandwidth


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("limit", ["SCORES_KEPT", "ROW_CHUNK"])
def test_many_rows_are_judged_in_parts_with_the_same_result(gaussians, monkeypatch, kernel, limit):
    X, y = gaussians()
    model = PNUClassifier(kernel=kernel, prior=0.4, random_state=0)
    whole = model.fit(X, y)
    zero_one, squared, scores = whole.search_.zero_one, whole.search_.squared, whole.validation_scores_
    monkeypatch.setattr(search, limit, 7)
    parts = model.fit(X, y)
    assert_allclose(parts.search_.zero_one, zero_one, atol=1e-9)
    assert_allclose(parts.search_.squared, squared, atol=1e-9)
    assert_allclose(parts.validation_scores_, scores, atol=1e-9)


def test_multi_class_equals_one_vs_rest_with_weighted_negatives(gaussians):
    rng = np.random.default_rng(0)
    codes = np.repeat([0, 1, 2, -1], [5, 9, 7, 60])
    X = rng.normal(size=(81, 2)) + 1.5 * np.column_stack([codes == 1, codes == 2])
    y = np.where(codes < 0, np.nan, codes)
    shares = {0: 0.5, 1: 0.2, 2: 0.3}
    options = {"mix": 0.4, "alpha": 0.05, "bandwidth": 1.0, "centers": X[:30], "random_state": 0}
    model = PNUClassifier(prior=shares, **options).fit(X, y)
    for k in range(3):
        # negatives of class k are the others, each weighted by its share over its number of rows
        weight = np.array([1.0 if c < 0 else shares[c] / np.sum(codes == c) for c in codes])
        binary = np.where(codes < 0, np.nan, codes == k)
        one = PNUClassifier(prior=shares[k], **options).fit(X, binary, sample_weight=weight)
        assert_allclose(model.decision_function(X)[:, k], one.decision_function(X), atol=1e-9)
    assert_allclose(model.predict_proba(X).sum(axis=1), 1)


def test_digits_with_five_labels_per_class_and_shifted_shares():
    X, digit = load_digits(return_X_y=True)
    X = X / 16
    shares = np.array([3, 3, 3, 3, 3, 1, 1, 1, 1, 1]) / 20
    errors = []
    for seed in range(2):
        rng = np.random.default_rng(seed)
        labeled = np.concatenate([rng.choice(np.flatnonzero(digit == k), 5, replace=False) for k in range(10)])
        rest = rng.permutation(np.setdiff1d(np.arange(len(digit)), labeled))
        pool = [rest[digit[rest] == k] for k in range(10)]
        unlabeled = np.concatenate([rows[: int(400 * share)] for rows, share in zip(pool, shares, strict=True)])
        test = np.concatenate([rows[int(400 * share) :] for rows, share in zip(pool, shares, strict=True)])
        rows = np.concatenate([labeled, unlabeled])
        y = digit[rows].astype(float)
        y[50:] = np.nan
        weight = shares[digit[test]] / np.bincount(digit[test])[digit[test]]
        prior = dict(enumerate(shares))
        options = {"prior": prior, "bandwidth": [1.0, 2.0], "alpha": [1e-4, 1e-3], "mix": [0.0, 0.2, 0.4]}
        for risk in ("pn", "pnu"):
            model = PNUClassifier(risk, random_state=0, **options).fit(X[rows], y)
            errors.append(1 - model.score(X[test], digit[test], sample_weight=weight))
    assert max(errors) < 0.35


def test_it_lives_in_a_pipeline(gaussians):
    X, y = gaussians()
    model = make_pipeline(MinMaxScaler(), PNUClassifier(prior=0.4, random_state=0)).fit(X, y)
    assert model.predict(X).shape == y.shape


def test_progress_is_reported_when_asked_for(gaussians, capsys):
    X, y = gaussians()
    PNUClassifier(verbose=1, cv=5, **QUICK).fit(X, y)
    assert "10 of 10 grids solved" in capsys.readouterr().err
    PNUClassifier(verbose=1, **QUICK).fit(X, y)
    assert "2 of 2 grids solved" in capsys.readouterr().err


def test_nothing_to_choose_needs_no_cross_validation(gaussians):
    X, y = gaussians(1, 1, 40)
    model = PNUClassifier(prior=0.4, mix=0.5, alpha=0.1, bandwidth=1.0).fit(X, y)
    assert model.risk_ is None
    assert len(model.predict(X)) == 42


def test_predicting_nothing_gives_nothing(gaussians):
    X, y = gaussians()
    for kernel in ("rbf", "linear"):
        model = PNUClassifier(**(QUICK | {"kernel": kernel})).fit(X, y)
        assert model.predict(np.zeros((0, 3))).shape == (0,)


def test_predict_before_fit():
    with pytest.raises(NotFittedError):
        PNUClassifier().predict(np.zeros((2, 2)))


def test_identical_rows_in_every_group_still_give_finite_scores():
    X = np.repeat([[0.0, 1.0], [1.0, 0.0]], 20, axis=0)
    y = np.tile([1.0, 0.0, np.nan, np.nan], 10)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = PNUClassifier(prior=0.5, alpha=0.1, bandwidth=1.0, mix=0.2).fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()
