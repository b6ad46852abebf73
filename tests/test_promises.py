"""docs/guide/promises.md: every command that it names exists and tests something."""

import re
from pathlib import Path

import pytest

from tests.attack.cells import read_cells

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs/guide/promises.md").read_text(encoding="utf-8")
COMMANDS = sorted(set(re.findall(r"`((?:pytest|make|python -m) [^`]+)`", PAGE)))


def test_every_promise_has_a_command():
    rows = [line for line in PAGE.splitlines() if line.startswith("| ") and not line.startswith("| promise")]
    assert len(rows) > 15
    assert [line for line in rows if not re.search(r"`(pytest|make|python -m) ", line.split("|")[2])] == []


@pytest.mark.parametrize("command", COMMANDS)
def test_the_commands_exist(command):
    kind, rest = command.split(" ", 1)
    if kind == "make":
        assert re.search(rf"^{rest}:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)
    elif kind == "pytest":
        path, _, word = rest.partition(" -k ")
        files = [ROOT / path] if path.endswith(".py") else sorted((ROOT / path).glob("test_*.py"))
        assert files
        assert all(file.exists() for file in files)
        names = re.findall(r"^def (test_\w+)", "\n".join(file.read_text(encoding="utf-8") for file in files), re.M)
        assert [name for name in names if word in name]
    else:
        module, *more = rest.removeprefix("-m ").split()
        assert (ROOT / (module.replace(".", "/") + ".py")).exists()
        if module == "tests.attack.run":
            assert {cell.topic for cell in read_cells()} >= set(more)
