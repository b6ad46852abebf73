"""Any scikit-learn classifier under the population's class prior: odds corrected, threshold moved."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.optimize import brentq, minimize_scalar
from scipy.special import expit, log_softmax, softmax
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import _safe_indexing, get_tags, indexable
from sklearn.utils.validation import check_is_fitted

from pnulearn._arrays import AnyArray
from pnulearn._estimators.base import labeled_accuracy
from pnulearn._estimators.labeled_only import of_rows
from pnulearn._learning.calibration import PENALTY
from pnulearn._learning.result import held_out_risk
from pnulearn._problem.folds import assign_folds, check_cv, own_splits
from pnulearn._problem.inputs import (
    explained,
    read_foreign,
    read_mask,
    read_random_state,
    read_weights,
    refuse_no_classifier,
)
from pnulearn._problem.labels import Labels, decode_labels
from pnulearn._problem.row_keys import row_keys
from pnulearn._problem.samples import Samples, Sampling, read_sampling
from pnulearn.priors._estimate import PriorEstimate
from pnulearn.priors._resolve import resolve_prior

# From scores of any classifier to log-odds under the population's prior, with what the unlabelled rows say of them.

LEAST = 1e-3  # a forest of a few hundred trees knows no smaller probability
FARTHEST = 60.0  # log-odds
SLOPES = (0.05, 50.0)  # of scores in units of their size: held-out rows that say nothing do not make them worthless
USUAL_DISTANCE = 0.3  # of the population's share from the labels': the standard deviation of a share that may be any
ROUNDS = 200


@dataclass(frozen=True)
class Adjustment:
    """Log-odds in the population are slope × scores + shift; `weight` says how much of the shift is U's."""

    slope: float
    shift: AnyArray
    weight: float = 0.0

    def apply(self, scores: AnyArray) -> AnyArray:
        """Log-probabilities of every class, of scores (n, K)."""
        return log_softmax(self.slope * scores + self.shift, axis=1)


def has_odds(model: Any) -> bool:
    """Whether scores are log-probabilities under the labels' shares, which can be corrected to other shares."""
    return hasattr(model, "predict_proba")


def class_scores(model: Any, X: Any, classes: AnyArray) -> AnyArray:
    """Scores (n, K) of a fitted scikit-learn classifier, columns in the order of `classes`."""
    own = model.classes_.tolist()
    order = [own.index(name) for name in classes.tolist()]
    if has_odds(model):
        return np.log(np.clip(np.asarray(model.predict_proba(X))[:, order], LEAST, None))
    if not hasattr(model, "decision_function"):
        raise TypeError(
            f"{type(model).__name__} has neither predict_proba nor decision_function, so there are no odds to correct. "
            "Wrap it in sklearn.calibration.CalibratedClassifierCV."
        )
    scores = np.asarray(model.decision_function(X))
    both = np.column_stack([np.zeros_like(scores), scores]) if scores.ndim == 1 else scores
    return both[:, order] if scores.ndim > 1 or order == [0, 1] else -both


def adjust(held_out: AnyArray | None, rows: Samples, prior: PriorEstimate, with_odds: bool) -> Adjustment:
    """The adjustment for scores (n, K) of rows that were `held_out`: log-odds among the labels, then in the population.

    The labels say where the threshold is, and so does U: the mean probability among its rows must be the prior. Each
    has a standard error, and they are weighed by their squares. A prior that is hardly known moves neither.
    """
    counts = rows.counts
    labeled_shares = counts / counts.sum()
    prior = cautious(prior, labeled_shares)
    correction = np.log(prior.shares) - np.log(labeled_shares)
    if held_out is None or len(rows.unlabeled) == 0:
        return Adjustment(1.0, correction if with_odds else np.zeros(len(counts)))
    labeled, population, weight = rows.labeled, rows.population, rows.weight[rows.population]
    slope = label_slope(held_out[labeled], rows.codes[labeled], rows.weight[labeled])
    scores = slope * held_out + correction
    shift = matching_shift(scores[population], weight, prior.shares)
    by_labels = _label_variance(softmax(scores[labeled], axis=1), rows.weight[labeled])
    sd = np.nan_to_num(np.asarray(prior.sd, dtype=float))
    by_population = _population_variance(softmax(scores[population] + shift, axis=1), weight, sd)
    drawn = float(np.mean(by_labels) / np.mean(by_labels + by_population))
    return Adjustment(slope, correction + drawn * shift, drawn)


