"""S4VM: the worst-case programme, its dual, and the classifier."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import linprog
from sklearn.svm import SVC

from pnulearn.baselines._s4vm import S4VM, safest_labels, supervised_svm

rng = np.random.default_rng(0)
N_LABELED, N = 12, 112
TRUTH = np.arange(N) % 2
X = rng.normal(size=(N, 2)) + 1.6 * TRUTH[:, None]
Y = np.where(np.arange(N) < N_LABELED, TRUTH, np.nan)


def labelings(seed, n_separators=5, n_rows=40):
    draw = np.random.default_rng(seed)
    supervised = draw.choice([-1.0, 1.0], size=n_rows)
    flips = np.where(draw.random((n_separators, n_rows)) < 0.3, -1.0, 1.0)
    return supervised * flips, supervised


def gain_minus_loss(labels, truth, supervised, caution):
    """By counting, for labels ±1: rows won over the supervised labels, less `caution` times the rows lost."""
    won = np.sum((labels == truth) & (supervised != truth))
    lost = np.sum((labels != truth) & (supervised == truth))
    return won - caution * lost


@pytest.mark.parametrize("seed", range(5))
def test_the_programme_counts_rows_won_and_lost(seed):
    """c'y + d at a vertex y is the count; the optimum over [−1, 1] is at least the best vertex tried."""
    separators, supervised = labelings(seed)
    worst = safest_labels(separators, supervised, caution=3.0)
    for labels in [supervised, *separators, *np.random.default_rng(seed).choice([-1.0, 1.0], size=(200, 40))]:
        assert worst.gain >= min(gain_minus_loss(labels, t, supervised, 3.0) for t in separators) - 1e-8


def test_a_single_separator_is_followed_wholly():
    """With one candidate the gain is the number of rows on which it differs from the supervised labels."""
    separators, supervised = labelings(0, n_separators=1)
    worst = safest_labels(separators, supervised, caution=3.0)
    assert_array_equal(worst.labels, separators[0])
    assert worst.gain == pytest.approx(np.sum(separators[0] != supervised))


@pytest.mark.parametrize("caution", [0.5, 1.0, 3.0, 10.0])
@pytest.mark.parametrize("seed", range(5))
def test_the_worst_case_is_never_worse_than_the_supervised_labels(seed, caution):
    assert safest_labels(*labelings(seed), caution).gain >= -1e-9


@pytest.mark.parametrize("seed", range(5))
def test_strong_duality(seed):
    """max over y of min over t equals min over weights of Σ_j |Σ_t w_t c_tj| + w'd, and our weights attain it."""
    separators, supervised = labelings(seed)
    slopes = (4 * separators + 2 * supervised) / 4
    levels = (-2 * len(supervised) - 4 * separators @ supervised) / 4
    worst = safest_labels(separators, supervised, caution=3.0)
    assert (worst.weight >= -1e-12).all()
    assert_allclose(worst.weight.sum(), 1)
    attained = np.abs(worst.weight @ slopes).sum() + worst.weight @ levels
    assert_allclose(attained, worst.gain, atol=1e-8)
    u, t = len(supervised), len(separators)
    above = np.block([[slopes.T, -np.eye(u)], [-slopes.T, -np.eye(u)]])
    dual = linprog(
        np.concatenate([levels, np.ones(u)]),
        A_ub=above,
        b_ub=np.zeros(2 * u),
        A_eq=np.concatenate([np.ones(t), np.zeros(u)])[None],
        b_eq=[1.0],
    )
    assert_allclose(dual.fun, worst.gain, atol=1e-8)


@pytest.mark.parametrize("seed", range(5))
def test_the_sign_of_the_weighted_vote_is_the_answer(seed):
    separators, supervised = labelings(seed)
    worst = safest_labels(separators, supervised, caution=3.0)
    vote = 4 * worst.weight @ separators + 2 * supervised
    clear = np.abs(vote) > 1e-9
    assert clear.any()
    assert_array_equal(np.sign(vote[clear]), worst.labels[clear])


def test_separators_that_agree_with_the_svm_change_nothing():
    _, supervised = labelings(0)
    worst = safest_labels(np.tile(supervised, (4, 1)), supervised, caution=3.0)
    assert_array_equal(worst.labels, supervised)
    assert worst.gain == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_infinite_caution_leaves_the_svm_only_where_all_separators_do(seed):
    separators, supervised = labelings(seed)
    separators[:, :3] = -supervised[:3]
    worst = safest_labels(separators, supervised, caution=1e7)
    against_all = (separators != supervised).all(axis=0)
    assert_array_equal(worst.labels, np.where(against_all, -supervised, supervised))


