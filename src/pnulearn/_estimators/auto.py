"""AutoPNU: PNU and scikit-learn models adjusted to the class prior, averaged with weights from their held-out risk."""

from __future__ import annotations

import warnings
import zipfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit
from sklearn.base import clone
from sklearn.exceptions import InconsistentVersionWarning

from pnulearn._arrays import AnyArray
from pnulearn._estimators.base import PartiallyLabeledClassifier
from pnulearn._estimators.classifier import PNUClassifier
from pnulearn._estimators.prior_adjusted import Adjustment, PriorAdjusted, class_scores
from pnulearn._estimators.saving import PLAIN, contents, restore, warn_of_other_scikit_learn
from pnulearn._extras import import_extra
from pnulearn._files.archive import refuse_other_types
from pnulearn._files.refusals import ModelFileError
from pnulearn._kernels.basis import dense
from pnulearn._learning.calibration import probabilities
from pnulearn._learning.result import count_held_out, doubt_prior, estimate_model_risk, held_out_risk
from pnulearn._learning.selection import Tally, membership
from pnulearn._learning.settings import AUTO, FOLDS
from pnulearn._problem.alignment import refuse_misaligned
from pnulearn._problem.folds import assign_folds, check_cv
from pnulearn._problem.inputs import read_mask, read_random_state
from pnulearn._problem.labels import Labels
from pnulearn._problem.row_keys import merge_values, row_keys
from pnulearn._problem.samples import Samples, Sampling, read_sampling
from pnulearn.metrics._estimate import RiskEstimate
from pnulearn.priors._estimate import PriorEstimate
from pnulearn.priors._resolve import resolve_prior

PNU = "pnu"


# scikit-learn's models are imported on first use, so that fitting or loading PNU alone stays fast.
def _forest(seed: int) -> Any:
    from sklearn.ensemble import ExtraTreesClassifier

    return ExtraTreesClassifier(100, random_state=seed)


def _boosting(seed: int) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(max_iter=50, min_samples_leaf=5, random_state=seed)


def _logistic(seed: int) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=1000)


def _svm(seed: int) -> Any:
    from sklearn.svm import SVC

    return SVC(tol=1e-10)  # with the default tolerance, scores vary by 1e-3 with the order of rows; it is no faster


# Functions of a seed that return an unfitted scikit-learn model.
SUPERVISED: dict[str, Callable[[int], Any]] = {
    "forest": _forest,
    "boosting": _boosting,
    "logistic": _logistic,
    "svm": _svm,
}
FOR_TWO_CLASSES = ("svm",)
LEARNERS = (PNU, *SUPERVISED)


@dataclass(frozen=True, eq=False)
class Member:
    """A fitted learner: its name, its weight in the average, its own held-out risk, and the scikit-learn model."""

    name: str
    weight: float
    risk: RiskEstimate | None
    model: Any = None  # None for PNU, which is `pnu_`
    adjustment: Adjustment | None = None

    def shares(self, X: AnyArray) -> AnyArray:
        """Probabilities of every class, shape (n, classes)."""
        assert self.adjustment is not None
        return np.exp(self.adjustment.apply(class_scores(self.model, X, self.model.classes_)))


