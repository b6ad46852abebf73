"""PNUClassifier, which learns from positive, negative and unlabelled rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from numpy.typing import ArrayLike
from sklearn.utils.metaestimators import available_if

from pnulearn._arrays import AnyArray
from pnulearn._estimators.base import PartiallyLabeledClassifier, learnt_table, read_held_out
from pnulearn._estimators.saving import contents
from pnulearn._files.archive import write_archive
from pnulearn._files.outputs import MODEL, Output, check_outputs
from pnulearn._kernels.registry import KERNELS
from pnulearn._learning.at_costs import learn_at_costs
from pnulearn._learning.calibration import probabilities
from pnulearn._learning.from_moments import add_batch, column_attributes, is_enough, learn_from_moments
from pnulearn._learning.from_rows import learn_from_rows
from pnulearn._learning.result import FitResult
from pnulearn._learning.settings import Settings, refuse_loss_in_one_pass
from pnulearn._moments import PNUStatistics
from pnulearn._problem.alignment import refuse_misaligned
from pnulearn._problem.folds import read_groups
from pnulearn._problem.inputs import read_features, read_mask
from pnulearn._problem.labels import Labels
from pnulearn._problem.samples import Samples, Sampling, read_sampling
from pnulearn.losses import LOSSES, Loss, as_loss
from pnulearn.priors._estimate import PriorEstimate


def _takes_batches(model: PNUClassifier) -> bool:
    if isinstance(model.loss, Loss) or model.loss in list(LOSSES):  # `fit` refuses other values
        refuse_loss_in_one_pass(as_loss(model.loss))
    return True


class PNUClassifier(PartiallyLabeledClassifier):
    """Classifier for positive, negative and unlabelled rows (Sakai et al., ICML 2017).

    The risk (expected loss) that is minimised is estimated from positive (P), negative (N) and unlabelled (U) rows, so
    no cluster or manifold assumption is needed. Hyper-parameters left at None are chosen by cross-validation with the
    same kind of risk. A candidate is one combination of hyper-parameters.

    Parameters
    ----------
    risk
        "pn" (the supervised risk), "pu" (from positive and unlabelled rows), "nu" (from negative and unlabelled rows),
        "pnu" (a weighted average of "pn" and either "pu" or "nu") or "punu" (a weighted average of "pu" and "nu"). If
        the positive, negative or unlabelled rows are missing, a risk without them is used.
    loss
        name of a loss, or a `Loss`.
    kernel
        "rbf" (Gaussians), "laplace" (exp(−|x − c|₁ / σ)) or "polynomial" (cubic), all around `centers` and without
        intercept, or "linear", with an unpenalised intercept.
    prior
        share of positives in the population; a mapping from class to share for more than two classes; a pair such as
        (0.1, 0.3), which is a 90 % range, or a distribution from `scipy.stats`; a `PriorEstimate`; the name of a method
        or an estimator from `pnulearn.priors`; "labeled" for the share among the labelled rows; None estimates it
        (`AutoPrior`). A number is treated as known exactly. Everything else is treated as a distribution, whose
        uncertainty is part of the interval of `risk_`.
    mix
        for "pnu" η in [−1, 1], the weight of the unlabelled rows: 0 is "pn", 1 is "pu" and −1 is "nu"; for "punu" γ in
        [0, 1]: 0 is "pu" and 1 is "nu". A number, candidates, or None for the paper's grid of 21 values.
        If `alpha` is None as well, losses without a closed-form solution use 5 of them and 4 alphas; pass `alpha` to
        use all 21.
    alpha
        λ of the penalty λ w′w; a number, candidates, or None for 10⁻⁵ … 10².
    bandwidth
        σ of the kernel, as in exp(−|x − c|² / (2σ²)); a number, candidates, or None for multiples of the median
        distance. With ranks it is a distance between ranks.
    columns
        "given", "ranks" (every value is replaced by the normal quantile of its rank among all rows, so that skewed
        columns such as amounts and counts need no logarithms), or "both", which searches and averages over both. Ranks
        need a kernel around centres. "auto" is "both" for such a kernel if no `bandwidth` is given and X is not a large
        sparse matrix (over 2²⁰ cells), and "given" otherwise.
    centers
        "auto" (all rows up to 500, otherwise the labelled rows and a random sample of the others), "labeled", "all",
        a number or an array.
    selection
        "average" predicts with the average of all candidates, weighted by their validation risk; "best" with the best
        candidate.
    tie_break
        with "best", "risk" breaks ties by the squared-loss risk; "first" takes the first candidate, as in the paper.
    cv
        cross-validation of the candidates: "auto", a number of folds, a scikit-learn splitter, or pairs of row numbers.
        "auto" is leave-one-out where it has a closed form (squared loss, kernels around centres, at most 200 labelled
        rows, and tables that fit in memory at once), and 5 folds otherwise. With leave-one-out the model does not
        depend on the seed of the folds.
    sampling
        how labelled rows were drawn. "random": at random from the population; all rows then represent it, and the
        class counts of the labels estimate the prior. "by_class": by class, or unknown; only the unlabelled rows then
        represent the population. With labels of one class alone, "random" means that some rows of this class are
        labelled, so that the unlabelled rows lack them. The literature calls these single training set and
        case-control; "single_set" and "case_control" are accepted, too.
    unlabeled
        the value in y that marks unlabelled rows; missing values always do.
    pos_label
        the positive class, by default the greater label.
    n_jobs
        number of threads for the search over bandwidths and folds, and for predicting many rows. The result does not
        depend on it.
    random_state
        seed of the folds and of the sampled centres.
    verbose
        1 reports progress on stderr; 0 only for long fits and on a terminal; -1 never.
    costs
        cost of a false negative and of a false positive, e.g. (5, 1); None for equal costs. The model then minimises
        the expected cost, and `risk_` is the cost per row. Probabilities refer to a population in which each class is
        weighted by the cost of its errors, so that the more probable class is the cheaper decision. For two classes,
        and not with `partial_fit`.

    Attributes
    ----------
    classes_
        (negative, positive), or all classes in order.
    prior_
        the class prior that was used; `prior_interval_` is its 90 % interval, `prior_estimate_` its distribution.
    prior_doubt_
        a message if held-out scores contradict a prior that was given as a number, else None.
    mix_, alpha_, bandwidth_, columns_
        values of the best candidate.
    search_
        all candidates with their validation results.
    risk_
        validation risk of the final model with standard error and interval (two classes). The 95 % interval covered the
        truth in 94 to 99 % of fits with a known prior and in 94 to 97 % with an unknown one (results/prior-cost.md).
    decisions_
        confusion counts of held-out rows, an array (classes + 1, classes): one line per class and a last line for the
        rows that represent the population; one column per predicted class. `pnulearn.metrics.judge_decisions` computes
        precision, recall and lift from it.
    n_iter_, converged_
        largest number of iterations of a fit, and whether all fits converged.
    calibration_
        slope and shift (always 0) from scores to log-odds. With the squared loss it is None in three cases, in which
        scores are 2 P(+|x) − 1: more than two classes, after `partial_fit`, or if no row was held out.
    validation_scores_
        scores of held-out rows (out of fold, or of X_val).
    judging_scores_
        the same with the candidates weighted without the row's own fold (nested cross-validation); `risk_` and
        `decisions_` are computed from them.
    coef_, intercept_, centers_, bandwidths_
        the fitted function.
    ranked_, rank_values_, rank_scores_
        with ranks: which bandwidths are distances between ranks, some values of every column, and the normal quantiles
        of the ranks of these values.

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
    prior_estimate_: PriorEstimate

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
        columns: str = "auto",
        centers: Any = "auto",
        selection: str = "average",
        tie_break: str = "risk",
        cv: Any = "auto",
        sampling: Sampling = "by_class",
        unlabeled: Any = None,
        pos_label: Any = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        costs: tuple[float, float] | None = None,
    ):
        self.risk = risk
        self.loss = loss
        self.kernel = kernel
        self.prior = prior
        self.mix = mix
        self.alpha = alpha
        self.bandwidth = bandwidth
        self.columns = columns
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
        self.costs = costs

    def fit(
        self,
        X: Any,
        y: ArrayLike | Labels,
        sample_weight: ArrayLike | None = None,
        *,
        at_random: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        X_val: Any = None,
        y_val: ArrayLike | None = None,
    ) -> PNUClassifier:
        """Fit the classifier to rows X with labels y, any of which may be missing.

        If a validation set X_val, y_val is given (it may have unlabelled rows, too), candidates are evaluated on it
        instead of by cross-validation.

        Parameters
        ----------
        X : array, sparse matrix or data frame (rows, columns)
            Features.
        y : array (rows,)
            Labels; missing values and `unlabeled` mark unlabelled rows.
        sample_weight : array (rows,), optional
            Weights of the rows; one each by default.
        at_random : array of bool (rows,), optional
            True for labelled rows that were drawn at random from the population, if the others were drawn by class.
            Their class counts estimate the prior. Not needed with sampling="random".
        groups : array (rows,), optional
            The group of every row (a patient, a document). Rows of a group are held out together, and the interval of
            `risk_` accounts for correlated errors within groups.
        X_val : like X, optional
            Validation set, used instead of cross-validation.
        y_val : like y, optional
            Labels of the validation set, any of which may be missing.
        """
        refuse_misaligned(X=X, y=y, sample_weight=sample_weight, at_random=at_random, groups=groups)
        settings = Settings.of(self.get_params(deep=False))
        reader = self._blank()  # so that a fit that fails leaves this classifier unchanged
        samples = reader._read_problem(X, y, sample_weight)
        apart = None if groups is None else read_groups(groups, len(samples.codes))
        samples = replace(samples, at_random=read_mask(at_random, len(samples.codes)), groups=apart)
        held_out = read_held_out(reader, X_val, y_val, read_sampling(self.sampling))
        names = getattr(reader, "feature_names_in_", None)
        given: dict[str, Any] = {"held_out": held_out, "feature_names": names}
        if settings.costs is None:
            return accept(self, learn_from_rows(settings, samples, reader.classes_, **given))
        return accept(self, learn_at_costs(settings, samples, reader.classes_, settings.costs, **given))

    @available_if(_takes_batches)
    def partial_fit(self, X: Any, y: ArrayLike, classes: ArrayLike | None = None) -> PNUClassifier:
        """Add a batch of rows and refit the model to all rows so far; needs loss="squared".

        The first call needs all `classes`. It also fixes the centres: pass `centers` as an array, or make sure that the
        first batch is representative. The model is solved again after every batch, so few large batches are faster
        than many small ones. The model stays unfitted until there are enough labelled rows for validation.

        Parameters
        ----------
        X : array, sparse matrix or data frame (rows, columns)
            Features.
        y : array (rows,)
            Labels; missing values and `unlabeled` mark unlabelled rows.
        classes : array, optional
            All labels that can occur in any batch; needed by the first call.
        """
        refuse_misaligned(X=X, y=y)
        known: PNUStatistics | None = vars(self).get("_statistics")
        settings = Settings.of(self.get_params(deep=False), None if known is None else known.design.seed)
        settings.refuse_beyond_one_pass()
        reader = self._blank()
        if known is not None:
            reader.__dict__.update(column_attributes(known.design))
        elif classes is None:
            classes = getattr(self, "classes_", None)  # from an earlier `fit`, whose rows are not included
        X = read_features(reader, X, reset=known is None)
        columns = getattr(reader, "feature_names_in_", None)
        total = add_batch(settings, known, X, y, classes=classes, columns=columns)
        if is_enough(settings, total):
            return accept(self, learn_from_moments(settings, total), total)
        self._statistics = total
        if not self.__sklearn_is_fitted__():
            self.__dict__.update(column_attributes(total.design))
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "coef_")

    def _blank(self) -> PNUClassifier:
        return type(self)(**self.get_params(deep=False))

    def _read_problem(self, X: Any, y: ArrayLike | Labels, sample_weight: ArrayLike | None = None) -> Samples:
        return replace(super()._read_problem(X, y, sample_weight), sampling=read_sampling(self.sampling))

    def _scores(self, X: Any) -> AnyArray:
        scores = KERNELS[self.kernel].scores(vars(self), X, self.n_jobs)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict_proba(self, X: Any) -> AnyArray:
        """Class probabilities under the population's class prior, columns as in `classes_`.

        For every loss, the most probable class is the one that `predict` returns.

        Parameters
        ----------
        X : array, sparse matrix or data frame (rows, columns)
            Features.
        """
        return probabilities(self.decision_function(X), getattr(self, "calibration_", None))

    def _repr_html_inner(self) -> str:
        return super()._repr_html_inner() + learnt_table(self)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle = super()._repr_mimebundle_(**kwargs)
        return bundle | {kind: text + learnt_table(self) for kind, text in bundle.items() if kind == "text/html"}

    def save(self, path: Any, *, overwrite: bool = False) -> None:
        """Write the fitted model to a file that `pnulearn.load` reads without executing code.

        Parameters
        ----------
        path : str or Path
            The file. An existing model file is replaced.
        overwrite : bool
            Replace any other existing file, too.
        """
        check_outputs(Output(path, MODEL), overwrite=overwrite)
        write_archive(path, "PNUClassifier", contents(self))


def accept(model: PNUClassifier, learnt: FitResult, statistics: PNUStatistics | None = None) -> PNUClassifier:
    """Set the attributes of a fit result on the model and remove those of an earlier fit.

    Other modules fit a classifier through this function only (see `pnulearn.streaming`). `partial_fit` continues from
    the `statistics`.
    """
    parameters = {name: value for name, value in vars(model).items() if not name.endswith("_")}
    parameters.pop("_statistics", None)
    batches = {} if statistics is None else {"_statistics": statistics}
    model.__dict__ = parameters | learnt.attributes() | batches  # in one step, so that an error leaves no partial state
    return model
