"""Does a given prior agree with the held-out scores of a fit?"""

from __future__ import annotations

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._problem.samples import Samples
from pnulearn.metrics._risk import contradict_prior

LARGEST_Z = 2.0


def doubt_prior(rows: Samples, scores: AnyArray, prior: float) -> str | None:
    """A sentence if held-out scores (n,) contradict the prior, else None; NaN marks rows without a score.

    Scores are cut at ±1, where a row is as clear as can be.
    """
    g = np.clip(scores, -1, 1)
    groups = [group[~np.isnan(g[group])] for group in rows.split()]
    found = contradict_prior([g[group] for group in groups], [rows.weight[group] for group in groups], prior)
    if found is None or found.distance <= LARGEST_Z:
        return None
    return f"{found}, or leave it out to have it estimated."
