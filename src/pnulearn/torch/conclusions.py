"""After training: the risk of what was learnt, its probabilities, and whether U contradicts the prior."""

from __future__ import annotations

from typing import Any

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._learning.calibration import fit_slope, score_calibration
from pnulearn._learning.result import doubt_prior, judge_model
from pnulearn._problem.samples import Samples
from pnulearn.losses import Loss, as_loss
from pnulearn.priors.estimate import PriorEstimate
from pnulearn.torch.modules import score_rows
from pnulearn.torch.training import Trained


def conclude(trained: Trained, rows: Samples, judged: Samples, prior: PriorEstimate, loss: Any) -> dict[str, Any]:
    """Attributes of a fitted estimator, with their underscores."""

    def final_scores(X: Any) -> AnyArray:
        return np.mean([score_rows(net, X) for net in trained.networks], axis=0)[None]

    learnt: dict[str, Any] = {
        "networks_": trained.networks,
        "n_epochs_": trained.n_epochs,
        "training_risks_": trained.training_risks,
        "risk_": None,
        "prior_doubt_": None,
    }
    if trained.watch is None:
        shown = final_scores(rows.X)
        if isinstance(loss, str | Loss):
            return learnt | {"calibration_": score_calibration(as_loss(loss), shown, rows, prior.shares)}
        return learnt | {"calibration_": _slope(shown, rows, prior)}
    scores = trained.watch.judged()
    learnt |= {"validation_scores_": scores, "validation_risks_": np.array(trained.watch.risks)}
    learnt["risk_"] = judge_model(judged, scores[None], final_scores, prior)
    learnt["prior_doubt_"] = doubt_prior(judged, scores, float(prior)) if prior.is_known else None
    # Networks are surer of themselves than they should be, so not even a loss with a link is taken at its word.
    return learnt | {"calibration_": _slope(scores[None], judged, prior)}


def _slope(scores: AnyArray, rows: Samples, prior: PriorEstimate) -> AnyArray:
    return np.array([[fit_slope(scores, rows, prior.shares), 0.0]])
