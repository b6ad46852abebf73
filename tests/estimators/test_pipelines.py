"""A pipeline around the classifier is saved as data and predicts the same, to the last bit."""

import json
import zipfile

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.compose import ColumnTransformer, make_column_transformer
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)

from pnulearn import PNUClassifier, load, save
from pnulearn._files.refusals import ModelFileError

rng = np.random.default_rng(0)
N = 120
FRAME = pd.DataFrame(
    {
        "age": np.where(rng.random(N) < 0.1, np.nan, rng.normal(40, 10, N)),
        "income": rng.lognormal(3, 1, N),
        "city": rng.choice(["Nara", "Kobe", "Ōsaka"], N),
        "note": [" ".join(rng.choice(["good", "bad", "late", "red", "ship"], 4)) for _ in range(N)],
    }
)
Y = np.where(np.arange(N) < 50, (FRAME["income"] > 20).astype(float), np.nan)
NUMBERS = ["age", "income"]
IMPUTED = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler())

PREPARATIONS = {
    "imputed and scaled": make_column_transformer((IMPUTED, NUMBERS)),
    "one hot": make_column_transformer((OneHotEncoder(handle_unknown="ignore"), ["city"]), ("passthrough", ["income"])),
    "infrequent": make_column_transformer((OneHotEncoder(min_frequency=30), ["city"]), remainder="drop"),
    "ordinal": ColumnTransformer([("o", OrdinalEncoder(), ["city"]), ("s", RobustScaler(), ["income"])]),
    "text": make_column_transformer(
        (make_pipeline(TfidfVectorizer(), TruncatedSVD(3, random_state=0)), "note"), (MinMaxScaler(), ["income"])
    ),
    "counts": make_column_transformer((CountVectorizer(ngram_range=(1, 2)), "note"), sparse_threshold=0),
    "ranks": make_column_transformer((QuantileTransformer(n_quantiles=20, output_distribution="normal"), ["income"])),
    "power": make_column_transformer((make_pipeline(PowerTransformer(), KBinsDiscretizer(n_bins=3)), ["income"])),
    "union": make_pipeline(
        make_column_transformer((IMPUTED, NUMBERS)),
        FeatureUnion([("pca", PCA(1)), ("map", Nystroem(n_components=4, random_state=0))]),
    ),
}


def fitted(preparation):
    classifier = PNUClassifier(kernel="linear", prior=0.4, cv=2, alpha=0.01, random_state=0)
    return make_pipeline(preparation, classifier).fit(FRAME, Y)


@pytest.mark.parametrize("name", PREPARATIONS)
def test_a_loaded_pipeline_says_the_same(name, tmp_path):
    model = fitted(PREPARATIONS[name])
    save(model, tmp_path / "m.pnu")
    again = load(tmp_path / "m.pnu")
    assert_array_equal(again.decision_function(FRAME), model.decision_function(FRAME))
    assert_array_equal(again.predict_proba(FRAME), model.predict_proba(FRAME))
    assert_array_equal(again.feature_names_in_, model.feature_names_in_)
    assert_array_equal(again[:-1].get_feature_names_out(), model[:-1].get_feature_names_out())
    assert repr(again) == repr(model)


def test_a_loaded_pipeline_can_be_fitted_and_saved_again(tmp_path):
    model = fitted(PREPARATIONS["imputed and scaled"])
    save(model, tmp_path / "m.pnu")
    again = load(tmp_path / "m.pnu").fit(FRAME, Y)
    save(again, tmp_path / "m.pnu")
    assert_array_equal(load(tmp_path / "m.pnu").decision_function(FRAME), model.decision_function(FRAME))


def test_what_takes_code_is_refused_by_name_and_nothing_is_written(tmp_path):
    def double(X):
        return 2 * X

    for step in (FunctionTransformer(double), SelectKBest(k=1)):
        model = make_pipeline(step, PNUClassifier("pn", kernel="linear", prior=0.4, cv=2, random_state=0))
        labeled = np.where(np.isnan(Y), 0, Y) if isinstance(step, SelectKBest) else Y
        model.fit(FRAME[["income"]], labeled)
        with pytest.raises(TypeError, match=r"contains a \w+, which cannot be saved in a model file"):
            save(model, tmp_path / "m.pnu")
    assert list(tmp_path.iterdir()) == []


def test_only_known_classes_are_made(tmp_path):
    """A file that names another class, even one of scikit-learn, is damaged."""
    path = tmp_path / "m.pnu"
    save(fitted(PREPARATIONS["ranks"]), path)
    with np.load(path) as archive:
        arrays = dict(archive)
    text = arrays["header"].tobytes().decode().replace('"QuantileTransformer"', '"LabelBinarizer"')
    arrays["header"] = np.frombuffer(text.encode(), dtype=np.uint8)
    np.savez(path.with_suffix(".npz"), **arrays)
    with pytest.raises(ModelFileError, match="LabelBinarizer"):
        load(path.with_suffix(".npz"))


def test_another_scikit_learn_is_said(tmp_path):
    path = tmp_path / "m.pnu"
    save(fitted(PREPARATIONS["ranks"]), path)
    with np.load(path) as archive:
        arrays = dict(archive)
    header = json.loads(arrays["header"].tobytes())
    header["content"]["dict"]["scikit-learn"] = "1.0.0"
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    np.savez(path.with_suffix(".npz"), **arrays)
    with pytest.warns(UserWarning, match=r"saved with scikit-learn 1\.0\.0"):
        load(path.with_suffix(".npz"))


def test_no_member_is_a_pickle(tmp_path):
    save(fitted(PREPARATIONS["text"]), tmp_path / "m.pnu")
    with zipfile.ZipFile(tmp_path / "m.pnu") as archive:
        for name in archive.namelist():
            assert b"'|O'" not in archive.read(name)[:200]


def test_unfitted_and_foreign_things_are_refused(tmp_path):
    with pytest.raises(ValueError, match="not fitted"):
        save(make_pipeline(StandardScaler(), PNUClassifier()), tmp_path / "m.pnu")
    with pytest.raises(TypeError, match="is not a model"):
        save({"a": 1}, tmp_path / "m.pnu")
