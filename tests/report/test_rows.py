"""Examples are unlabelled rows with the cells they have in the file."""

from pnulearn.report._rows import AT_RANDOM, EITHER, look_at_rows


def test_sure_rows_lie_far_from_the_boundary_and_unsure_ones_near(hostile, findings):
    rows = findings.rows
    assert min(row.probability for row in rows.sure) > max(row.probability for row in rows.unsure)
    assert {row.answer for row in rows.sure} == set(hostile.model.classes)
    place = {int(number) + 1: k for k, number in enumerate(hostile.rows)}
    for row in (*rows.sure, *rows.unsure, *rows.to_label):
        assert hostile.codes[place[row.number]] < 0


def test_cells_are_those_of_the_file(hostile, findings):
    table = hostile.table
    with_number = dict(enumerate(table.rows(), 1))
    for row in findings.rows.sure:
        expected = dict(zip(table.names, with_number[row.number], strict=True))
        assert row.cells == {name: expected[name] for name in row.cells}


def test_rows_drawn_at_random_come_first_where_the_prior_is_hardly_known(hostile):
    known, unknown = (look_at_rows(hostile, [], unsure).to_label for unsure in (False, True))
    assert [row.why for row in known] == [EITHER] * 12
    assert [row.why for row in unknown] == [AT_RANDOM] * 6 + [EITHER] * 6
    assert len({row.number for row in unknown}) == 12
