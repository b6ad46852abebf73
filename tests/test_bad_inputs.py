"""What must not hurt us: each refusal says what was found, what was needed and what to type."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

from pnulearn import LabeledOnly, PNUClassifier, PriorAdjusted
from pnulearn.labeling import Labeler
from pnulearn.streaming import fit_files

X = np.random.default_rng(0).normal(size=(40, 3))
Y = np.array([1.0] * 6 + [0.0] * 6 + [np.nan] * 28)


def spoilt(value, row=3, column=1, kind=float):
    bad = X.astype(kind)
    bad[row, column] = value
    return bad


@pytest.mark.parametrize(
    ("features", "message"),
    [
        (spoilt(np.nan), "NaN.*row 3, column 1"),
        (spoilt(np.inf), "infinity.*row 3, column 1"),
        (pd.DataFrame(spoilt(np.nan), columns=list("abc")), "row 3, column 'b'"),
        (sparse.csr_matrix(spoilt(np.nan)), "NaN.*row 3, column 1"),
        (spoilt(1e200), "overflow.*rescale"),
        (X[:, 0], "2D array"),
        (X[None], "dim 3"),
        (X[:0], "0 sample"),
        (X[:, :0], "0 feature"),
        (X[:10], "inconsistent numbers of samples"),
        (X + 1j, "Complex data not supported"),
        (pd.DataFrame({"a": ["x"] * 40}), "'a'.*not numeric.*OneHotEncoder"),
        (pd.DataFrame({"d": pd.date_range("2020", periods=40)}), "'d'.*dates.*days since"),
        (pd.DataFrame({"k": pd.Categorical(["u"] * 40)}), "'k'.*not numeric"),
        (spoilt(pd.NA, kind=object), "NaN.*row 3, column 1"),
        (pd.DataFrame(X).astype("Float64").mask(pd.DataFrame(X) > 1), "NaN.*row [0-9]+, column [0-2]"),
        (spoilt("word", kind=object), "'word' at row 3, column 1.*OneHotEncoder"),
        (spoilt({}, kind=object), "row 3, column 1, which is not a number"),
        (X.astype("datetime64[s]"), "dates or times.*days since"),
        (np.full((40, 2), np.timedelta64("NaT", "s")), "dates or times"),
        (np.ma.masked_array(X, X > 1), "masked cells, the first at row.*filled"),
        (pa.table({"a": ["x"] * 40}), "'a'.*not numeric.*string"),
        (pa.table({"a": [1.0, None] * 20}), "row 1, column 'a'"),
        (X * 1e140, "row [0-9]+, column [0-2].*overflow"),
        (X * 1e-160, "vanish.*Rescale"),
        ([[1, 2], [3]] * 20, "different lengths"),
        ("words", "2D array.*got X of type str"),
        (None, "2D array.*got X of type NoneType"),
    ],
    ids=range(28),
)
def test_features_that_cannot_be_used(features, message):
    with pytest.raises((ValueError, TypeError), match=f"(?s){message}"):
        PNUClassifier(prior=0.5).fit(features, Y)


def test_boolean_columns_are_fine():
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1] > 0})
    assert len(PNUClassifier(prior=0.5).fit(frame, Y).predict(frame)) == 40


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"risk": "pnup"}, "risk must be one of 'pnu'"),
        ({"kernel": "poly"}, "kernel must be one of"),
        ({"selection": "mean"}, "selection must be one of"),
        ({"tie_break": "last"}, "tie_break must be"),
        ({"sampling": "both"}, "sampling must be"),
        ({"loss": "l2"}, "loss must be one of"),
        ({"mix": 1.5}, "between -1 and 1, got 1.5"),
        ({"risk": "punu", "mix": -0.5}, "between 0 and 1, got -0.5"),
        ({"alpha": 0}, "since without a penalty the risk may have no minimum, got 0"),
        ({"alpha": -1.0}, r"alpha must be a number or several between 1e-75 and 1e\+75.*got -1.0"),
        ({"alpha": np.nan}, "alpha must be a number or several between .*got nan"),
        ({"alpha": "small"}, "alpha must be a number or several between .*got 'small'"),
        ({"bandwidth": 0}, "bandwidth must be a number or several between 1e-75 and .*got 0"),
        ({"bandwidth": np.inf}, "bandwidth must be a number or several between 1e-75 and .*got inf"),
        ({"centers": "most"}, "centers must be 'auto'"),
        ({"centers": 0}, "centers must be at least 1"),
        ({"centers": np.zeros((3, 2))}, r"shape \(n_centers, 3\)"),
        ({"n_jobs": 0}, "n_jobs must be a whole number other than 0, got 0"),
        ({"n_jobs": "a"}, "n_jobs must be a whole number other than 0, got 'a'"),
        ({"cv": 1}, "cv must be between 2"),
        ({"cv": None}, "cv must be 'auto', a number of folds such as 5.*got None"),
        ({"cv": 2.5}, "cv must be 'auto', a number of folds"),
        ({"cv": "five"}, "cv must be 'auto', a number of folds"),
        ({"random_state": "x"}, "cannot be used to seed"),
        ({"random_state": -1}, "cannot be used to seed.*from 0 to 4294967295"),
        ({"kernel": np.zeros(2)}, "kernel must be one of"),
        ({"centers": 2.5}, "centers must be 'auto'.*got 2.5"),
        ({"centers": None}, "centers must be 'auto'.*got None"),
        ({"centers": [["a", "b", "c"]]}, "centers must be 'auto'"),
        ({"alpha": 1e-300}, "alpha must be a number or several between 1e-75 and .*got 1e-300"),
        ({"bandwidth": [1, 1e-300]}, r"bandwidth must be .* between 1e-75 and .*got \[1, 1e-300\]"),
        ({"bandwidth": 1e300}, r"bandwidth must be .* between 1e-75 and 1e\+75, got 1e\+300"),
        ({"unlabeled": 1.0, "pos_label": 1.0}, "must differ"),
    ],
    ids=str,
)
def test_parameters_that_cannot_mean_anything(parameters, message):
    with pytest.raises((ValueError, TypeError), match=message):
        PNUClassifier(**({"prior": 0.5} | parameters)).fit(X, Y)


@pytest.mark.parametrize("prior", [0, 1, -0.2, np.nan, 50, "much", {0: 0.5, 1: 0.7}, {0: 0.5, 3: 0.5}])
def test_priors_that_are_no_shares(prior):
    with pytest.raises((ValueError, TypeError), match="prior"):
        PNUClassifier(prior=prior).fit(X, Y)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        (-np.ones(40), r"sample_weight\[0\] is -1"),
        (np.zeros(40), "zero for every row"),
        (np.ones(39), r"must have shape \(40,\)"),
        (np.full(40, np.nan), "sample_weight contains NaN"),
        (np.full(40, 1e-300), r"sample_weight\[0\] is 1e-300.*divide all of them"),
        (np.full(40, 1e300), r"sample_weight\[0\] is 1e\+300"),
        (np.ma.masked_array(np.ones(40), np.arange(40) == 7), "sample_weight is a masked array.*row 7"),
    ],
)
def test_weights_that_cannot_be_used(weight, message):
    with pytest.raises(ValueError, match=message):
        PNUClassifier(prior=0.5).fit(X, Y, sample_weight=weight)


@pytest.mark.parametrize(
    ("y", "options", "message"),
    [
        (np.full(40, np.nan), {}, "no labelled row"),
        (np.where(Y == 1, 1.0, np.nan), {"mix": 0.5}, "needs negative rows.*risk='pu'"),
        (np.where(np.isnan(Y), 1.0, Y), {"mix": 0.5}, "needs unlabelled rows"),
        (np.ones(40), {}, "one class alone.*unlabeled="),
        (np.where(np.arange(40) < 2, [1.0, 0.0] * 20, np.nan), {}, "single labelled row.*X_val"),
        (np.where(np.isnan(Y), np.nan, np.arange(40) % 3), {"risk": "pu"}, "for two classes"),
    ],
)
def test_labels_that_do_not_suffice(y, options, message):
    with pytest.raises(ValueError, match=message):
        PNUClassifier(**({"prior": 0.5} | options)).fit(X, y)


def test_identical_rows_have_no_bandwidth():
    with pytest.raises(ValueError, match=r"identical.*bandwidth=1\.0"):
        PNUClassifier(prior=0.5).fit(np.ones((40, 3)), Y)


def test_more_centers_than_rows_are_clipped_with_a_warning():
    with pytest.warns(UserWarning, match="40 distinct rows"):
        assert len(PNUClassifier(prior=0.5, centers=1000).fit(X, Y).centers_) == 40


def test_too_much_memory_is_refused_before_it_is_taken(monkeypatch):
    monkeypatch.setattr("pnulearn._learning.settings.ALWAYS_FREE", 0)
    monkeypatch.setattr("pnulearn._machine.os.sysconf", lambda name: 100)
    with pytest.raises(MemoryError, match=r"GiB.*centers=200"):
        PNUClassifier(prior=0.5).fit(X, Y)


def test_too_wide_a_table_is_refused_before_the_prior_is_estimated(monkeypatch):
    """And a linear model, which has no centres, is not told to take fewer of them."""
    monkeypatch.setattr("pnulearn._learning.settings.ALWAYS_FREE", 0)
    monkeypatch.setattr("pnulearn._machine.os.sysconf", lambda name: 30)
    monkeypatch.setattr("pnulearn._learning.from_rows.resolve_prior", lambda *_, **__: pytest.fail("too late"))
    with pytest.raises(MemoryError, match=r"GiB are free\. Keep fewer columns, e\.g\. by .*TruncatedSVD"):
        PNUClassifier(kernel="linear").fit(X, Y)


def test_a_fit_without_finite_numbers_is_no_model():
    with pytest.raises(ValueError, match=r"did not give finite numbers.*alpha from 1e-75"), np.errstate(all="ignore"):
        PNUClassifier(prior=0.5, alpha=1e-75, kernel="linear", mix=0).fit(X[:, [0] * 3] * 1e60, Y)


def test_masked_labels_are_missing_labels():
    masked = np.ma.masked_array(np.nan_to_num(Y, nan=7.0), np.isnan(Y))
    wanted, found = (PNUClassifier(prior=0.5, random_state=0).fit(X, y).coef_ for y in (Y, masked))
    np.testing.assert_array_equal(found, wanted)


def test_whole_numbers_that_lose_digits_are_told():
    with pytest.warns(UserWarning, match=r"above 2\*\*53"):
        PNUClassifier(prior=0.5).fit((X * 2**58).astype(np.int64), Y)


@pytest.mark.parametrize("learn", ["partial_fit", "fit_files"])
def test_a_single_labelled_row_of_a_class_is_not_validated_with(learn):
    y = np.where(np.arange(40) < 1, 1.0, Y)
    y[1:6] = np.nan
    model = PNUClassifier(prior=0.5, random_state=0)
    if learn == "partial_fit":
        with pytest.raises(NotFittedError):
            model.partial_fit(X, y, classes=[0, 1]).predict(X)
    else:
        with pytest.raises(ValueError, match=r"rows of class 1\.0 \(1\) are in one fold"):
            fit_files(model, (X, y))
    one = PNUClassifier(prior=0.5, random_state=0, mix=0, alpha=0.1, bandwidth=1.0)
    assert np.isfinite(fit_files(one, (X, y)).coef_).all()


def test_extreme_imbalance_stays_finite():
    y = np.full(40, np.nan)
    y[:2], y[2:12] = 1, 0
    model = PNUClassifier(prior=1e-6, random_state=0).fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (np.ma.masked_array(np.ones((6, 2)), np.eye(6, 2)), "masked cells, the first at row 0"),
        (np.full((6, 2), np.datetime64("2020-01-01")), "dates or times"),
        (np.where(np.eye(6, 2), np.nan, 1.0), "row 0, column 0"),
        (None, "X of type NoneType"),
    ],
)
@pytest.mark.parametrize(
    "take",
    [
        lambda X, y: PriorAdjusted(LogisticRegression(), 0.4).fit(X, y),
        lambda X, y: LabeledOnly(LogisticRegression()).fit(X, y),
        lambda X, y: LabeledOnly(LogisticRegression()).fit(np.ones((6, 2)), y).predict(X),
        Labeler,
    ],
)
def test_rows_that_another_model_would_misread_are_refused_with_their_place(take, rows, words):
    with pytest.raises((TypeError, ValueError), match=words):
        take(rows, [0, 1, 0, 1, None, None])


def test_a_wrapped_classifier_may_refuse_rows_without_a_word():
    class Silent(LogisticRegression):
        def fit(self, X, y):
            raise ValueError

    with pytest.raises(ValueError, match=r"^$"):
        LabeledOnly(Silent()).fit(np.ones((4, 1)), [0, 1, 0, 1])
