"""AutoPNU: PNU and classifiers adjusted to the class prior, averaged with weights from their held-out risk."""

from __future__ import annotations

import warnings
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit
from sklearn.base import clone
from sklearn.exceptions import InconsistentVersionWarning
from sklearn.pipeline import Pipeline

from pnulearn._arrays import AnyArray
from pnulearn._estimators.base import PartiallyLabeledClassifier
from pnulearn._estimators.classifier import PNUClassifier
from pnulearn._estimators.learners import (
    BAGGING,
    FOR_TWO_CLASSES,
    LEARNERS,
    PNU,
    BaggedTrees,
    is_pnu,
    make_learner,
    read_learners,
)
from pnulearn._estimators.prior_adjusted import Adjustment, PriorAdjusted, cautious, class_scores, label_slope
from pnulearn._estimators.saving import PLAIN, contents, restore, warn_of_other_scikit_learn
from pnulearn._extras import import_extra
from pnulearn._files.archive import refuse_other_types
from pnulearn._files.refusals import ModelFileError
from pnulearn._kernels.basis import dense
from pnulearn._learning.calibration import probabilities
from pnulearn._learning.result import count_held_out, doubt_prior, estimate_model_risk, held_out_risk
from pnulearn._learning.selection import Tally, membership
from pnulearn._learning.settings import AUTO, FOLDS
from pnulearn._machine import check_n_jobs, map_in_threads
from pnulearn._problem.alignment import refuse_misaligned
from pnulearn._problem.folds import assign_folds, check_cv, own_splits, read_groups
from pnulearn._problem.inputs import read_mask, read_random_state
from pnulearn._problem.labels import Labels
from pnulearn._problem.row_keys import merge_values, row_keys
from pnulearn._problem.samples import Samples, Sampling, read_sampling
from pnulearn.metrics._estimate import RiskEstimate
from pnulearn.metrics._variance import LAPLACE_ROWS
from pnulearn.priors._estimate import PriorEstimate
from pnulearn.priors._resolve import resolve_prior

MOST_STEPS = 200  # of Newton's method


@dataclass(frozen=True, eq=False)
class Member:
    """A fitted learner: its name, its class, its weight in the average, its own held-out risk, and the model."""

    name: str
    learner: str
    weight: float
    risk: RiskEstimate | None
    model: Any = None  # None for a PNUClassifier in a file, which has a format of its own
    adjustment: Adjustment | None = None  # None for a PNUClassifier

    def shares(self, X: AnyArray) -> AnyArray:
        """Probabilities of every class, shape (n, classes)."""
        if self.adjustment is None:
            return np.asarray(self.model.predict_proba(X))
        return np.exp(self.adjustment.apply(class_scores(self.model, X, np.sort(self.model.classes_))))


@dataclass(frozen=True)
class _Fitted:
    """A learner after fitting. `scores` are 2 P − 1 of held-out rows, (K, n) with NaN, and `judging` those in whose
    adjustment the row's own fold had no part; None if no rows were held out."""

    model: Any
    adjustment: Adjustment | None
    scores: AnyArray | None
    judging: AnyArray | None
    risk: RiskEstimate | None


