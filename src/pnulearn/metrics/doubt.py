"""Does a given prior agree with the rows? If it is right, U is a mixture of the classes in these shares."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn.priors.estimate import PriorEstimate

ALARMING_Z = 2.5  # the judge is asked often, and a right prior may be doubted once in a hundred times


@dataclass(frozen=True)
class Contradiction:
    """How many standard errors a prior and the rows are apart, and the prior that would agree with them."""

    given: float
    suggested: float
    distance: float

    def __str__(self) -> str:
        return (
            f"prior={self.given:g} was given, but the unlabelled rows look as if it were about {self.suggested:.2f} "
            f"({self.distance:.1f} standard errors apart). If the labelled rows are typical of their classes, check "
            "the prior"
        )


def contradict(values: Sequence[AnyArray], weights: Sequence[AnyArray], prior: float) -> Contradiction | None:
    """What any function of the rows, greater for positive ones, says against the prior; None if it cannot tell.

    C = mean_U − θ mean_P − (1 − θ) mean_N is zero on average under the right θ, whatever the function is. Its variance
    allows for a row more or less in either class, as the estimate of the prior does.

    >>> values = [np.repeat([1.0, 0.0], pair) for pair in ((27, 3), (3, 27), (340, 660))]
    >>> print(contradict(values, [np.ones(len(part)) for part in values], 0.6).suggested)
    0.3
    """
    if min(map(len, values)) < 2:
        return None
    means, variances = zip(*map(_mean, values, weights), strict=True)
    sizes = np.array([weight.sum() for weight in weights[:2]])
    gap, factors = means[0] - means[1], np.array([prior, 1 - prior])
    excess = means[2] - factors @ means[:2]
    spread = variances[2] + factors**2 @ (np.array(variances[:2]) + gap**2 / sizes**2)
    if gap <= 0 or spread <= 0:
        return None
    return Contradiction(prior, float(np.clip((means[2] - means[1]) / gap, 0, 1)), abs(excess) / float(np.sqrt(spread)))


def warn_of_contradicted_prior(scores: Sequence[AnyArray], weights: Sequence[AnyArray], belief: PriorEstimate) -> None:
    """Say so if a prior that was given as certain is far from what decisions at zero on P, N and U say."""
    if belief.spread:
        return
    called = [(np.sign(g) + 1) / 2 for g in scores]
    found = contradict(called, weights, float(belief.mean))
    if found is not None and found.distance > ALARMING_Z:
        warnings.warn(f"{found}, or pass what is known about it, e.g. as a range.", UserWarning, stacklevel=3)


def _mean(values: AnyArray, weight: AnyArray) -> tuple[float, float]:
    """A weighted mean and its variance."""
    share = weight / weight.sum()
    mean = float(share @ values)
    size = 1 / float(share @ share)
    return mean, float(share @ (values - mean) ** 2) / max(size - 1, 1)
