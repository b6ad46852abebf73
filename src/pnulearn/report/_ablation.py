"""Ablation: the model beside models without one of its ingredients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from pnulearn._arrays import AnyArray
from pnulearn._estimators.auto import PNU, AutoPNU
from pnulearn._estimators.classifier import PNUClassifier
from pnulearn._kernels.registry import KERNELS
from pnulearn._problem.labels import Labels
from pnulearn.inspection import estimate_rise
from pnulearn.metrics._estimate import Estimate
from pnulearn.tables._model import Fitted

# The candidate with most weight as a classifier of its own, which is fitted in a moment.


def best_candidate(classifier: PNUClassifier | AutoPNU, **parameters: Any) -> Any:
    """A classifier with the settings that the search found and the prior that it used, unfitted.

    Of several learners it is the one with most weight.
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
        "columns": getattr(classifier, "columns_", "given"),  # models of older versions know no other
        "selection": "best",
        "prior": as_given(classifier),
        "risk": classifier.risk_used_,
    }
    return clone(classifier).set_params(**settings | parameters)


def as_given(classifier: PNUClassifier | AutoPNU) -> Any:
    """The prior that was used, as it would be given."""
    if np.ndim(classifier.prior_) == 0:
        return float(classifier.prior_)
    return dict(zip(classifier.classes_.tolist(), np.asarray(classifier.prior_).tolist(), strict=True))


# What each ingredient brought: the model beside models that do without.

ALONE = " alone"  # ends the name of a learner without the others
FEWEST = 2  # labelled rows of every class that a supervised model needs


@dataclass(frozen=True)
class Ablation:
    """A model that does without something: its words, and how much more often it errs than the model of the report."""

    name: str
    what: str
    rise: Estimate


def run_ablations(fitted: Fitted) -> list[Ablation]:
    """From labels alone to the model itself, judged row by row on the same held-out rows."""
    classifier = fitted.model.classifier
    before = decide(classifier.validation_scores_)
    labels = Labels(classifier.classes_, fitted.codes)
    ablations = []
    for name, what, decisions in _others(fitted):
        rise = estimate_rise(labels, classifier.prior_estimate_, before, decisions[None], 0.95)
        ablations.append(Ablation(name, what, rise))
    return ablations


def decide(scores: AnyArray) -> AnyArray:
    """Class codes of scores."""
    scores = np.nan_to_num(scores)  # of a row that was never held out
    return (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)


def _others(fitted: Fitted) -> list[tuple[str, str, AnyArray]]:
    classifier, codes = fitted.model.classifier, fitted.codes
    if isinstance(classifier, AutoPNU):
        return _learners(classifier)
    found = []
    if np.min(np.bincount(codes[codes >= 0], minlength=len(classifier.classes_))) >= FEWEST:
        alone = "a supervised model that has never seen an unlabelled row, and takes the labels' mixture for the truth"
        found.append(("labels alone", alone, _supervised(fitted, "labeled")))
        share = "the same, told the shares of the classes that this model uses"
        found.append(("labels and prior", share, _supervised(fitted, as_given(classifier))))
    if classifier.selection == "average":
        single = "all rows, but only the candidate with most weight instead of the average of all"
        model = best_candidate(classifier).fit(fitted.X, Labels(classifier.classes_, codes))
        found.append(("without averaging", single, decide(model.validation_scores_)))
    return found


def _learners(classifier: AutoPNU) -> list[tuple[str, str, AnyArray]]:
    """Every learner of an average alone, on the rows that it did not learn from."""
    if len(classifier.members_) == 1:
        return []
    pairs = zip(classifier.members_, classifier.member_scores_, strict=True)
    return [
        (f"{member.name}{ALONE}", f"this learner only; its part in the model is {member.weight:.0%}", _codes(scores))
        for member, scores in pairs
        if scores is not None
    ]


def _codes(scores: AnyArray) -> AnyArray:
    """Class codes of held-out scores (K, n)."""
    return decide(scores[0] if len(scores) == 1 else scores.T)


def _supervised(fitted: Fitted, prior: Any) -> AnyArray:
    """Decisions of a model that learns from the labelled rows alone, whose centres are labelled rows, too.

    It is a fit of its own: the candidates of the search at mix 0 have centres at unlabelled rows, so they have learnt
    from them. To it every unlabelled row is new; labelled rows are scored out of fold.
    """
    classifier, codes = fitted.model.classifier, fitted.codes
    labeled = np.flatnonzero(codes >= 0)
    supervised: PNUClassifier = clone(classifier).set_params(risk="pn", prior=prior, mix=None, sampling="by_class")
    supervised.fit(fitted.X[labeled], Labels(classifier.classes_, codes[labeled]))
    scores = supervised.decision_function(fitted.X)
    scores[labeled] = supervised.validation_scores_
    return decide(scores)
