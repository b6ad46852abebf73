"""Free memory is what the machine has left, or less if a container says so."""

import pytest

from pnulearn._machine import free_memory, physical_memory


def test_this_machine_has_free_memory():
    assert 0 < free_memory() <= physical_memory()


def write(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


@pytest.mark.parametrize(
    "container, expected",
    [
        ({}, 3000 * 1024),
        ({"memory.max": "max\n", "memory.current": "7\n"}, 3000 * 1024),
        ({"memory.max": "1000\n", "memory.current": "300\n"}, 700),
        ({"memory.max": "1000\n", "memory.current": "1300\n"}, 0),
        ({"memory.max": "1000\n", "memory.current": "900\n", "memory.stat": "anon 400\ninactive_file 450\n"}, 550),
        ({"memory/memory.limit_in_bytes": "900\n", "memory/memory.usage_in_bytes": "100\n"}, 800),
    ],
    ids=["no container", "no limit", "version 2", "nothing left", "files read", "version 1"],
)
def test_the_least_of_machine_and_container_counts(tmp_path, container, expected):
    processes = write(tmp_path / "proc", {"meminfo": "MemTotal: 9000 kB\nMemAvailable: 3000 kB\n"})
    assert free_memory(processes, write(tmp_path / "groups", container)) == expected


def test_a_system_that_tells_nothing_is_taken_at_its_size(tmp_path):
    assert free_memory(tmp_path, tmp_path) == physical_memory()
