"""Numbers as people write them, whichever mark stands before the decimals, and what is no number."""

import numpy as np
import pyarrow as pa
import pytest

from pnulearn._reader.columns import Cells
from pnulearn._reader.numbers import are_thousands

ENGLISH, GERMAN = Cells(), Cells(decimal_comma=True)


@pytest.mark.parametrize(
    "cells, numbers",
    [
        (["1,234.50 €", "-3 €", None], [1234.5, -3, np.nan]),
        (["$1,000", "-$2", "$ 0.5"], [1000, -2, 0.5]),
        (["25.2 %", "3%", "NA"], [25.2, 3, np.nan]),
        (["1,234", "980"], [1234, 980]),
        (["1,5", "2,75"], [1.5, 2.75]),
        (["59.684,21 €", "12 €"], [59684.21, 12]),
        (["1.234.567", "12"], [1234567, 12]),
        (["1 234,50", "7"], [1234.5, 7]),
        (["1\u202f234,5 €", "7\u00a0€"], [1234.5, 7]),
        (["1'234.5", "CHF 3"], [1234.5, 3]),
        (["(17.00)", "3.00"], [-17, 3]),
    ],
)
def test_numbers_as_people_write_them(cells, numbers):
    column = ENGLISH.column("x", pa.array(cells))
    assert column.kind == "number"
    np.testing.assert_array_equal(column.values, numbers)


@pytest.mark.parametrize(
    "cells, numbers",
    [
        (["59.684,21 €", "12 €"], [59684.21, 12]),
        (["1.234", "980"], [1234, 980]),
        (["1.234", "0.980"], [1.234, 0.98]),
        (["1.234", "2,5"], [1234, 2.5]),
        (["1.234 €"], [1234]),
        (["1.5", "2.25"], [1.5, 2.25]),
    ],
)
def test_between_semicolons_a_point_may_group_thousands(cells, numbers):
    np.testing.assert_array_equal(GERMAN.column("x", pa.array(cells)).values, numbers)


@pytest.mark.parametrize(
    "cells",
    [
        ["3 €", "3 $"],
        ["1.234,5", "1,234.5"],
        ["12 34"],
        ["1,2,3"],
        ["3 apples"],
        ["10-20"],
        ["1_000"],
        ["01067", "80331"],
    ],
)
def test_what_is_no_number_stays_text(cells):
    assert ENGLISH.column("x", pa.array(cells)).values.tolist() == cells


def test_codes_are_numbers_if_somebody_says_so():
    assert ENGLISH.column("x", pa.array(["01067", "80331"]), "number").values.tolist() == [1067, 80331]


def test_a_cell_that_may_be_both_is_read_as_the_model_was_taught():
    cell = pa.array(["1.234 €"])
    taught = GERMAN.column("x", pa.array(["59.684,21 €"])).decimal
    assert ENGLISH.column("x", cell).values.tolist() == [1.234]
    assert ENGLISH.column("x", cell, "number", taught).values.tolist() == [1234]


def test_a_mark_separates_thousands_if_all_cells_can_be_read_so():
    cells = ["1.234", "980"]
    assert are_thousands(pa.array(cells), ".", False)
    assert not are_thousands(pa.array([*cells, "12.5"]), ".", False)
    assert not are_thousands(pa.array(["1.234"]), ".", False)
    assert are_thousands(pa.array(["1.234"]), ".", True)
