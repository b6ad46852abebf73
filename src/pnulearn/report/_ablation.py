"""Ablation: the model compared with models that lack one of its components."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from pnulearn._arrays import AnyArray
from pnulearn._estimators.auto import AutoPNU
from pnulearn._estimators.classifier import PNUClassifier
from pnulearn._estimators.learners import PNU
from pnulearn._kernels.registry import KERNELS
from pnulearn._problem.labels import Labels
from pnulearn.inspection import estimate_rise
from pnulearn.metrics._estimate import Estimate
from pnulearn.tables._model import Fitted


def best_candidate(classifier: PNUClassifier | AutoPNU, **parameters: Any) -> Any:
    """An unfitted classifier with the settings of the best candidate and the prior that was used.

    For AutoPNU it is the learner with the largest weight. It fits much faster than the whole search.
    """
    if isinstance(classifier, AutoPNU):
        most = max(classifier.members_, key=lambda member: member.weight).name
        own = best_candidate(classifier.pnu_) if classifier.pnu_ is not None and most == PNU else None
        fresh = AutoPNU((most,), own, prior=as_given(classifier), random_state=classifier.random_state)
        return fresh.set_params(**parameters)
    settings = {
        "mix": classifier.mix_,
        "alpha": classifier.alpha_,
        "bandwidth": classifier.bandwidth_ if KERNELS[classifier.kernel].has_bandwidth else None,
        "columns": getattr(classifier, "columns_", "given"),  # models saved by older versions lack it
        "selection": "best",
        "prior": as_given(classifier),
        "risk": classifier.risk_used_,
    }
    return clone(classifier).set_params(**settings | parameters)


def as_given(classifier: PNUClassifier | AutoPNU) -> Any:
    """The prior that was used, as a value for the parameter `prior`."""
    if np.ndim(classifier.prior_) == 0:
        return float(classifier.prior_)
    return dict(zip(classifier.classes_.tolist(), np.asarray(classifier.prior_).tolist(), strict=True))


ALONE = " alone"  # suffix of the name of a single learner of AutoPNU
FEWEST = 2  # labelled rows of every class that a supervised model needs


@dataclass(frozen=True)
class Ablation:
    """A model that lacks a component: its name, a description, and the increase of its error over the full model."""

    name: str
    what: str
    rise: Estimate


def run_ablations(fitted: Fitted) -> list[Ablation]:
    """Compare the model with its ablations on the same held-out rows, in pairs."""
    classifier = fitted.model.classifier
    before = decide(classifier.validation_scores_)
    labels = Labels(classifier.classes_, fitted.codes)
    ablations = []
    for name, what, decisions in _others(fitted):
        rise = estimate_rise(labels, classifier.prior_estimate_, before, decisions[None], 0.95)
        ablations.append(Ablation(name, what, rise))
    return ablations


def decide(scores: AnyArray) -> AnyArray:
    """Predicted class codes from scores."""
    scores = np.nan_to_num(scores)  # NaN for a row that was never held out
    return (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)


def _others(fitted: Fitted) -> list[tuple[str, str, AnyArray]]:
    classifier, codes = fitted.model.classifier, fitted.codes
    if isinstance(classifier, AutoPNU):
        return _learners(classifier)
    found = []
    if np.min(np.bincount(codes[codes >= 0], minlength=len(classifier.classes_))) >= FEWEST:
        alone = "a supervised model without unlabelled rows; the class prior is the class share among the labels"
        found.append(("labels alone", alone, _supervised(fitted, "labeled")))
        share = "the same, with the class prior of this model"
        found.append(("labels and prior", share, _supervised(fitted, as_given(classifier))))
    if classifier.selection == "average":
        single = "all rows, but only the candidate with the largest weight instead of the average"
        model = best_candidate(classifier).fit(fitted.X, Labels(classifier.classes_, codes))
        found.append(("without averaging", single, decide(model.validation_scores_)))
    return found


def _learners(classifier: AutoPNU) -> list[tuple[str, str, AnyArray]]:
    """Every learner of AutoPNU alone, with its decisions on held-out rows."""
    if len(classifier.members_) == 1:
        return []
    pairs = zip(classifier.members_, classifier.member_scores_, strict=True)
    return [
        (f"{member.name}{ALONE}", f"this learner only; its weight in the model is {member.weight:.0%}", _codes(scores))
        for member, scores in pairs
        if scores is not None
    ]


def _codes(scores: AnyArray) -> AnyArray:
    """Predicted class codes from held-out scores (K, n)."""
    return decide(scores[0] if len(scores) == 1 else scores.T)


def _supervised(fitted: Fitted, prior: Any) -> AnyArray:
    """Decisions of a model that is fitted to the labelled rows only and has its centres at labelled rows.

    It needs a separate fit, because candidates of the search with mix 0 have centres at unlabelled rows and so depend
    on them. Labelled rows are scored out of fold.
    """
    classifier, codes = fitted.model.classifier, fitted.codes
    labeled = np.flatnonzero(codes >= 0)
    supervised: PNUClassifier = clone(classifier).set_params(risk="pn", prior=prior, mix=None, sampling="by_class")
    supervised.fit(fitted.X[labeled], Labels(classifier.classes_, codes[labeled]))
    scores = supervised.decision_function(fitted.X)
    scores[labeled] = supervised.validation_scores_
    return decide(scores)