class AutoPNU(PartiallyLabeledClassifier):
    """Weighted average of PNU, a forest, boosting, logistic regression and an SVM, all adjusted to one class prior.

    Every learner is fitted separately; those of scikit-learn are wrapped in `PriorAdjusted`. Each one scores held-out
    rows. Probabilities are averaged with weights proportional to exp(−n (zero-one risk + squared risk)), where both are
    held-out PNU risks and n is the effective number of labels. `risk_` is cross-validated: a row is scored with weights
    that were computed from the other folds.

    The cost is one fit of PNU, to columns as given and as ranks, and one fit per fold plus one of every other learner.

    Parameters
    ----------
    learners : sequence of str
        Some of "pnu", "forest", "boosting", "logistic" and "svm" (skipped if there are more than two classes).
    pnu : PNUClassifier, optional
        The PNU classifier to use; by default `PNUClassifier(columns="both")`.
    prior : object, optional
        The class prior, in any form that `PNUClassifier` accepts; None estimates it.
    cv : "auto", int, splitter or pairs of row numbers
        Cross-validation that holds out every row once. "auto" is five folds for the scikit-learn learners and
        `cv="auto"` of `PNUClassifier` for PNU.
    sampling : str
        "random" if the labelled rows were drawn at random from the population, else "by_class".
    unlabeled : object, optional
        The value that marks unlabelled rows, besides missing values.
    pos_label : object, optional
        The positive class, by default the greater label.
    random_state : int, RandomState or None
        Seed of all random choices.

    Attributes
    ----------
    members_
        The learners, each with `name`, `weight` and its own held-out `risk`.
    classes_
        (negative, positive), or all classes in order.
    prior_, prior_interval_, prior_estimate_, prior_doubt_
        The same as in `PNUClassifier`.
    risk_, decisions_
        Estimated error and confusion counts of the average, from held-out rows.
    validation_scores_, judging_scores_
        2 P(+|x) − 1 of held-out rows. For `judging_scores_` the weights of the learners were computed without the row's
        own fold.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> truth = np.concatenate([np.arange(40) % 2, rng.random(200) < 0.3])
    >>> X = rng.normal(size=(240, 2)) + 2 * truth[:, None]
    >>> y = np.where(np.arange(240) < 40, truth, np.nan)
    >>> model = AutoPNU(("pnu", "logistic"), prior=0.3, random_state=0).fit(X, y)
    >>> [member.name for member in model.members_]
    ['pnu', 'logistic']
    >>> bool(model.score(X, y) > 0.8)
    True
    """

    calibration_ = None  # scores are already 2 P − 1
    prior_estimate_: PriorEstimate
    decisions_: Any  # None if no row was held out
    members_: list[Member]

    def __init__(
        self,
        learners: Sequence[str] = LEARNERS,
        pnu: PNUClassifier | None = None,
        *,
        prior: Any = None,
        cv: Any = AUTO,
        sampling: Sampling = "by_class",
        unlabeled: Any = None,
        pos_label: Any = None,
        random_state: Any = None,
    ):
        self.learners = learners
        self.pnu = pnu
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
    ) -> AutoPNU:
        """Fit every learner and compute their weights.

        Parameters
        ----------
        X : array, sparse matrix or data frame (rows, columns)
            Features, in columns of comparable scale; sparse input is converted to a dense array.
        y : array (rows,)
            Labels; missing values and `unlabeled` mark unlabelled rows.
        sample_weight : array (rows,), optional
            Weights of the rows; one each by default.
        at_random : array of bool (rows,), optional
            True for labelled rows that were drawn at random from the population, if the others were drawn by class.
        """
        refuse_misaligned(X=X, y=y, sample_weight=sample_weight, at_random=at_random)
        names = _read_names(self.learners)
        check_cv(self.cv, AUTO)
        if not isinstance(self.pnu, PNUClassifier | None):
            raise TypeError(f"pnu must be a PNUClassifier or None, got {self.pnu!r}.")
        rows = self._read_problem(X, y, sample_weight)
        marked = read_mask(at_random, len(rows.codes))
        rows = replace(rows, X=dense(rows.X), sampling=read_sampling(self.sampling), at_random=marked)
        names = [name for name in names if rows.n_classes == 2 or name not in FOR_TWO_CLASSES]
        if not names:
            raise ValueError(
                f"learners={self.learners!r} support two classes only, and y has {rows.n_classes}. Add 'pnu'."
            )
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
        common = {"prior": prior, "sampling": self.sampling, "random_state": seed}
        fitted = [
            self._fit_pnu(rows, common) if name == PNU else self._fit_supervised(name, rows, common) for name in names
        ]
        held_out = [_held_out_shares(model, rows) for model in fitted]
        self._weigh(names, fitted, held_out, rows, seed)
        return self

    def _fit_pnu(self, rows: Samples, common: dict[str, Any]) -> PNUClassifier:
        own = PNUClassifier(columns="both") if self.pnu is None else clone(self.pnu)
        own.set_params(unlabeled=None, pos_label=None, cv=self.cv, **common)
        return own.fit(rows.X, Labels(self.classes_, rows.codes), rows.weight)

    def _fit_supervised(self, name: str, rows: Samples, common: dict[str, Any]) -> PriorAdjusted:
        """Fit to values of which those equal up to rounding are merged: trees would split between them."""
        folds = FOLDS if isinstance(self.cv, str) else self.cv
        model = PriorAdjusted(SUPERVISED[name](common["random_state"]), cv=folds, **common)
        labels = Labels(np.arange(rows.n_classes), rows.codes)  # class names are the codes themselves
        return model.fit(merge_values(rows.X), labels, None if (rows.weight == 1).all() else rows.weight)

    def _weigh(self, names: list[str], fitted: list[Any], held_out: list[Any], rows: Samples, seed: int) -> None:
        """Set members_ with their weights, then the risk of their average."""
        scored = [place for place, shares in enumerate(held_out) if shares is not None]
        scores = np.stack([held_out[place] for place in scored]) if scored else None  # (M, K, n)
        weight = np.zeros(len(names))
        weight[scored or [0]] = 1.0  # without held-out scores, the first learner alone
        found = cross = None
        if scores is not None:
            weight[scored] = own = _weights(scores, rows, self.prior_estimate_)
            found, cross = np.tensordot(own, scores, axes=1), _cross_scores(scores, rows, self.prior_estimate_, seed)
        self.members_, self.pnu_, self.member_scores_ = [], None, held_out
        for place, (name, model) in enumerate(zip(names, fitted, strict=True)):
            alone = None if held_out[place] is None or rows.n_classes > 2 else held_out[place][0]
            risk = None if alone is None else held_out_risk(rows, alone, self.prior_estimate_)
            member = Member(name, float(weight[place]), risk)
            if name == PNU:
                self.pnu_ = model
            else:
                member = replace(member, model=model.estimator_, adjustment=model.adjustment_)
            self.members_.append(member)
        self._evaluate(rows, found, cross)

    def _evaluate(self, rows: Samples, found: AnyArray | None, cross: AnyArray | None) -> None:
        """Set risk_, decisions_ and prior_doubt_ of the average from held-out scores (K, n)."""
        self.risk_ = self.decisions_ = self.prior_doubt_ = None
        nowhere = np.full((1 if rows.n_classes == 2 else rows.n_classes, len(rows.codes)), np.nan)
        found, cross = (nowhere if scores is None else scores for scores in (found, cross))
        two = rows.n_classes == 2
        self.validation_scores_, self.judging_scores_ = (s[0] if two else s.T for s in (found, cross))
        self.risk_ = estimate_model_risk(rows, cross, self._scores, self.prior_estimate_)
        self.decisions_ = count_held_out(rows, cross)
        if two and self.prior_estimate_.is_known:
            self.prior_doubt_ = doubt_prior(rows, cross[0], float(self.prior_estimate_))

    def _scores(self, X: Any) -> AnyArray:
        shares = np.zeros((X.shape[0], len(self.classes_)))
        seen = dense(X)
        for member in self.members_ if len(shares) else ():  # scikit-learn's models refuse to answer about no rows
            if member.weight > 0:
                own = member.shares(seen) if self.pnu_ is None or member.name != PNU else self.pnu_.predict_proba(seen)
                shares += member.weight * own
        return 2 * shares[:, 1] - 1 if len(self.classes_) == 2 else 2 * shares - 1

    def predict_proba(self, X: Any) -> AnyArray:
        """Class probabilities under the population's class prior, columns as in `classes_`.

        Parameters
        ----------
        X : array, sparse matrix or data frame (rows, columns)
            Features.
        """
        return probabilities(self.decision_function(X), None)


