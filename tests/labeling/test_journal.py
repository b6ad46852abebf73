"""The journal under faults: nothing foreign is touched, nothing acknowledged is lost, nothing refused is kept."""

import json
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from tests.labeling.conftest import Client, make_app, write_table

from pnulearn.cli import run
from pnulearn.labeling import JournalError, Labeler
from pnulearn.labeling._journal import Journal, JournalLostError
from pnulearn.labeling._repair import repair_journal

resource = pytest.importorskip("resource", reason="limits of file sizes are for Unix")
X = np.random.default_rng(0).normal(size=(30, 2))
CLASSES = ["no", "yes"]


def open_labeler(path, **options):
    return Labeler(X, classes=CLASSES, journal=path, refit_every=0, **options)


def label(path, n):
    """A journal with so many answers, as its lines."""
    labeler = open_labeler(path)
    for _ in range(n):
        labeler.answer(CLASSES[labeler.next().row % 2])
    labeler.close()
    return path.read_bytes().splitlines()


def write_lines(path, lines):
    path.write_bytes(b"".join(line + b"\n" for line in lines))


# ---- foreign files

FOREIGN = {
    "text": b"a note that nobody wants to lose",
    "text with an end": b"one line\nanother, torn",
    "table": b"size,bought\n1,yes\n2,no\n3,",
    "binary": b"PK\x03\x04" + bytes(range(256)),
    "JSON": b'{"event": "party", "version": 1}\n',
    "JSON without an end": b'{"eve": 1',
    "empty lines": b"\n\n",
}


@pytest.mark.parametrize("name", FOREIGN)
@pytest.mark.parametrize("is_link", [False, True])
def test_files_that_are_no_journal_are_refused_and_not_changed(tmp_path, name, is_link):
    path = tmp_path / "file"
    path.write_bytes(FOREIGN[name])
    before = path.stat()
    if is_link:
        (tmp_path / "link").symlink_to(path)
    with pytest.raises(JournalError, match=r"is no journal of labels\. It was not changed"):
        open_labeler(tmp_path / ("link" if is_link else "file"))
    after = path.stat()
    assert path.read_bytes() == FOREIGN[name]
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


def test_links_lead_to_a_journal_or_are_refused(tmp_path):
    label(tmp_path / "real", 2)
    (tmp_path / "link").symlink_to("real")
    labeler = open_labeler(tmp_path / "link")
    assert labeler.n_answers == 2
    with pytest.raises(JournalError, match="in use"):
        open_labeler(tmp_path / "real")
    labeler.close()
    (tmp_path / "nowhere").symlink_to("nothing")
    with pytest.raises(JournalError, match="link to a file that does not exist"):
        open_labeler(tmp_path / "nowhere")
    assert not (tmp_path / "nothing").exists()
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="a device, a pipe or a socket"):
        open_labeler(tmp_path / "pipe")


def test_the_command_refuses_inputs_and_exports_as_journals(tmp_path, capsys):
    table, other = tmp_path / "t.csv", tmp_path / "note.txt"
    write_table(table, n_rows=20, n_labeled=6)
    other.write_text("note")
    before = table.read_bytes()
    asked = ["label", str(table), "--label", "bought", "--no-open"]
    (tmp_path / "link").symlink_to("t.csv")
    for options, words in (
        (["--journal", str(table)], "is also FILE"),
        (["--journal", str(tmp_path / "link")], "is also FILE"),
        (["--journal", str(other)], "is no journal of labels"),
        (["--journal", str(tmp_path / "j"), "--export", str(tmp_path / "j")], "is also --journal"),
    ):
        assert run([*asked, *options]) in (1, 2)
        assert words in " ".join(capsys.readouterr().err.replace("│", "").split())
    assert table.read_bytes() == before
    assert other.read_text() == "note"
    label(tmp_path / "j", 1)
    assert run([*asked, "--export", str(tmp_path / "j")]) in (1, 2)
    assert "contains a journal, not a table" in " ".join(capsys.readouterr().err.replace("│", "").split())


