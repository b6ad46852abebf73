"""The same table gives the same model, whatever file it comes in."""

import numpy as np
import pytest

from pnulearn import TableClassifier
from pnulearn._reader.frames import as_table
from pnulearn.tables import read_table

pd = pytest.importorskip("pandas")
pytest.importorskip("python_calamine")


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    n = 120
    y = rng.random(n) < 0.4
    words = {True: "refund broken angry late", False: "thanks great fast friendly"}
    return pd.DataFrame(
        {
            "size": (rng.normal(size=n) + y).round(3),  # Excel keeps 15 digits
            "gaps": np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n).round(2)),
            "price": [f"{v:,.2f} €" for v in rng.lognormal(7, 1, n)],
            "plz": [f"{v:05d}" for v in rng.integers(0, 15, n)],
            "colour": rng.choice(["red", "blue"], n),
            "member": rng.random(n) < 0.5,
            "since": pd.Timestamp("2023-01-01") + pd.to_timedelta(rng.integers(0, 700, n), "D"),
            "note": [" ".join(rng.choice(words[bool(v)].split(), 5)) for v in y],
            "bought": np.where(np.arange(n) < 60, np.where(y, "yes", "no"), None),
        }
    )


@pytest.fixture(scope="module")
def files(frame, tmp_path_factory):
    folder = tmp_path_factory.mktemp("same")
    frame.to_csv(folder / "t.csv", index=False)
    frame.to_csv(folder / "t.csv.gz", index=False, sep=";")
    frame.to_parquet(folder / "t.parquet")
    frame.to_feather(folder / "t.feather")
    frame.to_excel(folder / "t.xlsx", index=False)
    frame.to_excel(folder / "t.ods", index=False)
    half = len(frame) // 2
    frame[:half].to_csv(folder / "part1.csv", index=False)
    frame[half:].to_csv(folder / "part2.csv", index=False)
    return folder


def fitted(table):
    return TableClassifier(kernel="linear", cv=2, prior=0.4).fit(table, "bought").model_


@pytest.mark.parametrize("name", ["t.csv.gz", "t.parquet", "t.feather", "t.xlsx", "t.ods", "part*.csv", None])
def test_the_same_table_gives_the_same_model(frame, files, name):
    expected = fitted(read_table(files / "t.csv"))
    table = as_table(frame) if name is None else read_table(files / name)
    model = fitted(table)
    assert set(model.plan.kinds.values()) == {"number", "category", "flag", "date", "text"}
    assert model.plan.feature_names == expected.plan.feature_names
    np.testing.assert_allclose(model.predict(table).scores, expected.predict(table).scores, atol=1e-9)
    np.testing.assert_allclose(model.classifier.coef_, expected.classifier.coef_, atol=1e-9)