def _read_names(learners: Any) -> list[str]:
    names = [learners] if isinstance(learners, str) else list(learners) if isinstance(learners, Iterable) else []
    if not names or any(name not in LEARNERS for name in names) or len(set(names)) < len(names):
        raise ValueError(f"learners must be distinct names out of {', '.join(map(repr, LEARNERS))}, got {learners!r}.")
    return names


def _held_out_shares(model: Any, rows: Samples) -> AnyArray | None:
    """Held-out scores 2 P − 1 of all rows, shape (K, n); None if rows could not be held out."""
    scores = getattr(model, "validation_scores_", None)
    if scores is None or np.isnan(scores).all():
        return None
    if isinstance(model, PNUClassifier):
        scored = ~np.isnan(scores) if scores.ndim == 1 else ~np.isnan(scores[:, 0])
        shares = np.full((len(rows.codes), rows.n_classes), np.nan)
        counted = np.flatnonzero(rows.weight)  # PNUClassifier drops rows of weight zero
        shares[counted[scored]] = probabilities(scores[scored], model.calibration_)
    else:
        shares = np.column_stack([expit(-scores), expit(scores)]) if scores.ndim == 1 else np.exp(scores)
    return 2 * (shares[:, 1:] if rows.n_classes == 2 else shares).T - 1


def _weights(scores: AnyArray, rows: Samples, prior: PriorEstimate, without: AnyArray | None = None) -> AnyArray:
    """Gibbs weights of the learners from held-out scores (M, K, n); rows in the mask `without` are left out."""
    known = ~np.isnan(scores).any(axis=(0, 1))
    known &= True if without is None else ~without
    groups = membership(rows.codes, rows.weight, rows.n_classes, rows.population)[known]
    tally = Tally.of(scores[:, :, known].transpose(1, 0, 2)[:, None], groups)
    risk = (tally.zero_one(prior.shares) + tally.squared(prior.shares))[0]
    energy = tally.effective_labels(prior.shares) * risk
    weight = np.exp(energy.min() - energy)
    return weight / weight.sum()