class AutoPNU(PartiallyLabeledClassifier):
    """Weighted average of `PNUClassifier`, a forest, boosting, logistic regression and an SVM under one class prior.

    Every learner is fitted separately; those of scikit-learn are wrapped in `PriorAdjusted`. Each one scores held-out
    rows, and the weights minimise the squared risk of the average on them, with a penalty for unequal weights that
    falls with the number of labels. `risk_` is from nested cross-validation: a row is scored with
    adjustments and weights that were computed from the other folds.

    If only one class has labels, `PNUClassifier` is averaged, with equal weights, with bagged trees that are trained to
    separate the labelled from the unlabelled rows.

    The cost is one fit of `PNUClassifier` and, for every other learner, one fit per fold plus one.

    Parameters
    ----------
    learners : sequence of str and classifiers
        Names out of "pnu", "forest" (extremely randomised trees), "boosting" (of CatBoost or LightGBM if one is
        installed, else scikit-learn's), "logistic", "svm" (two classes only) and "bagging" (labels of one class only),
        and classifiers or pipelines of your own, also as pairs (name, classifier).
    pnu : PNUClassifier, optional
        The PNU classifier to use for "pnu"; by default `PNUClassifier()`.
    prior : object, optional
        The class prior, in any form that `PNUClassifier` accepts; None estimates it.
    cv : "auto", int, splitter or pairs of row numbers
        Cross-validation that holds out every row once. "auto" is five folds for the scikit-learn learners and
        `cv="auto"` of `PNUClassifier` for "pnu".
    sampling : str
        "random" if the labelled rows were drawn at random from the population, else "by_class".
    unlabeled : object, optional
        The value that marks unlabelled rows, besides missing values.
    pos_label : object, optional
        The positive class, by default the greater label.
    n_jobs : int, optional
        Number of learners that are fitted at the same time, in threads. The answer does not depend on it.
    random_state : int, RandomState or None
        Seed of all random choices.

    Attributes
    ----------
    members_
        The learners, each with `name`, the class of its `learner`, `weight` and its own held-out `risk`.
    classes_
        (negative, positive), or all classes in order.
    prior_, prior_interval_, prior_estimate_, prior_doubt_
        The same as in `PNUClassifier`.
    risk_, decisions_
        Estimated error and confusion counts of the average, from held-out rows.
    validation_scores_, judging_scores_
        2 P(+|x) − 1 of held-out rows. For `judging_scores_` adjustments and weights were computed without the row's own
        fold.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> truth = np.concatenate([np.arange(40) % 2, rng.random(200) < 0.3])
    >>> X = rng.normal(size=(240, 2)) + 2 * truth[:, None]
    >>> y = np.where(np.arange(240) < 40, truth, np.nan)
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> model = AutoPNU(["pnu", "logistic", KNeighborsClassifier()], prior=0.3, random_state=0).fit(X, y)
    >>> [member.name for member in model.members_]
    ['pnu', 'logistic', 'kneighborsclassifier']
    >>> bool(model.score(X, y) > 0.8)
    True
    """

    calibration_ = None  # scores are already 2 P − 1
    prior_estimate_: PriorEstimate
    decisions_: Any  # None if no row was held out
    members_: list[Member]

    def __init__(
        self,
        learners: Sequence[Any] = LEARNERS,
        pnu: PNUClassifier | None = None,
        *,
        prior: Any = None,
        cv: Any = AUTO,
        sampling: Sampling = "by_class",
        unlabeled: Any = None,
        pos_label: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ):
        self.learners = learners
        self.pnu = pnu
        self.prior = prior
        self.cv = cv
        self.sampling = sampling
        self.unlabeled = unlabeled
        self.pos_label = pos_label
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: ArrayLike | Labels,
        sample_weight: ArrayLike | None = None,
        *,
        at_random: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> AutoPNU:
        """Fit every learner and compute their weights.

        Parameters
        ----------
        X : array, sparse matrix or data frame (rows, columns)
            Features; sparse input is converted to a dense array.
        y : array (rows,)
            Labels; missing values and `unlabeled` mark unlabelled rows.
        sample_weight : array (rows,), optional
            Weights of the rows; one each by default.
        at_random : array of bool (rows,), optional
            True for labelled rows that were drawn at random from the population, if the others were drawn by class.
        groups : array (rows,), optional
            The group of every row (a patient, a document). Rows of a group are held out together.
        """
        refuse_misaligned(X=X, y=y, sample_weight=sample_weight, at_random=at_random, groups=groups)
        learners = read_learners(self.learners)
        check_cv(self.cv, AUTO)
        check_n_jobs(self.n_jobs)
        if not isinstance(self.pnu, PNUClassifier | None):
            raise TypeError(f"pnu must be a PNUClassifier or None, got {self.pnu!r}.")
        rows = self._read_problem(X, y, sample_weight)
        marked = read_mask(at_random, len(rows.codes))
        apart = None if groups is None else read_groups(groups, len(rows.codes))
        rows = replace(rows, X=dense(rows.X), sampling=read_sampling(self.sampling), at_random=marked, groups=apart)
        learners = _usable(learners, rows)
        seed = int(read_random_state(self.random_state).randint(2**31))
        prior = resolve_prior(
            self.prior,
            rows.X,
            rows.codes,
            rows.weight,
            classes=self.classes_,
            random_state=seed,
            random_counts=rows.random_counts,
        )
        self.prior_estimate_, self.prior_, self.prior_interval_ = prior, prior.value, prior.interval
        work = [(name, given, rows, prior, seed) for name, given in learners.items()]
        fitted = map_in_threads(self._fit_learner, work, self.n_jobs)
        self._weigh(list(learners), fitted, rows, seed)
        return self

    def _fit_learner(self, name: str, given: Any, rows: Samples, prior: PriorEstimate, seed: int) -> _Fitted:
        common = {"prior": prior, "sampling": self.sampling, "random_state": seed}
        if is_pnu(name, given):
            return self._fit_pnu(given or self.pnu, rows, common)
        # Trees split between any two values, so values that are equal up to rounding are merged.
        merged = replace(rows, X=merge_values(rows.X))
        if name == BAGGING and given is None:
            return _fit_bagging(merged, prior, seed)
        model = make_learner(name, given, seed, merged.X[rows.labeled])
        cv = FOLDS if isinstance(self.cv, str) else self.cv
        adjusted = PriorAdjusted(model, prior, cv=cv, sampling=self.sampling, random_state=seed)
        labels = Labels(np.arange(rows.n_classes), rows.codes)  # class names are the codes themselves
        weight = None if (rows.weight == 1).all() else rows.weight
        adjusted.fit(merged.X, labels, weight, groups=rows.groups)
        scores = _from_log_odds(getattr(adjusted, "validation_scores_", None))
        judging = _from_log_odds(getattr(adjusted, "judging_scores_", None))
        return _Fitted(adjusted.estimator_, adjusted.adjustment_, scores, judging, adjusted.risk_)

    def _fit_pnu(self, given: PNUClassifier | None, rows: Samples, common: dict[str, Any]) -> _Fitted:
        own = PNUClassifier() if given is None else clone(given)
        own.set_params(unlabeled=None, pos_label=None, cv=self.cv, **common)
        if own.risk == "pnu" and rows.n_classes == 2 and (rows.counts == 0).any():
            own.set_params(risk="pu" if rows.counts[0] == 0 else "nu")
        own.fit(rows.X, Labels(self.classes_, rows.codes), rows.weight, groups=rows.groups)
        counted = np.flatnonzero(rows.weight)  # PNUClassifier drops rows of weight zero
        found = []
        for scores in (own.validation_scores_, own.judging_scores_):
            shares = np.full((len(rows.codes), rows.n_classes), np.nan)
            scored = ~np.isnan(scores) if scores.ndim == 1 else ~np.isnan(scores[:, 0])
            shares[counted[scored]] = probabilities(scores[scored], own.calibration_)
            found.append(_as_scores(shares) if scored.any() else None)
        scores, judging = found
        return _Fitted(own, None, scores, judging, own.risk_)

    def _weigh(self, names: list[str], fitted: list[_Fitted], rows: Samples, seed: int) -> None:
        """Set members_ with their weights, then the risk of their average."""
        prior = self.prior_estimate_
        held_out = [(place, one.scores, one.judging) for place, one in enumerate(fitted)]
        pairs = [(place, one, other) for place, one, other in held_out if one is not None and other is not None]
        scored = [place for place, _, _ in pairs]
        weight = np.zeros(len(names))
        weight[scored or [0]] = 1 / len(scored or [0])  # without held-out scores, the first learner alone
        found = judged = None
        if scored:
            scores = np.stack([one for _, one, _ in pairs])  # (M, K, n)
            judging = np.stack([other for _, _, other in pairs])
            weight[scored] = own = member_weights(scores, rows, prior)
            found, judged = np.tensordot(own, scores, axes=1), _judge(scores, judging, rows, prior, seed)
        self.member_scores_ = [one.scores for one in fitted]
        self.members_ = []
        for name, one, share in zip(names, fitted, weight, strict=True):
            self.members_.append(Member(name, _kind(one.model), float(share), one.risk, one.model, one.adjustment))
        self.pnu_ = next((member.model for member in self.members_ if member.name == PNU), None)
        self._evaluate(rows, found, judged)

    def _evaluate(self, rows: Samples, found: AnyArray | None, judged: AnyArray | None) -> None:
        """Set risk_, decisions_ and prior_doubt_ of the average from held-out scores (K, n)."""
        self.risk_ = self.decisions_ = self.prior_doubt_ = None
        two = rows.n_classes == 2
        nowhere = np.full((1 if two else rows.n_classes, len(rows.codes)), np.nan)
        found, judged = (nowhere if scores is None else scores for scores in (found, judged))
        self.validation_scores_, self.judging_scores_ = (s[0] if two else s.T for s in (found, judged))
        never = _never_held_out(judged[0], rows)
        self.risk_ = estimate_model_risk(rows, judged, self._scores, self.prior_estimate_, never)
        self.decisions_ = count_held_out(rows, judged)
        if two and self.prior_estimate_.is_known:
            self.prior_doubt_ = doubt_prior(rows, judged[0], float(self.prior_estimate_))

    def _scores(self, X: Any) -> AnyArray:
        shares = np.zeros((X.shape[0], len(self.classes_)))
        seen = dense(X)
        for member in self.members_ if len(shares) else ():  # scikit-learn's models refuse to answer about no rows
            if member.weight > 0:
                shares += member.weight * member.shares(seen)
        return 2 * shares[:, 1] - 1 if len(self.classes_) == 2 else 2 * shares - 1

    def predict_proba(self, X: Any) -> AnyArray:
        """Class probabilities under the population's class prior, columns as in `classes_`.

        Parameters
        ----------
        X : array, sparse matrix or data frame (rows, columns)
            Features.
        """
        return probabilities(self.decision_function(X), None)


