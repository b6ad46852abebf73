"""The paper's five rivals, each with the known prior and, as in their original codes, with the labelled share.

ER, LapSVM and SMIR search their full grids. WellSVM and S4VM take seconds per candidate, so they search fewer:
three bandwidths (1/2, 1 and 2 times the median distance) and few costs of unlabelled rows around the originals'
default 0.1; S4VM starts from 30 labellings instead of 100.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.spatial.distance import pdist

from pnulearn import baselines
from pnulearn.laboratory.experiments.methods import Method, register_method
from pnulearn.laboratory.experiments.trials import Trial

COARSE_FACTORS = (0.5, 1.0, 2.0)
COARSE: dict[str, dict[str, Any]] = {
    "WellSVM": {"C_unlabeled": (0.01, 0.1, 1.0)},
    "S4VM": {"C_unlabeled": (0.01, 0.1), "n_starts": 30, "n_separators": 6},
}


def _learner(rival: str, labeled_share: bool) -> Any:
    def learn(trial: Trial) -> Any:
        parameters = dict(COARSE.get(rival, {}))
        if rival in COARSE:
            parameters["bandwidth"] = np.median(pdist(trial.X)) * np.array(COARSE_FACTORS)
        prior = "labeled" if labeled_share else trial.prior
        model = getattr(baselines, rival)(prior=prior, random_state=trial.seed, **parameters)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about candidates that will not be chosen
            return model.fit(trial.X, trial.y, X_val=trial.X_val, y_val=trial.y_val)

    return learn


for name, title, rival in (
    ("er", "ER", "EntropyRegularizedClassifier"),
    ("lapsvm", "LapSVM", "LaplacianSVM"),
    ("smir", "SMIR", "SMIRClassifier"),
    ("wellsvm", "WellSVM", "WellSVM"),
    ("s4vm", "S4VM", "S4VM"),
):
    if not hasattr(baselines, rival):
        continue
    register_method(Method(name, title, _learner(rival, labeled_share=False), "rival"))
    register_method(Method(f"{name}-labeled", f"{title}, labelled share", _learner(rival, labeled_share=True), "rival"))
