"""Displays of a fitted model: its decision boundary, its scores by class, and its search."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from pnulearn._arrays import AnyArray
from pnulearn._problem.alignment import refuse_misaligned
from pnulearn._problem.labels import decode_labels
from pnulearn.plots._style import CODES, COLORS, WORDS, Display, keep_axes, open_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pnulearn._estimators.base import PartiallyLabeledClassifier
    from pnulearn._estimators.classifier import PNUClassifier


# Decision boundary of a classifier of two columns.


class BoundaryDisplay(Display):
    """A classifier of two columns: score as colour, decision boundary as a line, and the rows.

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
        refuse_misaligned(X=X, y=y)
        X = np.asarray(X, dtype=float)
        if X.ndim != 2 or X.shape[1] != 2:
            raise ValueError(f"The decision boundary needs X with two columns, got shape {X.shape}.")
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


# Scores of positive, negative and unlabelled rows.


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
        refuse_misaligned(X=X, y=y)
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
        refuse_misaligned(y_true=y_true, y_score=y_score)
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


# Search over mixes, alphas and bandwidths.


class RiskSurfaceDisplay(Display):
    """The validation risk of every alpha and mix at one bandwidth, darker where it is lower.

    Parameters
    ----------
    risk
        array (mixes, alphas).
    mixes, alphas
        the candidates.
    best
        (mix, alpha) to mark.
    """

    def __init__(self, risk: AnyArray, mixes: AnyArray, alphas: AnyArray, best: tuple[float, float]):
        self.risk, self.mixes, self.alphas, self.best = risk, mixes, alphas, best

    @classmethod
    def from_estimator(
        cls, estimator: PNUClassifier, *, loss: str = "zero_one", ax: Axes | None = None
    ) -> RiskSurfaceDisplay:
        """The surface at the best bandwidth of a fitted `PNUClassifier`; loss "zero_one" or "squared".

        Parameters
        ----------
        estimator : PNUClassifier
            The classifier.
        loss : str
            "zero_one" or "squared".
        ax : matplotlib axes, optional
            Where to draw; new axes by default.
        """
        check_is_fitted(estimator)
        table = estimator.search_
        risk = getattr(table, loss)[table.best[0]]
        return cls(risk, table.mixes, table.alphas, (estimator.mix_, estimator.alpha_)).plot(ax)

    def plot(self, ax: Axes | None = None, *, cmap: str = "viridis") -> RiskSurfaceDisplay:
        """Draw the surface.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; new axes by default.
        cmap : str
            Colour map of matplotlib.
        """
        ax = open_axes(ax)
        rows, columns = np.arange(len(self.mixes) + 1) - 0.5, np.arange(len(self.alphas) + 1) - 0.5
        mesh = ax.pcolormesh(columns, rows, self.risk, cmap=cmap)
        ax.figure.colorbar(mesh, ax=ax, label="validation risk")
        place = np.argmin(np.abs(self.alphas - self.best[1])), np.argmin(np.abs(self.mixes - self.best[0]))
        ax.plot(*place, marker="*", markersize=12, color="white", markeredgecolor="black", linestyle="none")
        step = max(1, len(self.mixes) // 8)
        ax.set_yticks(range(0, len(self.mixes), step), [f"{mix:.2g}" for mix in self.mixes[::step]])
        ax.set_xticks(range(len(self.alphas)), [f"{alpha:.0e}" for alpha in self.alphas], rotation=45)
        ax.set(xlabel="alpha (λ)", ylabel="mix")
        return keep_axes(self, ax)


class BandwidthDisplay(Display):
    """The smallest validation risk at every bandwidth, and the weight of the bandwidth in the final model.

    Parameters
    ----------
    bandwidths : array
        The candidates.
    risk : array
        Validation risks.
    weight : array
        Weight of each bandwidth.
    columns : sequence of str, optional
        Transformation of the columns for each bandwidth, "given" or "ranks".
    """

    def __init__(self, bandwidths: AnyArray, risk: AnyArray, weight: AnyArray, columns: Sequence[str] | None = None):
        self.bandwidths, self.risk, self.weight, self.columns = bandwidths, risk, weight, columns

    @classmethod
    def from_estimator(
        cls, estimator: PNUClassifier, *, loss: str = "zero_one", ax: Axes | None = None
    ) -> BandwidthDisplay:
        """From a fitted `PNUClassifier` with a Gaussian kernel.

        Parameters
        ----------
        estimator : PNUClassifier
            The classifier.
        loss : str
            "zero_one" or "squared".
        ax : matplotlib axes, optional
            Where to draw; new axes by default.
        """
        check_is_fitted(estimator)
        table = estimator.search_
        risk, weight = getattr(table, loss).min(axis=(1, 2)), table.weight.sum(axis=(1, 2))
        return cls(table.bandwidths, risk, weight, table.columns).plot(ax)

    def plot(self, ax: Axes | None = None) -> BandwidthDisplay:
        """Draw risk and weight of every bandwidth.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; new axes by default.
        """
        ax = open_axes(ax)
        places = np.arange(len(self.bandwidths))
        ax.bar(places, self.weight, color=COLORS["unlabeled"], alpha=0.45, label="weight in the model")
        ax.plot(places, self.risk, marker="o", color=COLORS["negative"], label="smallest validation risk")
        names = [f"{bandwidth:.3g}" for bandwidth in self.bandwidths]
        if self.columns is not None:
            names = [f"{name}\n{column}" for name, column in zip(names, self.columns, strict=True)]
        ax.set_xticks(places, names)
        ax.set(xlabel="bandwidth (σ)", ylabel="risk, or weight")
        ax.legend(frameon=False)
        return keep_axes(self, ax)