def _usable(learners: dict[str, Any], rows: Samples) -> dict[str, Any]:
    """The learners for these rows: with labels of one class only PNU and bagged trees, otherwise all but the latter."""
    one_class = np.count_nonzero(rows.counts) < 2
    kept = {}
    for name, given in learners.items():
        if given is None and name == BAGGING:
            fits = one_class and rows.n_classes == 2 and len(rows.unlabeled) > 0
        elif is_pnu(name, given):
            fits = True
        else:
            fits = not one_class and (rows.n_classes == 2 or given is not None or name not in FOR_TWO_CLASSES)
        if fits:
            kept[name] = given
    if not kept:
        have = "labels of one class" if one_class else f"{rows.n_classes} classes with labels"
        raise ValueError(f"None of the learners {', '.join(learners)} can learn from {have}. Add 'pnu'.")
    return kept


def _kind(model: Any) -> str:
    """The name of a model's class, or of the last step of a pipeline."""
    return type(model.steps[-1][1] if isinstance(model, Pipeline) else model).__name__


def _fit_bagging(rows: Samples, prior: PriorEstimate, seed: int) -> _Fitted:
    """Bagged trees of the labelled class against U, cut at the population's quantile at one minus the class's share.

    The slope of the log-odds makes them those of being labelled rather than unlabelled, with as many of both.
    """
    code = int(rows.counts.argmax())
    y, alike = (rows.codes >= 0).astype(int), np.arange(len(rows.codes)) if rows.groups is None else rows.groups
    trees = BaggedTrees(random_state=seed).fit(rows.X, y, rows.weight, alike)
    known = ~np.isnan(trees.held_out_)
    held_out = np.log(np.clip(np.column_stack([1 - trees.held_out_, trees.held_out_]), 1e-3, None))
    balanced = rows.weight[known] / np.bincount(y, weights=rows.weight)[y[known]]
    slope = label_slope(held_out[known], y[known], balanced)
    own = rows.population[known[rows.population]]
    margin, weight = held_out[own] @ [-1.0, 1.0], rows.weight[own]
    order = np.argsort(margin)
    place = np.cumsum(weight[order]) - weight[order] / 2
    cut = np.interp((1 - prior.shares[code]) * weight.sum(), place, margin[order]) if len(own) else 0.0
    shift = np.array([0.0, -slope * cut])
    if code == 0:
        trees.classes_ = np.array([1, 0])
        held_out, shift = held_out[:, ::-1], shift[::-1]
    adjustment = Adjustment(slope, shift, 1.0)
    scores = _as_scores(np.exp(adjustment.apply(held_out))) if known.any() else None
    risk = None if scores is None else held_out_risk(rows, scores[0], prior)
    return _Fitted(trees, adjustment, scores, scores, risk)


