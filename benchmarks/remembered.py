"""Scikit-learn models that are fitted once to the same rows, however many methods of a benchmark wrap them.

The model alone, under a known and under an estimated prior, and as a member of `AutoPNU` are the same fits, and they
score the same rows.
"""

from __future__ import annotations

from inspect import getattr_static, isfunction
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

_fitted: dict[tuple[Any, ...], dict[str, Any]] = {}
_scores: dict[tuple[Any, ...], Any] = {}


def forget() -> None:
    """Before the next draw, whose rows are others."""
    _fitted.clear()
    _scores.clear()


class _Remembered:
    """In front of a classifier: what was learnt from the same rows with the same parameters is learnt at once."""

    def fit(self: Any, X: Any, y: Any, sample_weight: Any = None) -> Any:
        key = (type(self), repr(sorted(self.get_params().items())), np.asarray(X).tobytes(), np.asarray(y).tobytes())
        if sample_weight is not None:
            key = (*key, np.asarray(sample_weight).tobytes())
        if key not in _fitted:
            super().fit(X, y, sample_weight)  # type: ignore[misc]
            check_is_fitted(self)
            _fitted[key] = self.__dict__ | {"fit_": key}
        self.__dict__.update(_fitted[key])
        return self


def remembered(kind: type) -> Any:
    """The class with a memory of its fits, and of its probabilities where it always has them.

    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = np.arange(6.0)[:, None], np.array([0, 0, 1, 0, 1, 1])
    >>> models = [kind().fit(X, y) for kind in 2 * (remembered(LogisticRegression),) + (LogisticRegression,)]
    >>> models[1].coef_ is models[0].coef_, bool(np.all(models[2].coef_ == models[0].coef_))
    (True, True)
    >>> shares = [model.predict_proba(X) for model in models]
    >>> shares[1] is shares[0], bool(np.all(shares[2] == shares[0]))
    (True, True)
    """

    def predict_proba(self: Any, X: Any) -> Any:
        key = (self.fit_, np.asarray(X).tobytes())
        if key not in _scores:
            _scores[key] = kind.predict_proba(self, X)  # type: ignore[attr-defined]
        return _scores[key]

    always = isfunction(getattr_static(kind, "predict_proba", None))
    return type(kind.__name__, (_Remembered, kind), {"predict_proba": predict_proba} if always else {})
