"""Changes that once no test noticed, found by hand; `make mutants` tries them first."""

from __future__ import annotations

from typing import NamedTuple


class Named(NamedTuple):
    """A change of the text of a module, in words, and the tests that must notice it."""

    part: str
    words: str
    old: str
    new: str
    tests: tuple[str, ...]


JOURNAL = ("tests/labeling/test_journal.py",)
NAMED = (
    Named(
        "labeling/_journal.py",
        "an event is not synced",
        "os.fsync(self._file.fileno())\n            self",
        "self",
        JOURNAL,
    ),
    Named(
        "labeling/_journal.py",
        "a torn line is not cut off",
        "            self._mend_end()\n            _write",
        "            _write",
        JOURNAL,
    ),
    Named(
        "labeling/_session.py",
        "undo takes the first answer back",
        "number, by = mine[-1]",
        "number, by = mine[0]",
        ("tests/labeling/test_labeler.py",),
    ),
    Named(
        "labeling/_table_labeling.py",
        "exported weights are all 1",
        "    weight[sample.rows] = np.maximum(sample.training_weight, 0)\n",
        "",
        ("tests/labeling/test_tables.py::test_an_export_has_labels_origins_and_weights",),
    ),
    Named(
        "tables/_writing.py",
        "a header for every batch",
        "        is_first = False\n",
        "",
        ("tests/cli/test_large.py::test_predictions_of_many_batches_have_one_header",),
    ),
    Named(
        "_reader/dates.py",
        "years of two digits turn at 50",
        "np.where(year < 70, 2000, 1900)",
        "np.where(year < 50, 2000, 1900)",
        ("tests/tables/test_kinds.py::test_dates_in_every_order",),
    ),
    Named(
        "_reader/columns.py",
        "half of the cells make a column of dates",
        "> 0.95 * counts.sum()",
        "> 0.5 * counts.sum()",
        ("tests/tables/test_kinds.py",),
    ),
    Named(
        "streaming/_predict.py",
        "a score of zero is positive",
        "(scores > 0).astype(int)",
        "(scores >= 0).astype(int)",
        ("tests/streaming/test_predict.py::test_a_score_of_zero_is_negative_as_in_the_model_itself",),
    ),
)
