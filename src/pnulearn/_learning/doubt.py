"""Does a given prior agree with the rows? If it is right, U is a mixture of the classes in these shares."""

from __future__ import annotations

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._problem.samples import Samples

LARGEST_Z = 2.0


def doubt_prior(rows: Samples, scores: AnyArray, prior: float) -> str | None:
    """A sentence if held-out scores (n,) contradict the prior, else None; NaN marks rows without a score.

    C = mean_U g − θ mean_P g − (1 − θ) mean_N g is zero on average under the right θ, whatever the scores are; they are
    cut at ±1, where a row is as clear as can be. Its variance allows for a row more or less in either class, as the
    estimate of the prior does.
    """
    g = np.clip(scores, -1, 1)
    groups = [group[~np.isnan(g[group])] for group in rows.split()]
    if min(map(len, groups)) < 2:
        return None
    means, variances = zip(*(_mean(g[group], rows.weight[group]) for group in groups), strict=True)
    sizes = np.array([rows.weight[group].sum() for group in groups[:2]])
    gap, factors = means[0] - means[1], np.array([prior, 1 - prior])
    excess = means[2] - factors @ means[:2]
    spread = variances[2] + factors**2 @ (np.array(variances[:2]) + gap**2 / sizes**2)
    if gap <= 0 or spread <= 0 or abs(excess) <= LARGEST_Z * np.sqrt(spread):
        return None
    suggested = float(np.clip((means[2] - means[1]) / gap, 0, 1))
    return (
        f"prior={prior:g} was given, but the unlabelled rows look as if it were about {suggested:.2f} "
        f"({abs(excess) / np.sqrt(spread):.1f} standard errors apart). If the labelled rows are typical of their "
        "classes, check the prior, or leave it out to have it estimated."
    )


def _mean(values: AnyArray, weight: AnyArray) -> tuple[float, float]:
    """A weighted mean and its variance."""
    share = weight / weight.sum()
    mean = float(share @ values)
    size = 1 / float(share @ share)
    return mean, float(share @ (values - mean) ** 2) / max(size - 1, 1)
