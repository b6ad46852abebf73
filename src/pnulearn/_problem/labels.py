"""Decoding of y: positive, negative and unlabelled rows, and the names of the classes.

Missing values mark unlabelled rows. Any other marker must be passed by the user and is never guessed, because
{−1, 0, 1} is ambiguous: unlabelled rows are −1 in scikit-learn and 0 in the paper.
"""

from __future__ import annotations

import inspect
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import column_or_1d

from pnulearn._arrays import AnyArray

UNLABELED = -1


@dataclass(frozen=True)
class Labels:
    """Class names, and for every row the index of its class, or −1 if it is unlabelled.

    With two classes the order is (negative, positive), so code 1 is positive and code 0 negative.
    """

    classes: AnyArray
    codes: AnyArray

    @property
    def labeled(self) -> AnyArray:
        """Numbers of the labelled rows."""
        return np.flatnonzero(self.codes != UNLABELED)

    @property
    def n_unlabeled(self) -> int:
        return int(np.sum(self.codes == UNLABELED))

    @property
    def groups(self) -> tuple[AnyArray, AnyArray, AnyArray]:
        """Numbers of the positive, the negative and the unlabelled rows of two classes."""
        positive, negative, unlabeled = (np.flatnonzero(self.codes == code) for code in (1, 0, UNLABELED))
        return positive, negative, unlabeled

    @property
    def counts(self) -> AnyArray:
        """Number of labelled rows of each class."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.classes))


def decode_labels(
    y: ArrayLike | Labels, unlabeled: Any = None, pos_label: Any = None, classes: AnyArray | None = None
) -> Labels:
    """Decode y from the user's convention. An instance of `Labels` is returned unchanged.

    >>> labels = decode_labels(["spam", None, "ham", None], pos_label="spam")
    >>> labels.classes.tolist(), labels.codes.tolist()
    (['ham', 'spam'], [1, -1, 0, -1])

    Parameters
    ----------
    unlabeled : the value that marks unlabelled rows, besides missing values (NaN, None, pd.NA).
    pos_label : the positive class; by default the greater of the two labels.
    classes : the classes in code order, if they are known from an earlier y.
    """
    if isinstance(y, Labels):
        if classes is not None and not np.array_equal(y.classes, classes):
            raise ValueError(f"The labels have classes {y.classes.tolist()}, expected {classes.tolist()}.")
        return y
    values, missing = _values_and_missing(y)
    for name, value in (("unlabeled", unlabeled), ("pos_label", pos_label)):
        if value is not None and np.ndim(value) != 0:
            raise ValueError(f"{name} must be a single value, got {value!r}. Merge labels with the same meaning first.")
    if unlabeled is not None and pos_label is not None and unlabeled == pos_label:
        raise ValueError(f"unlabeled and pos_label must differ, both are {unlabeled!r}.")
    is_label = ~missing
    if unlabeled is not None:
        is_label[is_label] = values[is_label] != unlabeled
    if classes is None:
        _refuse_encoded(not is_label.all(), unlabeled)
    labels = _tidy(values[is_label])
    names, index = np.unique(labels, return_inverse=True)
    if classes is None:
        if unlabeled is None:
            _refuse_to_guess(names, bool(missing.any()))
        classes = _order(names, pos_label)
    unknown = np.setdiff1d(names, classes)
    if len(unknown):
        raise ValueError(f"y contains {unknown.tolist()}, which is not among the classes {classes.tolist()}.")
    position = np.array([np.flatnonzero(classes == name)[0] for name in names], dtype=int)
    codes = np.full(len(values), UNLABELED)
    codes[is_label] = position[index]
    return Labels(classes, codes)


def refuse_more_than_two(classes: ArrayLike, who: str = "y has") -> None:
    """Raise a ValueError if there are more than two classes."""
    names = np.asarray(classes).tolist()
    if len(names) > 2:
        raise ValueError(
            f"Two classes are needed here, and {who} {len(names)}: {names}. Merge classes (one against the rest), or "
            "pass unlabeled=... if one of these marks unlabelled rows."
        )


def _values_and_missing(y: Any) -> tuple[AnyArray, AnyArray]:
    if y is None:
        raise ValueError("This estimator requires y to be passed, but the target y is None.")
    if hasattr(y, "is_null") or not isinstance(getattr(y, "dtype", np.dtype(float)), np.dtype):
        # NumPy would convert integers with missing values of polars and pandas to floats
        y = np.array(y.to_list() if hasattr(y, "to_list") else list(y), dtype=object)
    if isinstance(y, np.ma.MaskedArray):  # masked values are missing
        values, missing = _values_and_missing(np.ma.getdata(y))
        return values, missing | np.ma.getmaskarray(y).ravel()
    values = column_or_1d(np.asarray(y), warn=True)
    if values.dtype.kind == "f":
        return values, np.isnan(values)
    if values.dtype.kind == "O":
        return values, np.fromiter(map(is_missing, values), dtype=bool, count=len(values))
    return values, np.zeros(len(values), dtype=bool)


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, NaT or pd.NA (not equal to itself)."""
    try:
        return value is None or bool(value != value)
    except TypeError:  # pd.NA has no truth value
        return True


