"""One pass gives the model that all rows in memory would give, from any kind of source."""

import os
import signal
import subprocess
import sys
import textwrap
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from tests.problems import COLUMNS, mixture, splits_of, table, write_parquet

import pnulearn
from pnulearn import PNUClassifier
from pnulearn.streaming import PNUStatistics, collect_statistics, fit_files, fit_statistics, make_design

SMALL = {"centers": 15, "alpha": [1e-3, 1e-1], "mix": [-0.5, 0.0, 0.5], "random_state": 0}


def in_memory(X, y, design, name, **settings) -> PNUClassifier:
    """The same centres, folds and candidates, from rows in memory."""
    return PNUClassifier(**settings, cv=splits_of(design, name, len(X))).fit(X, y)


@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-8), ("float32", 1e-4)])
def test_one_pass_over_200_000_rows_equals_the_model_in_memory(dtype, tolerance, tmp_path):
    X, y, _ = mixture(200_000, labeled=0.02)
    path = write_parquet(tmp_path / "rows.parquet", X, y, rows=50_000)
    settings = {"centers": X[:25], "prior": 0.3, "mix": [-0.5, 0.0, 0.5], "alpha": [1e-3, 0.1], "bandwidth": [1.0, 3.0]}
    model = PNUClassifier(**settings, random_state=0)
    design = make_design(model, X, y, dtype=dtype)
    fit_files(model, path, target="label", dtype=dtype, second_pass=True, part_rows=50_000)
    wanted = in_memory(X, y, design, "rows.parquet", **settings)
    grid = X[:2000]
    assert_allclose(
        model.decision_function(table(X, y).select(COLUMNS).slice(0, 2000).to_pandas()),
        wanted.decision_function(grid),
        atol=tolerance,
    )
    assert_allclose(model.search_.squared, wanted.search_.squared, atol=tolerance)
    assert_allclose(model.search_.zero_one, wanted.search_.zero_one, atol=tolerance)
    assert_allclose(model.search_.weight, wanted.search_.weight, atol=100 * tolerance)
    assert model.risk_.value == pytest.approx(wanted.risk_.value, abs=0.02)


@pytest.mark.parametrize("sampling", ["by_class", "random"])
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_every_kind_of_model_equals_the_one_in_memory(n_classes, kernel, sampling):
    X, y, _ = mixture(3000, n_classes=n_classes)
    prior = 0.3 if n_classes == 2 else {0.0: 0.5, 1.0: 0.3, 2.0: 0.2}
    settings = SMALL | {"centers": X[:10], "prior": prior, "kernel": kernel, "sampling": sampling, "bandwidth": 2.0}
    model = PNUClassifier(**settings)
    design = make_design(model, X, y)
    fit_files(model, (X, y), dtype="float64", second_pass=True, part_rows=1100)
    wanted = in_memory(X, y, design, "array", **settings)
    assert_allclose(model.decision_function(X), wanted.decision_function(X), atol=1e-8)
    assert_array_equal(model.classes_, wanted.classes_)
    assert (model.mix_, model.alpha_) == (wanted.mix_, wanted.alpha_)


def test_without_a_second_pass_candidates_are_chosen_by_the_squared_loss():
    X, y, truth = mixture(4000)
    model = fit_files(PNUClassifier(**SMALL, selection="best"), (X, y))
    table = model.search_
    assert np.isnan(table.zero_one).all()
    assert table.squared[table.best] == table.squared.min()
    assert np.mean(model.predict(X) != truth) < 0.16
    assert 0 < model.risk_.value < 0.25
    assert model.risk_.stderr > 0


def test_the_result_is_a_classifier_like_any_other(tmp_path):
    X, y, _ = mixture(3000)
    labels = np.array([None if np.isnan(v) else ["no", "yes"][int(v)] for v in y], dtype=object)
    pq.write_table(table(X, labels), tmp_path / "t.parquet")
    model = fit_files(PNUClassifier(**SMALL), tmp_path, target="label", columns=["c", "a"])
    assert model.feature_names_in_.tolist() == ["c", "a"]
    assert model.n_features_in_ == 2
    assert set(model.predict(table(X, y).select(["c", "a"]).to_pandas())) == {"no", "yes"}
    model.save(tmp_path / "model")
    again = pnulearn.load(tmp_path / "model")
    frame = table(X, y).select(["c", "a"]).to_pandas()
    assert_array_equal(again.decision_function(frame), model.decision_function(frame))
    assert again.search_.rows()[0]["weight"] > 0
    low, high = model.prior_interval_
    assert 0.25 < low < model.prior_ < high < 0.4


def test_the_number_of_threads_does_not_change_a_bit(tmp_path):
    X, y, _ = mixture(6000)
    write_parquet(tmp_path / "t.parquet", X, y, rows=500)
    one, three = (fit_files(PNUClassifier(**SMALL), tmp_path, target="label", n_jobs=n, part_rows=500) for n in (1, 3))
    assert_array_equal(one.coef_, three.coef_)
    assert one.prior_ == three.prior_


