"""New rows compared with those of the fit: units, decimal marks, dates, ranges, missing cells, categories."""

import numpy as np
import pandas as pd
import pytest

from pnulearn import TableClassifier
from pnulearn._reader.errors import Caution
from pnulearn.tables import TableError, learn_plan, read_table
from pnulearn.tables._new_rows import RARE_CHANCE, chance_outside
from pnulearn.tables._notes import LISTENER, Listener

rng = np.random.default_rng(0)


@pytest.fixture(autouse=True)
def python():
    """Warnings are Python's, although an earlier test may have run a command."""
    token = LISTENER.set(Listener())
    yield
    LISTENER.reset(token)


def plan_of(tmp_path, text, name="fit.csv"):
    (tmp_path / name).write_text(text, encoding="utf-8")
    return learn_plan(read_table(tmp_path / name))


def applied(plan, tmp_path, text, name="new.csv", **reading):
    """Features of a file, warnings and notes."""
    (tmp_path / name).write_text(text, encoding="utf-8")
    X, remarks = plan.features(read_table(tmp_path / name, **reading))
    return X, [str(one) for one in remarks if isinstance(one, Caution)], [r for r in remarks if type(r) is str]


def lines(*cells, name="x"):
    return "\n".join([name, *map(str, cells)]) + "\n"


WEIGHTS = rng.normal(70, 8, 60).round(1)
SHARES = rng.uniform(0.05, 0.95, 60).round(2)


@pytest.mark.parametrize("unit, factor", [("g", 1000), ("t", 0.001), ("mg", 1e6)])
def test_a_known_unit_is_converted_and_said(tmp_path, unit, factor):
    plan = plan_of(tmp_path, lines(*(f"{w} kg" for w in WEIGHTS)))
    X, warned, notes = applied(plan, tmp_path, lines(*(f"{w * factor:.6f} {unit}" for w in WEIGHTS)))
    np.testing.assert_allclose(X, plan.features(read_table(tmp_path / "fit.csv"))[0], atol=1e-6)
    assert not warned
    assert f"is in {unit} here and was in kg" in notes[0]


def test_a_unit_of_something_else_is_refused(tmp_path):
    plan = plan_of(tmp_path, lines(*(f"{w} €" for w in WEIGHTS)))
    with pytest.raises(TableError, match=r"'x' is in \$, but the model was fitted to €. Convert it"):
        applied(plan, tmp_path, lines("$ 3", "$ 4"))
    assert applied(plan, tmp_path, lines(*(f"{w} EUR" for w in WEIGHTS)))[1:] == ([], [])


def test_a_unit_where_the_fit_had_none_is_warned_about(tmp_path):
    plan = plan_of(tmp_path, lines(*WEIGHTS))
    _, warned, _ = applied(plan, tmp_path, lines(*(f"{w} kg" for w in WEIGHTS)))
    assert "is in kg here and had no unit at the fit" in warned[0]


def test_percent_signs_mean_shares_if_the_fit_had_shares(tmp_path):
    plan = plan_of(tmp_path, lines(*SHARES))
    own = plan.features(read_table(tmp_path / "fit.csv"))[0]
    X, warned, notes = applied(plan, tmp_path, lines(*(f"{round(100 * s)}%" for s in SHARES)))
    np.testing.assert_allclose(X, own, atol=1e-12)
    assert not warned
    assert "25% is read as 0.25" in notes[0]
    mixed = [f"{round(100 * s)}%" if k % 2 else s for k, s in enumerate(SHARES)]
    X, warned, _ = applied(plan, tmp_path, lines(*mixed))
    np.testing.assert_allclose(X, own, atol=1e-12)
    assert "30 cells with % beside 30 without" in warned[0]


def test_percent_beside_shares_at_the_fit_is_one_scale_and_said(tmp_path):
    mixed = [f"{round(100 * s)}%" if k % 2 else s for k, s in enumerate(SHARES)]
    plan = plan_of(tmp_path, lines(*mixed))
    X, warned, _ = applied(plan, tmp_path, lines(*mixed))
    other = plan_of(tmp_path, lines(*SHARES), "shares.csv")
    np.testing.assert_allclose(X, other.features(read_table(tmp_path / "shares.csv"))[0], atol=1e-12)
    assert "30 cells with % beside 30 without; 25% is read as 0.25" in warned[0]


def test_degrees_are_written_as_people_write_them(tmp_path):
    plan = plan_of(tmp_path, lines(*(f"{w} °C" for w in WEIGHTS)))
    notes = applied(plan, tmp_path, lines(*(f"{1.8 * w + 32:.2f} °F" for w in WEIGHTS)))[2]
    assert notes == ["Column 'x' is in °F here and was in °C at the fit; it is converted."]


