"""Scores of positive, negative and unlabelled rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from pnulearn._arrays import AnyArray
from pnulearn._problem.labels import decode_labels
from pnulearn.plots.drawing import CODES, COLORS, WORDS, Display, keep_axes, open_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pnulearn._estimators.partially_labeled import PartiallyLabeledClassifier


class ScoreDisplay(Display):
    """The distribution of scores on P, N and U rows.

    Parameters
    ----------
    scores : dict
        Scores by group: positive, negative, unlabeled.
    """

    def __init__(self, scores: dict[str, AnyArray]):
        self.scores = scores

    @classmethod
    def from_estimator(
        cls, estimator: PartiallyLabeledClassifier, X: Any, y: ArrayLike, *, ax: Axes | None = None
    ) -> ScoreDisplay:
        """From a fitted classifier and rows.

        Parameters
        ----------
        estimator : PNUClassifier
            The classifier.
        X : array, sparse matrix or data frame (rows, columns)
            Features.
        y : array (rows,)
            Labels; missing values and `unlabeled` mark unlabelled rows.
        ax : matplotlib axes, optional
            Where to draw; new axes by default.
        """
        codes = decode_labels(y, estimator.unlabeled, classes=estimator.classes_).codes
        return cls.from_codes(codes, estimator.decision_function(X)).plot(ax)

    @classmethod
    def from_predictions(
        cls, y_true: ArrayLike, y_score: ArrayLike, *, unlabeled: Any = None, pos_label: Any = None, ax: Any = None
    ) -> ScoreDisplay:
        """From labels and scores.

        Parameters
        ----------
        y_true : array (rows,)
            Labels; missing values and `unlabeled` mark unlabelled rows.
        y_score : array (rows,)
            g(x), positive for the positive class. For probabilities pass threshold=0.5.
        unlabeled : object, optional
            The value in y that marks unlabelled rows; missing values always do.
        pos_label : object, optional
            The positive class, by default the greater label.
        ax : matplotlib axes, optional
            Where to draw; new axes by default.
        """
        return cls.from_codes(decode_labels(y_true, unlabeled, pos_label).codes, np.asarray(y_score)).plot(ax)

    @classmethod
    def from_codes(cls, codes: AnyArray, scores: AnyArray) -> ScoreDisplay:
        """From scores and class codes, without drawing.

        Parameters
        ----------
        codes : array (rows,)
            Class codes: −1 unlabelled, 1 positive, 0 negative, or the class number.
        scores : array (rows,)
            Scores.
        """
        return cls({name: scores[codes == code] for name, code in CODES.items()})

    def plot(self, ax: Axes | None = None, *, bins: int = 20) -> ScoreDisplay:
        """Draw one histogram per group.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; new axes by default.
        bins : int
            Number of bins.
        """
        ax = open_axes(ax)
        every = np.concatenate(list(self.scores.values()))
        edges = np.linspace(every.min(), every.max() + 1e-9, bins + 1)
        for name in ("unlabeled", "negative", "positive"):
            scores = self.scores[name]
            if len(scores):
                filled = name == "unlabeled"
                ax.hist(
                    scores,
                    bins=edges.tolist(),
                    weights=np.full(len(scores), 1 / len(scores)),
                    color=COLORS[name],
                    alpha=0.5 if filled else 1,
                    histtype="stepfilled" if filled else "step",
                    linewidth=1.8,
                    label=f"{WORDS[name]} ({len(scores)})",
                )
        ax.axvline(0, color=COLORS["unlabeled"], linestyle=":")
        ax.set(xlabel="score g(x)", ylabel="share of the group")
        ax.legend(frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1), ncols=3, fontsize="small")
        return keep_axes(self, ax)