def test_progress_is_reported_on_request(tmp_path, capsys):
    X, y, _ = mixture(2000)
    write_parquet(tmp_path / "t.parquet", X, y, rows=500)
    fit_files(PNUClassifier(**SMALL, verbose=1), tmp_path, target="label", part_rows=500)
    lines = capsys.readouterr().err.splitlines()
    assert lines[-1] == "pnulearn: part 4 of 4 read, 2000 rows, 0 s left"
    assert len(lines) == 4


def test_every_source_gives_the_same_classifier(tmp_path):
    """A memory map, Parquet, CSV and three kinds of batches hold the same rows; folds aside, the models agree."""
    X, y, _ = mixture(3000)
    X = np.round(X, 6)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    frame = table(X, y).to_pandas()
    frame.to_csv(tmp_path / "t.csv", index=False)
    write_parquet(tmp_path / "t.parquet", X, y)
    pieces = [slice(i, i + 700) for i in range(0, 3000, 700)]
    sources = {
        "memory map": ((mapped, y), None),
        "parquet": (tmp_path / "t.parquet", "label"),
        "csv": (str(tmp_path / "*.csv"), "label"),
        "pairs": (((X[p], y[p]) for p in pieces), None),
        "one frame": (frame, "label"),
        "pandas": ((frame.iloc[p] for p in pieces), "label"),
        "arrow": (table(X, y).to_batches(700), "label"),
    }
    settings = SMALL | {"centers": X[:12], "prior": 0.3, "mix": 0.2, "alpha": 0.01, "bandwidth": 2.0}
    wanted = PNUClassifier(**settings).fit(X, y).coef_
    for name, (data, target) in sources.items():
        model = fit_files(PNUClassifier(**settings), data, target=target, dtype="float64")
        assert_allclose(model.coef_, wanted, atol=1e-9, err_msg=name)


def test_files_can_be_added_and_forgotten(tmp_path):
    X, y, _ = mixture(4000)
    days = [slice(0, 1500), slice(1500, 2600), slice(2600, 4000)]
    for i, day in enumerate(days):
        write_parquet(tmp_path / f"day{i}.parquet", X[day], y[day])
    model = PNUClassifier(**SMALL, prior=0.3)
    design = make_design(model, X[:1000], y[:1000], columns=COLUMNS, dtype="float64")
    by_day = [collect_statistics(tmp_path / f"day{i}.parquet", design, target="label") for i in range(3)]
    for i, one in enumerate(by_day):
        one.save(tmp_path / f"{i}.stats")
    total = sum((PNUStatistics.load(tmp_path / f"{i}.stats") for i in (1, 2)), start=by_day[0])
    forgot = fit_statistics(PNUClassifier(**SMALL, prior=0.3), total - by_day[1])
    never = fit_statistics(PNUClassifier(**SMALL, prior=0.3), by_day[0] + by_day[2])
    assert_allclose(forgot.coef_, never.coef_, atol=1e-8)
    assert forgot.risk_ is None  # there are no rows to judge by


@pytest.mark.parametrize("marker", [-1, "?"])
def test_named_markers_and_missing_values_are_unlabelled(marker, tmp_path):
    X, y, _ = mixture(2000)
    labels = [marker if np.isnan(v) else type(marker)(int(v)) for v in y]
    for folder, values in {"marked": labels, "null": [None if label == marker else label for label in labels]}.items():
        (tmp_path / folder).mkdir()
        pq.write_table(table(X, values), tmp_path / folder / "t.parquet")
    settings = SMALL | {"centers": X[:10], "prior": 0.3, "mix": 0.2, "alpha": 0.1, "bandwidth": 2.0}
    marked = fit_files(PNUClassifier(**settings, unlabeled=marker), tmp_path / "marked", target="label")
    null = fit_files(PNUClassifier(**settings), tmp_path / "null", target="label")
    assert_array_equal(marked.coef_, null.coef_)
    assert_array_equal(marked.classes_, null.classes_)


def test_positive_and_unlabelled_rows_suffice():
    X, y, truth = mixture(4000)
    y[y == 0] = np.nan
    settings = SMALL | {"mix": None, "prior": 0.3, "risk": "pu"}
    model = fit_files(PNUClassifier(**settings), (X, y), classes=[0.0, 1.0])
    assert np.mean(model.predict(X) != truth) < 0.2
    design = make_design(model, X, y, classes=[0, 1])
    with pytest.raises(ValueError, match="a class has no labelled rows"):
        fit_statistics(PNUClassifier(**settings | {"prior": None}), PNUStatistics.of(design, X, y))


def test_a_named_method_estimates_the_prior_from_the_sample():
    X, y, _ = mixture(4000)
    model = fit_files(PNUClassifier(**SMALL, prior="energy"), (X, y))
    assert 0.25 < model.prior_ < 0.35
    design = make_design(model, X, y)
    with pytest.raises(ValueError, match="'energy' cannot be estimated from these statistics"):
        fit_statistics(PNUClassifier(**SMALL, prior="energy"), PNUStatistics.of(design, X, y))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"loss": "logistic"}, "only loss='squared'"),
        ({"cv": [([0], [1])]}, "number of folds"),
        ({"centers": "all"}, "centers=500"),
        ({"alpha": -1.0}, "alpha must be a number or several between 1e-75"),
    ],
)
def test_what_cannot_be_done_in_one_pass_is_refused(settings, words):
    X, y, _ = mixture(100)
    with pytest.raises(ValueError, match=words):
        fit_files(PNUClassifier(**settings), (X, y))


