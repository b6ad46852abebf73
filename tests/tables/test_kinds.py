"""Every kind of column against an independent route, and what all of them must keep."""

import datetime
import json

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import norm, rankdata
from sklearn.feature_extraction.text import TfidfVectorizer

from pnulearn._files.archive import read_archive, write_archive
from pnulearn._reader.dates import read_dates
from pnulearn.tables import Table, learn_plan
from pnulearn.tables._kinds import KINDS, TYPES, Scale

rng = np.random.default_rng(0)
N = 400
TOPICS = {0: "printer paper jam tray", 1: "password login reset account", 2: "invoice payment refund bank"}
CELLS = {
    "number": [f"{v:.3f}" for v in rng.normal(size=N)],
    "flag": rng.choice(["Ja", "nein", "JA"], N).tolist(),
    "category": rng.choice(["red", "green", "blue"], N).tolist(),
    "codes": [f"{v:05d}" for v in rng.integers(0, 120, N)],
    "date": [str(np.datetime64("2021-01-01") + v) for v in rng.integers(0, 900, N).tolist()],
    "text": [" ".join(rng.choice(TOPICS[i % 3].split(), 6)) + f" case {i}" for i in range(N)],
}


def as_table(name, cells, **options):
    return Table(pa.table({name: pa.array(cells)}), "cells", **options)


def features(name, cells, kind=None):
    table = as_table(name, cells)
    plan = learn_plan(table, kinds=None if kind is None else {name: kind})
    return plan, plan.features(table)[0]


@pytest.mark.parametrize("kind", KINDS)
def test_cells_tell_their_kind(kind):
    plan, X = features("x", CELLS[kind])
    assert plan.kinds == {"x": kind}
    assert X.shape == (N, len(plan.feature_names))
    assert np.isfinite(X).all()
    assert np.abs(X).max() < 20


@pytest.mark.parametrize("kind", KINDS)
def test_batches_and_a_saved_plan_give_the_same_features(kind, tmp_path):
    cells = [None if i % 9 == 0 else cell for i, cell in enumerate(CELLS[kind])]
    plan, X = features("x", cells)
    write_archive(tmp_path / "plan", "plan", {"columns": plan.columns})
    saved = read_archive(tmp_path / "plan", TYPES)[1]["columns"][0]
    parts = [saved.transform(as_table("x", pa.array(cells[i : i + 1], pa.string())))[0] for i in range(20)]
    np.testing.assert_allclose(np.concatenate(parts), X[:20], atol=1e-12)
    assert saved.fate == plan.columns[0].fate


@pytest.mark.parametrize("kind", KINDS)
def test_a_table_without_rows_has_features_without_rows(kind):
    for every in (1, 9):  # with and without a feature for filled cells
        cells = [None if i % 9 == 0 and every == 9 else cell for i, cell in enumerate(CELLS[kind])]
        plan, X = features("x", cells)
        assert plan.features(as_table("x", pa.array([], pa.string())))[0].shape == (0, X.shape[1])


@pytest.mark.parametrize("kind", ["number", "flag", "date"])
def test_frequent_gaps_have_a_feature_of_their_own(kind):
    gaps = np.arange(N) % 8 == 0
    plan, X = features("x", [None if gap else cell for gap, cell in zip(gaps, CELLS[kind], strict=True)])
    assert plan.feature_names[-1] == "x filled"
    np.testing.assert_array_equal(X[:, -1], ~gaps)


def test_a_long_tail_becomes_normal_ranks():
    values = rng.lognormal(0, 2, size=200)
    _, X = features("x", values)
    expected = norm.ppf((rankdata(values) - 0.5) / 200)
    np.testing.assert_allclose(X[:, 0], (expected - expected.mean()) / expected.std(), atol=1e-9)


