"""How far unlabelled rows cut the variance of a validation risk."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn.plots.drawing import COLORS, Display, keep_axes, open_axes
from pnulearn.theory import Psi

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class VarianceRatioDisplay(Display):
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
