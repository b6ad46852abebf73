"""Which group a row belongs to, as losses and batches read it."""

from __future__ import annotations

from typing import Any

import torch
from numpy.typing import ArrayLike

from pnulearn._problem.labels import UNLABELED, decode_labels, refuse_more_than_two

GROUPS = {"positive": 1, "negative": 0, "unlabeled": UNLABELED}  # codes in the order of a risk's rows


def label_codes(y: ArrayLike, unlabeled: Any = None, pos_label: Any = None) -> torch.Tensor:
    """The labels as the losses here read them: 1 positive, 0 negative, −1 unlabelled.

    Parameters
    ----------
    y : array (rows,)
        Labels; missing values and `unlabeled` mark unlabelled rows.
    unlabeled : object, optional
        The value in y that marks unlabelled rows; missing values always do.
    pos_label : object, optional
        The positive class, by default the greater label.

    Examples
    --------
    >>> label_codes(["spam", None, "ham"])
    tensor([ 1, -1,  0])
    """
    labels = decode_labels(y, unlabeled, pos_label)
    refuse_more_than_two(labels.classes)
    return torch.as_tensor(labels.codes)
