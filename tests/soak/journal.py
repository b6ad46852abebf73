"""Faults of disk and process while rows are labelled: acknowledged answers are there, refused ones are not."""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from pnulearn.labeling import Draw, JournalError, Labeler

CLASSES, UNDO = ["no", "yes"], -9
X = np.random.default_rng(0).normal(size=(60, 2))
MOMENTS = ("before the write", "within the write", "before the sync", "after the sync")
Say = Callable[[str, int, int], None]


def open_labeler(path: Path) -> Labeler:
    return Labeler(X, classes=CLASSES, journal=path, refit_every=0)


@dataclass
class Account:
    """What was acknowledged, and what was under way when the process ended; codes by row, −2 for "don't know"."""

    kept: dict[int, int] = field(default_factory=dict)
    under_way: tuple[int, int] | None = None

    def say(self, word: str, row: int, code: int) -> None:
        if word == "asks":
            self.under_way = row, code
            return
        self.under_way = None
        if word == "kept":
            self.kept[row] = code
        elif word == "taken back":
            del self.kept[row]

    def disagreements(self, path: Path) -> list[str]:
        """Open the journal again and compare."""
        try:
            labeler = open_labeler(path)
        except (JournalError, OSError) as error:
            return [f"the journal cannot be opened: {error}"]
        found = {draw.row: code for draw, code in labeler.answers}
        labeler.close()
        if self.under_way is not None:  # nobody was told whether it happened: both are right
            row, code = self.under_way
            if found.get(row) == (None if code == UNDO else code):
                self.say("taken back" if code == UNDO else "kept", row, code)
            self.under_way = None
        lost = [f"row {row}: {code} was acknowledged" for row, code in self.kept.items() if found.get(row) != code]
        return lost + [f"row {row}: {code} was not" for row, code in found.items() if row not in self.kept]


def work(labeler: Labeler, n_answers: int, say: Say) -> int:
    """Answer rows as the page does: a refused answer is tried once more. Returns the number of refusals."""
    n_refused = 0
    for _ in range(n_answers):
        for _ in range(2):
            try:
                draw = labeler.next("Ada")
                break
            except OSError:
                n_refused += 1
        else:
            continue
        code = -2 if draw.number % 7 == 3 else draw.row % 2
        n_refused += _answer(labeler, draw, code, say)
        if draw.number % 5 == 4 and (draw, code) in labeler.answers:
            n_refused += _undo(labeler, draw.row, say)
    return n_refused


def _answer(labeler: Labeler, draw: Draw, code: int, say: Say) -> int:
    for n_refused in range(2):
        say("asks", draw.row, code)
        try:
            labeler.dont_know(draw, "Ada") if code == -2 else labeler.answer(CLASSES[code], draw, "Ada")
        except OSError:
            say("refused", draw.row, code)
        else:
            say("kept", draw.row, code)
            return n_refused
    return 2


def _undo(labeler: Labeler, row: int, say: Say) -> int:
    say("asks", row, UNDO)
    try:
        labeler.undo("Ada")
    except OSError:
        say("refused", row, UNDO)
        return 1
    say("taken back", row, UNDO)
    return 0


# ---- faults


@contextmanager
def full_disk(n_bytes: int) -> Iterator[None]:
    """No file of this process grows beyond so many bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def fill_up(path: Path, account: Account, n_answers: int, n_bytes: int) -> list[str]:
    """The disk is full from a byte of the journal on, then there is room again."""
    labeler = None
    with full_disk(n_bytes), suppress(OSError):
        labeler = open_labeler(path)
        work(labeler, n_answers, account.say)
    labeler = labeler or open_labeler(path)
    work(labeler, 2, account.say)
    labeler.close()
    return account.disagreements(path)


def kill(path: Path, account: Account, n_answers: int, write: int, moment: str) -> list[str]:
    """SIGKILL at the so-manieth write of a process that labels; what it acknowledged comes through a pipe."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reading)
            send = os.write
            _die_at(write, moment)
            work(
                open_labeler(path),
                n_answers,
                lambda *said: send(writing, (json.dumps(said) + "\n").encode()) and None,
            )
        finally:
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        for line in pipe:
            account.say(*json.loads(line))
    os.waitpid(child, 0)
    return account.disagreements(path)


