"""PNURanker as its user meets it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.metrics import roc_auc_score
from sklearn.utils.estimator_checks import check_estimator

from pnulearn.metrics._curves import count_beaten, pnu_auc
from pnulearn.ranking import PairSearch, PNURanker

rng = np.random.default_rng(1)
N_LABELED, N, PRIOR = 30, 430, 0.1
TRUTH = np.concatenate([np.arange(N_LABELED) % 2, rng.random(N - N_LABELED) < PRIOR]).astype(int)
X = rng.normal(size=(N, 3)) + np.array([1.5, 0.7, 0]) * TRUTH[:, None]
Y = np.where(np.arange(N) < N_LABELED, TRUTH, np.nan)
QUICK = {"prior": PRIOR, "mix": [-0.4, 0.0, 0.4], "alpha": [1e-2, 1e-1], "bandwidth": [1.0, 3.0], "random_state": 0}


@pytest.mark.parametrize("options", [{}, {"loss": "logistic"}, {"kernel": "linear"}, {"selection": "best"}], ids=str)
def test_rows_are_ranked_and_the_stated_auc_holds_the_truth(options):
    model = PNURanker(**QUICK | options).fit(X, Y)
    auc = roc_auc_score(TRUTH[N_LABELED:], model.decision_function(X[N_LABELED:]))
    assert auc > 0.8
    assert model.auc_.low < auc < model.auc_.high
    assert_allclose(model.search_.weight.sum(), 1)
    called = np.mean(model.predict(X[N_LABELED:]) == 1)
    assert_allclose(called, PRIOR, atol=1 / (N - N_LABELED))


def test_the_order_of_rows_and_their_storage_do_not_matter():
    model = PNURanker(**QUICK).fit(X, Y)
    order = np.random.default_rng(2).permutation(N)
    assert_allclose(
        PNURanker(**QUICK).fit(X[order], Y[order]).decision_function(X), model.decision_function(X), atol=1e-8
    )
    rare = csr_matrix(X)
    assert_allclose(PNURanker(**QUICK).fit(rare, Y).decision_function(rare), model.decision_function(X), atol=1e-8)


@pytest.mark.parametrize("present", [0, 1])
def test_one_labelled_class_and_unlabelled_rows_are_enough(present):
    truth = np.repeat([present, 1, 0], [30, 80, 120])
    rows = np.random.default_rng(0).normal(size=(230, 3)) + np.array([1.5, 0.7, 0]) * truth[:, None]
    y = np.where(np.arange(230) < 30, ["no", "yes"][present], None)
    model = PNURanker(prior=0.4, pos_label="yes", bandwidth=2.0, random_state=0).fit(rows, y)
    assert roc_auc_score(truth[30:], model.decision_function(rows[30:])) > 0.8
    assert abs(model.auc_.mix) == 1


@pytest.mark.parametrize("prior", [0.1, 0.45])
def test_the_classes_may_change_places(prior):
    options = {"alpha": [1e-2, 1e-1], "bandwidth": [1.0, 3.0], "random_state": 0}
    one = PNURanker(prior=prior, **options).fit(X, Y)
    other = PNURanker(prior=1 - prior, pos_label=0.0, **options).fit(X, Y)
    assert_allclose(other.search_.mixes, -one.search_.mixes[::-1], atol=1e-15)
    assert_allclose(np.ptp(other.decision_function(X) + one.decision_function(X)), 0, atol=1e-8)


def test_no_mix_is_preferred_before_rows_are_seen():
    """Labels alone are one mix among the others: equal risks have equal weights."""
    table = PNURanker(**QUICK).fit(X, Y).search_
    energy = 15 * (table.zero_one + table.squared)
    weight = np.exp(energy.min() - energy)
    assert_allclose(table.weight, weight / weight.sum(), atol=2e-3)  # bandwidths with next to nothing are left out


def test_the_interval_allows_for_pairs_that_the_model_from_all_rows_turns_round():
    """By brute force over pairs of unlabelled rows of the same fold."""
    chosen = []

    class Noted(PairSearch):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            chosen.append(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pnulearn.ranking.PairSearch", Noted)
        model = PNURanker(**QUICK | {"selection": "best"}).fit(X, Y)
    search = chosen[0]
    final, turned, held_out = model.decision_function(X), [], np.zeros(N)
    numbers = np.unique(search.folds).tolist()
    for fold in numbers:
        k, m, a = search.tabulate("best", [other for other in numbers if other != fold]).best
        rows = np.flatnonzero(search.folds == fold)
        scores, free = search.features[k][rows] @ search.learnt[k][fold][m, a], rows >= N_LABELED
        held_out[rows] = count_beaten(scores, scores[free])
        ours, theirs = (np.sign(g[:, None] - g) for g in (scores[free], final[rows[free]]))
        turned.append(np.sum(ours * theirs < 0) / (free.sum() * (free.sum() - 1)))
    plain = pnu_auc(Y, held_out - 0.5, prior=PRIOR)
    assert model.auc_.value == pytest.approx(plain.value)
    assert np.mean(turned) > 0.01
    assert model.auc_.stderr == pytest.approx(np.hypot(plain.stderr, np.mean(turned) / np.sqrt(3)))
    assert model.auc_.low < plain.low < plain.high < model.auc_.high <= 1


def test_labels_alone_are_enough():
    model = PNURanker(**QUICK).fit(X[:N_LABELED], Y[:N_LABELED])
    assert roc_auc_score(TRUTH[N_LABELED:], model.decision_function(X[N_LABELED:])) > 0.75
    assert model.score(X, Y) > 0.7


@pytest.mark.parametrize(
    ("options", "y", "message"),
    [
        ({"loss": "hinge"}, Y, "'squared', 'logistic'"),
        ({"mix": 2}, Y, "mix must be"),
        ({"alpha": [1.0, -1.0]}, Y, r"alpha must be .*got \[1\.0, -1\.0\]"),
        ({"cv": 1}, Y, "cv must be"),
        ({"mix": 0.5}, np.where(Y == 0, np.nan, Y), "with mix=1 only"),
        ({}, np.where(np.arange(N) < 30, np.arange(N) % 3, np.nan), "y has 3 classes"),
        ({"prior": 0.5}, np.ones(N), "two samples"),
    ],
)
def test_what_cannot_be_ranked_is_refused(options, y, message):
    with pytest.raises(ValueError, match=message):
        PNURanker(**QUICK | options).fit(X, y)


def test_a_word_is_no_penalty():
    with pytest.raises(TypeError, match=r"alpha must be a number or several between .*got 'x'"):
        PNURanker(**QUICK | {"alpha": "x"}).fit(X, Y)


def test_a_copy_learns_the_same():
    model = PNURanker(**QUICK).fit(X, Y)
    assert_array_equal(clone(model).fit(X, Y).decision_function(X), model.decision_function(X))


@pytest.mark.filterwarnings("ignore")
def test_scikit_learn_finds_nothing_to_complain_about():
    check_estimator(PNURanker(mix=[0.0, 0.4], alpha=[1e-1], cv=2))