def test_only_a_few_values_may_be_a_mark_for_missing(tmp_path):
    plan = plan_of(tmp_path, lines(*WEIGHTS))
    few, all_of_them = (np.where(np.arange(60) % every == 0, -999, WEIGHTS) for every in (6, 1))
    assert "If -999 means missing" in applied(plan, tmp_path, lines(*few))[1][0]
    assert "means missing" not in applied(plan, tmp_path, lines(*all_of_them))[1][0]


@pytest.mark.parametrize(
    "change, words",
    [
        (lambda w: 1000 * w, "60 of 60 values of column 'x' lie outside of the range of the fit"),
        (lambda w: w / 1000, "60 of 60 values"),
        (lambda w: 32 + 1.8 * w, "lie outside of"),
        (lambda w: np.where(np.arange(60) % 6, w, -999), "pass missing=['-999']"),
        (lambda w: np.where(np.arange(60) == 7, 9000, w), "1 of 60 values of column 'x' lie far outside of"),
        (lambda w: np.where(np.arange(60) % 2, w, np.nan), "is empty in 30 of 60 rows; at the fit it was in 0 %"),
    ],
)
def test_values_out_of_range_and_missing_columns_are_warned_about(tmp_path, change, words):
    plan = plan_of(tmp_path, lines(*WEIGHTS))
    assert applied(plan, tmp_path, lines(*WEIGHTS))[1] == []
    assert words in applied(plan, tmp_path, pd.DataFrame({"x": change(WEIGHTS)}).to_csv(index=False))[1][0]


def test_shares_divided_by_a_hundred_are_at_the_lower_end(tmp_path):
    values = np.append(SHARES, 0.0)
    plan = plan_of(tmp_path, lines(*values))
    assert "lie at the lower end of the range" in applied(plan, tmp_path, lines(*values / 100))[1][0]


def test_rows_like_those_of_the_fit_are_rarely_warned_about():
    """The chance of the warning, simulated: values outside of the range of others of the same kind."""
    n_seen, n_new, draws = 50, 40, 20_000
    seen, new = rng.random((draws, n_seen)), rng.random((draws, n_new))
    outside = ((new < seen.min(1, keepdims=True)) | (new > seen.max(1, keepdims=True))).sum(1)
    for most in (1, 2, 4, 6):
        assert np.mean(outside >= most) == pytest.approx(chance_outside(most, n_new, n_seen), abs=0.02)
    assert chance_outside(12, 40, 50) < 0.01
    assert chance_outside(30, 40, 50) < RARE_CHANCE


def test_new_categories_are_counted_over_batches(tmp_path):
    table = pd.DataFrame({"city": ["Rome", "Oslo"] * 40, "x": rng.normal(size=80)})
    y = pd.Series(np.where(np.arange(80) < 40, np.where(table.x > 0, "yes", "no"), None))
    model = TableClassifier(prior=0.5, kernel="linear", cv=2).fit(table, y)
    new = pd.DataFrame({"city": ["Rome", "Nara", "Kobe", "Nara"] * 30, "x": rng.normal(size=120)})
    new.to_csv(tmp_path / "a.csv", index=False)
    new.to_csv(tmp_path / "b.csv", index=False)
    model.set_params(stream_above=0)
    with pytest.warns(UserWarning, match=r"in 180 of 240 rows \('Kobe', 'Nara', \.\.\.\)"):
        model.predict([tmp_path / "a.csv", tmp_path / "b.csv"])


def test_days_and_months_in_another_order(tmp_path):
    iso = lines(*(f"2024-{1 + k % 12:02}-{1 + k % 28:02}" for k in range(80)))
    plan = plan_of(tmp_path, iso)
    own = plan.features(read_table(tmp_path / "fit.csv"))[0]
    _, warned, _ = applied(plan, tmp_path, lines("03/04/2024", "05/06/2024", "07/08/2024"))
    assert "do not show whether the day or the month comes first; they are read as day/month" in warned[0]
    proven = lines(*(f"{1 + k % 12:02}/{1 + k % 28:02}/2024" for k in range(80)))
    X, warned, _ = applied(plan, tmp_path, proven)
    np.testing.assert_array_equal(X, own)
    assert not warned
    american = plan_of(tmp_path, proven, "american.csv")
    european = lines(*(f"{1 + k % 28:02}/{1 + k % 12:02}/2024" for k in range(80)))
    X, warned, _ = applied(american, tmp_path, european)
    np.testing.assert_array_equal(X, own)
    assert "are day/month here and were read as month/day at the fit" in warned[0]


def test_dates_that_cannot_be_read_are_counted(tmp_path):
    plan = plan_of(tmp_path, lines(*(f"2024-01-{1 + k % 28:02}" for k in range(60))))
    _, warned, _ = applied(plan, tmp_path, lines(*(f"week {k % 50}" for k in range(60))))
    assert "holds cells that are no dates, in 60 of 60 rows ('week 0'" in warned[0]