def test_opening_changes_nothing_and_the_first_line_written_cuts_a_torn_one(tmp_path):
    path = tmp_path / "j"
    whole = label(path, 2)
    with path.open("ab") as file:
        file.write(b'{"event": "answer", "lab')
    torn = path.read_bytes()
    labeler = open_labeler(path)
    assert path.read_bytes() == torn
    labeler.next()
    labeler.close()
    lines = path.read_bytes().splitlines()
    assert lines[:-1] == whole
    assert json.loads(lines[-1])["event"] == "draw"


@pytest.mark.parametrize(
    "save",
    [lambda raw: raw[:-1], lambda raw: raw.replace(b"\n", b"\r\n"), lambda raw: b"\xef\xbb\xbf" + raw],
    ids=["no last line end", "line ends of Windows", "byte order mark"],
)
def test_what_an_editor_does_to_line_ends_loses_no_answer(tmp_path, save):
    path = tmp_path / "j"
    label(path, 3)
    path.write_bytes(save(path.read_bytes()))
    assert repair_journal(path).dropped == []
    label(path, 2)
    labeler = open_labeler(path)
    assert labeler.n_answers == 5
    labeler.close()


@pytest.mark.parametrize("n_bytes", [0, 1, 20, 60])
def test_a_process_killed_in_its_first_line_is_no_obstacle(tmp_path, n_bytes):
    path = tmp_path / "j"
    first = label(path, 1)[0]
    path.write_bytes(first[:n_bytes])
    labeler = open_labeler(path)
    labeler.close()
    assert json.loads(path.read_bytes())["classes"] == CLASSES


# ---- full disks, kills, journals that are moved


def test_a_line_is_on_disk_before_it_is_acknowledged(tmp_path, monkeypatch):
    """When the disk is asked to sync, the whole line is there; nothing is entered before."""
    labeler, seen, real = open_labeler(tmp_path / "j"), [], os.fsync

    def sync(handle):
        seen.append(((tmp_path / "j").read_bytes().splitlines()[-1], labeler.n_answers))
        real(handle)

    monkeypatch.setattr(os, "fsync", sync)
    draw = labeler.next()
    labeler.answer("yes", draw)
    labeler.undo()
    labeler.refresh()
    labeler.close()
    assert [json.loads(line)["event"] for line, _ in seen[:3]] == ["draw", "answer", "undo"]
    assert [n_answers for _, n_answers in seen[:3]] == [0, 0, 1]


def test_what_a_full_disk_refuses_is_cut_off_at_once(tmp_path):
    path = tmp_path / "j"
    labeler = open_labeler(path)
    draw = labeler.next()
    before = path.read_bytes()
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    for room in (0, 1, 50):
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + room, limit[1]))
        try:
            with pytest.raises(OSError, match="File too large"):
                labeler.answer("yes", draw)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limit)
        assert path.read_bytes() == before
        assert labeler.n_answers == 0
    labeler.answer("no", draw)
    labeler.close()
    again = open_labeler(path)
    assert [code for _, code in again.answers] == [0]
    again.close()


