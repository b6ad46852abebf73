"""Which columns a model rests on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from pnulearn.inspection import ColumnImportance, column_importance
from pnulearn.plots.drawing import COLORS, Display, keep_axes, open_axes, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class ImportanceDisplay(Display):
    """How much the error rises when a column is shuffled, with intervals, most important column on top.

    Parameters
    ----------
    importances : sequence of ColumnImportance
        As `pnulearn.inspection.column_importance` returns them.
    """

    def __init__(self, importances: Sequence[ColumnImportance]):
        self.importances = list(importances)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: ArrayLike, *, prior: Any = None, ax: Axes | None = None, **options: Any
    ) -> ImportanceDisplay:
        """From a fitted classifier, or a pipeline, and rows.

        Parameters
        ----------
        estimator : classifier
            Any fitted classifier.
        X : array, sparse matrix or data frame (rows, columns)
            Rows the model was not fitted to, or with `cv` those it was.
        y : array (rows,)
            Labels; missing values and `unlabeled` mark unlabelled rows.
        prior : float, (float, float), distribution or PriorEstimate
            Share of positives in the population, by default what the classifier learnt about it.
        ax : matplotlib axes, optional
            Where to draw; new axes by default.
        **options : object
            Further arguments of `column_importance`.
        """
        if prior is None:
            prior = _learnt_prior(estimator)
        return cls(column_importance(estimator, X, y, prior=prior, **options)).plot(ax)

    def plot(self, ax: Axes | None = None, *, most: int = 15) -> ImportanceDisplay:
        """Draw one line per column.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; new axes by default.
        most : int
            Columns to draw at most.
        """
        ax = open_axes(ax)
        shown = self.importances[:most][::-1]
        for place, one in enumerate(shown):
            sure = one.rise.low > 0
            color = COLORS["positive" if sure else "unlabeled"]
            low, high = 100 * one.rise.low, 100 * one.rise.high
            ax.plot([low, high], [place, place], color=color, linewidth=4, alpha=0.45)
            ax.plot(100 * one.rise.value, place, "o", color=color, markersize=7)
        ax.axvline(0, color=COLORS["unlabeled"], linestyle=":")
        ax.set_yticks(range(len(shown)), [shorten(one.column) for one in shown])
        ax.set(ylim=(-0.6, len(shown) - 0.4), xlabel="rise of the error when shuffled, in points")
        return keep_axes(self, ax)


def _learnt_prior(estimator: Any) -> Any:
    """What a classifier, or the last step of a pipeline, learnt about the prior."""
    last = estimator[-1] if hasattr(estimator, "steps") else estimator
    if not hasattr(last, "prior_estimate_"):
        raise ValueError(f"{type(last).__name__} has learnt no class prior: pass prior=..., the share of positives.")
    return last.prior_estimate_
