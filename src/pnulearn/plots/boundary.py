"""The boundary of a classifier of two columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from pnulearn._arrays import AnyArray
from pnulearn._problem.labels import decode_labels
from pnulearn.plots.drawing import CODES, COLORS, WORDS, Display, keep_axes, open_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pnulearn._estimators.partially_labeled import PartiallyLabeledClassifier


class BoundaryDisplay(Display):
    """A classifier of two columns: its score as colour, its boundary as a line, and the rows.

    Parameters
    ----------
    grid : two arrays (n, n)
        Coordinates of the grid.
    score : array (n, n)
        g on the grid.
    X : array (rows, 2)
        The rows to draw.
    codes : array (rows,)
        Class codes: −1 unlabelled, 1 positive, 0 negative, or the class number.
    """

    def __init__(self, grid: tuple[AnyArray, AnyArray], score: AnyArray, X: AnyArray, codes: AnyArray):
        self.grid, self.score, self.X, self.codes = grid, score, X, codes

    @classmethod
    def from_estimator(
        cls,
        estimator: PartiallyLabeledClassifier,
        X: Any,
        y: ArrayLike,
        *,
        resolution: int = 120,
        ax: Axes | None = None,
    ) -> BoundaryDisplay:
        """From a fitted classifier of two columns.

        Parameters
        ----------
        estimator : PNUClassifier
            The classifier.
        X : array, sparse matrix or data frame (rows, columns)
            Features.
        y : array (rows,)
            Labels; missing values and `unlabeled` mark unlabelled rows.
        resolution : int
            Grid points along each axis.
        ax : matplotlib axes, optional
            Where to draw; new axes by default.
        """
        check_is_fitted(estimator)
        X = np.asarray(X, dtype=float)
        if X.ndim != 2 or X.shape[1] != 2:
            raise ValueError(f"A boundary is drawn for two columns, and X has shape {X.shape}.")
        codes = decode_labels(y, estimator.unlabeled, classes=estimator.classes_).codes
        margin = 0.05 * np.ptp(X, axis=0)
        first, second = (np.linspace(X[:, j].min() - margin[j], X[:, j].max() + margin[j], resolution) for j in (0, 1))
        grid = np.meshgrid(first, second)
        score = estimator.decision_function(np.column_stack([part.ravel() for part in grid])).reshape(grid[0].shape)
        return cls((grid[0], grid[1]), score, X, codes).plot(ax)

    def plot(self, ax: Axes | None = None) -> BoundaryDisplay:
        """Draw score, boundary and rows.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; new axes by default.
        """
        ax = open_axes(ax)
        limit = float(np.abs(self.score).max()) or 1.0
        ax.contourf(*self.grid, self.score, levels=np.linspace(-limit, limit, 15), cmap="PuOr_r", alpha=0.35)
        ax.contour(*self.grid, self.score, levels=[0], colors="black", linewidths=1.5)
        for name, size in (("unlabeled", 6), ("negative", 45), ("positive", 45)):
            rows = self.X[self.codes == CODES[name]]
            edge = "none" if name == "unlabeled" else "black"
            ax.scatter(
                rows[:, 0],
                rows[:, 1],
                s=size,
                color=COLORS[name],
                edgecolors=edge,
                label=f"{WORDS[name]} ({len(rows)})",
            )
        ax.legend(frameon=False)
        return keep_axes(self, ax)
