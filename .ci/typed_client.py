"""A client project in a few lines; `mypy --strict` must find nothing, and the types it reveals must be ours."""

import numpy as np

from pnulearn import PNUClassifier, estimate_prior, load, pnu_risk
from pnulearn.metrics import RiskEstimate
from pnulearn.priors import PriorEstimate
from pnulearn.risks import Risk, pnu

X = np.random.default_rng(0).normal(size=(60, 2))
y = np.r_[np.ones(10), np.zeros(10), np.full(40, np.nan)]
prior: PriorEstimate = estimate_prior(X, y)
model: PNUClassifier = PNUClassifier(prior=prior.value).fit(X, y)
risk: RiskEstimate = pnu_risk(y, model.decision_function(X), prior=prior.value)
table: Risk = pnu(0.3, eta=0.5)
model.save("model.pnu")
again: PNUClassifier = load("model.pnu")
wrong: str = pnu(0.3, eta=0.5)  # type: ignore[assignment]  # without our types this comment would be unused