def _as_scores(shares: AnyArray) -> AnyArray:
    """2 P − 1, shape (K, n), from probabilities (n, classes)."""
    return 2 * (shares[:, 1:] if shares.shape[1] == 2 else shares).T - 1


def _from_log_odds(scores: AnyArray | None) -> AnyArray | None:
    """2 P − 1, shape (K, n), from log-odds (n,) or log-probabilities (n, K)."""
    if scores is None:
        return None
    return _as_scores(np.column_stack([expit(-scores), expit(scores)]) if scores.ndim == 1 else np.exp(scores))


def _never_held_out(scores: AnyArray, rows: Samples) -> tuple[int, ...]:
    """Classes with labelled rows none of which has a score."""
    seen = np.bincount(rows.codes[(rows.codes >= 0) & ~np.isnan(scores)], minlength=rows.n_classes)
    return tuple(np.flatnonzero((rows.counts > 0) & (seen == 0)).tolist())


def member_weights(scores: AnyArray, rows: Samples, prior: PriorEstimate, without: AnyArray | None = None) -> AnyArray:
    """Weights of the learners from held-out scores (M, K, n); rows in the mask `without` are left out.

    They minimise the held-out squared risk of the average plus KL(weights || equal weights) / n, n the effective number
    of labels: stacking with the penalty of PAC-Bayesian bounds. The risk of an average is the average risk less the
    disagreement of the learners (Krogh and Vedelsby, 1995), so learners that err on different rows share the weight. An
    uncertain prior is shrunk as in `PriorAdjusted`.
    """
    counts = rows.counts
    if np.count_nonzero(counts) < 2 or len(scores) == 1:
        return np.full(len(scores), 1 / len(scores))
    shares = cautious(prior, counts / counts.sum()).shares
    known = ~np.isnan(scores).any(axis=(0, 1))
    known &= True if without is None else ~without
    groups = membership(rows.codes, rows.weight, rows.n_classes, rows.population)[known]
    one, other = np.triu_indices(len(scores), 1)
    candidates = np.concatenate([scores, (scores[one] + scores[other]) / 2])[:, :, known]
    tally = Tally.of(candidates.transpose(1, 0, 2)[:, None], groups)
    never = np.flatnonzero((tally.weight[:-1] == 0) & (counts > 0))
    if len(never):
        tally = tally.with_pseudo_observations(never.tolist(), LAPLACE_ROWS)
    alone, middle = np.split(tally.squared(shares)[0], [len(scores)])
    disagreement = np.zeros((len(scores), len(scores)))
    disagreement[one, other] = np.maximum(2 * (alone[one] + alone[other]) - 4 * middle, 0)
    return penalised_weights(alone, disagreement + disagreement.T, 1 / tally.effective_labels(shares))