def test_iterators_have_one_pass_only(tmp_path):
    X, y, _ = mixture(100)
    with pytest.raises(ValueError, match="no second pass"):
        fit_files(PNUClassifier(), iter([(X, y)]), second_pass=True)
    with pytest.raises(ValueError, match="cannot be resumed"):
        fit_files(PNUClassifier(), iter([(X, y)]), checkpoint=tmp_path / "c")
    with pytest.raises(ValueError, match=r"\[5\], which is not among the classes"):
        fit_files(PNUClassifier(**SMALL, prior=0.3), iter([(np.tile(X, (210, 1)), np.tile(y, 210)), (X[:1], [5])]))


KILLED_DRIVER = """
    import os, signal, sys
    import pnulearn.streaming._passes as passes
    from pnulearn import PNUClassifier
    from pnulearn.streaming import fit_files

    honest, calls = passes.part_statistics, []

    def deadly(part, source, design):
        calls.append(part)
        if len(calls) == 5:
            os.kill(os.getpid(), signal.SIGKILL)
        return honest(part, source, design)

    passes.part_statistics = deadly
    fit_files(PNUClassifier(centers=15, alpha=[1e-3, 1e-1], mix=[-0.5, 0.0, 0.5]), sys.argv[1], target="label",
              n_jobs=1, part_rows=500, checkpoint=sys.argv[2], checkpoint_seconds=0)
"""


@pytest.mark.thorough
def test_a_killed_driver_resumes_to_the_same_bits(tmp_path, monkeypatch):
    """Even without random_state: the seed is that of the killed run."""
    X, y, _ = mixture(4000)
    path, checkpoint = str(write_parquet(tmp_path / "t.parquet", X, y, rows=500)), tmp_path / "checkpoint"
    command = [sys.executable, "-c", textwrap.dedent(KILLED_DRIVER), path, str(checkpoint)]
    assert subprocess.run(command, env=os.environ, check=False).returncode == -signal.SIGKILL
    counted = []
    honest = pnulearn.streaming._passes.part_statistics
    monkeypatch.setattr(
        "pnulearn.streaming._passes.part_statistics", lambda part, **rest: counted.append(part) or honest(part, **rest)
    )
    settings = {"target": "label", "part_rows": 500, "checkpoint_seconds": 0}
    small = {name: value for name, value in SMALL.items() if name != "random_state"}
    resumed = fit_files(PNUClassifier(**small), path, checkpoint=checkpoint, **settings)
    assert 1 <= len(counted) <= 5
    at_once = fit_files(PNUClassifier(**small), path, checkpoint=checkpoint, **settings)  # nothing is left to do
    monkeypatch.setattr("pnulearn._learning.settings.read_random_state", lambda _: Drawn(seed_of(checkpoint)))
    whole = fit_files(PNUClassifier(**small), path, **settings)
    for model in (resumed, at_once):
        assert_array_equal(model.coef_, whole.coef_)
        assert model.risk_ == whole.risk_


@dataclass(frozen=True)
class Drawn:
    """A random state whose next number is known."""

    value: int

    def randint(self, _) -> int:
        return self.value


def seed_of(checkpoint) -> int:
    from pnulearn._files.archive import read_archive
    from pnulearn._moments import TYPES

    return read_archive(checkpoint, (*TYPES, PNUStatistics))[1]["statistics"].design.seed


def test_a_checkpoint_of_other_data_is_refused_and_a_full_disk_does_not_stop_the_run(tmp_path, monkeypatch):
    X, y, _ = mixture(1000)
    path = write_parquet(tmp_path / "t.parquet", X, y)
    settings = {"target": "label", "checkpoint": tmp_path / "c", "checkpoint_seconds": 0}
    fit_files(PNUClassifier(**SMALL), path, **settings)
    before = (tmp_path / "c").read_bytes()
    with pytest.raises(ValueError, match="another run"):
        fit_files(PNUClassifier(**SMALL | {"centers": 5}), path, **settings)
    assert (tmp_path / "c").read_bytes() == before

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pnulearn.streaming._passes.write_archive", full)
    with pytest.warns(UserWarning, match="could not be written"):
        fit_files(PNUClassifier(**SMALL), path, **settings | {"checkpoint": tmp_path / "d"})


def test_batches_of_the_wrong_kind_are_refused():
    X, y, _ = mixture(100)
    for data, words in [
        ([X], "pairs"),
        ([{"a": 1}], "a dict"),
        ([pa.table({"a": [1.0]})], "target"),
        (iter([]), "no rows"),
        (3, "Cannot read rows from int"),
        ((X, y[:-1]), "must agree"),
        ((X.astype(complex), y), "must contain real numbers"),
        ((X[:, 0], y), "shape"),
    ]:
        with pytest.raises((ValueError, TypeError), match=words):
            fit_files(PNUClassifier(), data)
