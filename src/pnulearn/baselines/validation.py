"""One judge for all rivals: folds, a held-out set, and the pooled PNU zero-one risk (section E.1)."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import check_cv

from pnulearn.folds import assign_folds, row_keys
from pnulearn.labels import UNLABELED, decode_labels
from pnulearn.losses import Loss, as_loss
from pnulearn.risks import empirical_risk, pnu

# Validation errors are multiples of one over a few labels, so ties are the rule. The ramp risk is the zero-one risk
# with a slope: it prefers confident right answers, and being bounded it does not care how large scores are.
JUDGES = ("zero_one", "ramp")


@dataclass(frozen=True)
class Split:
    """Rows to learn from, and the rows to be judged on."""

    train: NDArray
    X_test: Any
    codes_test: NDArray


def fold_splits(X: Any, codes: NDArray, cv: Any, seed: int) -> list[Split]:
    """Splits for a number of folds, a scikit-learn splitter, or an iterable of (train, test)."""
    return [Split(train, X[test], codes[test]) for train, test in _with_every_class(codes, _pairs(X, codes, cv, seed))]


def _pairs(X: Any, codes: NDArray, cv: Any, seed: int) -> Iterator[tuple[NDArray, NDArray]]:
    if isinstance(cv, (int, np.integer)):
        fold = assign_folds(codes, int(cv), row_keys(X, seed))
        return ((np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(int(cv)))
    return iter(check_cv(cv, codes, classifier=True).split(X, codes))


def _with_every_class(codes: NDArray, pairs: Iterator[tuple[NDArray, NDArray]]) -> Iterator[tuple[NDArray, NDArray]]:
    """A class whose only rows would be held out stays in training: nothing can be learnt without it."""
    classes = np.unique(codes[codes != UNLABELED])
    for train, test in pairs:
        stay = np.isin(codes[test], np.setdiff1d(classes, codes[train]))
        yield np.concatenate([train, test[stay]]), test[~stay]


def read_codes(y: Any, classes: NDArray, unlabeled: Any, pos_label: Any) -> NDArray:
    """Codes of a held-out y in the order of the classes seen in training."""
    with warnings.catch_warnings():
        # The training labels have settled what −1 means.
        warnings.filterwarnings("ignore", message="y holds -1 and no missing values", category=UserWarning)
        labels = decode_labels(y, unlabeled, pos_label)
    codes = np.full(len(labels.codes), UNLABELED)
    for code in np.unique(labels.codes[labels.codes != UNLABELED]):
        found = np.flatnonzero(classes == labels.classes[code])
        if len(found) == 0:
            raise ValueError(f"y_val holds {labels.classes[code]!r}; the classes of y are {classes.tolist()}.")
        codes[labels.codes == code] = found[0]
    return codes


def heuristic_mix(prior: float, n_positive: int, n_negative: int, n_unlabeled: int) -> float:
    """The paper's η̄ for validation: the variance-optimal mix if P and N losses vary alike.

    It depends on counts only, so that all candidates are judged by the same risk. Without U it is 0 (PN); without N
    or P it is 1 (PU) or −1 (NU).

    >>> round(heuristic_mix(0.5, 35, 15, 300), 3)
    0.4
    """
    if n_unlabeled == 0:
        return 0.0
    if n_positive == 0 or n_negative == 0:
        return 1.0 if n_positive else -1.0
    psi_p, psi_n = prior**2 / n_positive, (1 - prior) ** 2 / n_negative
    return (psi_n - psi_p) / (psi_n + psi_p)


def validation_risk(scores: NDArray, codes: NDArray, shares: NDArray, loss: str | Loss) -> float:
    """The PNU risk of two-class scores (n,); of scores (n, classes), the share-weighted risk of the margins."""
    if scores.ndim == 2:
        return _margin_risk(scores, codes, shares, as_loss(loss))
    groups = [scores[codes == code] for code in (1, 0, UNLABELED)]
    mix = heuristic_mix(shares[1], *map(len, groups))
    return empirical_risk(pnu(shares[1], mix), loss, groups)


def _margin_risk(scores: NDArray, codes: NDArray, shares: NDArray, loss: Loss) -> float:
    """Σ_k θ_k E_k[ℓ(own score − best other score)] over the classes that have rows."""
    known = np.flatnonzero(codes != UNLABELED)
    own = scores[known, codes[known]]
    others = scores[known].copy()
    others[np.arange(len(known)), codes[known]] = -np.inf
    losses = loss(own - others.max(axis=1))
    present = np.unique(codes[known])
    means = [losses[codes[known] == k].mean() for k in present]
    return float(np.average(means, weights=shares[present]))


def best_of(table: dict[str, NDArray]) -> int:
    """The row with the least zero-one risk; ties go to the least ramp risk, then to the first."""
    return int(np.lexsort((table["ramp"], table["zero_one"].round(12)))[0])


def risk_columns(scores: Sequence[NDArray], codes: NDArray, shares: NDArray) -> dict[str, NDArray]:
    """One array per judge, one entry per candidate."""
    return {judge: np.array([validation_risk(s, codes, shares, judge) for s in scores]) for judge in JUDGES}