def _tidy(labels: AnyArray) -> AnyArray:
    """Labels as an array of one plain type. Raises a ValueError for infinite, continuous and mixed labels."""
    if len(labels) == 0:
        return np.zeros(0, dtype=int)
    if labels.dtype.kind == "O":
        kinds = {isinstance(label, str) for label in labels}
        if len(kinds) > 1:
            found = sorted({type(label).__name__ for label in labels})
            raise ValueError(
                f"y mixes strings with other labels (types {', '.join(found)}). Use one type for all labels."
            )
        labels = np.array(labels.tolist())
    if labels.dtype.kind == "f" and not np.isfinite(labels).all():
        raise ValueError("Input y contains infinity. Use NaN or None for unlabelled rows.")
    if labels.dtype.kind not in "biufU" or labels.ndim != 1:
        kind = type(labels.flat[0]).__name__ if labels.dtype.kind == "O" else labels.dtype
        raise ValueError(f"Unknown label type: {kind}. Labels must be strings, integers or booleans.")
    if type_of_target(labels) == "continuous":
        raise ValueError(
            f"Unknown label type: continuous. y contains values such as {labels[labels % 1 != 0][0]:g}; "
            "classes must be integers or strings."
        )
    return labels


ENCODING = ("decision_function", "predict_proba", "predict_log_proba")  # methods that cross_val_predict encodes y for


def _refuse_encoded(has_unlabeled: bool, unlabeled: Any) -> None:
    """Raise a ValueError inside `cross_val_predict` if it makes unlabelled rows a class of their own.

    It numbers the labels of y between the split and the fits, and a number does not tell that it stood for a missing
    label. Only the call that is under way does: its `method`, and its encoder once there is one.
    """
    frame: Any = inspect.currentframe()
    while frame is not None and frame.f_code.co_name != "cross_val_predict":
        frame = frame.f_back
    if frame is None or not frame.f_globals.get("__name__", "").startswith("sklearn."):
        return
    method, encoder = frame.f_locals.get("method"), frame.f_locals.get("le")
    if method not in ENCODING:
        return
    names = getattr(encoder, "classes_", np.zeros(0))
    if has_unlabeled or any(is_missing(name) or (unlabeled is not None and name == unlabeled) for name in names):
        raise ValueError(
            f"cross_val_predict(method={method!r}) would make unlabelled rows a class of their own, because it numbers "
            "the values of y before the model sees them. Fit the model once and take its validation_scores_, which "
            "are held out; or write the loop: for train, test in cv.split(X, y): "
            f"scores[test] = clone(model).fit(X[train], y[train]).{method}(X[test])."
        )


def _refuse_to_guess(names: AnyArray, has_missing: bool) -> None:
    """Raise a ValueError for {−1, 0, 1} or '' without a marker; warn about −1 without missing values."""
    if names.dtype.kind == "U" and "" in names:
        raise ValueError(
            "y contains '' (empty text), which is no class. If it marks unlabelled rows, pass unlabeled='', or put "
            "None or NaN in its place."
        )
    if names.dtype.kind not in "if" or -1 not in names or has_missing:
        return
    if set(names.tolist()) == {-1, 0, 1}:
        raise ValueError(
            "y contains -1, 0 and 1, and unlabeled is not set. If 0 marks unlabelled rows (as in the paper), pass "
            "unlabeled=0; if -1 does (as in scikit-learn), pass unlabeled=-1. For three classes, rename them."
        )
    warnings.warn(
        "y contains -1 and no missing values, so all rows are treated as labelled and -1 as a class. "
        "If -1 marks unlabelled rows, pass unlabeled=-1.",
        UserWarning,
        stacklevel=4,
    )


def _order(names: AnyArray, pos_label: Any) -> AnyArray:
    """Class names in code order: sorted, except that pos_label of two classes comes last."""
    if len(names) == 0:
        raise ValueError("y has no labelled rows. At least one positive or negative row is needed.")
    if len(names) == 1:
        return _with_unseen_class(names, pos_label)
    if pos_label is None:
        return names
    if pos_label not in names.tolist():
        raise ValueError(f"pos_label={pos_label!r} is not among the labels found in y: {names.tolist()}.")
    if len(names) > 2:
        raise ValueError(f"pos_label applies to two classes, and y has {len(names)}: {names.tolist()}. Leave it out.")
    return np.array([names[names != pos_label][0], pos_label], dtype=names.dtype)


def _with_unseen_class(names: AnyArray, pos_label: Any) -> AnyArray:
    """Names of both classes if y has only one: 1 implies 0, −1 or 0 imply 1, "spam" implies "not spam"."""
    seen = names[0].item()
    if pos_label is not None and pos_label != seen:
        return np.array([seen, pos_label])
    if isinstance(seen, str):
        return np.array([f"not {seen}", seen])
    if seen in (0, -1) and pos_label is None:
        return np.array([seen, True if isinstance(seen, bool) else 1], dtype=names.dtype)
    other = 0 if seen else 1
    return np.array([other, seen], dtype=names.dtype)
