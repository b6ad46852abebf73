"""The paper's own methods with the squared loss: PNU, PUNU and the supervised and PU risks they are made of."""

from __future__ import annotations

from typing import Any

from pnulearn._estimators.classifier import PNUClassifier
from pnulearn.laboratory.experiments.methods import Method, register_method
from pnulearn.laboratory.experiments.trials import Trial


def _learner(**parameters: Any) -> Any:
    def learn(trial: Trial) -> PNUClassifier:
        common: dict[str, Any] = {"prior": trial.prior, "centers": "all", "random_state": trial.seed}
        model = PNUClassifier(**common | parameters)
        return model.fit(trial.X, trial.y, X_val=trial.X_val, y_val=trial.y_val)

    return learn


ARG_MIN = {"selection": "best", "tie_break": "first"}  # as the paper's code chose

for name, title, parameters in (
    ("pnu", "PNU", ARG_MIN),
    ("pnu-average", "PNU averaged", {"selection": "average"}),
    ("punu", "PUNU", {"risk": "punu", **ARG_MIN}),
    ("pn", "PN", {"risk": "pn", **ARG_MIN}),
    ("pu", "PU", {"risk": "pu", **ARG_MIN}),
    ("pn-average", "PN averaged", {"risk": "pn", "selection": "average"}),
    ("pn-labeled", "PN, centres at labelled rows", {"risk": "pn", "selection": "average", "centers": "labeled"}),
    ("pnu-both", "PNU averaged, columns as given and as ranks", {"selection": "average", "columns": "both"}),
    ("pnu-ties", "PNU, ties by risk", {"selection": "best"}),
):
    register_method(Method(name, title, _learner(**parameters)))