def penalised_weights(risk: AnyArray, disagreement: AnyArray, penalty: float) -> AnyArray:
    """The weights w that minimise w'risk - w'disagreement w / 2 + penalty * sum of w log w, by Newton's method.

    >>> penalised_weights(np.array([0.1, 0.1, 0.4]), np.zeros((3, 3)), 0.1).round(3).tolist()
    [0.488, 0.488, 0.024]
    """
    n = len(risk)
    weight, system, right = np.full(n, 1 / n), np.ones((n + 1, n + 1)), np.zeros(n + 1)
    system[n, n] = 0.0

    def objective(w: AnyArray) -> float:
        return float(w @ risk - w @ disagreement @ w / 2 + penalty * (w @ np.log(w)))

    for _ in range(MOST_STEPS):
        gradient = risk - disagreement @ weight + penalty * (np.log(weight) + 1)
        system[:n, :n] = np.diag(penalty / weight) - disagreement
        right[:n] = -gradient
        step = np.linalg.solve(system, right)[:n]
        size = min(1.0, 0.9 / max(float((-step / weight).max()), 1e-9))
        now = objective(weight)
        while objective(weight + size * step) > now and size > 1e-9:
            size /= 2
        weight = weight + size * step
        if np.abs(size * step).max() < 1e-13:
            break
    return weight / weight.sum()


