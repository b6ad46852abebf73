"""On a Dask cluster of real processes: the same bits, whatever dies, and errors instead of hangs."""

import os
import signal
import threading
import time
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

import dask
import numpy as np
import pytest
from dask import array as dask_array
from dask import dataframe as dask_frame
from distributed import Client, LocalCluster
from numpy.testing import assert_allclose, assert_array_equal
from tests.problems import COLUMNS, mixture, table, write_parquet

from pnulearn import PNUClassifier
from pnulearn.streaming import ClusterError, OnCluster, fit_files, make_design
from pnulearn.streaming._dask import collection_source
from pnulearn.streaming._passes import collect
from pnulearn.streaming._sources import open_source
from pnulearn.streaming._threads import InThreads

X, Y, _ = mixture(4000)
SMALL = {"centers": 12, "alpha": [1e-3, 1e-1], "mix": [-0.5, 0.0, 0.5], "random_state": 0}
PATIENCE = 600.0  # seconds: a busy machine may need minutes to start a worker
SETTINGS = {
    "distributed.scheduler.allowed-failures": 1,
    "distributed.comm.timeouts.connect": "60s",
    "distributed.worker.memory.pause": False,
}


@contextmanager
def two_workers():
    with (
        dask.config.set(SETTINGS),
        LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", memory_limit=0, silence_logs=50
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        client.wait_for_workers(2, timeout=PATIENCE)
        yield client


@pytest.fixture(scope="module")
def client():
    with two_workers() as client:
        yield client


@pytest.fixture
def mortal_client():
    """Of a cluster of its own: Dask does not always start a worker again that was killed."""
    with two_workers() as client:
        yield client


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    return write_parquet(tmp_path_factory.mktemp("rows") / "rows.parquet", X, Y, rows=500)


@pytest.fixture(scope="module")
def source(rows):
    return open_source(rows, "label", part_rows=500)


@pytest.fixture(scope="module")
def design():
    return make_design(PNUClassifier(**SMALL), X, Y, columns=COLUMNS)


@pytest.fixture(scope="module")
def honest(source, design):
    """What threads of this process find."""
    return collect(source, design, InThreads(1))


def die():
    """End this worker as the kernel would for lack of memory, but not before its nanny has seen it start."""
    time.sleep(1)
    os.kill(os.getpid(), signal.SIGKILL)


def dying(client, marker, when, *, always=False, patience=PATIENCE):
    """A runner whose workers get SIGKILL in the middle of the part that starts at row `when`, once or always."""

    def run(work, parts):
        def deadly(part):
            if part.start == when and (always or not os.path.exists(marker)):
                with open(marker, "w"):
                    pass
                die()
            return work(part)

        return OnCluster(client, patience)(deadly, parts)

    return run


def test_files_give_the_same_bits_as_in_this_process(client, rows):
    settings = {"target": "label", "part_rows": 500, "second_pass": True}
    here = fit_files(PNUClassifier(**SMALL), rows, **settings)
    there = fit_files(PNUClassifier(**SMALL), rows, client=client, **settings)
    assert_array_equal(there.coef_, here.coef_)
    assert_array_equal(there.search_.zero_one, here.search_.zero_one)
    assert there.prior_interval_ == here.prior_interval_
    assert there.risk_ == here.risk_


def test_dask_arrays_and_frames_give_the_same_classifier(client):
    settings = SMALL | {"centers": X[:12], "mix": 0.2, "alpha": 0.1, "bandwidth": 2.0, "prior": 0.3}
    wanted = PNUClassifier(**settings).fit(X, Y).coef_
    frame = dask_frame.from_pandas(table(X, Y).to_pandas(), npartitions=3)
    arrays = (dask_array.from_array(X, chunks=(900, 2)), dask_array.from_array(Y, chunks=1500))
    with client.as_current():  # the client that is at hand is used
        of_frame = fit_files(PNUClassifier(**settings), frame, target="label", dtype="float64")
    of_arrays = fit_files(PNUClassifier(**settings), arrays, client=client, dtype="float64")
    assert_allclose(of_frame.coef_, wanted, atol=1e-9)
    assert_allclose(of_arrays.coef_, wanted, atol=1e-9)
    assert of_frame.feature_names_in_.tolist() == list(COLUMNS)


def test_a_search_does_not_depend_on_how_rows_are_partitioned(client):
    """Dask frames and arrays, with empty partitions or with `classes`, are numbered like an array in memory."""
    settings = SMALL | {"prior": 0.3, "cv": 5}
    wanted = fit_files(PNUClassifier(**settings), (X, Y), dtype="float64").coef_
    frame = table(X, Y).to_pandas()
    pieces = [frame[:0], frame[:700], frame[:0], frame[700:2500], frame[2500:], frame[:0]]
    gaps = dask_frame.from_delayed([dask.delayed(piece) for piece in pieces], meta=frame[:0])
    arrays = (dask_array.from_array(X, chunks=(900, -1)), dask_array.from_array(Y, chunks=900))
    found = {
        "7 partitions": fit_files(PNUClassifier(**settings), _frame(7), target="label", client=client, dtype="float64"),
        "empty ones": fit_files(PNUClassifier(**settings), gaps, target="label", client=client, dtype="float64"),
        "classes": fit_files(
            PNUClassifier(**settings), gaps, target="label", client=client, dtype="float64", classes=[0, 1]
        ),
        "arrays": fit_files(PNUClassifier(**settings), arrays, client=client, dtype="float64"),
    }
    for name, model in found.items():
        assert_allclose(model.coef_, wanted, rtol=0, atol=1e-10, err_msg=name)


def _frame(npartitions):
    return dask_frame.from_pandas(table(X, Y).to_pandas(), npartitions=npartitions)


def test_one_candidate_is_the_same_from_everywhere(client, rows):
    """Where nothing is drawn or chosen, files, frames and rows in memory give the same model."""
    one = SMALL | {"centers": X[:12], "mix": 0.2, "alpha": 0.1, "bandwidth": 2.0, "prior": 0.3, "cv": 5}
    wanted = PNUClassifier(**one).fit(X, Y).coef_
    for data, more in ((rows, {}), (rows, {"client": client}), (_frame(5), {"client": client})):
        found = fit_files(PNUClassifier(**one), data, target="label", dtype="float64", **more)
        assert_allclose(found.coef_, wanted, rtol=0, atol=1e-10)


def test_centres_may_be_a_slice_of_a_data_frame(client, rows):
    """Their memory order changes on the way to a worker; the mean of the centres did too, in its last bits."""
    settings = SMALL | {"centers": table(X, Y).to_pandas()[list(COLUMNS)][:200], "prior": 0.3}
    here, there = (fit_files(PNUClassifier(**settings), rows, target="label", **on) for on in ({}, {"client": client}))
    assert_array_equal(there.coef_, here.coef_)


@pytest.mark.thorough
def test_a_worker_killed_mid_run_changes_nothing(mortal_client, source, design, honest, tmp_path):
    marker = str(tmp_path / "died")
    statistics = collect(source, design, dying(mortal_client, marker, when=1500))
    assert os.path.exists(marker)
    assert_array_equal(statistics.sums, honest.sums)


@pytest.mark.thorough
def test_a_part_that_keeps_killing_workers_is_named_and_the_cluster_lives_on(
    mortal_client, source, design, honest, tmp_path
):
    with pytest.raises(ClusterError, match=r"rows\.parquet, rows 1000 to 1499 killed 2 workers in a row"):
        collect(source, design, dying(mortal_client, str(tmp_path / "died"), when=1000, always=True))
    assert_array_equal(collect(source, design, OnCluster(mortal_client, PATIENCE)).sums, honest.sums)


@pytest.mark.thorough
def test_a_part_that_died_beside_a_deadly_one_is_not_blamed(source, design, tmp_path):
    """Both threads of the only worker are busy: every death makes both parts suspects."""
    deaths, company = tmp_path / "deaths", tmp_path / "company"
    for folder in (deaths, company):
        folder.mkdir()

    def run(work, parts):
        def meet(part):
            together = not os.listdir(deaths)
            if part.start == 500:
                while together:  # until the worker dies
                    (company / str(os.getpid())).touch()
                    time.sleep(0.01)
            if part.start == 1000:
                while together and not (company / str(os.getpid())).exists():
                    time.sleep(0.01)
                (deaths / str(os.getpid())).touch()
                die()
            return work(part)

        return OnCluster(client, PATIENCE)(meet, parts)

    with (
        dask.config.set(SETTINGS | {"distributed.scheduler.allowed-failures": 0}),
        LocalCluster(n_workers=1, threads_per_worker=2, dashboard_address=":0", memory_limit=0, silence_logs=50) as two,
        Client(two) as client,
        pytest.raises(ClusterError, match=r"rows 1000 to 1499 killed 1 workers in a row while nothing else was"),
    ):
        collect(source, design, run)
    assert len(os.listdir(deaths)) == 2  # one in company, one alone


def test_a_file_that_is_damaged_is_named(client, tmp_path, monkeypatch):
    path = write_parquet(tmp_path / "hurt.parquet", X, Y, rows=500)
    source = open_source(path, "label", part_rows=500)
    content, before = bytearray(path.read_bytes()), os.stat(path)
    content[20_000:40_000] = bytes(20_000)
    path.write_bytes(content)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    design = make_design(PNUClassifier(**SMALL), X, Y, columns=COLUMNS)
    with pytest.raises((OSError, ValueError), match=r"hurt\.parquet cannot be read"):
        collect(source, design, OnCluster(client))
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(ValueError, match=r"hurt\.parquet changed while it was in use"):
        collect(source, design, OnCluster(client))
    with pytest.raises(ValueError, match=r"hurt\.parquet cannot be read.*complete"):
        fit_files(PNUClassifier(**SMALL), path, target="label", client=client)


def test_a_cluster_without_workers_is_an_error_after_the_stated_time(rows):
    with (
        LocalCluster(n_workers=0, threads_per_worker=1, dashboard_address=":0", silence_logs=50) as empty,
        Client(empty) as client,
        pytest.raises(ClusterError, match=r"no workers for 1 s, while waiting for .*rows\.parquet, rows 0 to"),
    ):
        fit_files(PNUClassifier(**SMALL), rows, target="label", client=OnCluster(client, 1.0))


def test_what_cannot_be_sent_is_refused(client, rows):
    with pytest.raises(TypeError, match="not sent to a cluster"):
        fit_files(PNUClassifier(**SMALL), (X, Y), client=client)


def test_dask_data_need_a_client():
    arrays = dask_array.from_array(X, chunks=900), dask_array.from_array(Y, chunks=900)
    with pytest.raises(ValueError, match="need a client"):
        fit_files(PNUClassifier(**SMALL), arrays)


def counted_source(folder, deadly=False):
    """One upstream read that is split into ten partitions, and counts its calls; it may kill its first worker."""
    calls = folder / "calls"

    def read():
        with open(calls, "a") as file:
            file.write("read\n")
        if deadly and len(calls.read_text().splitlines()) == 1:
            die()
        return np.column_stack([X, Y])

    whole = dask_array.from_delayed(dask.delayed(read, pure=True)(), shape=(len(X), 4), dtype=float)
    parts = whole.rechunk((len(X) // 10, 4))
    return (parts[:, :3], parts[:, 3]), lambda: len(calls.read_text().splitlines())


@pytest.mark.thorough
def test_what_partitions_have_in_common_is_computed_once_per_pass(client, tmp_path):
    data, n_reads = counted_source(tmp_path)
    fit_files(PNUClassifier(**SMALL), data, client=client)
    assert n_reads() == 3  # the labels (which also number the rows), the sample of rows, the statistics


@pytest.mark.thorough
@pytest.mark.parametrize("deadly", [False, True])
def test_sums_that_workers_add_up_have_the_bits_of_results_fetched_one_by_one(mortal_client, tmp_path, deadly):
    design = make_design(PNUClassifier(**SMALL), X, Y)
    folders = [tmp_path / name for name in ("a", "b")]
    for folder in folders:
        folder.mkdir()
    source = replace(collection_source(counted_source(folders[0], deadly)[0], None, None), group=4)
    added = collect(source, design, OnCluster(mortal_client, PATIENCE))
    fetched = collect(source, design, lambda work, parts: OnCluster(mortal_client, PATIENCE)(work, parts))
    assert_array_equal(added.sums, fetched.sums)
    assert added.n_rows == len(X)


@pytest.mark.thorough
def test_workers_that_all_leave_mid_run_are_missed(mortal_client, source, design):
    from pnulearn.streaming._passes import part_statistics

    cluster = mortal_client.cluster
    cluster.scheduler.allowed_failures = 100  # a worker that leaves during its work is not the part's fault here
    work = partial(part_statistics, source=source.without_parts(), design=design)
    results = OnCluster(mortal_client, no_workers_seconds=1.0)(work, source.parts)
    assert np.isfinite(next(results).sums).all()
    cluster.scale(0)
    with pytest.raises(ClusterError, match="no workers for 1 s"):
        list(results)


def test_a_partition_without_a_column_is_named(client):
    frame = dask_frame.from_pandas(table(X, Y).to_pandas(), npartitions=4)
    broken = frame.map_partitions(_lose_column, meta=frame._meta, enforce_metadata=False)
    with pytest.raises(ValueError, match=r"A partition of the Dask data lacks a column .*'b'.*not in index"):
        fit_files(PNUClassifier(prior=0.4, **SMALL), broken, target="label", client=client)


def _lose_column(part):
    return part.drop(columns="b")


@pytest.mark.thorough
@pytest.mark.parametrize("what", ["client", "cluster"])
def test_a_client_or_cluster_that_is_closed_mid_run_is_an_error_in_words(source, design, what):
    with two_workers() as client:
        closing = threading.Timer(1.0, client.close if what == "client" else client.cluster.close)
        closing.start()
        with pytest.raises(ClusterError, match=r"closed during the work on|no workers for 5 s"):
            list(OnCluster(client, no_workers_seconds=5.0)(_slow, source.parts))
        closing.join()


def _slow(part):
    time.sleep(2.0)
    return part.name
