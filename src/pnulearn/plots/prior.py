"""A class prior and what is known about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from pnulearn._intervals.posterior_grids import GRID
from pnulearn._problem.labels import decode_labels
from pnulearn.plots.drawing import COLORS, Display, keep_axes, open_axes
from pnulearn.priors.estimate import PriorEstimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pnulearn._estimators.classifier import PNUClassifier


class PriorDisplay(Display):
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
        ax = open_axes(ax)
        if self.interval is not None:
            ax.plot(self.interval, [0, 0], color=COLORS["positive"], linewidth=4, alpha=0.5, label="interval")
        if self.mass is not None:
            heights = self.mass / np.gradient(GRID)
            inside = np.abs(GRID - 0.5) < 0.48  # near 0 and 1 a density may have no bound, and is cut
            heights = np.minimum(heights / heights[inside].max(), 1.2)
            few = slice(None, None, 5)  # as many points as a screen can tell apart
            ax.fill_between(GRID[few], heights[few], color=COLORS["positive"], alpha=0.2, label="density")
        ax.plot(self.value, 0, "o", color=COLORS["positive"], markersize=9, label="prior")
        if self.labeled_share is not None:
            ax.plot(self.labeled_share, 0, "|", color=COLORS["negative"], markersize=22, label="labelled share")
        bottom, top = (-1.0, 1.0) if self.mass is None else (-0.15, 1.45)
        ax.set(xlim=(0, 1), ylim=(bottom, top), yticks=[], xlabel="share of positives")
        ax.legend(frameon=False, ncols=4, loc="upper center", fontsize="small")
        return keep_axes(self, ax)
