"""Who may ask the page's server what."""

import base64
import json
import signal
import sys
import time
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pytest
from tests.labeling.conftest import Client, make_app, serving, write_table

from pnulearn.labeling._cells import find_picture, picture_type
from pnulearn.labeling._page_state import choose_keys
from pnulearn.labeling._server import HOST, listen

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
)


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    """One server for all tests that answer no row."""
    table = tmp_path_factory.mktemp("labels") / "table.csv"
    write_table(table, n_rows=40)
    with serving() as start:
        yield Client(start(table))


def test_only_this_machine_with_the_token_and_from_the_page(client):
    good = "api/progress"
    assert client.get(good).status == 200
    assert client.get(good, token="wrong").status == 403
    assert client.get("", token="wrong").status == 403
    assert client.get(good, Host="evil.example:8000").status == 403
    assert client.get(good, Origin="http://evil.example").status == 403
    assert client.post("api/answer", {"who": "a", "draw": 0, "do": "skip"}, kind="text/plain").status == 415
    assert client.get("server.py").status == 404
    assert client.get("../server.py").status in (403, 404)
    with listen() as listener:
        assert listener.getsockname()[0] == HOST == "127.0.0.1"


def test_every_page_forbids_what_it_does_not_need(client):
    for name in ("", "page.js", "chart.js", "row.js", "page.css", "icon.svg", "api/start", "nothing"):
        headers = client.get(name).headers
        policy = headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
        assert "unsafe" not in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
    assert b"http" not in client.get("").content


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("next", {}, 400),
        ("next", {"who": "x" * 500}, 400),
        ("next", [1], 400),
        ("answer", {"who": "a", "draw": 99, "do": "skip"}, 400),
        ("answer", {"who": "a", "draw": True, "do": "skip"}, 400),
        ("answer", {"who": "a", "draw": 0, "do": "label", "label": 7}, 400),
        ("answer", {"who": "a", "draw": 0, "do": "dance"}, 400),
        ("undo", {"who": "a"}, 400),
        ("set", {"who": "a", "goal": -1}, 400),
        ("set", {"who": "a", "mixture": {"random": 0, "margin": 1}}, 400),
        ("set", {"who": "a", "mixture": {"random": "x"}}, 400),
        ("next", {"who": "a", "more": "x" * 20_000}, 413),
        ("next", {"who": "\ud800"}, 400),
        ("undo", {"who": "a", "draw": 0}, 400),
        ("undo", {"who": "a", "draw": "0"}, 400),
        ("answers", {"who": "a"}, 400),
        ("answers", {"who": "a", "most": 501}, 400),
        ("answers", {"who": "a", "most": 0}, 400),
        ("answers", {"who": "a", "most": 5, "find": 7}, 400),
        ("set", {"who": "a", "goal": 10**400}, 400),
        ("set", {"who": "a", "mixture": {"random": 10**400}}, 400),
        ("answer", {"who": "a", "draw": 10**400, "do": "skip"}, 400),
        ("answer", {"who": "a", "draw": 0, "do": "label", "label": -(10**400)}, 400),
    ],
)
def test_requests_that_mean_nothing_are_refused_in_words(client, path, body, status):
    assert client.post("api/next", {"who": "a"}).status == 200
    answer = client.post(f"api/{path}", body)
    assert answer.status == status
    assert answer.json()["trouble"]


@pytest.mark.parametrize(
    "body", ["[" * 9_000, '{"a":' * 1_500, "1" * 9_000, '{"goal": 1e999}', '{"goal": NaN}', "{", "\xff"]
)
def test_json_that_is_deep_huge_or_broken_is_refused_in_words(client, body):
    for path in ("next", "answer", "set", "undo"):
        answer = client.post_raw(f"api/{path}", body.encode("latin-1"))
        assert answer.status == 400
        assert answer.json()["trouble"]
    assert client.post("api/next", {"who": "a"}).status == 200


@pytest.mark.parametrize("place", ["9" * 5_000 + "/0", "0/" + "9" * 5_000, "-1/0", "0/-1", "x/0", "1e3/0", "²/0"])
def test_pictures_of_no_row_are_not_found(client, place):
    assert client.get("picture/" + quote(place)).status == 404


