"""How far the labelling has come: what is known, how well, and what more labels would bring."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from typing import Any

from pnulearn._intervals.confidence_sequences import labels_for_half_width
from pnulearn.labeling.judging import Share, state_share
from pnulearn.priors import PriorEstimate
from pnulearn.priors.resolve import read_share

NEXT = 10  # labels that the forecast is about


@dataclass(frozen=True)
class Goal:
    """Half-widths of the intervals that are wished for; None for any.

    Parameters
    ----------
    error : float or None
        Of the error.
    prior : float or None
        Of every class's share.
    """

    error: float | None = 0.05
    prior: float | None = None

    @classmethod
    def of(cls, wished: float | Goal) -> Goal:
        """A goal from what a user may say, refused where no interval can be so wide.

        Parameters
        ----------
        wished : float or Goal
            The half-width of the error's interval, or of more.
        """
        goal = wished if isinstance(wished, Goal) else cls(error=read_share(wished, "goal"))
        for width in (goal.error, goal.prior):
            if width is not None and not 0 < width < 1:
                raise ValueError(f"A half-width lies between 0 and 1, such as 0.05 for plus or minus 5 %; got {width}.")
        return goal


@dataclass(frozen=True)
class Standing:
    """What is known after so many labels.

    All intervals hold at all times together with the stated confidence: one may look after every label and stop
    whenever one likes.

    Parameters
    ----------
    n_labels : int
        Answers that say how good the model is: those of rows that were drawn, not labels that were there before.
    counts : dict
        Labels of every class, labels from before included.
    error : Share or None
        The model's error in the population; None if rows are never drawn at random, so that nothing can be said.
    prior : dict
        The share of every class in the population; empty likewise.
    confidence : float
        Of the intervals.
    goal : Goal
        What is wished for.
    n_left : int
        Rows that were neither labelled nor asked.
    n_more : int or None
        About how many labels more reach the goal; None if more than all rows that are left.
    after_ten : float or None
        The half-width of the error's interval that is expected after ten more labels.
    model : classifier or None
        The model that was judged; None as long as it is "always the most frequent class".
    prior_estimate : PriorEstimate or None
        The shares as a distribution, as classifiers take it.
    """

    n_labels: int
    counts: dict[Hashable, int]
    error: Share | None
    prior: dict[Hashable, Share]
    confidence: float
    goal: Goal
    n_left: int = 0
    n_more: int | None = None
    after_ten: float | None = None
    model: Any = field(default=None, repr=False)
    prior_estimate: PriorEstimate | None = field(default=None, repr=False)

    @property
    def is_enough(self) -> bool:
        """Whether the intervals are as narrow as was wished for."""
        return self.n_more == 0

    def knowing(self, error: Share, prior: dict[Hashable, Share], prior_estimate: PriorEstimate | None) -> Standing:
        """With what is known of error and shares.

        Parameters
        ----------
        error : Share
            The model's error.
        prior : dict
            The share of every class.
        prior_estimate : PriorEstimate or None
            The shares as a distribution.
        """
        return replace(self, error=error, prior=prior, prior_estimate=prior_estimate).aimed(self.goal)

    def aimed(self, goal: Goal) -> Standing:
        """The same knowledge, with what it takes from here to another goal.

        Parameters
        ----------
        goal : Goal
            What is wished for.
        """
        more, later = forecast(self, goal)
        return replace(self, goal=goal, n_more=more, after_ten=later)


def forecast(standing: Standing, goal: Goal) -> tuple[int | None, float | None]:
    """Labels until the goal is reached (None: never), and the error's half-width after ten more."""
    n_labels, n_left, error, confidence = standing.n_labels, standing.n_left, standing.error, standing.confidence
    if not n_labels or error is None:
        return None, None
    needs = [
        labels_for_half_width(share.value, share.n_effective, n_labels, width, confidence, n_left)
        for width, shares in ((goal.error, [error]), (goal.prior, list(standing.prior.values())))
        if width is not None
        for share in shares
    ]
    more = None if not needs or None in needs else max(need for need in needs if need is not None)
    n = n_labels + min(NEXT, n_left)
    later = state_share(error.value, error.n_effective * n / n_labels, n, confidence)
    return more, later.half_width
