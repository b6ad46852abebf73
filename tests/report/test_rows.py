"""Examples are unlabelled rows with the cells they have in the file."""

import warnings

import numpy as np
import pytest

from pnulearn import TableClassifier
from pnulearn._problem.labels import Labels
from pnulearn.report import write_report
from pnulearn.report._ablation import best_candidate
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


def test_rows_are_shown_with_what_identifies_them(tmp_path):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(90, 2)) + (np.arange(90) % 2)[:, None]
    names = [f"customer-{7 * k + 100}" for k in range(90)]
    labels = ["yn"[k % 2] if k < 30 else "" for k in range(90)]
    lines = [f"{a:.3f},{b:.3f},{n},{y}" for a, b, n, y in zip(*x.T, names, labels, strict=True)]
    (tmp_path / "t.csv").write_text("\n".join(["a,b,who,y", *lines]))
    fitted = TableClassifier(sampling="random").fit(tmp_path / "t.csv", "y").fitted_
    rows = look_at_rows(fitted, ["b", "a"], False)
    assert all(list(row.cells) == ["who", "a", "b"] for row in rows.to_label)
    assert all(row.cells["who"] == names[row.number - 1] for row in rows.to_label)


def test_comparisons_warn_of_nothing(tmp_path, recwarn):
    """A prior that labels at random give and the rows doubt: models fitted for comparison get it as a number."""
    rng = np.random.default_rng(1)
    positive = np.r_[np.arange(60) < 45, rng.random(500) < 0.1]
    lines = [f"{rng.normal(3 * p):.3f},{'yn'[1 - p] if k < 60 else ''}" for k, p in enumerate(positive.astype(int))]
    (tmp_path / "t.csv").write_text("\n".join(["a,y", *lines]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = TableClassifier(sampling="random", pos_label="y").fit(tmp_path / "t.csv", "y").fitted_
    with pytest.warns(UserWarning, match="was given, but the unlabelled rows"):
        best_candidate(fitted.model.classifier).fit(fitted.X, Labels(fitted.model.classifier.classes_, fitted.codes))
    recwarn.clear()
    write_report(fitted, tmp_path / "r.html")
    assert [str(one.message) for one in recwarn] == []