@pytest.mark.thorough
def test_the_token_is_in_no_arguments_of_a_process(tmp_path, start_labeling, monkeypatch):
    """A browser that writes down its arguments, and what it finds behind them."""
    write_table(tmp_path / "table.csv", n_rows=20)
    browser, seen = tmp_path / "browser", tmp_path / "seen"
    page = (
        "import os, sys; p = sys.argv[1].removeprefix('file://'); "
        "modes = [oct(os.stat(q).st_mode) for q in (p, os.path.dirname(p))]; "
        "print(sys.argv[1:], *modes, open(p).read())"
    )
    browser.write_text(f'#!/bin/sh\n{sys.executable} -c "{page}" "$1" > {seen}.part && mv {seen}.part {seen}\n')
    browser.chmod(0o700)
    monkeypatch.setenv("BROWSER", f"{browser} %s")
    process = start_labeling(tmp_path / "table.csv", "--open")
    token = Client(process.address).token
    assert Client(process.address).get("api/progress").status == 200
    while not seen.exists():
        assert process.process.poll() is None
        time.sleep(0.05)
    arguments, _, page = seen.read_text().partition("]")
    assert "file://" in arguments
    assert token not in arguments
    assert page.split()[:2] == ["0o100600", "0o40700"]
    assert f"url={process.address}" in page
    assert token not in Path(f"/proc/{process.process.pid}/cmdline").read_text() if sys.platform == "linux" else True
    process.process.send_signal(signal.SIGINT)
    assert process.process.wait(timeout=60) == 0
    assert not Path(arguments.partition("file://")[2].rstrip("'")).exists()


def test_an_answer_is_kept_before_the_next_row_is_shown(tmp_path, serve):
    write_table(tmp_path / "table.csv", n_rows=40)
    app = make_app(tmp_path / "table.csv", journal=tmp_path / "j")
    client = Client(serve(None, app=app))

    def post(name, **body):
        return client.post(f"api/{name}", {"who": "a", **body})

    first = post("next").json()["row"]
    second = post("answer", draw=first["draw"], do="label", label=1).json()
    assert '"event": "answer", "label": "yes"' in (tmp_path / "j").read_text()
    assert second["counts"] == [0, 1]
    assert second["row"]["row"] != first["row"]
    assert post("answer", draw=first["draw"], do="label", label=1).status == 409
    app.labeler.close()  # as if the disk were gone
    assert post("answer", draw=second["row"]["draw"], do="label", label=0).status in (400, 507)
    assert app.labeler.counts == {"no": 0, "yes": 1}  # what was not kept does not count


def test_pictures_come_from_the_folder_of_the_table_only(tmp_path, serve):
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "a.png").write_bytes(PIXEL)
    (folder / "b.png").write_bytes(b"<svg onload=alert(1)>")
    (tmp_path / "secret.png").write_bytes(PIXEL)
    (folder / "link.png").symlink_to(tmp_path / "secret.png")
    names = ["a.png", "b.png", "../secret.png", str(tmp_path / "secret.png"), "link.png", "none.png", "a.png\0.png"]
    assert [find_picture(name, folder) is not None for name in names] == [True, True] + [False] * 5
    assert picture_type(PIXEL[:12]) == "image/png"
    lines = ["photo,size,bought", *(f"{name},{k},{'yes' if k < 1 else ''}" for k, name in enumerate(names[:6]))]
    (folder / "table.csv").write_text("\n".join([*lines, "a.png,7,no", "a.png,8,yes", "a.png,9,no"]) + "\n")
    client = Client(serve(folder / "table.csv"))
    found = [client.get(f"picture/{row}/0") for row in range(6)]
    assert [answer.status for answer in found] == [200] + [404] * 5
    assert (found[0].content, found[0].headers["content-type"]) == (PIXEL, "image/png")
    assert client.get("picture/0/1").status == 404
    assert client.get("picture/99/0").status == 404


def test_every_class_has_a_key_of_its_own():
    assert choose_keys(["no", "yes"]) == [["1", "n"], ["2", "y"]]
    assert choose_keys(["spam", "ham", "häm"]) == [["1"], ["2"], ["3"]]  # s skips, two begin with h
    assert choose_keys([f"class {k}" for k in "abcdefghij"])[9] == []


