"""A sample of the cells that `make attack` runs in full."""

import pytest

from tests.attack.cells import judge, known_reason, read_cells

STEP = 19  # no divisor of the number of inputs, so that every input and every entry point has its turn
CELLS = [cell for cell in read_cells()[::STEP] if not known_reason(cell)]


@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: cell.name)
def test_a_bad_input_is_answered_rightly_or_refused_clearly(cell):
    outcome, found = judge(cell)
    assert outcome in ("right", "clear"), found
