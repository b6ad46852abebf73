"""What `AutoPNU` averages: PNU, models by name, the user's own classifiers, and bagged trees of P against U."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.pipeline import Pipeline

from pnulearn._arrays import AnyArray
from pnulearn._estimators.classifier import PNUClassifier
from pnulearn._problem.row_keys import row_keys

PNU, BAGGING = "pnu", "bagging"


# scikit-learn's models are imported on first use, so that fitting or loading PNU alone stays fast.
def _forest(seed: int) -> Any:
    from sklearn.ensemble import ExtraTreesClassifier

    return ExtraTreesClassifier(100, random_state=seed)


def _boosting(seed: int) -> Any:
    """CatBoost if it is installed, else LightGBM, else scikit-learn's; one thread, so that answers are repeatable."""
    if find_spec("catboost"):
        from catboost import CatBoostClassifier

        return CatBoostClassifier(100, random_seed=seed, thread_count=1, verbose=False, allow_writing_files=False)
    if find_spec("lightgbm"):
        from lightgbm import LGBMClassifier

        return LGBMClassifier(
            n_estimators=50, min_child_samples=5, random_state=seed, n_jobs=1, deterministic=True, verbose=-1
        )
    return scikit_learn_boosting(seed)


def scikit_learn_boosting(seed: int) -> Any:
    """Gradient boosting of scikit-learn, which also takes rows that are all equal."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(max_iter=50, min_samples_leaf=5, random_state=seed)


def _logistic(seed: int) -> Any:
    from sklearn.linear_model import LogisticRegression

    return _scaled(LogisticRegression(max_iter=1000))


def _svm(seed: int) -> Any:
    from sklearn.svm import SVC

    return _scaled(SVC(tol=1e-10))  # with the default tolerance, scores vary by 1e-3 with the order of rows


def _scaled(model: Any) -> Any:
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), model)


# Functions of a seed that return an unfitted scikit-learn model.
SUPERVISED: dict[str, Callable[[int], Any]] = {
    "forest": _forest,
    "boosting": _boosting,
    "logistic": _logistic,
    "svm": _svm,
}
FOR_TWO_CLASSES = ("svm",)
LEARNERS = (PNU, *SUPERVISED, BAGGING)


def read_learners(learners: Any) -> dict[str, Any]:
    """Names of the learners, with the unfitted estimator of those that were passed as one (None for known names).

    An estimator gets the name of its class in lower case, a pipeline that of its last step, unless it is passed as a
    pair (name, estimator).

    >>> from sklearn.linear_model import LogisticRegression
    >>> read_learners(["pnu", LogisticRegression(), LogisticRegression(), ("mine", LogisticRegression(C=10))])
    {'pnu': None, 'logisticregression': LogisticRegression(), 'logisticregression-2': LogisticRegression(), \
'mine': LogisticRegression(C=10)}
    """
    several = isinstance(learners, Iterable) and not isinstance(learners, str | BaseEstimator)
    given = list(learners) if several else [learners]
    found: dict[str, Any] = {}
    seen: Counter[str] = Counter()
    for one in given:
        name, estimator = one if isinstance(one, tuple) and len(one) == 2 else (None, one)
        if isinstance(estimator, str) and name is None:
            name, estimator = estimator, None
            if name not in LEARNERS:
                raise ValueError(f"learners must be {_words()}, or scikit-learn classifiers; got {one!r}.")
        else:
            _refuse_other(estimator)
            if name is None:
                name = _name(estimator)
                seen[name] += 1
                name += f"-{seen[name]}" if seen[name] > 1 else ""
        if not isinstance(name, str) or name in found:
            raise ValueError(f"learners must have names of their own, and {name!r} is there twice.")
        found[name] = estimator
    if not found:
        raise ValueError(f"learners is empty. Pass some of {_words()}, or scikit-learn classifiers.")
    return found


def _refuse_other(given: Any) -> None:
    """Raise a TypeError unless a learner is a classifier that scikit-learn can clone and fit."""
    if isinstance(given, type) or not (hasattr(given, "fit") and hasattr(given, "get_params")):
        raise TypeError(f"learners must be {_words()}, or scikit-learn classifiers; got {given!r}.")


def _words() -> str:
    return ", ".join(map(repr, LEARNERS))


def _name(given: Any) -> str:
    last = given.steps[-1][1] if isinstance(given, Pipeline) else given
    return type(last).__name__.lower()


def make_learner(name: str, given: Any, seed: int, labeled: AnyArray) -> Any:
    """An unfitted model for these labelled rows: a copy of the one that was given, or the one of that name."""
    if given is not None:
        return clone(given)
    if name == "boosting" and not _varies(labeled):
        return scikit_learn_boosting(seed)
    return SUPERVISED[name](seed)


def _varies(labeled: AnyArray) -> bool:
    """Whether no row makes up half of the rows; CatBoost refuses rows that are all equal, also in a fold."""
    _, counts = np.unique(labeled, axis=0, return_counts=True)
    return bool(2 * counts.max(initial=0) <= len(labeled))


def is_pnu(name: str, given: Any) -> bool:
    """Whether a learner is a `PNUClassifier`, which uses the unlabelled rows itself."""
    return isinstance(given, PNUClassifier) or (given is None and name == PNU)


class BaggedTrees(ClassifierMixin, BaseEstimator):
    """Trees that tell the labelled rows of one class from unlabelled rows, each grown on as many of both.

    Every tree sees a bootstrap sample of the labelled rows and a random sample of the unlabelled ones, and a random
    choice of columns at every node. Rows that a tree has not seen are scored by it (Mordelet and Vert, 2014).

    Parameters
    ----------
    n_estimators : int
        Number of trees.
    random_state : int
        Seed.

    Attributes
    ----------
    held_out_
        Mean over the trees that did not see the row of the probability to be labelled; NaN if every tree saw it.
    """

    def __init__(self, n_estimators: int = 200, random_state: int = 0):
        self.n_estimators = n_estimators
        self.random_state = random_state

    def fit(self, X: AnyArray, y: AnyArray, sample_weight: AnyArray, alike: AnyArray) -> BaggedTrees:
        """Grow the trees.

        Parameters
        ----------
        X : array (rows, columns)
            Features.
        y : array (rows,)
            1 for labelled rows, 0 for unlabelled ones.
        sample_weight : array (rows,)
            Rows are drawn with probabilities proportional to their weights.
        alike : array (rows,)
            Group of every row; a row is scored by trees that saw no row of its group.
        """
        from sklearn.tree import DecisionTreeClassifier

        order = np.lexsort((y, row_keys(X, self.random_state, sample_weight)))
        rng = np.random.default_rng(self.random_state)
        sides = [order[(y[order] == side) & (sample_weight[order] > 0)] for side in (0, 1)]
        chances = [sample_weight[rows] / sample_weight[rows].sum() for rows in sides]
        n_drawn, seen = len(sides[1]), np.asarray(X, dtype=np.float32)  # the precision of trees
        total, times = np.zeros(len(y)), np.zeros(len(y))
        self.estimators_, self.classes_, self.n_features_in_ = [], np.array([0, 1]), X.shape[1]
        for _ in range(self.n_estimators):
            repeat = (len(sides[0]) < n_drawn, True)
            drawn = np.concatenate(
                [rng.choice(rows, n_drawn, r, p) for rows, r, p in zip(sides, repeat, chances, strict=True)]
            )
            tree = DecisionTreeClassifier(max_features="sqrt", random_state=int(rng.integers(2**31)))
            tree.fit(seen[drawn], y[drawn], check_input=False)
            apart = ~np.isin(alike, alike[drawn])
            if apart.any():
                total[apart] += tree.predict_proba(seen[apart], check_input=False)[:, 1]
                times += apart
            self.estimators_.append(tree)
        self.held_out_ = np.divide(total, times, out=np.full(len(y), np.nan), where=times > 0)
        return self

    def predict_proba(self, X: AnyArray) -> AnyArray:
        """Mean probability to be unlabelled and to be labelled.

        Parameters
        ----------
        X : array (rows, columns)
            Features.
        """
        seen = np.asarray(X, dtype=np.float32)
        share = np.mean([tree.predict_proba(seen, check_input=False)[:, 1] for tree in self.estimators_], axis=0)
        return np.column_stack([1 - share, share])
