"""Pictures in scikit-learn's manner: `from_estimator` or `from_predictions` computes, `plot` draws on given axes.

Matplotlib is imported only when something is drawn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from pnulearn._arrays import AnyArray
from pnulearn._machine.extras import import_extra
from pnulearn._problem.labels import decode_labels
from pnulearn.priors import density
from pnulearn.priors.estimate import PriorEstimate
from pnulearn.theory import Psi

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pnulearn._estimators.classifier import PNUClassifier
    from pnulearn._estimators.partially_labeled import PartiallyLabeledClassifier

COLORS = {"positive": "#d9822b", "negative": "#3b8ec2", "unlabeled": "#8a8f98"}  # readable on white and on black
WORDS = {"positive": "positive", "negative": "negative", "unlabeled": "unlabelled"}
CODES = {"positive": 1, "negative": 0, "unlabeled": -1}


def _axes(ax: Axes | None) -> Axes:
    if ax is not None:
        return ax
    with import_extra("report", "Drawing"):
        from matplotlib import pyplot

    fresh: Axes = pyplot.subplots()[1]
    return fresh


class _Display:
    """What all displays share: after `plot`, `ax_` and `figure_` hold what was drawn on."""

    ax_: Axes

    def _keep_axes(self, ax: Axes) -> Self:
        self.ax_, self.figure_ = ax, ax.figure
        return self


class RiskSurfaceDisplay(_Display):
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
        ax = _axes(ax)
        rows, columns = np.arange(len(self.mixes) + 1) - 0.5, np.arange(len(self.alphas) + 1) - 0.5
        mesh = ax.pcolormesh(columns, rows, self.risk, cmap=cmap)
        ax.figure.colorbar(mesh, ax=ax, label="validation risk")
        place = np.argmin(np.abs(self.alphas - self.best[1])), np.argmin(np.abs(self.mixes - self.best[0]))
        ax.plot(*place, marker="*", markersize=12, color="white", markeredgecolor="black", linestyle="none")
        step = max(1, len(self.mixes) // 8)
        ax.set_yticks(range(0, len(self.mixes), step), [f"{mix:.2g}" for mix in self.mixes[::step]])
        ax.set_xticks(range(len(self.alphas)), [f"{alpha:.0e}" for alpha in self.alphas], rotation=45)
        ax.set(xlabel="alpha (λ)", ylabel="mix")
        return self._keep_axes(ax)


class BandwidthDisplay(_Display):
    """The best validation risk at every bandwidth, and the bandwidth's part in the final model.

    Parameters
    ----------
    bandwidths : array
        The candidates.
    risk : array
        Validation risks.
    weight : array
        Weight of each bandwidth.
    """

    def __init__(self, bandwidths: AnyArray, risk: AnyArray, weight: AnyArray):
        self.bandwidths, self.risk, self.weight = bandwidths, risk, weight

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
        return cls(table.bandwidths, getattr(table, loss).min(axis=(1, 2)), table.weight.sum(axis=(1, 2))).plot(ax)

    def plot(self, ax: Axes | None = None) -> BandwidthDisplay:
        """Draw risk and weight of every bandwidth.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; new axes by default.
        """
        ax = _axes(ax)
        places = np.arange(len(self.bandwidths))
        ax.bar(places, self.weight, color=COLORS["unlabeled"], alpha=0.45, label="part in the model")
        ax.plot(places, self.risk, marker="o", color=COLORS["negative"], label="least validation risk")
        ax.set_xticks(places, [f"{bandwidth:.3g}" for bandwidth in self.bandwidths])
        ax.set(xlabel="bandwidth (σ)", ylabel="risk, or part of 1")
        ax.legend(frameon=False)
        return self._keep_axes(ax)


class VarianceRatioDisplay(_Display):
    """How far unlabelled rows cut the variance of a validation risk: Var[PNU] / Var[PN] against their number.

    For the zero-one loss and a fixed classifier, with ψ_c the variances of the means of P, N and U losses,

        Var[PNU at the best mix] = ψ_P + ψ_N − (ψ_N − ψ_P)² / (ψ_P + ψ_N + ψ_U).

    Parameters
    ----------
    n_unlabeled : array
        Numbers of unlabelled rows.
    ratio : array
        Variance ratios at these numbers of rows.
    here : (float, float), optional
        The point to mark.
    """

    def __init__(self, n_unlabeled: AnyArray, ratio: AnyArray, here: tuple[float, float] | None = None):
        self.n_unlabeled, self.ratio, self.here = n_unlabeled, ratio, here

    @classmethod
    def from_counts(
        cls,
        prior: float,
        n_positive: int,
        n_negative: int,
        n_unlabeled: int | None = None,
        *,
        error_rates: tuple[float, float] = (0.2, 0.2),
        ax: Axes | None = None,
    ) -> VarianceRatioDisplay:
        """For a classifier that errs on these shares of the positive and of the negative class.

        Parameters
        ----------
        prior : float
            Share of positives in the population, which the unlabelled rows are drawn from.
        n_positive : int
            Labelled positive rows.
        n_negative : int
            Labelled negative rows.
        n_unlabeled : int
            Unlabelled rows.
        error_rates : (float, float), optional
            Shares of positives and of negatives that the model gets wrong.
        ax : matplotlib axes, optional
            Where to draw; new axes by default.
        """
        most = max(1000, 10 * (n_unlabeled or 100))
        sizes = np.unique(np.geomspace(1, most, 120).astype(int))
        ratios = np.array([variance_ratio(prior, n_positive, n_negative, n, error_rates) for n in sizes])
        here = None
        if n_unlabeled:
            here = (n_unlabeled, variance_ratio(prior, n_positive, n_negative, n_unlabeled, error_rates))
        return cls(sizes, ratios, here).plot(ax)

    def plot(self, ax: Axes | None = None) -> VarianceRatioDisplay:
        """Draw the ratio against the number of rows.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; new axes by default.
        """
        ax = _axes(ax)
        ax.plot(self.n_unlabeled, self.ratio, color=COLORS["negative"])
        ax.axhline(1, color=COLORS["unlabeled"], linestyle=":", label="labelled rows alone")
        if self.here is not None:
            ax.plot(*self.here, "o", color=COLORS["positive"], label=f"{self.here[0]:g} unlabelled rows")
        ax.set(xscale="log", ylim=(0, 1.1), xlabel="unlabelled rows", ylabel="variance ratio")
        ax.legend(frameon=False)
        return self._keep_axes(ax)


def variance_ratio(
    prior: float, n_positive: float, n_negative: float, n_unlabeled: float, error_rates: tuple[float, float]
) -> float:
    """Var[PNU at the best mix] / Var[PN] for the zero-one loss, 1 if unlabelled rows do not help.

    >>> round(variance_ratio(0.3, 10, 10, 10**9, (0.2, 0.2)), 3)
    0.524
    """
    psi = Psi.of_rates(*error_rates, prior=prior, sizes=(n_positive, n_negative, n_unlabeled))
    return psi.ratio(psi.best_mix) if psi.labeled else 1.0


class PriorDisplay(_Display):
    """A class prior with its interval, and its density if it has one, beside the share of positives among the labels.

    Parameters
    ----------
    value : float
        The prior.
    interval : (float, float), optional
        Its confidence interval.
    labeled_share : float, optional
        Share of positives among the labelled rows.
    estimate : PriorEstimate, optional
        The distribution of the prior.
    """

    def __init__(
        self,
        value: float,
        interval: tuple[float, float] | None,
        labeled_share: float | None = None,
        estimate: PriorEstimate | None = None,
    ):
        self.value, self.interval, self.labeled_share = value, interval, labeled_share
        self.mass = None if estimate is None else estimate.mass

    @classmethod
    def from_estimator(
        cls, estimator: PNUClassifier, y: ArrayLike | None = None, *, ax: Axes | None = None
    ) -> PriorDisplay:
        """The prior of a fitted two-class `PNUClassifier`; y adds the share among the labelled rows.

        Parameters
        ----------
        estimator : PNUClassifier
            The classifier.
        y : array (rows,)
            Labels; missing values and `unlabeled` mark unlabelled rows.
        ax : matplotlib axes, optional
            Where to draw; new axes by default.
        """
        check_is_fitted(estimator)
        share = None
        if y is not None:
            codes = decode_labels(y, estimator.unlabeled, classes=estimator.classes_).codes
            share = float(np.mean(codes[codes >= 0] == 1))
        return cls(estimator.prior_, estimator.prior_interval_, share, estimator.prior_estimate_).plot(ax)

    def plot(self, ax: Axes | None = None) -> PriorDisplay:
        """Draw prior, interval and labelled share.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; new axes by default.
        """
        ax = _axes(ax)
        if self.interval is not None:
            ax.plot(self.interval, [0, 0], color=COLORS["positive"], linewidth=4, alpha=0.5, label="interval")
        if self.mass is not None:
            heights = self.mass / np.gradient(density.GRID)
            inside = np.abs(density.GRID - 0.5) < 0.48  # near 0 and 1 a density may have no bound, and is cut
            heights = np.minimum(heights / heights[inside].max(), 1.2)
            few = slice(None, None, 5)  # as many points as a screen can tell apart
            ax.fill_between(density.GRID[few], heights[few], color=COLORS["positive"], alpha=0.2, label="density")
        ax.plot(self.value, 0, "o", color=COLORS["positive"], markersize=9, label="prior")
        if self.labeled_share is not None:
            ax.plot(self.labeled_share, 0, "|", color=COLORS["negative"], markersize=22, label="labelled share")
        bottom, top = (-1.0, 1.0) if self.mass is None else (-0.15, 1.45)
        ax.set(xlim=(0, 1), ylim=(bottom, top), yticks=[], xlabel="share of positives")
        ax.legend(frameon=False, ncols=4, loc="upper center", fontsize="small")
        return self._keep_axes(ax)


class ScoreDisplay(_Display):
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
        ax = _axes(ax)
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
        return self._keep_axes(ax)


class BoundaryDisplay(_Display):
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
        ax = _axes(ax)
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
        return self._keep_axes(ax)