def _judge(scores: AnyArray, judging: AnyArray, rows: Samples, prior: PriorEstimate, seed: int) -> AnyArray:
    """Averages of `judging` (M, K, n), each row with weights that were computed from scores of the other folds."""
    if len(scores) == 1:
        return np.asarray(judging[0])
    numbers = np.arange(len(rows.codes))
    n_groups = len(numbers) if rows.groups is None else len(np.unique(rows.groups))
    n_folds = min(FOLDS, n_groups)
    own = own_splits(n_folds, rows.codes, numbers, rows.groups, seed)
    if own:
        held_out = [np.isin(numbers, test) for _, test in own]
    else:
        fold = assign_folds(rows.codes, n_folds, row_keys(rows.X, seed, rows.weight), rows.weight)
        held_out = [fold == k for k in np.unique(fold)]
    found = np.full(judging.shape[1:], np.nan)
    for test in held_out:
        weight = member_weights(scores, rows, prior, without=test)
        found[:, test] = np.tensordot(weight, judging[:, :, test], axes=1)
    return found


# Saving an `AutoPNU`: PNU in its own format, other models in the format of skops.

KIND = "AutoPNU"
TYPES = (Adjustment,)
NOT_KEPT = ("members_", "pnu_", "member_scores_")  # saved in another form, or used by reports only
PLAIN_FIELDS = ("name", "learner", "weight", "risk", "adjustment")  # of a member; its model is saved apart
# Types that skops does not trust by default and that run no code: arrays of tree nodes, and models of boosting, which
# CatBoost and LightGBM read from their own formats.
TREES = ["sklearn.tree._tree.Tree", "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor"]
BOOSTERS = {
    "CatBoostClassifier": ["catboost.core.CatBoostClassifier"],
    "LGBMClassifier": ["collections.OrderedDict", "lightgbm.basic.Booster", "lightgbm.sklearn.LGBMClassifier"],
}
BAGS = ["pnulearn._estimators.learners.BaggedTrees"]
KINDS = {
    "forest": ("ExtraTreesClassifier",),
    "boosting": (*BOOSTERS, "HistGradientBoostingClassifier"),
    "logistic": ("LogisticRegression",),
    "svm": ("SVC",),
    BAGGING: ("BaggedTrees",),
}


def auto_contents(model: AutoPNU) -> dict[str, Any]:
    """The contents of a fitted model for saving. Raises a ValueError if the model cannot predict."""
    refuse_broken(model)
    given = {name: value for name, value in model.get_params(deep=False).items() if name not in (PNU, "learners")}
    pnus = {member.name: member.model for member in model.members_ if isinstance(member.model, PNUClassifier)}
    others = {member.name: member.model for member in model.members_ if member.name not in pnus}
    return {
        "kind": KIND,
        "parameters": {name: v if isinstance(v, (*PLAIN, PriorEstimate)) else None for name, v in given.items()},
        "learnt": {name: value for name, value in vars(model).items() if name.endswith("_") and name not in NOT_KEPT},
        "members": [{name: getattr(member, name) for name in PLAIN_FIELDS} for member in model.members_],
        "models": _dump(others),
        "scikit-learn": version("scikit-learn"),
        "pnu": {name: contents(own) for name, own in pnus.items()},
    }


def restore_auto(content: dict[str, Any]) -> AutoPNU:
    """The model with these contents. Raises an error if they are inconsistent."""
    if any("learner" not in member for member in content["members"]):
        raise ModelFileError(
            "The file holds an AutoPNU of an earlier version, whose members do not name their learners. "
            "Fit and save the model again."
        )
    model = AutoPNU(**content["parameters"])
    model.__dict__.update(content["learnt"])
    saved_with = content["scikit-learn"]
    warn_of_other_scikit_learn("AutoPNU", saved_with)
    try:
        models = {name: restore(PNUClassifier, own) for name, own in content["pnu"].items()}
        models |= _load(content["models"], [member["learner"] for member in content["members"]])
        model.members_ = [Member(**member, model=models[member["name"]]) for member in content["members"]]
        model.pnu_ = models.get(PNU)
        own = (m.name if m.name in LEARNERS else (m.name, clone(m.model)) for m in model.members_)
        model.learners = tuple(own)
        refuse_broken(model)
    except Exception as error:
        if isinstance(error, ImportError) or saved_with == version("scikit-learn"):
            raise
        raise ModelFileError(
            f"This AutoPNU was saved with scikit-learn {saved_with}. Version {version('scikit-learn')} cannot use its "
            f"models ({error}). Install scikit-learn {saved_with}, or fit the model again."
        ) from error
    return model