def label_slope(scores: AnyArray, codes: AnyArray, weight: AnyArray) -> float:
    """The factor that makes scores (n, K) of held-out labelled rows log-odds: the likeliest, with a penalty.

    A forest's votes are too timid, boosted odds too bold, and the margins of an SVM no odds at all.

    >>> codes = np.repeat([0, 1], [400, 400])
    >>> g = np.random.default_rng(0).normal(np.where(codes, 1.0, -1.0))  # log-odds are 2 g
    >>> bool(1.8 < label_slope(np.column_stack([-g / 2, g / 2]), codes, np.ones(800)) < 2.2)
    True
    """
    centered = scores - scores.mean(axis=1, keepdims=True)
    unit = float(np.sqrt(np.average(np.square(centered).sum(axis=1), weights=weight))) or 1.0
    centered = centered / unit

    def loss(log_slope: float) -> float:
        slope = np.exp(log_slope)
        own = log_softmax(slope * centered, axis=1)[np.arange(len(codes)), codes]
        return PENALTY * slope**2 - float(np.average(own, weights=weight))

    return float(np.exp(minimize_scalar(loss, bounds=np.log(SLOPES), method="bounded").x)) / unit


def matching_shift(scores: AnyArray, weight: AnyArray, shares: AnyArray) -> AnyArray:
    """What is to be added to log-odds (n, K) so that mean probabilities become these shares; its first entry is 0."""
    weight = weight / weight.sum()
    if len(shares) == 2:
        g = scores @ [-1.0, 1.0]
        far = FARTHEST + np.abs(g).max()
        return np.array([0.0, brentq(lambda b: weight @ expit(g + b) - float(shares[1]), -far, far)])
    shift = np.zeros(len(shares))
    for _ in range(ROUNDS):
        shift += np.log(shares) - np.log(weight @ softmax(scores + shift, axis=1))
    return shift - shift[0]


def cautious(prior: PriorEstimate, labeled: AnyArray) -> PriorEstimate:
    """A prior that is drawn towards the classes' shares among the labels, the more so the less sure it is.

    The wrapped model is right for the shares that it was fitted to. If those of populations lie d = 0.3 from them, an
    estimate of variance v is best followed d²/(d² + v) of the way, which is gone in log-odds: they are what is
    corrected. A known prior is taken as it is.

    >>> float(cautious(PriorEstimate.known(0.2), [0.5, 0.5]))
    0.2
    >>> ranges = ((0.15, 0.25), (0.02, 0.6))
    >>> sure, unsure = (cautious(PriorEstimate.of_range(*ends), [0.5, 0.5]).value for ends in ranges)
    >>> bool(sure < 0.21), bool(0.3 < unsure < 0.5)
    (True, True)
    """
    if prior.mass is None and prior.concentration is None:
        return prior
    variance = float(np.mean(np.square(prior.sd))) * len(prior.shares) / 2
    way = USUAL_DISTANCE**2 / (USUAL_DISTANCE**2 + variance)
    shares = softmax(way * np.log(prior.shares) + (1 - way) * np.log(labeled))
    return replace(prior, value=float(shares[1]) if len(shares) == 2 else shares)


def _label_variance(p: AnyArray, weight: AnyArray) -> AnyArray:
    """Of an intercept of log-odds that labelled rows with these probabilities tell: one over its information."""
    return 1 / np.maximum(weight @ (p * (1 - p)), 1e-12)


def _population_variance(p: AnyArray, weight: AnyArray, sd: Any) -> AnyArray:
    """Of the intercept at which the mean probability is the prior: the errors of both, over the mean's slope."""
    share = weight / weight.sum()
    error = np.square(sd) + (share**2) @ np.square(p - share @ p)
    return error / np.maximum(share @ (p * (1 - p)), 1e-12) ** 2


# Any scikit-learn classifier under the population's prior: odds corrected, threshold drawn towards U's class share.