def test_a_new_journal_on_a_full_disk_leaves_no_file(tmp_path):
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, limit[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            open_labeler(tmp_path / "j")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert list(tmp_path.iterdir()) == []


def soak(*options):
    command = [sys.executable, "-m", "tests.soak.journal", *options]
    done = subprocess.run(command, check=False, capture_output=True, text=True, cwd=Path(__file__).parents[2])
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_faults_at_some_bytes_and_writes():
    found = soak("--faults", "12", "--step", "211", "--answers", "3")
    assert found["every write"]["kill"] >= 28
    assert all(counts["wrong"] == 0 for counts in found.values())


@pytest.mark.thorough
def test_faults_at_every_byte_and_every_write():
    found = soak("--faults", "200", "--answers", "9")
    assert found["every byte"]["full disk"] > 2000
    assert found["every write"]["kill"] >= 80
    assert all(counts["wrong"] == 0 for counts in found.values())


@pytest.mark.thorough
def test_a_small_file_system_that_is_full_and_then_is_not(tmp_path):
    """A real one of four pages: the journal and a file that takes the rest."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", disk], check=False, capture_output=True
    )
    if mounted.returncode:
        pytest.skip("mounting a file system is not permitted here")
    try:
        labeler, kept, n_refused = open_labeler(disk / "j"), {}, 0
        filler = (disk / "filler").open("wb", buffering=0)
        for _ in range(25):
            try:
                draw = labeler.next()
                labeler.answer(CLASSES[draw.row % 2], draw)
                kept[draw.row] = draw.row % 2
            except OSError:
                n_refused += 1
                filler.truncate(0)  # somebody makes room
            else:
                with suppress(OSError):
                    filler.write(bytes(4096))
        assert n_refused
        labeler.close()
        filler.close()
        again = open_labeler(disk / "j")
        assert {draw.row: code for draw, code in again.answers} == kept
        again.close()
    finally:
        subprocess.run(["umount", disk], check=True)


@pytest.mark.parametrize("how", ["moved", "replaced", "deleted", "appended", "emptied", "folder"])
def test_a_journal_that_is_lost_refuses_answers_and_keeps_the_old_ones(tmp_path, how):
    folder = tmp_path / "folder"
    folder.mkdir()
    path, away = folder / "j", tmp_path / "away"
    labeler = open_labeler(path)
    labeler.answer("yes", labeler.next())
    draw = labeler.next()
    before = path.read_bytes()
    if how == "deleted":
        path.unlink()
    elif how == "appended":
        with path.open("ab") as file:
            file.write(b"something\n")
    elif how == "emptied":
        path.write_bytes(b"")
    elif how == "folder":
        folder.rename(away)
    else:
        path.rename(away)
        if how == "replaced":
            path.write_bytes(before)
    words = {"deleted": "saved as j.rescued", "appended": "by another program", "emptied": "by another program"}
    for _ in range(2):
        with pytest.raises(JournalLostError, match=words.get(how, "It holds all answers so far")):
            labeler.answer("yes", draw)
    with pytest.raises(JournalLostError):
        labeler.check_journal()
    assert labeler.n_answers == 1
    labeler.close()
    kept = {"moved": away, "replaced": away, "folder": away / "j", "appended": path}.get(how)
    if how == "deleted":
        (kept,) = folder.glob("j.rescued*")
    if kept is not None:
        assert kept.read_bytes().startswith(before)
        assert b'"draw": 1, "row"' in before
        assert len(kept.read_bytes()) == len(before) + 10 * (how == "appended")


def test_a_journal_that_is_moved_during_a_write_does_not_get_the_answer(tmp_path, monkeypatch):
    path, away = tmp_path / "j", tmp_path / "away"
    labeler = open_labeler(path)
    draw, real = labeler.next(), os.fsync
    before = path.read_bytes()

    def sync(handle):
        if path.exists():
            path.rename(away)
        real(handle)

    monkeypatch.setattr(os, "fsync", sync)
    with pytest.raises(JournalLostError, match="moved or deleted"):
        labeler.answer("yes", draw)
    labeler.close()
    assert away.read_bytes() == before


def test_a_moved_journal_stops_the_server_with_a_message(tmp_path, start_labeling):
    table = tmp_path / "table.csv"
    write_table(table, n_rows=40)
    process = start_labeling(table)
    client = Client(process.address)
    row = client.post("api/next", {"who": "a"}).json()["row"]
    answered = client.post("api/answer", {"who": "a", "draw": row["draw"], "do": "label", "label": 1}).json()
    journal = tmp_path / "table.csv.labels.jsonl"
    journal.rename(tmp_path / "away")
    asked = {"who": "a", "draw": answered["row"]["draw"], "do": "label", "label": 1}
    try:
        refused = client.post("api/answer", asked)
        assert refused.status == 410
        assert "moved or deleted while it was in use" in refused.json()["trouble"]
    except OSError:
        pass  # it has ended already
    assert process.process.wait(timeout=60) == 1
    assert "move it back, then start again" in process.log.read_text()
    assert "Traceback" not in process.log.read_text()
    assert (tmp_path / "away").read_text().count('"event": "answer"') == 1


def test_an_answer_is_acknowledged_although_the_next_row_finds_no_room(tmp_path, serve):
    """What is kept is said to be kept: only then does nobody give it twice."""
    write_table(tmp_path / "t.csv", n_rows=40)
    path = tmp_path / "j"
    app = make_app(tmp_path / "t.csv", journal=path)
    row = app.state.next({"who": "a"})["row"]
    real, n_bytes = app.labeler.next, path.stat().st_size
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)

    def next_without_room(who):
        resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size, limit[1]))
        try:
            return real(who)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limit)

    app.labeler.next = next_without_room
    told = app.state.answer({"who": "a", "draw": row["draw"], "do": "label", "label": 1})
    assert told["row"] is None
    assert "Your answer was kept" in told["trouble"]
    assert told["counts"] == [0, 1]
    assert path.stat().st_size > n_bytes
    app.labeler.next = real
    assert app.state.next({"who": "a"})["row"]["draw"] == 1
    app.labeler.close()


# ---- what cannot have happened


def change(kind, /, **changes):
    return lambda lines: [
        json.dumps({**json.loads(line), **changes}).encode()
        if json.loads(line)["event"] == kind and json.loads(line)["draw"] == 1
        else line
        for line in lines
    ]


IMPOSSIBLE = {
    "a draw of number -1": (change("draw", draw=-1), r"Line 4 .* it is draw -1, and draw 1 must come next"),
    "a draw that is a text": (change("draw", draw="1"), r"Line 4 .* its draw is '1', not a whole number"),
    "a row that does not exist": (change("draw", row=99), r"Line 4 .* it draws row 99, and the 30 rows"),
    "a negative row": (change("draw", row=-1), r"Line 4 .* it draws row -1"),
    "a row that was drawn": (lambda lines: change("draw", row=json.loads(lines[1])["row"])(lines), "was drawn before"),
    "a probability of zero": (change("draw", probability=0), "its probability is 0.0, which does not lie above 0"),
    "a probability of five": (change("draw", probability=5), "its probability is 5.0"),
    "a huge probability": (change("draw", probability=10**400), "not a number"),
    "another number of rows left": (change("draw", n_left=7), "it says that 7 rows were left, and there were 29"),
    "a reason that is a number": (change("draw", reason=1), "its reason is 1, not a text"),
    "an answer of another row": (change("answer", row=3), r"Line 5 .* its row is 3, and that of draw 1 is"),
    "an answer of another probability": (change("answer", probability=0.5), "its probability is 0.5"),
    "an answer of another class": (change("answer", label="maybe"), "its label 'maybe' is none of the classes"),
    "an answer by a number": (change("answer", by=1), "its by is 1"),
    "an answer before its draw": (lambda lines: [*lines[:3], lines[4], lines[3], *lines[5:]], "draw 1 was not made"),
    "a second answer": (lambda lines: [*lines[:5], lines[4], *lines[5:]], r"Line 6 .* draw 1 had been answered"),
    "an unknown event": (change("answer", event="dance"), "an event 'dance' is not known"),
    "a second start": (lambda lines: [*lines, lines[0]], "an event 'start' is not known"),
    "an undo of nothing": (
        lambda lines: [*lines, b'{"event": "undo", "draw": 2}', b'{"event": "undo", "draw": 2}'],
        r"Line 9 .* draw 2 had no answer to take back",
    ),
    "a second answer without a first": (change("answer", event="answer_again"), "had no answer to ask for again"),
    "a second answer of another class": (
        lambda lines: [*lines, b'{"event": "answer_again", "draw": 1, "label": "maybe"}'],
        "its label 'maybe' is none of the classes",
    ),
    "a third answer": (
        lambda lines: [*lines, *2 * [b'{"event": "answer_again", "draw": 1, "label": "yes", "by": ""}']],
        r"Line 9 .* draw 1 had no answer that can be asked for again",
    ),
    "an undo of no second answer": (
        lambda lines: [*lines, b'{"event": "undo", "draw": 2, "second": true}'],
        "draw 2 had no second answer to take back",
    ),
    "a skip of what was answered": (lambda lines: [*lines, b'{"event": "skip", "draw": 2}'], "had been answered"),
    "an error of three numbers": (
        lambda lines: [*lines, b'{"event": "progress", "n_labels": 3, "error": [1, 2, 3]}'],
        "not a list of 4 numbers",
    ),
    "NaN": (
        lambda lines: [*lines[:3], lines[3].replace(b'"row": ', b'"row": NaN, "x": '), *lines[4:]],
        "Line 4 .*JSON",
    ),
    "JSON of great depth": (lambda lines: [*lines, b"[" * 100_000], r"Line 8 of j is damaged: it is no JSON"),
    "a list": (lambda lines: [*lines, b"[1]"], "it is no event"),
    "a torn line in the middle": (lambda lines: [*lines[:4], lines[4][:30], *lines[5:]], "Line 5 of j is damaged"),
}


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_what_cannot_have_happened_is_refused_by_line_and_reason_and_can_be_repaired(tmp_path, name):
    path = tmp_path / "j"
    lines = label(path, 3)
    assert len(lines) == 7
    damage, words = IMPOSSIBLE[name]
    write_lines(path, damage(lines))
    damaged = path.read_bytes()
    with pytest.raises(JournalError, match=f"{words}.*--repair"):
        open_labeler(path)
    assert path.read_bytes() == damaged
    done = repair_journal(path)
    assert done.copy.read_bytes() == damaged
    assert done.dropped
    assert all(one.reason in str(one) for one in done.dropped)
    again = open_labeler(path)  # every answer that is whole is there
    whole = {json.loads(line)["row"] for line in lines if b'"answer"' in line and line in damaged.splitlines()}
    whole -= {json.loads(lines[6])["row"]} if "undo" in name else set()
    assert {draw.row for draw, _ in again.answers} >= whole
    assert all(code == draw.row % 2 for draw, code in again.answers)
    weights = {round(draw.weight, 9) for draw, _ in again.answers}
    assert weights == {1.0}  # all were drawn at random
    again.close()
    assert repair_journal(path).copy is None


def test_a_draw_that_was_lost_is_restored_from_its_answer(tmp_path):
    path = tmp_path / "j"
    lines = label(path, 4)
    write_lines(path, [*lines[:3], lines[3][:20], *lines[4:]])
    done = repair_journal(path)
    assert [line.line for line in done.dropped] == [4]
    assert (done.n_answers, done.n_restored) == (4, 1)
    again = open_labeler(path)
    assert [draw.row for draw in again.draws] == [json.loads(line)["row"] for line in lines[1::2]]
    again.close()


def test_labels_that_were_given_count_in_a_repair(tmp_path):
    y = np.full(30, None, dtype=object)
    y[:8] = CLASSES * 4
    path = tmp_path / "j"
    for sampling in ("random", "by_class"):
        labeler = Labeler(X, y, journal=path, sampling=sampling, refit_every=0)
        for _ in range(3):
            labeler.answer(CLASSES[labeler.next().row % 2])
        labeler.close()
        lines = path.read_bytes().splitlines()
        write_lines(path, [*lines[:5], b"nonsense", *lines[5:]])
        done = repair_journal(path)
        assert ([line.line for line in done.dropped], done.n_answers, done.n_restored) == ([6], 3, 0)
        assert path.read_bytes().splitlines() == lines
        path.unlink()


def test_the_command_repairs_and_says_what_it_drops(tmp_path, capsys):
    table = tmp_path / "t.csv"
    write_table(table, n_rows=20)
    journal = tmp_path / "t.csv.labels.jsonl"
    lines = label(journal, 2)
    write_lines(journal, [*lines, b"nonsense"])
    asked = ["label", str(table), "--label", "bought", "--repair", "--json"]
    assert run(asked) == 0
    told = capsys.readouterr()
    said = json.loads(told.out)
    assert (said["answers"], said["restored"]) == (2, 0)
    assert said["dropped"] == [{"line": 6, "reason": "it is no JSON: b'nonsense'", "text": "nonsense"}]
    assert "line 6 was dropped" in told.err
    assert run(asked) == 0
    assert "Nothing in t.csv.labels.jsonl is damaged" in capsys.readouterr().err
    journal.write_text("nonsense\n")
    assert run(asked) == 1
    assert "Line 1 of t.csv.labels.jsonl must say what is labelled" in capsys.readouterr().err
    labeler = Journal(tmp_path / "other", {"n_rows": 20, "classes": CLASSES, "n_given": 0})
    assert run([*asked, "--journal", str(tmp_path / "other")]) == 1
    assert "in use" in capsys.readouterr().err
    labeler.close()
