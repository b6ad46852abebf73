"""Groups of rows by a column: categories and windows of time."""

import pandas as pd
import pytest

from pnulearn._reader.frames import as_table
from pnulearn.tables import TableError
from pnulearn.tables._windows import read_windows


def windows(by, **columns):
    return read_windows(as_table(pd.DataFrame(columns)), by)


def test_categories_are_sorted_and_empty_cells_come_last():
    found = windows("m", m=["b", None, "a", "b"])
    assert (found.names, found.codes.tolist()) == (["a", "b", "(empty)"], [1, 2, 0, 1])
    assert found.values.tolist() == ["b", "(empty)", "a", "b"]
    assert windows("n", n=[10.0, 2.0, 10.0]).names == ["2", "10"]


@pytest.mark.parametrize(
    ("by", "names"),
    [
        ("when:day", ["2024-12-30", "2025-01-31", "2025-02-01"]),
        ("when:week", ["2025-W01", "2025-W05"]),
        ("when:month", ["2024-12", "2025-01", "2025-02"]),
        ("month", ["2024-12", "2025-01", "2025-02"]),
    ],
)
@pytest.mark.parametrize("typed", [str, pd.Timestamp], ids=["text", "dates"])
def test_dates_are_cut_into_windows(by, names, typed):
    found = windows(by, when=list(map(typed, ["2025-02-01", "2024-12-30", "2025-01-31 23:59:00"])), x=[1.0, 2.0, 3.0])
    assert found.names == names
    assert found.column == "when"
    assert found.codes.tolist() == ([1, 0, 1] if "week" in by else [2, 0, 1])


def test_the_period_follows_from_the_range_of_dates():
    periods = [windows("d", d=[f"2024-01-0{k}", end]).period for k, end in ((1, "2024-01-20"), (1, "2024-05-01"))]
    assert [*periods, windows("d", d=["2024-01-01", "2025-01-01"]).period] == ["day", "week", "month"]


def test_a_column_is_meant_if_there_is_one_of_that_name():
    found = windows("month", month=["May", "June"], date=["2024-01-01", "2024-02-01"])
    assert (found.column, found.names) == ("month", ["June", "May"])


@pytest.mark.parametrize(
    ("by", "words"),
    [
        ("mont", "no column 'mont'"),
        ("week", "columns of dates d, e and none called 'week'"),
        ("m:week", "'m' of the data frame holds no dates, so it cannot be cut into weeks"),
        ("id", "makes 500 groups, more than 400"),
    ],
)
def test_refusals_say_what_to_type(by, words):
    days = [f"2024-01-{k:02}" for k in range(1, 26)] * 20
    with pytest.raises(TableError, match=words):
        windows(by, d=days, e=days, m=["a", "b"] * 250, id=[f"x{k}" for k in range(500)])


def test_without_dates_month_is_refused():
    with pytest.raises(TableError, match="has no column of dates and none called 'month'"):
        windows("month", m=["a", "b"])
