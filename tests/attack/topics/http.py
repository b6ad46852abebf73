"""Requests to the server of the labelling page. A status from 400 to 499 is an error in words; 500 is a fault."""

from __future__ import annotations

import atexit
import json
from collections.abc import Callable
from functools import cache
from http.client import HTTPConnection
from threading import Thread
from typing import Any

from pnulearn.labeling._cells import RowReader
from pnulearn.labeling._server import LabelingApp, listen
from pnulearn.labeling._table_labeling import read_task
from pnulearn.tables import read_table
from tests.attack.commands import workplace

JSON = {"Content-Type": "application/json"}


@cache
def _address() -> tuple[str, str]:
    """Host and token of a server in a thread of this process."""
    table = workplace() / "clean.csv"
    task = read_task(read_table(table), "label", classes=("no", "yes"))
    app = LabelingApp(task.labeler(refit_every=0), RowReader(task.table, {"label"}, table.parent), "clean.csv", "label")
    listener = listen()
    host, token = app.address(listener.getsockname()[1]).removeprefix("http://").rstrip("/").split("/")
    thread = Thread(target=app.serve, args=(listener,), daemon=True)
    thread.start()
    atexit.register(app.stop)
    return host, token


def _send(
    path: str, body: Any, headers: dict[str, str] | None = None, method: str = "POST", token: str | None = None
) -> dict[str, Any]:
    host, own = _address()
    connection = HTTPConnection(host, timeout=60)
    raw = body if isinstance(body, bytes | None) else json.dumps(body).encode()
    try:
        connection.request(
            method, f"/{own if token is None else token}/{path}", raw, JSON if headers is None else headers
        )
        response = connection.getresponse()
        status, content = response.status, response.read()
    finally:
        connection.close()
    if status >= 500 or b"Traceback" in content:
        raise RuntimeError(f"{status} {content!r:.200}")
    if status >= 400:
        raise ValueError(f"{status} {content!r:.200}")
    found = json.loads(content)
    assert isinstance(found, dict)
    return found


def _draw() -> int:
    return int(_send("api/next", {"who": "a"})["row"]["draw"])


ENTRIES: dict[str, Callable[[], dict[str, Any]]] = {  # a right request for each
    "next": lambda: {"who": "a"},
    "answer": lambda: {"who": "a", "draw": _draw(), "do": "skip"},
    "set": lambda: {"who": "a", "goal": 0.1},
}
GROUPS: dict[str, Any] = {"ALL": ENTRIES}
BODIES: dict[str, Any] = {
    "empty_body": b"",
    "broken_json": b"{",
    "deep_json": b"[" * 9_000,
    "deep_objects": b'{"a":' * 1_500,
    "many_digits": b"1" * 9_000,
    "not_a_number": b'{"who": "a", "goal": NaN}',
    "infinite": b'{"who": "a", "goal": 1e999}',
    "not_utf_8": b"\xff",
    "a_list": b"[1]",
    "nobody": {},
    "long_name": {"who": "x" * 500},
    "large_body": {"who": "a", "more": "x" * 20_000},
    "half_a_character": {"who": "\ud800"},
}
HEADERS: dict[str, dict[str, str]] = {
    "other_host": JSON | {"Host": "evil.example:8000"},
    "other_origin": JSON | {"Origin": "http://evil.example"},
    "plain_text": {"Content-Type": "text/plain"},
    "form": {"Content-Type": "application/x-www-form-urlencoded"},
}
CHANGES: dict[str, dict[str, Any]] = {
    "draw_unknown": {"draw": 10**6},
    "draw_negative": {"draw": -1},
    "draw_true": {"draw": True},
    "draw_of_400_digits": {"draw": 10**400},
    "label_unknown": {"do": "label", "label": 7},
    "label_negative": {"do": "label", "label": -1},
    "deed_unknown": {"do": "dance"},
    "goal_negative": {"goal": -1},
    "mixture_without_random": {"mixture": {"random": 0, "margin": 1}},
}
METHODS = {"get_instead_of_post": "GET", "delete": "DELETE"}
TOKENS = {"wrong_token": "x" * 32, "no_token": ""}
PATHS = {"above_the_folder": "../../../etc/passwd", "source_file": "_server.py"}


def answer(input: str, entry: str) -> list[float]:
    """One if the server does what it is asked for."""
    path, right = f"api/{entry}", ENTRIES[entry]()
    if input in BODIES:
        _send(path, BODIES[input])
    elif input in HEADERS:
        _send(path, right, HEADERS[input])
    elif input in METHODS:
        _send(path, None, method=METHODS[input])
    elif input in TOKENS:
        _send(path, right, token=TOKENS[input])
    elif input in PATHS:
        _send(PATHS[input], None, method="GET")
    elif input == "answered_twice":
        answered = right | {"do": "label", "label": 1}
        _send(path, answered)
        _send(path, answered)
    else:
        _send(path, right | CHANGES.get(input, {}))
    return [1.0]
