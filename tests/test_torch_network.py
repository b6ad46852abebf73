"""PNUNetClassifier: against gradient descent written out in NumPy, when it stops, and what scikit-learn expects."""

import pickle
import warnings
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import check_estimator

from pnulearn import PNUStratifiedKFold, make_pnu_scorer
from pnulearn._problem.samples import Samples
from pnulearn.losses import LOSSES
from pnulearn.priors import EnergyPrior, PriorEstimate, estimate_prior
from pnulearn.risks import empirical_risk, pnu

torch = pytest.importorskip("torch", reason="PyTorch is the extra 'torch'")

from pnulearn.torch import PNUBatchSampler, PNUNetClassifier  # noqa: E402
from pnulearn.torch._training import Watch  # noqa: E402

pytestmark = pytest.mark.thorough
rng = np.random.default_rng(0)
N_LABELED, N = 24, 150
TRUTH = np.concatenate([np.arange(N_LABELED) % 2, rng.random(N - N_LABELED) < 0.3]).astype(int)
X = rng.normal(size=(N, 2)) + 2.5 * TRUTH[:, None]
Y = np.where(np.arange(N) < N_LABELED, TRUTH, np.nan)
SMALL = PNUNetClassifier(network=(8,), prior=0.3, learning_rate=0.05, max_epochs=8, cv=2, random_state=0)
SINGLE_PRECISION = {"check_methods_subset_invariance": "last bits of a row's sums depend on the rows beside it"}


@pytest.fixture(autouse=True)
def _one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def descend(X, y, eta, prior, sampling, rate, steps):
    """Weights and intercept after steps of nnPNU with the sigmoid loss on all rows, as the literature writes it."""
    codes = np.nan_to_num(y, nan=-1)
    groups = [X[codes == 1], X[codes == 0], X if sampling == "random" else X[codes == -1]]
    if eta < 0:  # NU is PU with the classes in each other's place
        w, b = descend(X, np.where(np.isnan(y), y, 1 - y), -eta, 1 - prior, sampling, rate, steps)
        return -w, -b
    w, b = np.zeros(X.shape[1]), 0.0
    loss, slope = LOSSES["sigmoid"], LOSSES["sigmoid"].derivative
    for _ in range(steps):
        p, n, u = (rows @ w + b for rows in groups)
        r = loss(-u).mean() - prior * loss(-p).mean()
        keep, kappa = (1, 1) if r >= 0 else (0, -1)
        parts = (
            ((1 - eta + eta * keep) * prior * slope(p) + kappa * eta * prior * slope(-p)) / len(p),
            -(1 - eta) * (1 - prior) * slope(-n) / len(n),
            -kappa * eta * slope(-u) / len(u),
        )
        w = w - rate * sum(rows.T @ part for rows, part in zip(groups, parts, strict=True))
        b -= rate * sum(part.sum() for part in parts)
    return w, b