def _cross_scores(scores: AnyArray, rows: Samples, prior: PriorEstimate, seed: int) -> AnyArray:
    """Averaged scores (K, n), each row with weights that were computed from the other folds."""
    n_folds = int(min(5, np.bincount(rows.codes[rows.labeled], minlength=rows.n_classes).min()))
    if n_folds < 2 or len(scores) == 1:
        return np.tensordot(_weights(scores, rows, prior), scores, axes=1)
    fold = assign_folds(rows.codes, n_folds, row_keys(rows.X, seed, rows.weight), rows.weight)
    found = np.empty(scores.shape[1:])
    for k in np.unique(fold):
        own = fold == k
        found[:, own] = np.tensordot(_weights(scores, rows, prior, without=own), scores[:, :, own], axes=1)
    return found


# Saving an `AutoPNU`: PNU in its own format, scikit-learn's models in the format of skops.

KIND = "AutoPNU"
TYPES = (Adjustment,)
NOT_KEPT = ("members_", "pnu_", "member_scores_")  # saved in another form, or used by reports only
PLAIN_FIELDS = ("name", "weight", "risk", "adjustment")  # of a member; its model is saved by skops
# Types that skops does not trust by default: tree nodes, which are arrays.
TREES = ["sklearn.tree._tree.Tree", "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor"]


def auto_contents(model: AutoPNU) -> dict[str, Any]:
    """The contents of a fitted model for saving. Raises a ValueError if the model cannot predict."""
    refuse_broken(model)
    kept = {name: value for name, value in model.get_params(deep=False).items() if name != PNU}
    return {
        "kind": KIND,
        "parameters": {name: v if isinstance(v, (*PLAIN, PriorEstimate)) else None for name, v in kept.items()},
        "learnt": {name: value for name, value in vars(model).items() if name.endswith("_") and name not in NOT_KEPT},
        "members": [{name: getattr(member, name) for name in PLAIN_FIELDS} for member in model.members_],
        "models": _dump({member.name: member.model for member in model.members_ if member.name != PNU}),
        "scikit-learn": version("scikit-learn"),
        "pnu": None if model.pnu_ is None else contents(model.pnu_),
    }


def restore_auto(content: dict[str, Any]) -> AutoPNU:
    """The model with these contents. Raises an error if they are inconsistent."""
    model = AutoPNU(**content["parameters"])
    model.__dict__.update(content["learnt"])
    model.pnu_ = None if content["pnu"] is None else restore(PNUClassifier, content["pnu"])
    saved_with = content["scikit-learn"]
    warn_of_other_scikit_learn("AutoPNU", saved_with)
    try:
        models = _load(content["models"])
        model.members_ = [Member(**member, model=models.get(member["name"])) for member in content["members"]]
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
        refuse_other_types(member, f"members_[{place}]", finite=True)
        if member.name == PNU:
            _require(model.pnu_ is not None and model.pnu_.n_features_in_ == n_features, "the PNU model is missing")
            continue
        known = member.name in SUPERVISED and type(member.model) is type(SUPERVISED[member.name](0))
        _require(known, f"member {member.name!r} is a {type(member.model).__name__}")
        own = member.model.n_features_in_, member.model.classes_.tolist()
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


def _dump(models: dict[str, Any]) -> AnyArray | None:
    """Fitted scikit-learn models as bytes; None if there are none, so that saving PNU alone does not need skops."""
    if not models:
        return None
    with import_extra("skops", "Saving an AutoPNU with models of scikit-learn"):
        import skops.io
    return np.frombuffer(skops.io.dumps(models), dtype=np.uint8)


def _load(packed: AnyArray | None) -> dict[str, Any]:
    """The models in these bytes. skops only creates scikit-learn's classes and tree nodes."""
    if packed is None:
        return {}
    with import_extra("skops", "Loading an AutoPNU with models of scikit-learn"):
        import skops.io
    content = packed.tobytes()
    _refuse_compressed(content)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InconsistentVersionWarning)  # one per tree; `restore_auto` has warned already
        return skops.io.loads(content, trusted=TREES)


def _refuse_compressed(content: bytes) -> None:
    """Raise a ValueError if the archive would take more memory than its own size. skops itself does not compress."""
    members = zipfile.ZipFile(BytesIO(content)).infolist()
    stored = all(member.compress_type == zipfile.ZIP_STORED for member in members)
    _require(stored and sum(member.file_size for member in members) <= len(content), "its models are compressed")


def _require(holds: bool, problem: str) -> None:
    if not holds:
        raise ValueError(problem)
