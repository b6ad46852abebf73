"""Public entry points answer what they answered before, to 1e-12.

If a number was meant to change, run `python tests/golden/write.py [case ...]` and say why in the same commit.
"""

import pytest

from .cases import CASES
from .store import differences, read, stored_names


@pytest.mark.parametrize("case", CASES)
def test_numbers_are_what_they_were(case):
    if case.startswith("onnx"):
        pytest.importorskip("onnx", reason="the ONNX export needs onnx")
    changed = differences(case, read(case), CASES[case]())
    assert not changed, "\n".join(changed)


def test_every_stored_file_has_its_case():
    assert stored_names() == set(CASES)
