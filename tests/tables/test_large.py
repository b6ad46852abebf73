"""A table that is read in batches gives the model of the whole table."""

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from pyarrow import parquet as pq

import pnulearn
from pnulearn import TableClassifier
from pnulearn._problem.labels import decode_labels
from pnulearn._reader import batches as batches_module
from pnulearn.report._rows import look_at_rows
from pnulearn.tables import TableError, read_batches, read_table, read_targets
from pnulearn.tables import _fitting as fitting
from pnulearn.tables import _row_sampling as row_sampling
from pnulearn.tables._label_column import LabelCounter
from pnulearn.tables._row_sampling import RowSampler

pd = pytest.importorskip("pandas")

FIXED = {"prior": 0.4, "settings": {"alpha": 0.01, "mix": 0.5, "bandwidth": 3.0, "centers": 60}}
N = 600
SLOW = ("note", "price", "since", "city", "zip")  # where they do not matter


def fit_streamed(path, label="bought", **options):
    return TableClassifier(stream_above=0, **options).fit(path, label).fitted_


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    y = rng.random(N) < 0.4
    words = {True: "refund broken angry late slow", False: "thanks great fast friendly slow"}
    return pd.DataFrame(
        {
            "row": np.arange(N) * 5,
            "shuffled": rng.permutation(N) + 7,
            "size": (rng.normal(size=N) + y).round(3),
            "gaps": np.where(rng.random(N) < 0.2, np.nan, rng.normal(size=N).round(2)),
            "price": [f"{v:,.2f} €" for v in rng.lognormal(7, 1, N)],
            "zip": [f"{v:05d}" for v in rng.integers(0, 15, N)],
            "city": [f"town{v}" for v in rng.integers(0, 80, N)],
            "member": rng.random(N) < 0.5,
            "since": pd.Timestamp("2023-01-01") + pd.to_timedelta(rng.integers(0, 700, N), "D"),
            "note": [" ".join(rng.choice(words[bool(v)].split(), 4)) for v in y],
            "bought": np.where(np.arange(N) % 3 == 0, np.where(y, "yes", "no"), None),
        }
    )