def test_a_heap_of_equal_values_is_one_point_at_its_middle_rank():
    values = np.append(np.zeros(300), np.exp(np.arange(100.0) / 8))
    scale = Scale.fit(values, "standard")
    expected = norm.ppf((rankdata(values) - 0.5) / 400)
    np.testing.assert_allclose(scale.apply(values), (expected - expected.mean()) / expected.std(), atol=1e-9)


@pytest.mark.parametrize("scaling", ["standard", "minmax"])
def test_one_absurd_cell_does_not_erase_its_column(scaling):
    values = rng.normal(size=500)
    clean = Scale.fit(values, scaling).apply(values)
    spoilt = np.append(values, 1e200)
    found = Scale.fit(spoilt, scaling).apply(spoilt)
    assert np.isfinite(found).all()
    assert np.corrcoef(found[:-1], clean)[0, 1] > 0.98
    assert found[:-1].std() > 0.5 * clean.std()


def test_numbers_without_a_long_tail_are_scaled_as_they_are():
    values = rng.gamma(3, size=500)
    np.testing.assert_allclose(features("x", values)[1][:, 0], (values - values.mean()) / values.std())


def test_booleans_in_words_equal_those_of_typed_files():
    words = np.array(CELLS["flag"])
    np.testing.assert_array_equal(features("x", words)[1], features("x", np.char.lower(words) == "ja")[1])


def test_rare_categories_share_a_feature_and_so_do_new_ones():
    cells = ["a"] * 200 + ["b"] * 190 + [f"rare{i // 2}" for i in range(20)]
    plan, X = features("x", cells)
    assert plan.feature_names == ["x=a", "x=b", "x=(other)"]
    assert X[:, 2].sum() == 20
    new, remarks = plan.features(as_table("x", ["never seen", None]))
    assert new.tolist() == [[0, 0, 1], [0, 0, 0]]
    assert remarks == []


def test_codes_share_features_by_hash_and_new_codes_find_a_place():
    plan, X = features("x", CELLS["codes"])
    own = plan.columns[0].own
    assert np.all(np.abs(X[:, len(own) :]).sum(axis=1) == ~np.isin(CELLS["codes"], own))
    assert np.abs(plan.features(as_table("x", ["99999"]))[0]).sum() == 1


def test_dates_say_their_age_weekday_month_and_hour():
    start = datetime.datetime(2022, 1, 1)
    moments = [start + datetime.timedelta(hours=7 * i) for i in range(1500)]
    plan, X = features("t", [str(moment) for moment in moments])
    names = plan.feature_names
    assert names == ["t age", *(f"t {c} {a}" for c in ("weekday", "month", "hour") for a in ("cos", "sin"))]
    age = np.array([(moments[-1] - moment).total_seconds() for moment in moments])
    np.testing.assert_allclose(X[:, 0], (age - age.mean()) / age.std(), atol=1e-9)
    angle = np.array([2 * np.pi * moment.hour / 24 for moment in moments])
    np.testing.assert_allclose(X[:, -2:], np.c_[np.cos(angle), np.sin(angle)], atol=1e-6)
    typed, Z = features("t", pa.array(moments, pa.timestamp("us")))
    assert typed.feature_names == names
    np.testing.assert_array_equal(X, Z)


def test_dates_within_weeks_have_an_age_and_no_cycles():
    assert features("d", ["2024-01-01", "2024-01-02", "2024-01-05", "2024-01-02"])[0].feature_names == ["d age"]