def test_the_reading_of_a_point_agrees_with_the_fit(tmp_path):
    plan = plan_of(tmp_path, lines(*WEIGHTS))
    text = "x;z\n" + "".join(f"{w:.3f};1\n" for w in WEIGHTS) + "12;1\n"
    X, warned, _ = applied(plan, tmp_path, text)
    np.testing.assert_allclose(X[:60], plan.features(read_table(tmp_path / "fit.csv"))[0])
    assert "are read with a decimal point, which agrees with the fit" in warned[0]
    assert applied(plan, tmp_path, text, decimal=".")[1][0].startswith("1 of 61 values")  # 12 is far outside


def test_a_doubtful_mark_is_told_at_the_fit(tmp_path):
    text = "x;y\n" + "".join(f"{k}.{k:03};{'' if k % 2 else 'ab'[k % 4 // 2]}\n" for k in range(10, 90)) + "12;\n"
    (tmp_path / "t.csv").write_text(text)
    with pytest.warns(UserWarning, match=r"'10.010' in column 'x' may have a decimal point"):
        model = TableClassifier(prior=0.5, kernel="linear", cv=2).fit(tmp_path / "t.csv", "y")
    assert model.fitted_.table.column("x").values[0] == 10010
    said = TableClassifier(prior=0.5, kernel="linear", cv=2, decimal=".").fit(tmp_path / "t.csv", "y")
    assert said.fitted_.table.column("x").values[0] == 10.01


@pytest.mark.parametrize("large", [0.0, 32.0])
def test_stacked_files_have_their_own_marks(tmp_path, large):
    """1.234 is 1.234 between commas, although the other file has decimal commas."""
    values = rng.uniform(1, 9, 80).round(3)
    labels = ["yes" if v > 5 else "no" for v in values[:40]] + [""] * 40
    rows = [(f"{v:.3f}", 2**53 + k, label) for k, (v, label) in enumerate(zip(values, labels, strict=True))]
    (tmp_path / "a.csv").write_text("x,key,y\n" + "".join(f"{v},{i},{y}\n" for v, i, y in rows[:40]))
    german = "".join(f"{v.replace('.', ',')};{i};{y}\n" for v, i, y in rows[40:])
    (tmp_path / "b.csv").write_text("x;key;y\n" + german)
    for order in (["a.csv", "b.csv"], ["b.csv", "a.csv"]):
        files = [tmp_path / name for name in order]
        model = TableClassifier(prior=0.5, kernel="linear", cv=2, drop=["key"], stream_above=large).fit(files, "y")
        seen = model.model_.plan.columns[0].seen
        assert (seen.low, seen.high) == (values.min(), values.max())
    stacked = read_table(files).cells.column("key").to_pylist()
    assert sorted(map(int, stacked)) == [2**53 + k for k in range(80)]


# The same table saved again in another dialect.


def german(cell):
    if isinstance(cell, float):
        return "" if cell != cell else str(int(cell)) if cell.is_integer() else repr(cell).replace(".", ",")
    return cell


def differences(table, positive, folder, dates=()):
    """Largest difference of probabilities between a table and itself with other marks, dates, encoding and order."""
    table.to_csv(folder / "a.csv", index=False)
    label = pd.Series(np.where(positive, "yes", "no"), name="the label").where(np.arange(len(table)) < 100)
    model = TableClassifier(prior=0.3, kernel="linear", cv=2, settings={"alpha": 0.01}).fit(folder / "a.csv", label)
    other = table.map(german)
    for name, pattern in dates:
        other[name] = pd.to_datetime(table[name], format=pattern).dt.strftime("%d.%m.%Y").fillna("")
    other = other[other.columns[::-1]]
    other.to_csv(folder / "b.csv", index=False, sep=";", encoding="cp1252", errors="replace")
    return np.abs(model.predict_proba(folder / "a.csv") - model.predict_proba(folder / "b.csv")).max()


def test_a_table_saved_in_another_dialect_has_the_same_predictions(tmp_path):
    table = pd.DataFrame(
        {
            "size": rng.normal(size=300),
            "price": rng.lognormal(8, 1, 300).round(2),
            "day": pd.date_range("2023-01-01", periods=300).astype(str),
            "town": rng.choice(["Köln", "Málaga", "Oslo"], 300),
            "member": rng.choice(["yes", "no"], 300),
            "zip": [f"{k:05}" for k in rng.integers(100, 99_999, 300)],
        }
    )
    assert differences(table, table["size"] > 0, tmp_path, [("day", "%Y-%m-%d")]) == 0


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_public_tables_saved_in_another_dialect_have_the_same_predictions(shared, tmp_path):
    from benchmarks.verdicts import read_public

    found = read_public(shared / "data" / "tables")
    assert len(found) == 7
    for name, (table, positive) in found.items():
        dates = [("last_review", "%m/%d/%y")] if name == "airbnb" else []
        assert differences(table.head(1_500), positive.head(1_500), tmp_path, dates) == 0, name