@pytest.mark.parametrize("sampling", ["by_class", "random"])
@pytest.mark.parametrize("eta, prior", [(0.6, 0.3), (-0.6, 0.3), (1.0, 0.9), (0.0, 0.5)])
def test_full_batches_are_gradient_descent_written_out(eta, prior, sampling):
    """With all rows in every batch; prior 0.9 is far too great, so that the non-negative rule steps back."""
    linear = torch.nn.Linear(2, 1, dtype=torch.float64)
    torch.nn.init.zeros_(linear.weight)
    torch.nn.init.zeros_(linear.bias)
    n_population = N if sampling == "random" else N - N_LABELED
    model = PNUNetClassifier(
        network=linear,
        prior=prior,
        mix=eta,
        optimizer=partial(torch.optim.SGD, lr=2.0),
        batch_size=(N_LABELED // 2, N_LABELED // 2, n_population),
        max_epochs=3,
        cv=None,
        sampling=sampling,
        random_state=0,
    ).fit(X, Y)
    w, b = descend(X, Y, eta, prior, sampling, 2.0, steps=30)
    assert_allclose(model.decision_function(X), X @ w + b, rtol=1e-9, atol=1e-12)


def test_batches_of_labels_at_random_draw_u_from_all_rows_and_stay_unbiased():
    codes = np.nan_to_num(Y, nan=-1).astype(int)
    sampler = PNUBatchSampler(codes, (6, 6, 50), sampling="random", random_state=0)
    batches = np.array(list(sampler))
    assert sampler.batch_codes.tolist() == [1] * 6 + [0] * 6 + [-1] * 50
    assert (codes[batches[:, :6]] == 1).all()
    assert (codes[batches[:, 6:12]] == 0).all()
    assert np.sort(batches[:, 12:].ravel()).tolist() == list(range(N)), "every row stands for the population once"


def test_it_learns_and_knows_its_error():
    model = clone(SMALL).set_params(cv=3, max_epochs=30).fit(X, Y)
    error = np.mean(model.predict(X[N_LABELED:]) != TRUTH[N_LABELED:])
    assert error < 0.12
    assert model.risk_.low <= error <= model.risk_.high
    assert len(model.networks_) == 3
    assert model.validation_risks_[model.n_epochs_ - 1] == model.validation_risks_.min()
    assert model.mix_ == pytest.approx((0.7**2 - 0.3**2) / (0.7**2 + 0.3**2))


def test_a_seed_decides_everything_and_leaves_torch_alone():
    net = partial(lambda d: torch.nn.Sequential(torch.nn.Linear(d, 8), torch.nn.Dropout(), torch.nn.Linear(8, 1)))
    model = clone(SMALL).set_params(network=net)
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    first = clone(model).fit(X, Y)
    assert_array_equal(torch.rand(3), expected)
    again, other = clone(model).fit(X, Y), clone(model).set_params(random_state=1).fit(X, Y)
    assert_array_equal(first.decision_function(X), again.decision_function(X))
    assert_array_equal(first.decision_function(X), first.decision_function(X), "dropout is off")
    assert np.abs(first.decision_function(X) - other.decision_function(X)).max() > 1e-3


def test_predictions_probabilities_and_scores_agree():
    model = clone(SMALL).fit(X, Y)
    shares, scores = model.predict_proba(X), model.decision_function(X)
    assert_allclose(shares.sum(axis=1), 1)
    assert_array_equal(model.predict(X), model.classes_[shares.argmax(axis=1)])
    assert_allclose(np.log(shares[:, 1] / shares[:, 0]), model.calibration_[0, 0] * scores, atol=1e-9)
    assert model.score(X, Y) == np.mean(model.predict(X[:N_LABELED]) == TRUTH[:N_LABELED])


@pytest.mark.parametrize("loss", ["logistic", "squared", lambda m: torch.nn.functional.softplus(-m)])
def test_other_losses_and_no_validation(loss):
    model = clone(SMALL).set_params(loss=loss, cv=None, max_epochs=20).fit(X, Y)
    assert np.mean(model.predict(X) == TRUTH) > 0.85
    assert model.risk_ is None
    assert np.isfinite(model.predict_proba(X)).all()
    assert (model.calibration_ is None) == (loss == "squared")


def test_sparse_rows_and_a_frame_are_the_same_rows():
    pandas = pytest.importorskip("pandas")
    expected = clone(SMALL).fit(X, Y).decision_function(X)
    assert_array_equal(clone(SMALL).fit(csr_matrix(X), Y).decision_function(csr_matrix(X)), expected)
    frame = pandas.DataFrame(X, columns=["a", "b"])
    model = clone(SMALL).fit(frame, Y)
    assert_array_equal(model.decision_function(frame), expected)
    assert model.feature_names_in_.tolist() == ["a", "b"]


def test_a_held_out_set_stops_one_network():
    model = clone(SMALL).fit(X[: N // 2], Y[: N // 2], X_val=X, y_val=Y)
    assert len(model.networks_) == 1
    assert model.validation_scores_.shape == (N,)
    assert_allclose(model.validation_scores_, model.decision_function(X), rtol=1e-6)


@pytest.mark.parametrize("kept, risk", [((1, -1), "pu"), ((0, -1), "nu"), ((0, 1), "pn")])
def test_a_missing_group_is_done_without(kept, risk):
    rows = np.isin(np.nan_to_num(Y, nan=-1), kept)
    with pytest.warns(UserWarning, match=f"so the {risk.upper()} risk is used"):
        model = clone(SMALL).set_params(max_epochs=20).fit(X[rows], Y[rows])
    assert model.risk_used_ == risk
    assert np.mean(model.predict(X) == TRUTH) > 0.8


def test_a_single_label_of_a_class_is_learnt_from_and_nothing_held_out():
    y = np.where(TRUTH == 1, Y, np.nan)
    y[0] = 0
    with pytest.warns(UserWarning, match="single labelled row"):
        model = clone(SMALL).fit(X, y)
    assert len(model.networks_) == 1
    assert model.risk_ is None


@pytest.mark.parametrize(
    "prior, value",
    [
        (0.25, 0.25),
        ({0.0: 0.75, 1.0: 0.25}, 0.25),
        ("labeled", 0.5),
        ("energy", estimate_prior(X, Y, "energy", n_bootstrap=0).value),
        (EnergyPrior(n_bootstrap=0), estimate_prior(X, Y, "energy", n_bootstrap=0).value),
        (PriorEstimate.of_range(0.2, 0.4), None),
        ((0.2, 0.4), None),
        (None, None),
    ],
    ids=["number", "mapping", "labeled", "method", "estimator", "estimate", "range", "none"],
)
def test_a_prior_can_be_said_in_every_way(prior, value):
    model = clone(SMALL).set_params(prior=prior, max_epochs=1).fit(X, Y)
    assert model.prior_ == (pytest.approx(value) if value else pytest.approx(0.3, abs=0.12))


def test_labels_of_any_kind_are_answered_in_kind():
    y = np.array([None if np.isnan(code) else ("ham", "spam")[int(code)] for code in Y], dtype=object)
    model = clone(SMALL).set_params(pos_label="ham", prior=0.7, max_epochs=20).fit(X, y)
    assert model.classes_.tolist() == ["spam", "ham"]
    assert np.mean(model.predict(X) == np.array(["ham", "spam"])[TRUTH]) > 0.85
    marked = clone(SMALL).set_params(unlabeled=-1).fit(X, np.nan_to_num(Y, nan=-1))
    assert set(marked.predict(X)) <= {0, 1}


def test_clones_pickles_and_searches():
    fitted = clone(SMALL).fit(X, Y)
    expected = fitted.decision_function(X)
    assert_array_equal(clone(fitted).fit(X, Y).decision_function(X), expected)
    assert_array_equal(pickle.loads(pickle.dumps(fitted)).decision_function(X), expected)
    search = GridSearchCV(
        clone(SMALL).set_params(cv=None),
        {"mix": [0.0, 0.6], "network": [(4,), torch.nn.Linear(2, 1)]},
        cv=PNUStratifiedKFold(2, train_on_unlabeled=True, random_state=0),
        scoring=make_pnu_scorer(prior=0.3),
    ).fit(X, Y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert np.mean(search.predict(X) == TRUTH) > 0.8


def test_scikit_learn_finds_nothing_to_complain_about():
    model = PNUNetClassifier(network=(10,), learning_rate=0.1, max_epochs=5, cv=None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the checks fit fully labelled data, which we warn about
        results = check_estimator(model, on_fail=None, expected_failed_checks=SINGLE_PRECISION)
    assert [r["check_name"] for r in results if r["status"] not in ("passed", "skipped", "xfail")] == []


def test_progress_goes_to_standard_error_when_asked_for(capsys):
    clone(SMALL).fit(X, Y)
    assert capsys.readouterr() == ("", "")
    clone(SMALL).set_params(verbose=1).fit(X, Y)
    out, err = capsys.readouterr()
    assert not out
    assert err.startswith("pnulearn: 1 of 8 epochs, risk 0.")


def test_a_refused_fit_leaves_the_model_as_it_was():
    model = clone(SMALL).fit(X, Y)
    expected = model.decision_function(X)
    with pytest.raises(ValueError, match="no labelled row"):
        model.fit(X, np.full(N, np.nan))
    assert_array_equal(model.decision_function(X), expected)


@pytest.mark.parametrize(
    "parameters, error, message",
    [
        ({"network": 100}, TypeError, r"sizes of hidden layers such as \(100,\)"),
        ({"network": (10, 0)}, ValueError, "each size in network must be a whole number, at least 1"),
        ({"network": lambda d: d}, TypeError, "must return a torch.nn.Module, got int"),
        ({"network": torch.nn.Linear(2, 3)}, ValueError, r"scores must be one per row.*got \(\d+, 3\)"),
        ({"optimizer": "rmsprop"}, ValueError, "optimizer must be one of 'adam', 'adamw', 'sgd'"),
        ({"optimizer": list}, TypeError, "must return a torch optimiser, got list"),
        ({"risk": "ssl"}, ValueError, "risk must be one of"),
        ({"sampling": "all"}, ValueError, "sampling must be 'random'"),
        ({"mix": 2}, ValueError, "mix must be a number between -1 and 1, got 2"),
        ({"loss": "zero_one"}, ValueError, "cannot train a network"),
        ({"nonnegative": "max"}, ValueError, "True, False or 'abs'"),
        ({"learning_rate": 0}, ValueError, "learning_rate must be a number greater than 0"),
        ({"max_epochs": 0}, ValueError, "max_epochs must be a whole number, at least 1"),
        ({"patience": 1.5}, TypeError, "patience must be a whole number"),
        ({"cv": 1}, ValueError, "cv must be between 2"),
        ({"cv": "five"}, TypeError, "cv must be a number of folds"),
        ({"verbose": "much"}, TypeError, "verbose must be"),
        ({"batch_size": 2}, ValueError, "batch_size must be at least 3"),
        ({"device": "abacus"}, ValueError, "device='abacus' cannot be used here.*Pass device='cpu'"),
        ({"prior": 30}, ValueError, r"Did you mean 0\.3"),
        ({"learning_rate": 1e30, "loss": "squared"}, ValueError, "no longer gives finite numbers.*learning_rate"),
    ],
)
def test_wrong_use_is_explained(parameters, error, message):
    with pytest.raises(error, match=message):
        clone(SMALL).set_params(**parameters).fit(X, Y)


def test_more_classes_are_refused():
    with pytest.raises(ValueError, match="Only binary classification is supported by PNUNetClassifier; y has 3"):
        clone(SMALL).fit(X, np.arange(N) % 3)


class TestWatch:
    """Scores of epochs that were made up: they get better, then worse."""

    ROWS = Samples(X, np.nan_to_num(Y, nan=-1).astype(int), np.ones(N))
    SIDE = 2.0 * TRUTH - 1

    def watch(self, patience=3):
        return Watch(self.ROWS, np.arange(N) // 2 % 2, PriorEstimate.known(0.3), patience)

    def test_it_ends_after_epochs_that_are_worse_beyond_doubt(self):
        watch = self.watch()
        for strength in (0.0, 1.0, 2.0, -1.0, -1.0):
            watch.add(strength * self.SIDE)
            assert not watch.is_over
        watch.add(-1.0 * self.SIDE)
        assert watch.is_over
        assert watch.best == 2
        p, n, u = ((2.0 * self.SIDE)[rows] for rows in self.ROWS.split())
        eta = (0.49 - 0.09) / (0.49 + 0.09)
        assert watch.risks[2] == pytest.approx(empirical_risk(pnu(0.3, eta), "sigmoid", (p, n, u)))

    def test_a_rise_within_a_standard_error_is_no_reason_to_end(self):
        watch, noise = self.watch(), np.random.default_rng(1)
        watch.add(2 * self.SIDE)
        for _ in range(9):
            watch.add(2 * self.SIDE + 0.2 * noise.normal(size=N) - 0.01 * self.SIDE)
        assert not watch.is_over

    def test_no_row_judges_its_own_epoch(self):
        """Odd rows like the first epoch best, even rows the second: so each is judged after the other's choice."""
        watch, odd = self.watch(), np.arange(N) // 2 % 2 == 1
        watch.add(np.where(odd, 2.0, -1.0) * self.SIDE)
        watch.add(np.where(odd, -1.0, 2.0) * self.SIDE)
        assert_allclose(watch.cross_validated_scores(), -1.0 * self.SIDE)
