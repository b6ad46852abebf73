"""PriorAdjusted: any scikit-learn classifier, with probabilities corrected to the population's class prior."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.optimize import brentq, minimize_scalar
from scipy.special import expit, log_softmax, softmax
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import _safe_indexing, get_tags, indexable
from sklearn.utils.validation import check_is_fitted

from pnulearn._arrays import AnyArray
from pnulearn._estimators.base import labeled_accuracy
from pnulearn._estimators.labeled_only import of_rows, single_label
from pnulearn._learning.calibration import PENALTY
from pnulearn._learning.result import estimate_model_risk
from pnulearn._problem.alignment import refuse_misaligned
from pnulearn._problem.folds import (
    NEVER,
    Split,
    assign_folds,
    check_cv,
    never_held_out,
    own_splits,
    read_groups,
    warn_never_held_out,
)
from pnulearn._problem.inputs import (
    explained,
    read_foreign,
    read_mask,
    read_random_state,
    read_weights,
    refuse_no_classifier,
)
from pnulearn._problem.labels import Labels, decode_labels
from pnulearn._problem.row_keys import fold_keys, row_keys
from pnulearn._problem.samples import Samples, Sampling, read_sampling
from pnulearn.priors._estimate import PriorEstimate
from pnulearn.priors._resolve import resolve_prior

# Calibration: from scores of a classifier to log-odds under the population's prior.

LEAST = 1e-3  # smallest probability; a forest of a few hundred trees cannot resolve smaller ones
FARTHEST = 60.0  # log-odds, bracket of the root search
SLOPES = (0.05, 50.0)  # bounds of the slope, for scores in units of their size; uninformative rows must not give 0
USUAL_DISTANCE = 0.3  # between the class shares of population and labels: about the sd of a uniform share
ROUNDS = 200  # of the fixed-point iteration
REPEATED_AT_MOST = 10  # copies of a row, on average; heavier weights are passed as sample_weight


@dataclass(frozen=True)
class Adjustment:
    """Log-odds in the population are slope × scores + shift; `weight` is the weight of U in the shift (0 to 1)."""

    slope: float
    shift: AnyArray
    weight: float = 0.0

    def apply(self, scores: AnyArray) -> AnyArray:
        """Log-probabilities (n, K) of the classes from scores (n, K)."""
        return log_softmax(self.slope * scores + self.shift, axis=1)


def has_odds(model: Any) -> bool:
    """Whether scores are log-probabilities (under the labels' class shares), which can be corrected to a prior."""
    return hasattr(model, "predict_proba")


def class_scores(model: Any, X: Any, classes: AnyArray) -> AnyArray:
    """Scores (n, K) of a fitted scikit-learn classifier, columns in the order of `classes`."""
    own = model.classes_.tolist()
    order = [own.index(name) for name in classes.tolist()]
    if has_odds(model):
        return np.log(np.clip(np.asarray(model.predict_proba(X))[:, order], LEAST, None))
    if not hasattr(model, "decision_function"):
        raise TypeError(
            f"{type(model).__name__} has neither predict_proba nor decision_function, so there are no scores to adjust."
            " Wrap it in sklearn.calibration.CalibratedClassifierCV."
        )
    scores = np.asarray(model.decision_function(X))
    both = np.column_stack([np.zeros_like(scores), scores]) if scores.ndim == 1 else scores
    return both[:, order] if scores.ndim > 1 or order == [0, 1] else -both


def adjust(held_out: AnyArray | None, rows: Samples, prior: PriorEstimate, with_odds: bool) -> Adjustment:
    """Estimate the adjustment from `held_out` scores (n, K).

    The slope is fitted to the labelled rows. The intercept has two estimates: the labelled rows with prior correction,
    and U, where the mean probability must equal the prior. They are averaged with inverse-variance weights. An
    uncertain prior is shrunk towards the class shares of the labels first (see `cautious`).
    """
    counts = rows.counts
    labeled_shares = counts / counts.sum()
    prior = cautious(prior, labeled_shares)
    correction = np.log(prior.shares) - np.log(labeled_shares)
    if held_out is None or len(rows.unlabeled) == 0:
        return Adjustment(1.0, correction if with_odds else np.zeros(len(counts)))
    labeled, population = (group[~np.isnan(held_out[group, 0])] for group in (rows.labeled, rows.population))
    if len(population) == 0:
        return Adjustment(1.0, correction if with_odds else np.zeros(len(counts)))
    weight, codes = rows.weight[population], rows.codes[labeled]
    every_class = len(np.unique(codes)) == len(counts)
    slope = label_slope(held_out[labeled], codes, rows.weight[labeled]) if every_class else 1.0
    scores = slope * held_out + correction
    shift = matching_shift(scores[population], weight, prior.shares)
    by_labels = _label_variance(softmax(scores[labeled], axis=1), rows.weight[labeled])
    sd = np.nan_to_num(np.asarray(prior.sd, dtype=float))
    by_population = _population_variance(softmax(scores[population] + shift, axis=1), weight, sd)
    drawn = float(np.mean(by_labels) / np.mean(by_labels + by_population))
    return Adjustment(slope, correction + drawn * shift, drawn)


def label_slope(scores: AnyArray, codes: AnyArray, weight: AnyArray) -> float:
    """The factor that turns scores (n, K) of held-out labelled rows into log-odds, by penalised maximum likelihood.

    It is needed because forests are underconfident, boosting is overconfident, and SVM margins are not log-odds.

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
    """The shift of log-odds (n, K) at which the mean probabilities equal the shares; its first entry is 0."""
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
    """The prior, shrunk towards the class shares of the labels in proportion to its uncertainty.

    The wrapped model is correct for the class shares it was fitted to. If population shares have a standard deviation
    of d = 0.3 around them, the best weight of an estimate with variance v is d²/(d² + v). The shrinkage is applied to
    log-odds, which are what is corrected. A known prior is returned unchanged.

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
    """Variance of the intercept estimated from labelled rows with probabilities p: the inverse Fisher information."""
    return 1 / np.maximum(weight @ (p * (1 - p)), 1e-12)


def _population_variance(p: AnyArray, weight: AnyArray, sd: Any) -> AnyArray:
    """Variance of the intercept at which the mean probability equals the prior, by the delta method.

    It is the variance of the prior plus that of the mean, divided by the squared derivative of the mean.
    """
    share = weight / weight.sum()
    error = np.square(sd) + share @ np.square(p - share @ p) / weight.sum()  # weights are numbers of copies
    return error / np.maximum(share @ (p * (1 - p)), 1e-12) ** 2


class PriorAdjusted(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """A classifier or pipeline fitted to the labelled rows, corrected to the class prior of the population.

    Class shares among the labels often differ from those of the population, and a classifier fitted to the labels
    learns those of the labels. This wrapper calibrates the log-odds of the classifier in three steps:

    1. The slope is fitted to held-out labelled rows.
    2. The intercept is corrected from the class shares of the labels to the prior. An uncertain prior is shrunk towards
       the class shares of the labels for this step only: `prior_` and `risk_` are not shrunk.
    3. The intercept is moved towards the value at which the mean probability among the unlabelled rows equals the
       prior, with a weight from the variances of both estimates (`weight_`).

    The cost is cv + 1 fits of the wrapped classifier.

    Parameters
    ----------
    estimator : classifier
        Any scikit-learn classifier or pipeline with `predict_proba` or `decision_function`.
    prior : object, optional
        The class prior, in any form that `PNUClassifier` accepts: a number, a mapping, a range, a distribution, a
        `PriorEstimate`, the name of a method or "labeled". None estimates it from X, or from held-out scores if X is
        not numeric.
    cv : int, splitter or pairs of row numbers
        Cross-validation that holds out every row once. A class with one labelled row keeps it in every training part.
    sampling : str
        "random" if the labelled rows were drawn at random from the population, else "by_class".
    unlabeled : object, optional
        The value that marks unlabelled rows, besides missing values.
    pos_label : object, optional
        The positive class, by default the greater label.
    random_state : int, RandomState or None
        Seed of the folds, of the prior estimate, and of every `random_state` of the estimator that is None.

    Attributes
    ----------
    estimator_
        The copy of the estimator that was fitted to all labelled rows.
    classes_
        (negative, positive), or all classes in order.
    prior_, prior_interval_, prior_estimate_
        The class prior that was used, its 90 % interval, and its distribution.
    risk_
        Estimated error in the population with its interval, from held-out rows (two classes), or None.
    weight_
        Weight of the unlabelled rows in the intercept, from 0 to 1.
    validation_scores_, judging_scores_
        Scores of held-out rows. For `judging_scores_`, from which `risk_` is computed, the adjustment was estimated
        without the row's own fold.

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
        groups: ArrayLike | None = None,
        **fit_params: Any,
    ) -> PriorAdjusted:
        """Fit copies of the estimator to the labelled rows, and estimate the adjustment from all rows.

        Parameters
        ----------
        X : array, sparse matrix or data frame (rows, columns)
            Features, in any form that the estimator accepts.
        y : array (rows,)
            Labels; missing values and `unlabeled` mark unlabelled rows.
        sample_weight : array (rows,), optional
            Weights of the rows; one each by default. Whole numbers are numbers of copies: a row of weight two is passed
            to the estimator twice, if copies add up to at most ten times the rows. Other weights are passed on, and
            the estimator's `fit` must accept them.
        at_random : array of bool (rows,), optional
            True for labelled rows that were drawn at random from the population, if the others were drawn by class.
        groups : array (rows,), optional
            The group of every row (a patient, a document). Rows of a group are held out together, and the interval of
            `risk_` accounts for correlated errors within groups.
        **fit_params : object
            Passed to the estimator's `fit`. Arrays with one value per row are restricted to the rows of each fit.
        """
        refuse_misaligned(X=X, y=y, sample_weight=sample_weight, at_random=at_random, groups=groups)
        refuse_no_classifier(self.estimator, "estimator")
        check_cv(self.cv)
        sampling = read_sampling(self.sampling)
        labels = decode_labels(y, self.unlabeled, self.pos_label)
        X, _ = indexable(read_foreign(X), labels.codes)
        n_rows, seed = len(labels.codes), int(read_random_state(self.random_state).randint(2**31))
        weight = read_weights(sample_weight, n_rows)
        if sample_weight is not None and not _are_counts(weight):
            fit_params["sample_weight"] = weight
        marked, apart = read_mask(at_random, n_rows), None if groups is None else read_groups(groups, n_rows)
        rows = Samples(X, labels.codes, weight, len(labels.classes), sampling, marked, apart)
        _refuse_one_class(labels, weight)
        seeded = _seed_unset(clone(self.estimator), None if self.random_state is None else seed)
        work = _Work(seeded, rows, labels, fit_params, _numbers_of(X))
        fitted = work.fit_rows(rows.labeled[weight[rows.labeled] > 0])
        splits = work.splits(self.cv, seed)
        held_out = work.cross_fit(splits)
        estimate = self._resolve(work, held_out, seed)
        adjustment = adjust(held_out, rows, estimate, has_odds(fitted))
        self.estimator_, self.classes_, self.adjustment_ = fitted, labels.classes, adjustment
        self.prior_estimate_, self.prior_, self.prior_interval_ = estimate, estimate.value, estimate.interval
        self.weight_, self.risk_ = adjustment.weight, None
        if held_out is not None:
            self.validation_scores_ = self._as_scores(adjustment.apply(held_out))
            nested = _adjust_by_fold(held_out, rows, splits, estimate, has_odds(fitted))
            self.judging_scores_ = self._as_scores(nested)
            if len(self.classes_) == 2:
                never = never_held_out(labels.codes, splits)
                if never:
                    warn_never_held_out(labels.classes[list(never)].tolist())
                self.risk_ = estimate_model_risk(rows, self.judging_scores_[None], self._decide, estimate, never)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(fitted, name):
                setattr(self, name, getattr(fitted, name))
        return self

    def _resolve(self, work: _Work, held_out: AnyArray | None, seed: int) -> PriorEstimate:
        """The prior, estimated from X if it is numeric, else from held-out scores."""
        rows, table = work.rows, work.numbers
        if table is None:
            table = np.zeros((len(rows.codes), 1)) if held_out is None else held_out - held_out[:, :1]
        return resolve_prior(
            self.prior,
            table,
            rows.codes,
            rows.weight,
            classes=work.labels.classes,
            random_state=seed,
            random_counts=rows.random_counts,
        )

    def _decide(self, X: Any) -> AnyArray:
        return self._as_scores(self.adjustment_.apply(class_scores(self.estimator_, X, self.classes_)))

    def _as_scores(self, log_probabilities: AnyArray) -> AnyArray:
        """Log-odds of the positive class for two classes, log-probabilities for more."""
        return log_probabilities @ [-1.0, 1.0] if len(self.classes_) == 2 else log_probabilities

    def _log_probabilities(self, X: Any) -> AnyArray:
        check_is_fitted(self)
        X = read_foreign(X)
        with explained(X):
            return self.adjustment_.apply(class_scores(self.estimator_, X, self.classes_))

    def decision_function(self, X: Any) -> AnyArray:
        """Log-odds of the positive class in the population for two classes, log-probabilities for more.

        Parameters
        ----------
        X : array, sparse matrix or data frame (rows, columns)
            Features.
        """
        return self._as_scores(self._log_probabilities(X))

    def predict_proba(self, X: Any) -> AnyArray:
        """Class probabilities under the population's class prior, columns as in `classes_`.

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
        """Accuracy on the labelled rows of y. `pnulearn.pnu_risk` also uses the unlabelled rows.

        Parameters
        ----------
        X : array, sparse matrix or data frame (rows, columns)
            Features.
        y : array (rows,)
            Labels; missing values and `unlabeled` mark unlabelled rows.
        sample_weight : array (rows,), optional
            Weights of the rows; one each by default.
        """
        refuse_misaligned(X=X, y=y, sample_weight=sample_weight)
        check_is_fitted(self)
        labels = decode_labels(y, self.unlabeled, classes=self.classes_)
        return labeled_accuracy(labels, np.asarray(self.predict(X)), sample_weight)

    def __sklearn_tags__(self) -> Any:
        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.input_tags, tags.classifier_tags = inner.input_tags, single_label(inner.classifier_tags)
        return tags


def _refuse_one_class(labels: Labels, weight: AnyArray) -> None:
    """Raise a ValueError unless two classes have labelled rows of positive weight."""
    mass = np.bincount(labels.codes[labels.labeled], weights=weight[labels.labeled], minlength=len(labels.classes))
    if np.count_nonzero(mass) < 2:
        seen = labels.classes[int(mass.argmax())].item()
        raise ValueError(
            f"PriorAdjusted needs labelled rows of two classes, and all labelled rows are of class {seen!r}. Label "
            "rows of another class, or use PNUClassifier, which learns from one class and unlabelled rows."
        )


def _seed_unset(model: Any, seed: int | None) -> Any:
    """The model with `seed` in every parameter `random_state` that is None, also of its parts."""
    if seed is not None:
        unset = [
            name
            for name, value in model.get_params(deep=True).items()
            if value is None and name.rsplit("__", 1)[-1] == "random_state"
        ]
        model.set_params(**dict.fromkeys(unset, seed))
    return model


def _are_counts(weight: AnyArray) -> bool:
    """Whether weights are whole numbers that are cheap to replace by repeated rows."""
    return bool((weight == np.floor(weight)).all() and weight.sum() <= REPEATED_AT_MOST * len(weight))


@dataclass(frozen=True)
class _Work:
    """Data shared by all fits in one call of `PriorAdjusted.fit`. `numbers` is X if it is numeric, else None."""

    estimator: Any
    rows: Samples
    labels: Labels
    fit_params: dict[str, Any]
    numbers: Any

    @cached_property
    def ranks(self) -> AnyArray:
        """Place of every row in an order derived from contents, or its own place if X is not numeric."""
        codes, weight = self.rows.codes, self.rows.weight
        if self.numbers is None:
            return np.arange(len(codes))
        known, ranks = np.flatnonzero((codes >= 0) & (weight > 0)), np.zeros(len(codes), dtype=int)
        keys = row_keys(self.numbers[known], 0, weight[known])
        ranks[known[np.lexsort((weight[known], codes[known], keys))]] = np.arange(len(known))
        return ranks

    def fit_rows(self, rows: AnyArray) -> Any:
        """A copy of the estimator, fitted to these rows in an order that does not depend on their order in X.

        A row of weight two is passed twice. Many classifiers would treat a weight differently: forests draw rows
        regardless of it, and smallest numbers of rows in a leaf do not count it.
        """
        n_rows = len(self.labels.codes)
        rows = rows[np.argsort(self.ranks[rows], kind="stable")]
        if "sample_weight" not in self.fit_params:
            rows = np.repeat(rows, self.rows.weight[rows].astype(int))
        params = {name: of_rows(value, rows, n_rows) for name, value in self.fit_params.items()}
        known = self.labels.classes[self.labels.codes[rows]]
        with explained(self.rows.X):
            return clone(self.estimator).fit(_safe_indexing(self.rows.X, rows), known, **params)

    def cross_fit(self, splits: Sequence[Split]) -> AnyArray | None:
        """Held-out scores (n, K) of all rows, NaN for rows never held out; None without cross-validation."""
        codes, known = self.rows.codes, (self.rows.codes >= 0) & (self.rows.weight > 0)
        scores = np.full((len(codes), self.rows.n_classes), np.nan)
        for train, test in splits:
            train = train[known[train]]
            if len(np.unique(codes[train])) < self.rows.n_classes:
                return None
            with config_context(skip_parameter_validation=True, assume_finite=True):  # the fit to all rows has checked
                model = self.fit_rows(train)
            with explained(self.rows.X):
                scores[test] = class_scores(model, _safe_indexing(self.rows.X, test), self.labels.classes)
        return None if np.isnan(scores[self.rows.unlabeled]).any() or not splits else scores

    def splits(self, cv: Any, seed: int) -> list[Split]:
        """The given splits, or folds derived from row contents if X is numeric, random ones otherwise.

        If every labelled row of a class is the same row, it is in every training part. Without another class to hold
        out there are no splits.
        """
        codes, weight, groups = self.rows.codes, self.rows.weight, self.rows.groups
        own = own_splits(cv, codes, np.arange(len(codes)), groups, seed)
        if own:
            return own
        numbers = self.numbers
        shuffled = np.random.default_rng(seed).permutation(len(codes))
        keys = shuffled if numbers is None else fold_keys(row_keys(numbers, seed, weight), codes, weight)
        distinct = [len(np.unique(keys[(codes == code) & (weight > 0)])) for code in range(self.rows.n_classes)]
        n_folds = min([int(cv), *(count for count in distinct if count > 1)])
        if max(distinct) < 2:
            return []
        fold = assign_folds(codes, n_folds, keys, weight)
        fold[np.isin(codes, np.flatnonzero(np.array(distinct) == 1))] = NEVER
        return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in np.unique(fold[fold != NEVER])]


def _adjust_by_fold(
    held_out: AnyArray, rows: Samples, splits: Sequence[Split], prior: PriorEstimate, with_odds: bool
) -> AnyArray:
    """Log-probabilities (n, K) of held-out rows, each adjusted as estimated from the rows of the other folds."""
    adjusted = np.full(held_out.shape, np.nan)
    for _, test in splits:
        others = held_out.copy()
        others[test] = np.nan
        adjusted[test] = adjust(others, rows, prior, with_odds).apply(held_out[test])
    return adjusted


def _numbers_of(X: Any) -> Any:
    """X as an array or sparse matrix of numbers if it is numeric and finite, else None."""
    if sparse.issparse(X):
        return sparse.csr_matrix(X) if X.dtype.kind in "biuf" else None
    try:
        table = np.asarray(X, dtype=float)
    except (TypeError, ValueError):
        return None
    return table if table.ndim == 2 and np.isfinite(table).all() else None
