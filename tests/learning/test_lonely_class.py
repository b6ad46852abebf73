"""A class with a single labelled row: every fold learns from it, and it is judged without it."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pnulearn import PNUClassifier
from pnulearn._learning.selection import Tally, membership
from pnulearn._problem.folds import content_splits, never_held_out
from pnulearn._problem.samples import Samples
from pnulearn.risks import pnu

CODES = np.array([1, *[0] * 9, *[-1] * 30])


def splits_of(codes, n_candidates=2):
    X = np.arange(len(codes), dtype=float)[:, None]
    samples = Samples(X, codes, np.ones(len(codes)), n_classes=max(codes) + 1)
    return content_splits(
        5, samples, np.arange(len(codes)), np.array(["no", "yes", "maybe"])[: max(codes) + 1], n_candidates
    )


def test_every_fold_trains_on_the_only_row_and_no_other_row_is_lost():
    splits = splits_of(CODES)
    assert all(0 in train and 0 not in test for train, test in splits)
    assert sorted(np.concatenate([test for _, test in splits])) == list(range(1, len(CODES)))
    assert never_held_out(CODES, splits) == (1,)


def test_copies_of_the_only_row_are_one_row():
    codes = np.array([1, 1, *[0] * 9, *[-1] * 30])
    samples = Samples(np.zeros((len(codes), 1)), codes, np.ones(len(codes)))
    keys = np.maximum(np.arange(len(codes)), 1)
    assert never_held_out(codes, content_splits(5, samples, keys, np.array([0, 1]), 2)) == (1,)


@pytest.mark.parametrize(
    ("codes", "message"),
    [
        (CODES[:10], "no unlabelled rows for validation"),
        (CODES[:11], "no unlabelled rows for validation"),  # one is none: every fold would need it
        (np.array([1, 0, *[-1] * 30]), "no other class has more"),
    ],
)
def test_what_cannot_be_validated_is_refused(codes, message):
    with pytest.raises(ValueError, match=message):
        splits_of(codes)


def test_a_tossed_class_is_half_wrong_in_every_candidate():
    """The risk is that of two rows of the class, one of them called positive, with the mix of least variance."""
    scores = np.array([-2.0, -1, 1, -1, 1, 1, -1, -1])[None, None, None]
    codes = np.array([0, 0, 0, 0, -1, -1, -1, -1])
    judged = Tally.of(scores, membership(codes, np.ones(8), 2, np.arange(4, 8))).with_pseudo_observations(
        np.array([1]), 2.0
    )
    prior = np.array([0.7, 0.3])
    psi_p, psi_n, psi_u = 0.3**2 / 2, 0.7**2 / 4, 1 / 4
    table = pnu(0.3, (psi_n - psi_p) / (psi_p + psi_n + psi_u)).table
    wrong = np.array([[0.5, 0.5], [3 / 4, 1 / 4], [1 / 2, 1 / 2]])
    assert_allclose(judged.zero_one(prior), np.sum(table * wrong))


def test_pseudo_observations_have_the_squared_score_of_the_population():
    scores = np.array([0.5, 1.0, 2.0, 3.0])[None, None, None]
    tally = Tally.of(scores, membership(np.array([0, -1, -1, -1]), np.ones(4), 2, np.arange(1, 4)))
    judged = tally.with_pseudo_observations(np.array([1]), 2.0)
    assert_allclose(judged.second[..., 1] / judged.weight[1], (1 + 4 + 9) / 3)


@pytest.mark.parametrize("options", [{"sampling": "random"}, {"prior": (0.05, 0.2)}], ids=str)
def test_one_positive_among_ten_labels_makes_a_model_and_says_what_it_cannot_judge(gaussians, options):
    X, y = gaussians(n_positive=1, n_negative=9, n_unlabeled=200, prior=0.1)
    with pytest.warns(UserWarning, match=r"Class 1\.0 has a single labelled row"):
        model = PNUClassifier(**options, random_state=0).fit(X, y)
    assert np.isnan(model.validation_scores_[0])
    assert np.isfinite(model.validation_scores_[1:]).all()
    assert 0 < model.risk_.low < model.risk_.value < model.risk_.high
    assert model.risk_.high - model.risk_.low > 0.1
    assert (model.predict(X[10:]) == 1).mean() < 0.5


def test_who_calls_nothing_positive_errs_on_the_known_share_of_positives(gaussians):
    """U alone tells that all positives are missed, though the only labelled one was learnt from."""
    X, y = gaussians(n_positive=1, n_negative=9, n_unlabeled=200, prior=0.1)
    with pytest.warns(UserWarning, match="single labelled row"):
        model = PNUClassifier(prior=0.1, random_state=0).fit(X, y)
    assert not (model.predict(X[1:]) == 1).any()
    assert_allclose(model.risk_.value, 0.1, atol=0.01)


def test_several_classes_with_one_row_are_learnt_beside_one_with_more():
    rng = np.random.default_rng(0)
    truth = np.concatenate([[0, 2], np.ones(8), rng.integers(0, 3, 120)]).astype(int)
    X = rng.normal(size=(130, 2)) + 5 * np.array([[0, 0], [0, 1], [1, 0]])[truth]
    y = np.where(np.arange(130) < 10, truth, np.nan)
    with pytest.warns(UserWarning, match="single labelled row"):
        model = PNUClassifier(prior={0.0: 0.3, 1.0: 0.4, 2.0: 0.3}, random_state=0).fit(X, y)
    assert (model.predict(X) == truth).mean() > 0.8