def _die_at(write: int, moment: str) -> None:
    """Really die, within a real write of a real file."""
    real_write, real_sync, seen = os.write, os.fsync, Counter[str]()

    def die() -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def counting_write(handle: int, data: bytes) -> int:
        seen["write"] += 1
        if seen["write"] == write and moment == MOMENTS[0]:
            die()
        if seen["write"] == write and moment == MOMENTS[1]:
            real_write(handle, data[: len(data) // 2])
            die()
        return real_write(handle, data)

    def counting_sync(handle: int) -> None:
        if seen["write"] == write and moment == MOMENTS[2]:
            die()
        real_sync(handle)
        if seen["write"] == write and moment == MOMENTS[3]:
            die()

    os.write, os.fsync = counting_write, counting_sync


def tear(path: Path, account: Account, n_answers: int, n_bytes: int) -> list[str]:
    """A line without an end, as a machine that loses its power leaves it."""
    labeler = open_labeler(path)
    work(labeler, n_answers, account.say)
    labeler.close()
    line = path.read_bytes().splitlines()[-1]
    with path.open("ab") as file:
        file.write(line[: 1 + n_bytes % (len(line) - 1)])
    return account.disagreements(path)


def second_server(path: Path, account: Account, n_answers: int) -> list[str]:
    """A second process opens the journal while the first one works."""
    labeler = open_labeler(path)
    work(labeler, n_answers, account.say)
    trouble = []
    try:
        open_labeler(path)
        trouble.append("two servers opened one journal")
    except JournalError:
        pass
    work(labeler, n_answers, account.say)
    labeler.close()
    return trouble + account.disagreements(path)


def move_away(path: Path, account: Account, n_answers: int, is_replaced: bool) -> list[str]:
    """The journal is moved while it is in use, then moved back."""
    labeler, away = open_labeler(path), path.with_name("away")
    work(labeler, n_answers, account.say)
    draw = labeler.next("Ada")
    path.rename(away)
    if is_replaced:
        path.write_bytes(away.read_bytes())
    trouble = []
    for _ in range(2):
        try:
            labeler.answer("yes", draw, "Ada")
            trouble.append("an answer was acknowledged and the journal was away")
        except JournalError:
            pass
    labeler.close()
    away.replace(path)
    return trouble + account.disagreements(path)


# ---- runs


def every_byte(folder: Path, n_answers: int, step: int) -> Counter[str]:
    """The disk is full at every byte of a session."""
    found, path = Counter[str](), folder / "journal"
    labeler = open_labeler(path)
    work(labeler, n_answers, Account().say)
    labeler.close()
    for n_bytes in range(0, path.stat().st_size + 1, step):
        path.unlink()
        found["full disk"] += 1
        _enter(found, fill_up(path, Account(), n_answers, n_bytes))
    return found


def every_write(folder: Path, n_answers: int) -> Counter[str]:
    """A kill at every write of a session, at four moments of it."""
    found, path = Counter[str](), folder / "killed"
    labeler = open_labeler(path)
    work(labeler, n_answers, Account().say)
    labeler.close()
    for write in range(1, len(path.read_bytes().splitlines()) + 1):
        for moment in MOMENTS:
            path.unlink(missing_ok=True)
            found["kill"] += 1
            _enter(found, kill(path, Account(), n_answers, write, moment))
    return found


def soak(folder: Path, n_faults: int, seed: int) -> Counter[str]:
    """Faults of all kinds, several in the life of one journal."""
    rng, found = random.Random(seed), Counter[str]()
    path, account = folder / "soaked", Account()
    faults: dict[str, Callable[[int], list[str]]] = {
        "full disk": lambda size: fill_up(path, account, rng.randint(1, 3), size + rng.randint(0, 600)),
        "kill": lambda _: kill(path, account, rng.randint(1, 3), rng.randint(1, 6), rng.choice(MOMENTS)),
        "torn line": lambda _: tear(path, account, rng.randint(1, 2), rng.randint(0, 500)),
        "two servers": lambda _: second_server(path, account, 1),
        "moved": lambda _: move_away(path, account, 1, rng.random() < 0.5),
    }
    for _ in range(n_faults):
        if len(account.kept) > len(X) - 20:
            path.unlink()
            account = Account()
        name = rng.choice(list(faults))
        found[name] += 1
        _enter(found, faults[name](path.stat().st_size if path.exists() else 0))
    return found


def _enter(found: Counter[str], trouble: list[str]) -> None:
    found["wrong"] += len(trouble)
    for words in trouble[:3]:
        print(words, file=sys.stderr)


def summarise(found: dict[str, Counter[str]], n_answers: int) -> str:
    names = {
        "two servers": "a second server",
        "kill": "SIGKILL",
        "torn line": "a torn last line",
        "moved": "moved away or replaced while in use",
    }
    session = f"a session of {n_answers} answers"
    full, killed = found["every byte"]["full disk"], found["every write"]["kill"]
    rows = [
        (f"the disk is full at every byte of {session}, then has room again", full),
        (f"SIGKILL at every write of {session}: before, within, after it, after the sync", killed),
    ]
    soaked = {name: count for name, count in sorted(found["soak"].items()) if name != "wrong"}
    rows += [(f"several faults in the life of one journal: {names.get(name, name)}", soaked[name]) for name in soaked]
    wrong = sum(counts["wrong"] for counts in found.values())
    return "\n".join(
        [
            "# The labelling journal under faults",
            "",
            "Written by `python -m tests.soak.journal` (`tests/soak/journal.py`). Wrong: an answer that was",
            "acknowledged is not in the journal afterwards, one that was refused is, or the journal cannot be opened.",
            "",
            "| fault | times |",
            "|---|---|",
            *(f"| {name} | {count:,} |" for name, count in rows),
            "",
            f"Wrong: {wrong}.",
            "",
        ]
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--faults", type=int, default=1000)
    parser.add_argument("--answers", type=int, default=7, help="of the session that fails at every byte and write")
    parser.add_argument("--step", type=int, default=1, help="bytes between two full disks")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--out", type=Path, help="write the summary there")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=asked.folder) as name:
        folder = Path(name)
        found = {
            "every byte": every_byte(folder, asked.answers, asked.step),
            "every write": every_write(folder, asked.answers),
            "soak": soak(folder, asked.faults, asked.seed),
        }
    print(json.dumps(found))
    if asked.out is not None:
        asked.out.write_text(summarise(found, asked.answers), encoding="utf-8")
    return int(any(counts["wrong"] for counts in found.values()))


if __name__ == "__main__":
    sys.exit(main())