def refuse_broken(model: AutoPNU) -> None:
    """Raise a ValueError unless the learners are consistent with each other, finite and able to predict."""
    n_features, n_classes = model.n_features_in_, len(model.classes_)
    for place, member in enumerate(model.members_):
        refuse_other_types(replace(member, model=None), f"members_[{place}]", finite=True)
        kind = _kind(member.model)
        _require(
            kind == member.learner and kind in KINDS.get(member.name, (kind,)), f"member {member.name!r} is a {kind}"
        )
        if isinstance(member.model, PNUClassifier):
            _require(member.model.n_features_in_ == n_features, "the PNU model has different columns")
            continue
        own = _n_features(member.model, n_features), sorted(np.asarray(member.model.classes_).tolist())
        _require(own == (n_features, list(range(n_classes))), f"{member.name} has different columns or classes")
        n_outputs = None if member.adjustment is None else np.shape(member.adjustment.shift)
        _require(n_outputs == (n_classes,), f"{member.name} has no adjustment")
    weights = np.array([member.weight for member in model.members_])
    shares = len(weights) > 0 and bool((weights >= 0).all()) and abs(weights.sum() - 1) < 1e-6
    _require(shares, "the weights of the members do not sum to 1")
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn warns that the columns have no names
        scores = model.decision_function(np.zeros((1, n_features)))
    _require(bool(np.isfinite(scores).all()), "its predictions are not finite")


def _n_features(model: Any, default: int) -> int:
    """The number of columns of a model; CatBoost forgets `n_features_in_` in files but keeps the names of columns."""
    return getattr(model, "n_features_in_", 0) or len(getattr(model, "feature_names_", ())) or default


def _dump(models: dict[str, Any]) -> AnyArray | None:
    """Fitted models as bytes; None if there are none, so that saving PNU alone does not need skops."""
    if not models:
        return None
    with import_extra("skops", "Saving an AutoPNU with models of scikit-learn"):
        import skops.io
    for name, model in models.items():
        _refuse_unsafe(name, model, skops.io)
    return np.frombuffer(skops.io.dumps(models), dtype=np.uint8)


def _refuse_unsafe(name: str, model: Any, io: Any) -> None:
    """Raise a TypeError for a model that cannot be saved, or not so that loading it runs no code."""
    try:
        strange = set(io.get_untrusted_types(data=io.dumps(model))) - set(trusted_types([_kind(model)]))
    except Exception as error:
        raise TypeError(f"The learner {name!r} ({type(model).__name__}) cannot be saved by skops: {error}") from error
    if strange:
        raise TypeError(
            f"The learner {name!r} ({type(model).__name__}) cannot be saved so that loading it runs no code: skops "
            f"does not trust {', '.join(sorted(strange))}. Fit without it, or pickle the model."
        )


def trusted_types(learners: Sequence[str]) -> list[str]:
    """Types that skops may load for models of these classes."""
    return TREES + BAGS + [name for learner in learners for name in BOOSTERS.get(learner, [])]


def _load(packed: AnyArray | None, learners: Sequence[str]) -> dict[str, Any]:
    """The models in these bytes. skops only creates the classes that it trusts, and those of `trusted_types`."""
    if packed is None:
        return {}
    with import_extra("skops", "Loading an AutoPNU with models of scikit-learn"):
        import skops.io
    if "CatBoostClassifier" in learners:
        with import_extra("boosting", "Loading an AutoPNU with a model of CatBoost"):
            import catboost  # noqa: F401
    content = packed.tobytes()
    _refuse_compressed(content)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InconsistentVersionWarning)  # one per tree; `restore_auto` has warned already
        return dict(skops.io.loads(content, trusted=trusted_types(learners)))


def _refuse_compressed(content: bytes) -> None:
    """Raise a ValueError if the archive would take more memory than its own size. skops itself does not compress."""
    members = zipfile.ZipFile(BytesIO(content)).infolist()
    stored = all(member.compress_type == zipfile.ZIP_STORED for member in members)
    _require(stored and sum(member.file_size for member in members) <= len(content), "its models are compressed")


def _require(holds: bool, problem: str) -> None:
    if not holds:
        raise ValueError(problem)