@pytest.mark.parametrize(
    "texts, expected, day_first",
    [
        (["2024-01-31", "2024/2/1"], ["2024-01-31", "2024-02-01"], None),
        (["31.12.2024", "1.2.24"], ["2024-12-31", "2024-02-01"], None),
        (["1/2/2024", "31/1/2024"], ["2024-02-01", "2024-01-31"], True),
        (["1/2/2024", "1/31/2024"], ["2024-01-02", "2024-01-31"], False),
        (["1.2.49", "1.2.50", "1.2.69", "1.2.70"], ["2049-02-01", "2050-02-01", "2069-02-01", "1970-02-01"], None),
        (["2024-01-31T10:30:00Z"], ["2024-01-31T10:30"], None),
        (["2024-01-31 10:30:00+02:00"], ["2024-01-31T08:30"], None),
        (["1.2.2024 9:15 PM"], ["2024-02-01T21:15"], None),
        (["30.2.2024", "2024-13-01"], ["NaT", "NaT"], None),
        (["3 Mar 2024", "March 3rd, 2024", "Sun, 3 Mar 2024 10:30"], ["2024-03-03"] * 2 + ["2024-03-03T10:30"], None),
        (["3. März 2024", "17. Okt. 2023", "01-Dez-99"], ["2024-03-03", "2023-10-17", "1999-12-01"], None),
        (["3 août 2024", "3 juillet 2024", "3 juin 2024"], ["2024-08-03", "2024-07-03", "2024-06-03"], None),
        (["3 de mayo de 2024", "30 febbraio 2024", "4 may"], ["2024-05-03", "NaT", "NaT"], None),
    ],
)
def test_dates_in_every_order(texts, expected, day_first):
    found = read_dates(texts)
    moments = np.array(expected, dtype="M8[m]")
    days = np.where(np.isnat(moments), np.nan, moments.astype(float) / 1440)
    np.testing.assert_allclose(found.days, days)
    assert found.day_first == day_first


def test_months_in_words_make_a_column_of_dates():
    plan, X = features("t", ["3. März 2024", "4. Mai 2024", "", "5. Dezember 2022"])
    assert plan.kinds == {"t": "date"}
    same, Z = features("t", ["3.3.2024", "4.5.2024", "", "5.12.2022"])
    assert same.feature_names == plan.feature_names
    np.testing.assert_array_equal(X, Z)
    assert features("t", ["3 march hares", "may be", "3 march hares", "may be"])[0].kinds == {"t": "category"}


@pytest.mark.parametrize(("n_words", "kind"), [(4, "date"), (5, "text"), (40, "text")])
def test_a_column_is_of_dates_if_more_than_95_percent_of_its_cells_are(n_words, kind):
    days = [f"2024-01-{day % 28 + 1:02d}" for day in range(100 - n_words)]
    cells = days + [f"word {n}" for n in range(n_words)]
    assert as_table("t", cells).column("t").kind == kind


def test_times_of_day_have_an_hour_alone():
    plan, X = features("t", ["00:00", "06:00", "12:00", "06:00"])
    assert plan.feature_names == ["t hour cos", "t hour sin"]
    np.testing.assert_allclose(X, [[1, 0], [0, 1], [-1, 0], [0, 1]], atol=1e-12)


def test_text_is_tf_idf_on_few_directions():
    """Distances between texts are those of TF-IDF as far as a few directions can show them."""
    plan, X = features("x", CELLS["text"])
    full = TfidfVectorizer(min_df=2, max_df=0.9, sublinear_tf=True).fit_transform(CELLS["text"]).toarray()
    left, sizes, _ = np.linalg.svd(full, full_matrices=False)
    scores = (left * sizes)[:, : X.shape[1]]
    gram = (scores - scores.mean(axis=0)) @ (scores - scores.mean(axis=0)).T
    np.testing.assert_allclose(X @ X.T * plan.columns[0].size ** 2, gram, atol=1e-6)


def test_text_whose_words_never_repeat_is_left_out():
    table = Table(
        pa.table({"x": [f"said{i} some{i} thing{i}" for i in range(50)], "z": [i % 3 for i in range(50)]}), "t"
    )
    assert "free text" in learn_plan(table).left_out["x"]


def test_plans_hold_plain_data_only():
    """What a model file keeps of a column can be written as JSON, arrays aside."""
    for kind, cells in CELLS.items():
        column = features("x", cells)[0].columns[0]
        json.dumps(vars(column), default=lambda value: value.tolist() if hasattr(value, "tolist") else vars(value))
        assert type(column) is KINDS[kind]