class PriorAdjusted(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """A classifier or pipeline fitted to the labelled rows, corrected to the class shares of the population.

    Labels are rarely gathered in the population's proportions, and a model fitted to them inherits theirs. Here the
    model's odds are scaled by held-out labels and corrected to the prior, then moved until the mean probability among
    the unlabelled rows agrees with the prior, as far as the prior and U are surer than the labels. An estimated prior
    is followed the less far from the labels' shares the less sure it is, while `prior_` and `risk_` have it in full.
    It takes cv + 1 fits of what it wraps.

    Parameters
    ----------
    estimator : classifier
        Any scikit-learn classifier or pipeline with `predict_proba` or `decision_function`.
    prior : object, optional
        What `PNUClassifier` takes: a number, a mapping, a range, a distribution, a `PriorEstimate`, the name of a
        method or "labeled"; None estimates it from X, or from held-out scores where X is no table of numbers.
    cv : int, splitter or pairs of row numbers
        How rows are held out, each once, for scores that the model has not learnt from.
    sampling : str
        "random" if the labelled rows were drawn at random from the population, else "by_class".
    unlabeled : object, optional
        The value that marks unlabelled rows, besides missing values.
    pos_label : object, optional
        The positive class, by default the greater label.
    random_state : int, RandomState or None
        Seed of the folds and of what estimates the prior.

    Attributes
    ----------
    estimator_
        The copy that was fitted to all labelled rows.
    classes_
        (negative, positive), or all classes in order.
    prior_, prior_interval_, prior_estimate_
        The prior used, its 90 % interval, and its whole distribution.
    risk_
        Held-out error in the population, with its interval (two classes), or None.
    weight_
        How far the threshold was drawn towards U's class share, from 0 to 1.
    validation_scores_
        Scores of rows that were held out when they were scored.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> rng = np.random.default_rng(0)
    >>> truth = np.concatenate([np.repeat([1, 0], [35, 15]), rng.random(400) < 0.2])
    >>> X = rng.normal(size=(450, 3)) + 1.5 * truth[:, None]
    >>> y = np.where(np.arange(450) < 50, truth, -1)
    >>> forest = RandomForestClassifier(random_state=0)
    >>> float(np.mean(forest.fit(X[:50], y[:50]).predict(X[50:]) == truth[50:]))
    0.82
    >>> model = PriorAdjusted(forest, prior=0.2, unlabeled=-1, random_state=0).fit(X, y)
    >>> float(np.mean(model.predict(X[50:]) == truth[50:])) > 0.88
    True
    """

    def __init__(
        self,
        estimator: BaseEstimator,
        prior: Any = None,
        *,
        cv: Any = 5,
        sampling: Sampling = "by_class",
        unlabeled: Any = None,
        pos_label: Any = None,
        random_state: Any = None,
    ):
        self.estimator = estimator
        self.prior = prior
        self.cv = cv
        self.sampling = sampling
        self.unlabeled = unlabeled
        self.pos_label = pos_label
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: ArrayLike | Labels,
        sample_weight: ArrayLike | None = None,
        *,
        at_random: ArrayLike | None = None,
        **fit_params: Any,
    ) -> PriorAdjusted:
        """Fit copies of the estimator to labelled rows, and adjust them with all rows.

        Parameters
        ----------
        X : array, sparse matrix or data frame (rows, columns)
            Features; whatever the estimator takes.
        y : array (rows,)
            Labels; missing values and `unlabeled` mark unlabelled rows.
        sample_weight : array (rows,), optional
            Weights of the rows; one each by default. The estimator's `fit` must take them.
        at_random : array of bool (rows,), optional
            Labelled rows that were drawn at random from the population, beside others gathered by class.
        **fit_params : object
            Passed on to the estimator's `fit`; parameters with one value per row are cut as the rows are.
        """
        refuse_no_classifier(self.estimator, "estimator")
        check_cv(self.cv)
        sampling = read_sampling(self.sampling)
        labels = decode_labels(y, self.unlabeled, self.pos_label)
        X, _ = indexable(read_foreign(X), labels.codes)
        n_rows, seed = len(labels.codes), int(read_random_state(self.random_state).randint(2**31))
        weight = read_weights(sample_weight, n_rows)
        if sample_weight is not None:
            fit_params["sample_weight"] = weight
        rows = Samples(X, labels.codes, weight, len(labels.classes), sampling, read_mask(at_random, n_rows))
        work = _Work(self.estimator, rows, labels, fit_params)
        fitted = work.fit_rows(rows.labeled[weight[rows.labeled] > 0])
        held_out = work.cross_fit(self.cv, seed)
        estimate = self._resolve(rows, labels, held_out, seed)
        adjustment = adjust(held_out, rows, estimate, has_odds(fitted))
        self.estimator_, self.classes_, self.adjustment_ = fitted, labels.classes, adjustment
        self.prior_estimate_, self.prior_, self.prior_interval_ = estimate, estimate.value, estimate.interval
        self.weight_, self.risk_ = adjustment.weight, None
        if held_out is not None:
            self.validation_scores_ = self._as_scores(adjustment.apply(held_out))
            if len(self.classes_) == 2:
                self.risk_ = held_out_risk(rows, self.validation_scores_, estimate)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(fitted, name):
                setattr(self, name, getattr(fitted, name))
        return self

    def _resolve(self, rows: Samples, labels: Labels, held_out: AnyArray | None, seed: int) -> PriorEstimate:
        """The prior, from X where it is a table of numbers, else from how held-out rows score."""
        table = _as_numbers(rows.X)
        if table is None:
            table = np.zeros((len(rows.codes), 1)) if held_out is None else held_out - held_out[:, :1]
        return resolve_prior(
            self.prior,
            table,
            rows.codes,
            rows.weight,
            classes=labels.classes,
            random_state=seed,
            random_counts=rows.random_counts,
        )

    def _as_scores(self, log_probabilities: AnyArray) -> AnyArray:
        """Log-odds of the positive of two classes, log-probabilities of more."""
        return log_probabilities @ [-1.0, 1.0] if len(self.classes_) == 2 else log_probabilities

    def _log_probabilities(self, X: Any) -> AnyArray:
        check_is_fitted(self)
        X = read_foreign(X)
        with explained(X):
            return self.adjustment_.apply(class_scores(self.estimator_, X, self.classes_))

    def decision_function(self, X: Any) -> AnyArray:
        """Log-odds of the positive of two classes in the population, or log-probabilities of more classes.

        Parameters
        ----------
        X : array, sparse matrix or data frame (rows, columns)
            Features.
        """
        return self._as_scores(self._log_probabilities(X))

    def predict_proba(self, X: Any) -> AnyArray:
        """Class probabilities under the population's prior, columns as in `classes_`.

        Parameters
        ----------
        X : array, sparse matrix or data frame (rows, columns)
            Features.
        """
        return np.exp(self._log_probabilities(X))

    def predict(self, X: Any) -> AnyArray:
        """Class labels as they were in y; never the unlabelled marker.

        Parameters
        ----------
        X : array, sparse matrix or data frame (rows, columns)
            Features.
        """
        scores = self._log_probabilities(X)
        return self.classes_[scores.argmax(axis=1)]

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Accuracy on the labelled rows of y. `pnulearn.pnu_risk` uses the unlabelled rows too.

        Parameters
        ----------
        X : array, sparse matrix or data frame (rows, columns)
            Features.
        y : array (rows,)
            Labels; missing values and `unlabeled` mark unlabelled rows.
        sample_weight : array (rows,), optional
            Weights of the rows; one each by default.
        """
        check_is_fitted(self)
        labels = decode_labels(y, self.unlabeled, classes=self.classes_)
        return labeled_accuracy(labels, np.asarray(self.predict(X)), sample_weight)

    def __sklearn_tags__(self) -> Any:
        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.input_tags, tags.classifier_tags = inner.input_tags, inner.classifier_tags
        return tags


@dataclass(frozen=True)
class _Work:
    """What the fits of one `PriorAdjusted.fit` share."""

    estimator: Any
    rows: Samples
    labels: Labels
    fit_params: dict[str, Any]

    def fit_rows(self, rows: AnyArray) -> Any:
        """A copy of the estimator, fitted to these rows."""
        n_rows = len(self.labels.codes)
        params = {name: of_rows(value, rows, n_rows) for name, value in self.fit_params.items()}
        known = self.labels.classes[self.labels.codes[rows]]
        with explained(self.rows.X):
            return clone(self.estimator).fit(_safe_indexing(self.rows.X, rows), known, **params)

    def cross_fit(self, cv: Any, seed: int) -> AnyArray | None:
        """Held-out scores (n, K) of all rows; None where a class has too few rows to hold any out."""
        codes, known = self.rows.codes, (self.rows.codes >= 0) & (self.rows.weight > 0)
        scores = np.full((len(codes), self.rows.n_classes), np.nan)
        for train, test in own_splits(cv, codes, np.arange(len(codes))) or self._splits(cv, known, seed):
            train = train[known[train]]
            if len(np.unique(codes[train])) < self.rows.n_classes:  # copies of one row are all that the class has
                return None
            model = self.fit_rows(train)
            with explained(self.rows.X):
                scores[test] = class_scores(model, _safe_indexing(self.rows.X, test), self.labels.classes)
        return None if np.isnan(scores).any() else scores

    def _splits(self, n_folds: int, known: AnyArray, seed: int) -> list[tuple[AnyArray, AnyArray]]:
        """Folds by content where X is a table of numbers, at random where only the estimator can read it."""
        codes, weight = self.rows.codes, self.rows.weight
        n_folds = min(int(n_folds), int(np.bincount(codes[known], minlength=self.rows.n_classes).min()))
        if n_folds < 2:
            return []
        numbers = _as_numbers(self.rows.X)
        shuffled = np.random.default_rng(seed).permutation(len(codes))
        fold = assign_folds(codes, n_folds, shuffled if numbers is None else row_keys(numbers, seed, weight), weight)
        return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in np.unique(fold)]


def _as_numbers(X: Any) -> Any:
    """X where it is a finite table of numbers, None where only the estimator can read it."""
    if sparse.issparse(X):
        return sparse.csr_matrix(X) if X.dtype.kind in "biuf" else None
    try:
        table = np.asarray(X, dtype=float)
    except (TypeError, ValueError):
        return None
    return table if table.ndim == 2 and np.isfinite(table).all() else None
