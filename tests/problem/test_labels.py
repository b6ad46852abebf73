"""Reading y: every convention users come with, and none guessed."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from pnulearn._problem.labels import decode_labels

NAN = float("nan")


@pytest.mark.parametrize(
    "y",
    [
        [1, NAN, 0, NAN],
        np.array([1, None, 0, None], dtype=object),
        pd.Series([1.0, NAN, 0.0, NAN]),
        pd.Series([1, pd.NA, 0, pd.NA], dtype="Int64"),
        pd.Series([True, None, False, None], dtype="boolean"),
        pd.Series([1, None, 0, None], dtype="category"),
        pl.Series([1, None, 0, None]),
        pd.DataFrame({"label": [1.0, NAN, 0.0, NAN]})["label"],
    ],
    ids=lambda y: f"{type(y).__module__.split('.')[0]}-{getattr(y, 'dtype', 'list')}",
)
def test_missing_values_mark_unlabelled_rows(y):
    labels = decode_labels(y)
    assert labels.codes.tolist() == [1, -1, 0, -1]
    assert labels.classes.tolist() == [0, 1]


@pytest.mark.parametrize("y", [["a", None, "b"], pd.Series(["a", None, "b"]), pl.Series(["a", None, "b"])])
def test_string_labels(y):
    labels = decode_labels(y)
    assert labels.classes.tolist() == ["a", "b"]
    assert labels.codes.tolist() == [0, -1, 1]


@pytest.mark.parametrize(
    ("y", "marker", "codes"),
    [([-1, 0, 1], 0, [0, -1, 1]), ([-1, 0, 1], -1, [-1, 0, 1]), (["?", "no", "yes"], "?", [-1, 0, 1])],
)
def test_a_named_marker(y, marker, codes):
    assert decode_labels(y, unlabeled=marker).codes.tolist() == codes


def test_the_ambiguous_triple_raises_and_shows_both_fixes():
    with pytest.raises(ValueError, match=r"unlabeled=0.*unlabeled=-1"):
        decode_labels([-1, 0, 1])


def test_minus_one_without_missing_values_warns_and_names_the_marker():
    with pytest.warns(UserWarning, match="unlabeled=-1"):
        assert decode_labels([-1, 1, 1]).codes.tolist() == [0, 1, 1]


def test_pos_label_of_two_classes_comes_last():
    labels = decode_labels([0, 1, None], pos_label=0)
    assert labels.classes.tolist() == [1, 0]
    assert labels.codes.tolist() == [1, 0, -1]


@pytest.mark.parametrize(
    ("y", "pos_label", "classes", "code"),
    [
        ([1, None], None, [0, 1], 1),
        ([0, None], None, [0, 1], 0),
        ([-1, None], None, [-1, 1], 0),
        (["spam", None], None, ["not spam", "spam"], 1),
        (["ham", None], "spam", ["ham", "spam"], 0),
        ([True, None], None, [False, True], 1),
    ],
)
def test_a_lone_class_implies_the_other(y, pos_label, classes, code):
    labels = decode_labels(y, pos_label=pos_label)
    assert labels.classes.tolist() == classes
    assert labels.codes.tolist() == [code, -1]


@pytest.mark.parametrize(
    ("y", "options", "message"),
    [
        ([0.3, 1.7, 0.2], {}, "Unknown label type: continuous"),
        ([np.inf, 1.0], {}, "infinity"),
        ([None, None], {}, "no labelled row"),
        (["a", 1, None], {}, "mixes strings"),
        (["a", "", "b"], {}, r"contains '' \(empty text\), which is no class"),
        ([0, 1], {"pos_label": 2}, "not among the labels"),
        ([0, 1, 2], {"pos_label": 2}, "two classes"),
        ([0, 1], {"pos_label": 1, "unlabeled": 1}, "must differ"),
        (None, {}, "requires y"),
        ([3, 1], {"classes": np.array([0, 1])}, r"\[3\].*not among the classes"),
    ],
)
def test_what_cannot_be_read_is_refused_with_a_reason(y, options, message):
    with pytest.raises(ValueError, match=message):
        decode_labels(y, **options)
