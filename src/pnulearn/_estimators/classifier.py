"""PNUClassifier: from rows and labels, most of them missing, to a classifier."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from pnulearn._basis.basis import Basis
from pnulearn._basis.kernels import KERNELS, choose_basis
from pnulearn._estimators.notebook import learnt_table
from pnulearn._estimators.partially_labeled import PartiallyLabeledClassifier
from pnulearn._files.archive import ModelFileError, read_archive, write_archive
from pnulearn._learning.calibration import probabilities, score_calibration
from pnulearn._learning.parameters import check_parameters, feasible_risk, refuse_if_too_large
from pnulearn._learning.search import Model, Problem, Split, assemble, explore, tabulate
from pnulearn._learning.selection import SearchTable, average_weights, best_candidate
from pnulearn._problem.folds import PNUStratifiedKFold, assign_folds, row_keys
from pnulearn._problem.inputs import read_features
from pnulearn._problem.labels import decode_labels
from pnulearn._problem.samples import Samples, Sampling
from pnulearn._solvers.candidates import ALPHAS, Mixes
from pnulearn._solvers.iterative import WatchedSolver, candidate_solver, squashing
from pnulearn.losses import Loss, as_loss
from pnulearn.metrics.risk import RiskEstimate, estimate_risk
from pnulearn.priors.resolve import resolve_prior
from pnulearn.streaming.incremental import add_batch


class PNUClassifier(PartiallyLabeledClassifier):
    """A classifier from positive, negative and unlabelled rows (Sakai et al., ICML 2017).

    Unlabelled rows enter the risk itself, so no clusters or manifolds are assumed. Parameters left at None are
    learnt by cross-validation with the PNU risk.

    Parameters
    ----------
    risk
        "pnu", "punu", "pn", "pu" or "nu". If a group of rows is missing, the risk that can do without it is used.
    loss
        name of a loss, or a `Loss`.
    kernel
        "rbf" (Gaussians), "laplace" (exp(−|x − c|₁ / σ)) or "polynomial" (cubic), all around `centers` and without
        intercept, or "linear", with an unpenalised intercept.
    prior
        share of positives in the population; a mapping from class to share for more than two classes; the name of a
        method or an estimator from `pnulearn.priors`; "labeled" for the share among the labelled rows; None estimates
        it (`AutoPrior`).
    mix
        η in [−1, 1] for "pnu", γ in [0, 1] for "punu"; a number, candidates, or None for the paper's grid.
    alpha
        λ of the penalty λ w′w; a number, candidates, or None for 10⁻⁵ … 10².
    bandwidth
        σ of the kernel, as in exp(−|x − c|² / (2σ²)); a number, candidates, or None for multiples of the median
        distance.
    centers
        "auto" (all rows up to 500, beyond that the labelled ones and a random choice of the others), "labeled", "all",
        a number or an array.
    selection
        "average" predicts with all candidates weighted by their validation risk, "best" with the best one.
    tie_break
        with "best", "risk" settles ties by the squared-loss risk, "first" takes the first as the paper did.
    cv
        number of folds, a scikit-learn splitter, or pairs of row numbers.
    sampling
        "case_control" if the unlabelled rows alone stand for the population, "single_set" if all rows do.
    unlabeled
        the value in y that marks unlabelled rows; missing values always do.
    pos_label
        the positive class, by default the greater label.
    n_jobs
        threads to search bandwidths and folds with. The result does not depend on it.
    random_state
        seed of the folds and of the choice of centres.
    verbose
        1 reports progress on stderr.

    Attributes
    ----------
    classes_
        (negative, positive), or all classes in order.
    prior_
        the prior used; `prior_interval_` its 90 % confidence interval if it was estimated.
    mix_, alpha_, bandwidth_
        the best candidate's values.
    search_
        every candidate with its validation results.
    risk_
        validation risk of the final model with standard error and interval (two classes).
    n_iter_, converged_
        most iterations that a fit took, and whether all met their tolerance.
    calibration_
        slope and shift from scores to log-odds, None for the squared loss.
    validation_scores_
        scores of rows that were held out when they were scored (out of fold, or of X_val).
    coef_, intercept_, centers_, bandwidths_
        the model.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> y_partly = y.astype(float)
    >>> y_partly[100:] = float("nan")
    >>> X = (X - X.min(axis=0)) / (X.max(axis=0) - X.min(axis=0))
    >>> model = PNUClassifier(random_state=0).fit(X, y_partly)
    >>> round(model.score(X[100:], y[100:]), 2)
    0.98
    """

    prior_: Any
    prior_interval_: tuple[Any, Any] | None

    def __init__(
        self,
        risk: str = "pnu",
        loss: Any = "squared",
        kernel: str = "rbf",
        *,
        prior: Any = None,
        mix: Any = None,
        alpha: Any = None,
        bandwidth: Any = None,
        centers: Any = "auto",
        selection: str = "average",
        tie_break: str = "risk",
        cv: Any = 5,
        sampling: Sampling = "case_control",
        unlabeled: Any = None,
        pos_label: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ):
        self.risk = risk
        self.loss = loss
        self.kernel = kernel
        self.prior = prior
        self.mix = mix
        self.alpha = alpha
        self.bandwidth = bandwidth
        self.centers = centers
        self.selection = selection
        self.tie_break = tie_break
        self.cv = cv
        self.sampling = sampling
        self.unlabeled = unlabeled
        self.pos_label = pos_label
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        X_val: Any = None,
        y_val: ArrayLike | None = None,
    ) -> PNUClassifier:
        """Learn from rows X with labels y, of which any may be missing.

        With a held-out set X_val, y_val (it may have unlabelled rows too) candidates are judged on it instead of by
        cross-validation.

        Parameters
        ----------
        X : array, sparse matrix or data frame (rows, columns)
            Features.
        y : array (rows,)
            Labels; missing values and `unlabeled` mark unlabelled rows.
        sample_weight : array (rows,), optional
            Weights of the rows; one each by default.
        X_val : like X, optional
            Held-out rows to judge candidates on, instead of cross-validation.
        y_val : like y, optional
            Their labels, of which any may be missing.
        """
        check_parameters(self)
        self.__dict__.pop("_statistics", None)  # of partial_fit
        every = replace(self._read_problem(X, y, sample_weight), sampling=self.sampling)
        kept = np.flatnonzero(every.weight)  # a row of weight zero is as good as absent
        samples = every if len(kept) == len(every.codes) else every.take(kept)
        seed = int(check_random_state(self.random_state).randint(2**31))
        keys = row_keys(samples.X, seed)
        risk = feasible_risk(self.risk, self.mix, samples, self.classes_)
        prior = self._learn_prior(samples, seed)
        loss = as_loss(self.loss)
        solver = WatchedSolver(candidate_solver(loss))
        problem = Problem(
            samples,
            prior,
            self._basis(samples, keys),
            Mixes.of(risk, self.mix),
            ALPHAS if self.alpha is None else np.atleast_1d(np.asarray(self.alpha, dtype=float)),
            solver,
            squashing(loss),
            held_out=self._read_held_out(X_val, y_val),
        )
        if problem.held_out is None:
            splits = self._own_splits(every, kept) or self._content_splits(samples, keys, problem.n_candidates)
            problem = replace(problem, splits=splits)
        refuse_if_too_large(len(samples.codes), problem.basis.size, len(problem.basis.bandwidths) + 2)
        explored = explore(problem, self.n_jobs, self.verbose)
        self.search_ = tabulate(problem, explored, self._weigher(problem))
        self._keep(problem, assemble(problem, explored, self.search_.weight, self.n_jobs))
        self._keep_convergence(solver)
        self.calibration_ = self._calibration(loss, problem)
        return self

    def partial_fit(self, X: Any, y: ArrayLike, classes: ArrayLike | None = None) -> PNUClassifier:
        """Add a batch of rows and learn from all rows so far; only loss="squared" can do that.

        The first call needs all `classes`. It also fixes the centres: give them, or let the first batch be typical.
        The model is solved anew after every batch, so batches of many rows are better than many batches. Until there
        are labelled rows enough to validate with, rows are counted and the model stays unfitted.

        Parameters
        ----------
        X : array, sparse matrix or data frame (rows, columns)
            Features.
        y : array (rows,)
            Labels; missing values and `unlabeled` mark unlabelled rows.
        classes : array, optional
            All labels that will ever occur; needed by the first call.
        """
        return add_batch(self, X, y, classes)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "coef_")

    def _learn_prior(self, samples: Samples, seed: int) -> NDArray:
        """Class shares in code order; sets prior_ and prior_interval_."""
        estimate = resolve_prior(
            self.prior, samples.X, samples.codes, samples.weight, classes=self.classes_, random_state=seed
        )
        self.prior_, self.prior_interval_ = estimate.value, estimate.interval
        return estimate.shares

    def _basis(self, samples: Samples, keys: NDArray) -> Basis:
        return choose_basis(self.kernel, samples.X, samples.codes >= 0, keys, self.centers, self.bandwidth)

    def _read_held_out(self, X_val: Any, y_val: ArrayLike | None) -> Samples | None:
        if X_val is None and y_val is None:
            return None
        if X_val is None or y_val is None:
            raise ValueError("X_val and y_val go together: pass both, or neither for cross-validation.")
        X = read_features(self, X_val, reset=False)
        labels = decode_labels(y_val, self.unlabeled, classes=self.classes_)
        check_consistent_length(X, labels.codes)
        return Samples(X, labels.codes, np.ones(len(labels.codes)), len(self.classes_), self.sampling)

    def _content_splits(self, samples: Samples, keys: NDArray, n_candidates: int) -> list[Split]:
        """Folds by the rows' content; none if there is nothing to choose and too little to validate with."""
        distinct = [len(np.unique(keys[samples.codes == code])) for code in range(samples.n_classes)]
        lonely = [name for name, count in zip(self.classes_.tolist(), distinct, strict=True) if count == 1]
        if lonely and n_candidates == 1:
            return []
        if lonely:
            raise ValueError(
                f"Class {lonely[0]!r} has a single labelled row, too few to cross-validate. Label one more, pass "
                "X_val and y_val, or fix mix, alpha and bandwidth."
            )
        fold = assign_folds(samples.codes, min(int(self.cv), len(samples.codes)), keys, samples.weight)
        return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in np.unique(fold)]

    def _own_splits(self, every: Samples, kept: NDArray) -> list[Split]:
        """The user's splits of all rows, renumbered for the rows that are kept; none if cv is a number."""
        if isinstance(self.cv, numbers.Integral):
            return []
        if isinstance(self.cv, PNUStratifiedKFold):
            splits = self.cv.split_codes(every.codes)
        elif hasattr(self.cv, "split"):
            splits = self.cv.split(np.zeros(len(every.codes)), every.codes)
        else:
            splits = self.cv
        return [(np.flatnonzero(np.isin(kept, train)), np.flatnonzero(np.isin(kept, test))) for train, test in splits]

    def _weigher(self, problem: Problem) -> Callable[..., NDArray]:
        if self.selection == "average":
            return partial(average_weights, shares=problem.mixes.shares)
        return partial(best_candidate, alphas=problem.alphas, mixes=problem.mixes.values, tie_break=self.tie_break)

    def _keep(self, problem: Problem, model: Model) -> None:
        """Store the model and what was learnt on the way as fitted attributes."""
        bandwidth, mix, alpha = self.search_.best
        self.risk_used_ = problem.mixes.risk
        self.bandwidth_ = float(self.search_.bandwidths[bandwidth])
        self.mix_ = float(self.search_.mixes[mix])
        self.alpha_ = float(self.search_.alphas[alpha])
        self.risk_ = _validation_risk(problem, model)
        self.validation_scores_ = model.validation_scores[0] if len(self.classes_) == 2 else model.validation_scores.T
        self.__dict__.update(problem.basis.learnt(model.bandwidths, model.coef, model.intercept))

    def _keep_convergence(self, solver: WatchedSolver) -> None:
        self.n_iter_, self.converged_ = solver.n_iter, solver.n_failed == 0
        if not self.converged_:
            warnings.warn(
                f"{solver.n_failed} of {solver.n_fits} fits stopped short of their tolerance, where the objective is "
                f"all but flat. Leave out the smallest alpha ({np.min(self.search_.alphas):g}), or bring the columns "
                "of X to a common scale.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _calibration(self, loss: Loss, problem: Problem) -> NDArray | None:
        """Log-odds from scores that were not seen in training; from all rows if there was nothing to validate with."""
        rows = problem.samples if problem.held_out is None else problem.held_out
        scores = np.atleast_2d(self.validation_scores_.T)
        if np.isnan(scores).all():
            rows, scores = problem.samples, np.atleast_2d(self._scores(problem.samples.X).T)
        return score_calibration(loss, scores, rows, problem.prior)

    def _scores(self, X: Any) -> NDArray:
        scores = KERNELS[self.kernel].scores(self, X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict_proba(self, X: Any) -> NDArray:
        """Class probabilities under the population prior, columns as in `classes_`.

        Parameters
        ----------
        X : array, sparse matrix or data frame (rows, columns)
            Features.
        """
        return probabilities(self.decision_function(X), getattr(self, "calibration_", None), self.prior_)

    def _repr_html_inner(self) -> str:
        return super()._repr_html_inner() + learnt_table(self)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle = super()._repr_mimebundle_(**kwargs)
        return bundle | {kind: text + learnt_table(self) for kind, text in bundle.items() if kind == "text/html"}

    def save(self, path: Any) -> None:
        """Write the fitted model to a file that `pnulearn.load` reads without running code.

        Parameters
        ----------
        path : str or Path
            The file.
        """
        write_archive(path, "PNUClassifier", contents(self))


def load(path: Any) -> PNUClassifier:
    """A classifier that was written by `PNUClassifier.save`.

    Parameters
    ----------
    path : str or Path
        The file.
    """
    kind, content = read_archive(path, (SearchTable, RiskEstimate))
    if kind != "PNUClassifier":
        raise ModelFileError(f"{str(path)!r} holds a {kind}, not a PNUClassifier.")
    return restored(content)


def contents(model: PNUClassifier) -> dict[str, Any]:
    """What a fitted model is made of, as plain values, arrays and dataclasses."""
    check_is_fitted(model)
    learnt = {name: value for name, value in vars(model).items() if name.endswith("_")}
    return {"parameters": _plain_parameters(model), "learnt": learnt}


def restored(content: dict[str, Any]) -> PNUClassifier:
    """The model with these `contents`."""
    model = PNUClassifier(**content["parameters"])
    model.__dict__.update(content["learnt"])
    return model


def _plain_parameters(model: PNUClassifier) -> dict[str, Any]:
    """Parameters as plain values. A loss becomes its name; splitters are no longer needed and become the default."""
    plain = (bool, int, float, str, list, tuple, dict, np.ndarray, np.generic, type(None))
    defaults = PNUClassifier().get_params()
    named = {name: value.name if isinstance(value, Loss) else value for name, value in model.get_params(False).items()}
    return {name: value if isinstance(value, plain) else defaults[name] for name, value in named.items()}


def _validation_risk(problem: Problem, model: Model) -> RiskEstimate | None:
    """The PNU zero-one risk of the final model on rows it was not fitted to (out of fold, or held out)."""
    rows = problem.samples if problem.held_out is None else problem.held_out
    scores = model.validation_scores[0]
    if rows.n_classes > 2 or np.isnan(scores).all():
        return None
    seen = np.flatnonzero(~np.isnan(scores))
    population = np.intersect1d(rows.population, seen)
    groups = [seen[rows.codes[seen] == 1], seen[rows.codes[seen] == 0], population]
    if not (len(groups[2]) or (len(groups[0]) and len(groups[1]))) or not (len(groups[0]) or len(groups[1])):
        return None
    return estimate_risk([scores[g] for g in groups], problem.prior[1], weights=[rows.weight[g] for g in groups])
