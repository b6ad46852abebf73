"""A scikit-learn scorer that also uses unlabelled rows, and signed scores of any classifier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.metadata_routing import MetadataRequest

from pnulearn._arrays import AnyArray
from pnulearn._problem.alignment import refuse_misaligned
from pnulearn._problem.labels import Labels, decode_labels, refuse_more_than_two
from pnulearn._problem.samples import BY_CLASS, Sampling, read_sampling
from pnulearn.losses import Loss, as_loss
from pnulearn.metrics._population import one_sample
from pnulearn.metrics._risk import Mix, unclipped_risk
from pnulearn.metrics._scored_rows import EQUAL_COSTS, read_costs, read_scores, split_scored_rows
from pnulearn.priors._resolve import read_prior


@dataclass(frozen=True)
class PNUScorer:
    """Negative PNU risk of a fitted classifier (greater is better). Created by `make_pnu_scorer`."""

    prior: float
    mix: Mix = "heuristic"
    loss: str | Loss = "zero_one"
    nonnegative: bool = False
    unlabeled: Any = None
    pos_label: Any = None
    costs: tuple[float, float] = EQUAL_COSTS
    sampling: Sampling = BY_CLASS

    def __call__(self, estimator: Any, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        refuse_misaligned(X=X, y=y, sample_weight=sample_weight)
        negative, positive = two_classes(estimator, self.unlabeled, self.pos_label)
        rows = split_scored_rows(y, self.unlabeled, positive, sample_weight)
        scores = read_scores(signed_scores(estimator, X, negative, positive), len(rows.weight), 0.0)
        if one_sample(rows, self.sampling) is not None:  # U and the labelled rows stand for the population
            rows = replace(rows, rows=(*rows.rows[:2], np.concatenate(rows.rows)))
        return -unclipped_risk(
            rows.take(scores),
            self.prior,
            self.mix,
            self.loss,
            weights=rows.weights,
            nonnegative=self.nonnegative,
            costs=self.costs,
        )

    def set_score_request(self, *, sample_weight: bool | str | None) -> PNUScorer:
        """Say whether scikit-learn's tools pass `sample_weight` to the scorer, if metadata routing is enabled.

        Parameters
        ----------
        sample_weight : bool, str or None
            True to request weights, False to ignore them, None to stop if they are given, or the name under which they
            are given.
        """
        object.__setattr__(self, "_weight_request", sample_weight)
        return self

    def get_metadata_routing(self) -> MetadataRequest:
        """The metadata that `set_score_request` asked for."""
        request = MetadataRequest(owner=type(self).__name__)
        request.score.add_request(param="sample_weight", alias=getattr(self, "_weight_request", None))
        return request


def make_pnu_scorer(
    prior: float,
    *,
    mix: Mix = "heuristic",
    loss: str | Loss = "zero_one",
    nonnegative: bool = False,
    unlabeled: Any = None,
    pos_label: Any = None,
    costs: tuple[float, float] = EQUAL_COSTS,
    sampling: Sampling = BY_CLASS,
) -> PNUScorer:
    """A scorer for `GridSearchCV(..., cv=PNUStratifiedKFold(5), scoring=make_pnu_scorer(prior=0.3))`.

    The score is the negative PNU risk, so greater is better. For the zero-one loss, 1 + score estimates the accuracy.
    The default mix, "heuristic", is the same for all candidates, so their scores are comparable.

    Parameters
    ----------
    prior : float, (float, float), distribution or PriorEstimate
        Class prior: share of positives in the population that the unlabelled rows come from. It may be uncertain; see
        `pnu_risk`.
    mix : float or str
        Weight η of U in [−1, 1], or the name of a rule that chooses it, as in `pnu_risk`.
    loss : str or Loss
        Name of a loss, or a `Loss`.
    nonnegative : bool
        Clip the class risk estimated from U at zero.
    unlabeled : object, optional
        Value in y that marks unlabelled rows, in addition to missing values.
    pos_label : object, optional
        The positive class. Default: the larger label.
    costs : (float, float)
        Cost of a false negative and cost of a false positive.
    sampling : "by_class" or "random"
        As in `pnu_risk`; it matters with labels of one class alone.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import cross_val_score
    >>> from pnulearn._problem.folds import PNUStratifiedKFold
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([1.0, 0.0, np.nan], [20, 20, 200])
    >>> X = rng.normal(size=(240, 2)) + 2 * np.concatenate([np.ones(20), np.zeros(20), rng.random(200) < 0.3])[:, None]
    >>> scores = cross_val_score(
    ...     LogisticRegression(), X, y, cv=PNUStratifiedKFold(5, random_state=0), scoring=make_pnu_scorer(prior=0.3)
    ... )
    >>> round(float(1 + scores.mean()), 2)
    0.86
    """
    as_loss(loss)
    return PNUScorer(
        float(read_prior(prior).mean),
        mix,
        loss,
        nonnegative,
        unlabeled,
        pos_label,
        read_costs(costs),
        read_sampling(sampling),
    )


def two_classes(estimator: Any, unlabeled: Any = None, pos_label: Any = None) -> tuple[Any, Any]:
    """The negative and the positive label of a fitted classifier, ignoring the marker of unlabelled rows."""
    classes = getattr(estimator, "classes_", None)
    if classes is None:
        raise TypeError(f"{type(estimator).__name__} has no classes_: a fitted classifier is needed.")
    names = [name for name in np.asarray(classes).tolist() if unlabeled is None or name != unlabeled]
    refuse_more_than_two(names, "the classifier has")
    if pos_label is not None or len(names) == 1:
        names = decode_labels([*names, None], None, pos_label).classes.tolist()
    return names[0], names[1]


def decode_for(models: Sequence[Any], y: ArrayLike, unlabeled: Any = None, pos_label: Any = None) -> Labels:
    """Decode y with the classes of the models; a label that is not a class of a model raises an error."""
    labels = decode_labels(y, unlabeled, pos_label)
    refuse_more_than_two(labels.classes)
    for model in models:
        names = np.asarray(getattr(model, "classes_", labels.classes)).tolist()
        unknown = [name for name in labels.classes[labels.counts > 0].tolist() if name not in names]
        if unknown:
            raise ValueError(
                f"y holds {unknown[0]!r}, which is not a class of {type(model).__name__}: its classes are {names}. Use "
                "the labels that the model was fitted to. If this value marks unlabelled rows, pass "
                f"unlabeled={unknown[0]!r}."
            )
        if not labels.counts.all() and len(names) == 2:  # y has one class; take the other from the model
            seen = labels.classes[int(np.argmax(labels.counts))].item()
            other = next(name for name in names if name != seen)
            positive = names[1] if pos_label is None else pos_label
            labels = decode_labels(
                y, unlabeled, classes=np.array([seen, other] if positive == other else [other, seen])
            )
    return labels


def signed_scores(estimator: Any, X: Any, negative: Any, positive: Any) -> AnyArray:
    """g(x), positive for the positive class: from decision_function, else predict_proba, else predict.

    If the classifier has a third class (the marker of unlabelled rows), g is the difference of the two columns.
    """
    for method in ("decision_function", "predict_proba"):
        if hasattr(estimator, method):
            return _orient(np.asarray(getattr(estimator, method)(X)), list(estimator.classes_), negative, positive)
    predicted = np.asarray(estimator.predict(X))
    return (predicted == positive) * 1.0 - (predicted == negative) * 1.0


def _orient(values: AnyArray, classes: list[Any], negative: Any, positive: Any) -> AnyArray:
    if values.ndim == 1:
        return values if classes[-1] == positive else exchange_classes(values)
    columns = [values[:, classes.index(c)] if c in classes else np.zeros(len(values)) for c in (negative, positive)]
    scores: AnyArray = columns[1] - columns[0]
    earlier = positive in classes and negative in classes and classes.index(positive) < classes.index(negative)
    return exchange_classes(-scores) if earlier else scores


def exchange_classes(scores: AnyArray) -> AnyArray:
    """Scores of a model as if its two classes were exchanged.

    A score of 0 is predicted as the first class, so it becomes the smallest positive number.

    >>> (exchange_classes(np.array([-1.0, 0.0, 2.0])) > 0).tolist()
    [True, True, False]
    """
    return np.where(scores == 0, np.finfo(float).tiny, -scores)