@pytest.fixture(scope="module")
def files(frame, tmp_path_factory):
    folder = tmp_path_factory.mktemp("large")
    frame.to_csv(folder / "t.csv", index=False)
    frame.to_parquet(folder / "t.parquet", row_group_size=170)
    for number, half in enumerate((frame[: N // 2], frame[N // 2 :])):
        half.iloc[:, :: 1 - 2 * number].to_csv(folder / f"part{number}.csv", index=False)
    return folder


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    monkeypatch.setattr(batches_module, "BATCH_ROWS", 250)
    monkeypatch.setattr(batches_module, "BYTES_AT_ONCE", 30_000)
    monkeypatch.setattr(batches_module, "PART_ROWS", 300)


@pytest.mark.parametrize(
    ("name", "dtype", "tolerance"),
    [("t.csv", "float64", 1e-6), ("t.parquet", "float32", 1e-4), ("part*.csv", "float64", 1e-6)],
)
def test_a_table_in_batches_gives_the_model_of_the_whole(files, name, dtype, tolerance, monkeypatch):
    monkeypatch.setattr(fitting, "DTYPE", dtype)
    whole = TableClassifier(**FIXED).fit(str(files / name), "bought").fitted_
    streamed = fit_streamed(str(files / name), n_jobs=2, **FIXED)
    assert "Learnt from all 600 rows, read in batches." in streamed.model.record.remarks
    assert streamed.model.plan.fates == whole.model.plan.fates
    assert set(streamed.model.plan.kinds.values()) == {"number", "category", "codes", "flag", "date", "text"}
    for found in (streamed.model.classifier, whole.model.classifier):
        assert found.risk_.value == pytest.approx(whole.model.classifier.risk_.value, abs=0.02)
    assert_allclose(streamed.model.predict(whole.table).scores, whole.model.predict(whole.table).scores, atol=tolerance)
    ours, theirs = streamed.model.record, whole.model.record
    assert (ours.source, ours.fingerprint, ours.n_rows, ours.n_used) == (
        theirs.source,
        theirs.fingerprint,
        theirs.n_rows,
        theirs.n_used,
    )
    assert (ours.counts, ours.n_missing, ours.giveaways) == (theirs.counts, theirs.n_missing, theirs.giveaways)


def test_the_number_of_threads_does_not_change_a_bit(files):
    settings = FIXED | {"drop": SLOW}
    one, two = (fit_streamed(files / "t.parquet", n_jobs=n, **settings) for n in (1, 2))
    assert_array_equal(one.model.classifier.coef_, two.model.classifier.coef_)


def test_a_plan_from_a_sample_knows_counters_and_says_so(files, monkeypatch):
    monkeypatch.setattr(row_sampling, "MOST_ROWS", 200)
    fitted = fit_streamed(files / "t.csv", kernel="linear", prior=0.4)
    model = fitted.model
    assert model.plan.left_out["row"] == model.plan.left_out["shuffled"] == "row numbers"
    assert any("200 rows drawn at random" in remark for remark in model.record.remarks)
    assert model.record.n_used == N
    truth = read_table(files / "t.csv")
    assert_array_equal(fitted.table.column("size").data, truth.column("size").data[fitted.numbers])
    shown = look_at_rows(fitted, ["size"], prior_unknown=True).to_label  # with their numbers in the file
    assert [float(row.cells["size"]) for row in shown] == [truth.column("size").data[row.number - 1] for row in shown]


def test_rows_are_drawn_whatever_the_batches_are(files, monkeypatch):
    monkeypatch.setattr(row_sampling, "MOST_ROWS", 50)
    monkeypatch.setattr(row_sampling, "MOST_UNLABELED", 20)

    def draw(size):
        monkeypatch.setattr(batches_module, "BATCH_ROWS", size)
        found, counter = RowSampler(seed=3), LabelCounter("bought")
        for table, _ in read_batches(files / "t.parquet", large=0):
            found.add(table, table.source, counter.add(table))
        return found.result("t")

    small, large = draw(30), draw(1000)
    assert small.table.cells.equals(large.table.cells)
    assert small.fair.table.n_rows == 50
    labels = pd.Series(small.table.column("bought").values).value_counts(dropna=False)
    assert labels.min() >= 20
    assert np.all(np.diff(small.excerpt.numbers) > 0)


LABELS = {
    "words": ["Yes", "yes ", "no", "", "NO", "NA", "yes"],
    "numbers": ["1", "0", "", "1.0", "", "0", "1"],
    "marker": ["1", "0", "?", "1", "?", "0", "1"],
    "codes": ["01", "02", "", "01", "", "02", "01"],
}


@pytest.mark.parametrize("typed", [False, True])
@pytest.mark.parametrize("kind", LABELS)
def test_labels_in_batches_mean_what_they_mean_in_the_whole(tmp_path, monkeypatch, kind, typed):
    monkeypatch.setattr(batches_module, "BYTES_AT_ONCE", 30)
    monkeypatch.setattr(batches_module, "BATCH_ROWS", 2)
    cells = LABELS[kind] * 5 + [""] * 20
    values = [float(cell) if cell else None for cell in cells] if typed and kind == "numbers" else cells
    path = tmp_path / ("t.parquet" if typed else "t.csv")
    if typed:
        pq.write_table(pa.table({"x": range(len(cells)), "y": pa.array(values)}), path)
    else:
        path.write_text("x,y\n" + "".join(f"{row},{cell}\n" for row, cell in enumerate(cells)))
    marker = "?" if kind == "marker" else None
    wanted = read_targets(read_table(path), "y", unlabeled=marker)
    counter = LabelCounter("y")
    for table, _ in read_batches(path, large=0):
        counter.add(table)
    found = counter.read("t", positive=None, unlabeled=marker)
    labels = decode_labels(wanted.y, pos_label=wanted.positive)
    assert found.classes.tolist() == labels.classes.tolist()
    assert found.meaning.counts == wanted.counts
    assert found.meaning.positive == wanted.positive
    codes = np.concatenate([found.codes(table) for table, _ in read_batches(path, large=0)])
    assert_array_equal(codes, labels.codes)


def test_a_column_of_identifiers_is_no_column_of_labels(files):
    with pytest.raises(TableError, match="more than 500 different values, too many for labels"):
        fit_streamed(files / "t.csv", "shuffled")


def test_rows_labelled_at_random_tell_the_prior(frame, tmp_path):
    marked = frame.assign(audit=np.where(frame.index % 6 == 0, "yes", ""))
    marked.to_csv(tmp_path / "t.csv", index=False)
    settings = {"settings": FIXED["settings"] | {"centers": 30}, "drop": SLOW}
    fitted = fit_streamed(tmp_path / "t.csv", at_random="audit", **settings)
    assert "drawn at random" in fitted.model.classifier.prior_estimate_.method
    assert "audit" not in fitted.model.plan.kinds
    alone = marked.assign(audit=np.where(frame.bought.isna(), "yes", ""))
    alone.to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(TableError, match="marks no labelled row"):
        fit_streamed(tmp_path / "t.csv", at_random="audit", **settings)


def test_the_model_is_saved_and_loaded_like_any_other(files, tmp_path):
    fitted = fit_streamed(files / "t.csv", drop=SLOW, **FIXED)
    fitted.model.save(tmp_path / "m.pnu")
    again = pnulearn.load(tmp_path / "m.pnu")
    assert_array_equal(again.predict(fitted.table).scores, fitted.model.predict(fitted.table).scores)
    assert len(again.classifier.validation_scores_) == len(fitted.X)
