"""Files appear whole or not at all, with the mode that is expected, and nothing is left lying about."""

import errno
import os
import signal
import stat
import subprocess
import sys
import textwrap

import pytest

from pnulearn._files.writing import SLOTS, write_atomically


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def umask():
    before = os.umask(0o077)
    yield
    os.umask(before)


def test_a_new_file_has_what_the_umask_leaves(tmp_path, umask):
    write_atomically(tmp_path / "a", lambda file: file.write(b"x"))
    assert mode(tmp_path / "a") == 0o600


@pytest.mark.parametrize("before", [0o600, 0o640, 0o664])
def test_an_existing_file_keeps_its_mode(tmp_path, before):
    path = tmp_path / "a"
    path.touch()
    path.chmod(before)
    seen = []

    def write(file):
        seen.append(stat.S_IMODE(os.fstat(file.fileno()).st_mode))
        file.write(b"x")

    write_atomically(path, write)
    assert mode(path) == before
    assert seen == [0o600]  # nobody else may read it while it is being written


def test_a_link_stays_and_what_it_leads_to_is_replaced(tmp_path):
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "real").write_bytes(b"old")
    (tmp_path / "link").symlink_to("deep/real")
    write_atomically(tmp_path / "link", lambda file: file.write(b"new"))
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "deep" / "real").read_bytes() == b"new"


def test_a_full_disk_names_the_file(tmp_path):
    def write(file):
        raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(OSError, match=r"No space left on device: '.*model\.pnu'"):
        write_atomically(tmp_path / "model.pnu", write)
    assert list(tmp_path.iterdir()) == []


KILLED = """
    import os, signal, sys
    from pnulearn._files.writing import write_atomically

    def write(file):
        file.write(b"half")
        file.flush()
        os.kill(os.getpid(), signal.SIGKILL)

    write_atomically(sys.argv[1], write)
"""


def test_the_next_run_clears_what_a_killed_one_left_and_nothing_that_is_in_use(tmp_path):
    path = tmp_path / "out.csv"
    killed = subprocess.run([sys.executable, "-c", textwrap.dedent(KILLED), str(path)], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert [p.name for p in tmp_path.iterdir()] == [".out.csv.0.tmp"]

    def outer(file):
        file.write(b"outer")
        write_atomically(path, lambda inner: inner.write(b"inner"))
        assert path.read_bytes() == b"inner"

    write_atomically(path, outer)
    assert path.read_bytes() == b"outer"
    assert [p.name for p in tmp_path.iterdir()] == ["out.csv"]


def test_long_names_and_too_many_writers(tmp_path):
    write_atomically(tmp_path / ("ä" * 120), lambda file: file.write(b"x"))
    path = tmp_path / "out"

    def nest(depth):
        write_atomically(path, lambda _: nest(depth + 1))

    with pytest.raises(OSError, match=f"written by {SLOTS} processes"):
        nest(0)
    assert [p.name for p in tmp_path.iterdir()] == ["ä" * 120]


def test_a_folder_without_permission_names_the_output(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nowhere/out'"):
        write_atomically(tmp_path / "nowhere" / "out", lambda file: None)
