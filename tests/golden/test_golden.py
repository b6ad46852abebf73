"""Public entry points answer what they answered before, to 1e-9 of each quantity's scale, on every machine.

If a number was meant to change, run `python tests/golden/write.py [case ...]` and say why in the same commit.
"""

import numpy as np
import pytest

from .cases import CASES
from .store import differences, read, scale, stored_names


@pytest.mark.parametrize("case", CASES)
def test_numbers_are_what_they_were(case):
    if case.startswith("onnx"):
        pytest.importorskip("onnx", reason="the ONNX export needs onnx")
    changed = differences(case, read(case), CASES[case]())
    assert not changed, "\n".join(changed)


def test_every_stored_file_has_its_case():
    assert stored_names() == set(CASES)


@pytest.mark.parametrize("case", CASES)
def test_a_stored_value_changed_by_a_ten_millionth_is_noticed(case):
    stored = read(case)
    for name, value in stored.items():
        numbers = np.array(value)
        if numbers.dtype.kind in "US":
            changed = np.char.add(numbers, "?")
        else:
            changed = numbers + np.where(np.arange(numbers.size).reshape(numbers.shape) == 0, 1e-7 * scale(value), 0.0)
        if np.size(value) and (numbers.dtype.kind in "US" or np.isfinite(numbers.flat[0])):
            assert differences(case, stored, stored | {name: changed}), name
