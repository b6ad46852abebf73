"""Displays of columns: permutation importance and partial dependence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from pnulearn.inspection import ColumnImportance, Effect, column_effect, column_importance
from pnulearn.plots._style import COLORS, Display, keep_axes, open_axes, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# Permutation importance.


class ImportanceDisplay(Display):
    """Increase of the error when a column is shuffled, with intervals, the largest increase on top.

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
            Share of positives in the population; by default the prior of the fitted classifier.
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
        shown = sorted(self.importances[:most], key=lambda one: one.rise.value)
        for place, one in enumerate(shown):
            sure = one.rise.low > 0
            color = COLORS["positive" if sure else "unlabeled"]
            low, high = 100 * one.rise.low, 100 * one.rise.high
            ax.plot([low, high], [place, place], color=color, linewidth=4, alpha=0.45)
            ax.plot(100 * one.rise.value, place, "o", color=color, markersize=7)
        ax.axvline(0, color=COLORS["unlabeled"], linestyle=":")
        ax.set_yticks(range(len(shown)), [shorten(one.column) for one in shown])
        ax.set(ylim=(-0.6, len(shown) - 0.4), xlabel="increase of the error when shuffled, in percentage points")
        return keep_axes(self, ax)


def _learnt_prior(estimator: Any) -> Any:
    """The prior of a fitted classifier, or of the last step of a pipeline."""
    last = estimator[-1] if hasattr(estimator, "steps") else estimator
    if not hasattr(last, "prior_estimate_"):
        raise ValueError(f"{type(last).__name__} has no class prior: pass prior=..., the share of positives.")
    return last.prior_estimate_


# Partial dependence.


class EffectDisplay(Display):
    """The average probability of a class over the values of one column.

    Parameters
    ----------
    effect : Effect
        As `pnulearn.inspection.column_effect` returns it.
    """

    def __init__(self, effect: Effect):
        self.effect = effect

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, column: Any, *, ax: Axes | None = None, **options: Any
    ) -> EffectDisplay:
        """From a fitted classifier, or a pipeline, and rows to average over.

        Parameters
        ----------
        estimator : classifier
            Any fitted classifier with predict_proba.
        X : array, sparse matrix or data frame (rows, columns)
            Rows.
        column : str or int
            The column.
        ax : matplotlib axes, optional
            Where to draw; new axes by default.
        **options : object
            Further arguments of `column_effect`.
        """
        return cls(column_effect(estimator, X, column, **options)).plot(ax)

    def plot(self, ax: Axes | None = None) -> EffectDisplay:
        """Draw a curve over numbers, points over categories; one per class if there are more than two.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; new axes by default.
        """
        ax = open_axes(ax)
        effect = self.effect
        if effect.is_ordered:
            self._draw_curves(ax)
        else:
            self._draw_points(ax)
        if len(effect.classes) > 1:
            ax.legend(frameon=False, fontsize="small", loc="lower center", bbox_to_anchor=(0.5, 1), ncols=3)
        return keep_axes(self, ax)

    def _draw_curves(self, ax: Axes) -> None:
        effect = self.effect
        for curve, (color, name) in enumerate(self._colors()):
            ax.fill_between(effect.values, effect.low[curve], effect.high[curve], color=color, alpha=0.2, linewidth=0)
            ax.plot(effect.values, effect.average[curve], "o-", color=color, markersize=4, label=name)
        ax.locator_params(axis="x", nbins=4)
        ax.xaxis.set_major_formatter("{x:,.6g}")
        ax.set(ylim=(0, 1), xlabel=shorten(effect.column), ylabel=self._what())

    def _draw_points(self, ax: Axes) -> None:
        effect = self.effect
        places = np.arange(len(effect.values))[::-1]
        for curve, (color, name) in enumerate(self._colors()):
            ax.hlines(places, effect.low[curve], effect.high[curve], color=color, alpha=0.45, linewidth=4)
            ax.plot(effect.average[curve], places, "o", color=color, markersize=7, label=name)
        ax.set_yticks(places, [shorten(str(value)) for value in effect.values])
        ax.set(xlim=(0, 1), ylim=(-0.6, len(places) - 0.4), xlabel=self._what(), ylabel=shorten(effect.column))

    def _colors(self) -> list[tuple[Any, str]]:
        names = [str(name) for name in self.effect.classes]
        if len(names) == 1:
            return [(COLORS["positive"], names[0])]
        return [(f"C{place}", shorten(name)) for place, name in enumerate(names)]

    def _what(self) -> str:
        names = self.effect.classes
        return f"P({shorten(str(names[0]), 14)})" if len(names) == 1 else "probability"