@pytest.mark.parametrize(
    ("names", "keys"),
    [
        (["0", "1"], "01"),
        (["1", "0"], "10"),
        (["1", "2", "3"], "123"),
        (["-1", "1"], "a1"),
        (["+1", "-1"], "ab"),
        (["10", "11"], "ab"),
        (["1", "10"], "ab"),
        (["0", "1", "unknown"], "01n"),
        (["0", "maybe", "2"], "0m2"),
        (["1st", "2nd"], "tn"),
        (["type 2", "type 1"], "yp"),
        (["stage 0", "healthy"], "th"),
    ],
)
def test_keys_never_contradict_names_that_have_digits(names, keys):
    assert choose_keys(names) == [[key] for key in keys]


def test_any_earlier_answer_can_be_found_and_changed(tmp_path, serve):
    truth = write_table(tmp_path / "table.csv", n_rows=60)
    app = make_app(tmp_path / "table.csv", journal=tmp_path / "j")
    client = Client(serve(None, app=app))

    def post(name, **body):
        return client.post(f"api/{name}", {"who": "a", **body}).json()

    row, seen = post("next")["row"], []
    for k in range(9):
        seen.append(row)
        wrong = k == 2
        row = post("answer", draw=row["draw"], do="label", label=int(truth[row["row"]] != wrong))["row"]
    post("answer", draw=row["draw"], do="dont_know")
    told = post("answers", most=4)
    assert told["n_found"] == 10
    assert [one["row"] for one in told["answers"]] == [row["row"], *(one["row"] for one in seen[:-4:-1])]
    assert told["answers"][0]["label"] is None
    assert len(told["answers"][1]["cells"]) == 3
    third = seen[2]
    found = post("answers", find=f" {third['row'] + 1} ", most=20)["answers"]
    assert third["row"] in [one["row"] for one in found]
    assert post("answers", find="don’t know", most=20)["n_found"] == 1
    assert post("answers", find="no such cell", most=20) == {"answers": [], "n_found": 0}
    before = app.labeler.counts
    shown = client.post("api/undo", {"who": "somebody else", "draw": third["draw"]}).json()["row"]
    assert (shown["row"], shown["draw"], shown["probability"]) == (third["row"], third["draw"], third["probability"])
    body = {"who": "somebody else", "draw": third["draw"], "do": "label", "label": int(truth[third["row"]])}
    assert client.post("api/answer", body).status == 200
    right = "yes" if truth[third["row"]] else "no"
    assert app.labeler.counts[right] == before[right] + 1
    events = [json.loads(line) for line in (tmp_path / "j").read_text().splitlines()]
    assert [event["event"] for event in events if event.get("draw") == third["draw"]] == [
        "draw",
        "answer",
        "undo",
        "answer",
    ]
    assert client.post("api/undo", {"who": "a", "draw": 59}).status == 400


def test_the_page_says_how_many_answers_it_has_seen_and_forecasts_steadily(tmp_path):
    truth = write_table(tmp_path / "table.csv", n_rows=400)
    app = make_app(tmp_path / "table.csv", goal=0.07)
    labeler, state = app.labeler, app.state
    totals, jumpy = [], []
    assert state.progress()["more"] == "early"
    for k in range(70):
        labeler.answer("yes" if truth[labeler.next().row] else "no")
        if k % 5 == 4:
            labeler.refresh()
            now = state.progress()
            assert now["seen"] == now["answers"] == k + 1
            if now["labels"] < 20:
                assert now["more"] == "early"
            else:
                totals.append(now["labels"] + now["more"])
                jumpy.append(now["labels"] + labeler.history[-1].n_more)
    labeler.answer("yes" if truth[labeler.next().row] else "no")
    now = state.progress()
    assert (now["seen"], now["answers"], now["busy"]) == (70, 71, True)
    assert np.ptp(np.log(totals)) < 0.6 * np.ptp(np.log(jumpy))
    assert max(totals) < 2 * min(totals)
    labeler.aim(0.4)
    assert state.progress()["more"] == 0


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform == "win32", reason="a process is ended without a signal")
@pytest.mark.parametrize("option", ["--open", "--no-open"])
def test_no_file_with_the_token_is_left_when_the_process_is_ended(tmp_path, monkeypatch, start_labeling, option):
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    monkeypatch.setenv("BROWSER", "true")
    write_table(tmp_path / "table.csv", n_rows=40)
    started = start_labeling(tmp_path / "table.csv", option)
    assert Client(started.address).get("api/progress").status == 200
    assert len([*(tmp_path / "tmp").glob("*/open.html")]) == (option == "--open")
    started.process.terminate()
    started.process.wait(30)
    assert not [*(tmp_path / "tmp").glob("*/open.html")]
