"""Work shared out over threads."""

import threading
import time

import numpy as np  # noqa: F401  (its BLAS is what is limited)
import pytest
from joblib import parallel_config
from threadpoolctl import threadpool_info

from pnulearn._machine import map_in_threads, one_blas_thread


def blas_threads():
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


@pytest.mark.parametrize("n_jobs", [None, 1, 2, -1])
def test_results_come_in_the_order_of_the_tasks(n_jobs):
    def work(k, pause):
        time.sleep(pause)
        return k

    assert map_in_threads(work, [(k, 0.01 * (5 - k)) for k in range(5)], n_jobs) == list(range(5))
    assert map_in_threads(work, [], n_jobs) == []


def test_two_jobs_are_two_threads_that_work_at_the_same_time():
    meeting = threading.Barrier(2, timeout=10)
    assert map_in_threads(lambda k: meeting.wait() >= 0 and k, [(1,), (2,)], 2) == [1, 2]


def test_joblib_may_set_the_number_of_threads():
    meeting = threading.Barrier(2, timeout=10)
    with parallel_config(backend="threading", n_jobs=2):
        assert map_in_threads(lambda k: meeting.wait() >= 0 and k, [(1,), (2,)]) == [1, 2]


def test_an_error_stops_the_tasks_that_have_not_begun():
    begun = []

    def work(k):
        begun.append(k)
        if k == 0:
            raise KeyError("first")
        time.sleep(0.02)

    with pytest.raises(KeyError, match="first"):
        map_in_threads(work, [(k,) for k in range(100)], 2)
    assert len(begun) < 50


def test_the_limit_on_blas_lasts_until_the_last_user_leaves():
    before = blas_threads()
    inside, may_leave = threading.Event(), threading.Event()

    def stay():
        with one_blas_thread():
            inside.set()
            may_leave.wait(10)

    with one_blas_thread():
        other = threading.Thread(target=stay)
        other.start()
        assert inside.wait(10)
    assert set(blas_threads()) == {1}
    may_leave.set()
    other.join()
    assert blas_threads() == before
