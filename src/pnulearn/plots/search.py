"""What the search over mixes, alphas and bandwidths found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from sklearn.utils.validation import check_is_fitted

from pnulearn._arrays import AnyArray
from pnulearn.plots.drawing import COLORS, Display, keep_axes, open_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pnulearn._estimators.classifier import PNUClassifier


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
    """The best validation risk at every bandwidth, and the bandwidth's part in the final model.

    Parameters
    ----------
    bandwidths : array
        The candidates.
    risk : array
        Validation risks.
    weight : array
        Weight of each bandwidth.
    columns : sequence of str, optional
        What the columns are to each bandwidth, "given" or "ranks".
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
        ax.bar(places, self.weight, color=COLORS["unlabeled"], alpha=0.45, label="part in the model")
        ax.plot(places, self.risk, marker="o", color=COLORS["negative"], label="least validation risk")
        names = [f"{bandwidth:.3g}" for bandwidth in self.bandwidths]
        if self.columns is not None:
            names = [f"{name}\n{column}" for name, column in zip(names, self.columns, strict=True)]
        ax.set_xticks(places, names)
        ax.set(xlabel="bandwidth (σ)", ylabel="risk, or part of 1")
        ax.legend(frameon=False)
        return keep_axes(self, ax)
