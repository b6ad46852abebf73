"""Displays of the class prior's distribution, and of the variance of risks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from pnulearn._arrays import AnyArray
from pnulearn._intervals.posterior_grids import GRID
from pnulearn._problem.labels import decode_labels
from pnulearn.plots._style import COLORS, Display, keep_axes, open_axes
from pnulearn.priors._estimate import PriorEstimate
from pnulearn.theory import Psi

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pnulearn._estimators.classifier import PNUClassifier


# Class prior with its distribution.


class PriorDisplay(Display):
    """A class prior with its interval, its density if it has one, and the share of positives among the labels.

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
        ax = open_axes(ax)
        if self.interval is not None:
            ax.plot(self.interval, [0, 0], color=COLORS["positive"], linewidth=4, alpha=0.5, label="interval")
        if self.mass is not None:
            heights = self.mass / np.gradient(GRID)
            inside = np.abs(GRID - 0.5) < 0.48  # near 0 and 1 the density may be unbounded, so it is truncated
            heights = np.minimum(heights / heights[inside].max(), 1.2)
            few = slice(None, None, 5)  # enough points for the resolution of a screen
            ax.fill_between(GRID[few], heights[few], color=COLORS["positive"], alpha=0.2, label="density")
        ax.plot(self.value, 0, "o", color=COLORS["positive"], markersize=9, label="prior")
        if self.labeled_share is not None:
            ax.plot(self.labeled_share, 0, "|", color=COLORS["negative"], markersize=22, label="labelled share")
        bottom, top = (-1.0, 1.0) if self.mass is None else (-0.15, 1.45)
        ax.set(xlim=(0, 1), ylim=(bottom, top), yticks=[], xlabel="share of positives")
        ax.legend(frameon=False, ncols=4, loc="upper center", fontsize="small")
        return keep_axes(self, ax)


# Reduction of the variance of a validation risk by unlabelled rows.


class VarianceRatioDisplay(Display):
    """Reduction of the variance of a validation risk by unlabelled rows: Var[PNU] / Var[PN] against their number.

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
        """For a classifier with these error rates on the positive and on the negative class.

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
        ax = open_axes(ax)
        ax.plot(self.n_unlabeled, self.ratio, color=COLORS["negative"])
        ax.axhline(1, color=COLORS["unlabeled"], linestyle=":", label="labelled rows alone")
        if self.here is not None:
            ax.plot(*self.here, "o", color=COLORS["positive"], label=f"{self.here[0]:g} unlabelled rows")
        ax.set(xscale="log", ylim=(0, 1.1), xlabel="unlabelled rows", ylabel="variance ratio")
        ax.legend(frameon=False)
        return keep_axes(self, ax)


def variance_ratio(
    prior: float, n_positive: float, n_negative: float, n_unlabeled: float, error_rates: tuple[float, float]
) -> float:
    """Var[PNU at the best mix] / Var[PN] for the zero-one loss, 1 if unlabelled rows do not help.

    >>> round(variance_ratio(0.3, 10, 10, 10**9, (0.2, 0.2)), 3)
    0.524
    """
    psi = Psi.of_rates(*error_rates, prior=prior, sizes=(n_positive, n_negative, n_unlabeled))
    return psi.ratio(psi.best_mix) if psi.labeled else 1.0