def test_the_supervised_svm_is_scikit_learns():
    kernel = X @ X.T
    coef, bias = supervised_svm(kernel, np.where(np.isnan(Y), 0, 2 * TRUTH - 1.0), C=10.0)
    theirs = SVC(C=10.0, kernel="linear").fit(X[:N_LABELED], TRUTH[:N_LABELED])
    assert_allclose(kernel @ coef + bias, theirs.decision_function(X), atol=1e-3)
    assert not coef[N_LABELED:].any()


def fitted(**options):
    settings = {"C": 1.0, "C_unlabeled": 0.1, "bandwidth": 1.0, "prior": 0.5, "n_starts": 30, "random_state": 0}
    return S4VM(**{**settings, **options}).fit(X, Y)


@pytest.mark.parametrize("options", [{}, {"C_unlabeled": 1.0}, {"kernel": "linear"}, {"prior": 0.3}], ids=str)
def test_new_rows_are_labelled_as_the_training_rows_were(options):
    """The inductive rule repeats the transduction wherever the vote is not even."""
    model = fitted(**options)
    scores = model.decision_function(X[N_LABELED:])
    clear = np.abs(scores) > 1e-5
    assert clear.mean() > 0.5
    assert_array_equal((scores > 0)[clear], (model.transduction_[N_LABELED:] == 1)[clear])


def test_even_votes_are_decided_by_the_supervised_svm():
    model = fitted()
    model.vote_ = np.zeros_like(model.vote_)
    supervised = model._features(X, X, 1.0) @ model.dual_coef_[-1] + model.intercept_[-1]
    assert_array_equal(model.predict(X) == 1, supervised > 0)


def test_its_expansions_are_plain_arrays():
    model = fitted()
    n_kept = len(model.vote_) - 1
    assert 1 <= n_kept <= 10
    assert model.dual_coef_.shape == (n_kept + 1, N)
    assert model.intercept_.shape == (n_kept + 1,)
    assert model.worst_case_gain_ >= -1e-6
    assert_allclose(model.vote_.sum(), 1)
    assert (np.abs(model.decision_function(X)) <= 1 + 1e-5).all()


def test_great_caution_is_the_supervised_svm_unless_all_separators_object():
    model = fitted(caution=1e7)
    scores = model._features(X[N_LABELED:], X, 1.0) @ model.dual_coef_.T + model.intercept_
    against_all = ((scores[:, :-1] > 0) != (scores[:, -1:] > 0)).all(axis=1)
    expected = (scores[:, -1] > 0) != against_all
    assert_array_equal(model.transduction_[N_LABELED:] == 1, expected)


@pytest.mark.parametrize("share", [0.3, 0.5, 0.7])
def test_kept_separators_have_about_the_share_of_positives(share):
    """The mean label of all rows is within 0.1 of its target: 0.05 n of the u unlabelled rows."""
    model = fitted(prior=share)
    scores = model._features(X[N_LABELED:], X, 1.0) @ model.dual_coef_[:-1].T + model.intercept_[:-1]
    assert_allclose((scores > 0).mean(axis=0), share, atol=0.05 * N / (N - N_LABELED) + 1e-9)


def test_two_fits_with_one_seed_agree_and_other_seeds_differ():
    assert_array_equal(fitted(C_unlabeled=1.0).dual_coef_, fitted(C_unlabeled=1.0).dual_coef_)
    assert not np.array_equal(fitted(C_unlabeled=1.0).dual_coef_, fitted(C_unlabeled=1.0, random_state=1).dual_coef_)


@pytest.mark.parametrize("name, value", [("n_starts", 0), ("n_starts", 2.5), ("n_separators", 0), ("caution", 0.0)])
def test_wrong_settings_are_refused(name, value):
    with pytest.raises(ValueError, match=f"{name} must be"):
        fitted(**{name: value})


@pytest.mark.parametrize("rows", [X, np.round(X)], ids=["continuous", "ties"])
def test_neither_the_order_of_the_rows_nor_their_last_bits_matter(rows):
    options = {"C_unlabeled": 0.1, "bandwidth": 1.0, "prior": 0.5, "n_starts": 20, "random_state": 0}
    model = S4VM(**options).fit(rows, Y)
    order = np.random.default_rng(3).permutation(N)
    moved = S4VM(**options).fit(rows[order], Y[order])
    assert_array_equal(moved.transduction_, model.transduction_[order])
    other = S4VM(**options).fit(np.nextafter(rows, np.inf), Y)
    for again in (moved, other):
        assert_allclose(again.decision_function(rows), model.decision_function(rows), atol=1e-8)
