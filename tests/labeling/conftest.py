"""A table to label, and a server that labels it, in a process of its own."""

import json
import os
import re
import subprocess
import sys
import time
from contextlib import contextmanager
from http.client import HTTPConnection
from threading import Thread
from typing import NamedTuple

import numpy as np
import pytest

from pnulearn.labeling._cells import RowReader
from pnulearn.labeling._server import LabelingApp, listen
from pnulearn.labeling._table_labeling import read_task
from pnulearn.tables import read_table

HOSTILE = "<script>alert('cell')</script>"


def write_table(path, n_rows=300, n_labeled=0, seed=0):
    """Rows whose first column tells the class, a hostile name, and text."""
    rng = np.random.default_rng(seed)
    truth = rng.random(n_rows) < 0.4
    lines = [f"size,colour,{HOSTILE.replace(',', '')},bought"]
    for k, is_yes in enumerate(truth):
        label = ("yes" if is_yes else "no") if k < n_labeled else ""
        lines.append(f"{rng.normal(2.5 * is_yes):.3f},{rng.choice(['red', 'blue'])},{HOSTILE} {k},{label}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return truth


class Client:
    """Plain requests to a server, with any headers."""

    def __init__(self, address):
        self.host, self.token = address.removeprefix("http://").rstrip("/").split("/")

    def get(self, path, token=None, **headers):
        return self._ask("GET", path, token, None, headers)

    def post(self, path, body, kind="application/json"):
        return self._ask("POST", path, None, json.dumps(body), {"Content-Type": kind})

    def post_raw(self, path, body):
        return self._ask("POST", path, None, body, {"Content-Type": "application/json"})

    def _ask(self, method, path, token, body, headers):
        connection = HTTPConnection(self.host, timeout=60)
        connection.request(method, f"/{token or self.token}/{path}", body, headers)
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, content)


class Answer(NamedTuple):
    status: int
    headers: dict
    content: bytes

    def json(self):
        return json.loads(self.content)


class Process:
    """`pnulearn label` as somebody starts it."""

    def __init__(self, table, *options):
        command = [sys.executable, "-m", "pnulearn", "label", str(table), "--label", "bought", "--no-open", *options]
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}
        self.log = table.with_name("log.txt")
        with self.log.open("w") as file:
            self.process = subprocess.Popen(command, stderr=file, stdout=subprocess.DEVNULL, env=environment)
        self.address = self._wait()

    def _wait(self):
        for _ in range(1200):
            found = re.search(r"http://127\.0\.0\.1:\d+/\S+/", self.log.read_text())
            if found:
                return found[0]
            if self.process.poll() is not None:
                break
            time.sleep(0.1)
        raise RuntimeError(self.log.read_text())

    def kill(self):
        self.process.kill()
        self.process.wait()


@pytest.fixture
def start_labeling():
    """Start processes that end with the test."""
    started = []

    def start(table, *options):
        started.append(Process(table, *options))
        return started[-1]

    yield start
    for one in started:
        one.kill()


def make_app(table, journal=None, **options):
    task = read_task(read_table(table), "bought")
    labeler = task.labeler(journal, refit_every=0, **options)
    return LabelingApp(labeler, RowReader(task.table, {"bought"}, table.parent), table.name, "bought")


@contextmanager
def serving():
    """Serve tables from threads of this process, which is quicker; `start` returns the address."""
    running = []

    def start(table, app=None, **options):
        app, listener = app or make_app(table, **options), listen()
        address = app.address(listener.getsockname()[1])
        thread = Thread(target=app.serve, args=(listener,))
        thread.start()
        running.append((app, thread, listener))
        return address

    yield start
    for app, thread, listener in running:
        app.stop()
        thread.join()
        listener.close()


@pytest.fixture
def serve():
    with serving() as start:
        yield start
