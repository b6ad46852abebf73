"""Files appear whole or not at all, with the mode that is expected, and nothing is left lying about."""

import errno
import os
import re
import signal
import stat
import subprocess
import sys
import textwrap

import pytest

from pnulearn._files.writing import write_atomically


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
    assert [re.fullmatch(r"\.out\.csv\.[0-9a-f]{16}\.tmp", p.name) is not None for p in tmp_path.iterdir()] == [True]
    (tmp_path / ".out.csv.3.tmp").write_bytes(b"left by 0.1")

    def outer(file):
        file.write(b"outer")
        write_atomically(path, lambda inner: inner.write(b"inner"))
        assert path.read_bytes() == b"inner"

    write_atomically(path, outer)
    assert path.read_bytes() == b"outer"
    assert [p.name for p in tmp_path.iterdir()] == ["out.csv"]


def test_long_names(tmp_path):
    write_atomically(tmp_path / ("ä" * 120), lambda file: file.write(b"x"))
    assert [p.name for p in tmp_path.iterdir()] == ["ä" * 120]


@pytest.mark.parametrize("make", [os.mkfifo, lambda place: place.symlink_to("victim")])
def test_pipes_and_links_under_names_of_temporaries_are_left_alone(tmp_path, make):
    """A pipe that nobody writes to would be waited for; a link would lead elsewhere."""
    (tmp_path / "victim").write_bytes(b"victim")
    for name in (".out.csv.0.tmp", ".out.csv.0123456789abcdef.tmp"):
        make(tmp_path / name)
    code = (
        "import sys; from pnulearn._files.writing import write_atomically as w; w(sys.argv[1], lambda f: f.write(b'x'))"
    )
    subprocess.run([sys.executable, "-c", code, tmp_path / "out.csv"], check=True, timeout=60)
    assert (tmp_path / "out.csv").read_bytes() == b"x"
    assert (tmp_path / "victim").read_bytes() == b"victim"
    assert len(list(tmp_path.iterdir())) == 4


def test_a_folder_without_permission_names_the_output(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nowhere/out'"):
        write_atomically(tmp_path / "nowhere" / "out", lambda file: None)
