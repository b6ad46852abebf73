"""What a fitted classifier shows in a notebook below scikit-learn's own diagram: what was learnt, how good it is."""

from __future__ import annotations

from typing import Any

import numpy as np

from pnulearn._basis.kernels import KERNELS
from pnulearn._html import show_facts


def learnt_table(model: Any) -> str:
    """An HTML table of the facts a reader wants first, with everything escaped; empty before fitting."""
    if not hasattr(model, "search_"):
        return ""
    return show_facts("learnt", facts(model))


def facts(model: Any) -> dict[str, str]:
    """Names and values as text."""
    answer = {"classes": ", ".join(map(str, model.classes_.tolist()))}
    prior = ", ".join(f"{value:.3f}" for value in np.atleast_1d(model.prior_))
    interval = model.prior_interval_
    if (
        interval is not None
        and np.ndim(model.prior_) == 0
        and np.isfinite(interval).all()
        and interval[0] < interval[1]
    ):
        prior += f" (interval {interval[0]:.3f} to {interval[1]:.3f})"
    answer["prior"] = prior
    answer["candidates"] = f"{model.search_.weight.size} searched"
    answer["best candidate"] = f"mix {model.mix_:.2g}, alpha {model.alpha_:.2g}"
    if KERNELS[model.kernel].has_bandwidth:
        answer["best candidate"] += f", bandwidth {model.bandwidth_:.3g}"
    if model.search_.columns is not None:
        answer["best candidate"] += f", columns {'as ranks' if model.columns_ == 'ranks' else 'as given'}"
    if model.risk_ is not None:
        answer["validation error"] = str(model.risk_)
    return answer
