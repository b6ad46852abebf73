"""Learning from sufficient statistics: their design, the class prior, the fit, and incremental fits by batch."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pnulearn._arrays import AnyArray
from pnulearn._intervals.posterior_grids import ratio_mass
from pnulearn._kernels.linear import LinearBasis
from pnulearn._kernels.registry import choose_views
from pnulearn._learning.calibration import score_calibration
from pnulearn._learning.moment_search import Fits, MomentProblem, assemble_moments, can_validate, explore_moments
from pnulearn._learning.result import CandidateGrid, FitResult
from pnulearn._learning.settings import Settings, feasible_risk
from pnulearn._moments import ArrayBatch, Design, PNUStatistics, RowSample, blocks_of, unpack
from pnulearn._problem.inputs import refuse_underflow
from pnulearn._problem.labels import decode_labels
from pnulearn._problem.row_keys import row_keys
from pnulearn._problem.samples import Samples, Sampling
from pnulearn._solvers.candidates import ALPHAS, Mixes
from pnulearn.priors._estimate import PriorEstimate, settle
from pnulearn.priors._mixture import least_norm_shares
from pnulearn.priors._resolve import combine_evidence, is_vague, read_prior, resolve_prior

# Fixing the design: settings and a sample of rows give classes, centres and bandwidths.


def design_from_rows(
    settings: Settings,
    X: Any,
    y: ArrayLike,
    *,
    columns: Sequence[str] | None = None,
    classes: ArrayLike | None = None,
    dtype: str = "float32",
) -> Design:
    """A design from rows in memory; a representative sample is sufficient."""
    settings.refuse_beyond_one_pass()
    batch = ArrayBatch.of(X, y)
    found = decode_labels(y if classes is None else np.asarray(classes), settings.unlabeled, settings.pos_label).classes
    names = None if columns is None else tuple(columns)
    reading = reading_design(names, batch.X.shape[1], found, settings.unlabeled, settings.seed)
    blocks = [(block.rows.T.copy(), block.codes) for block in blocks_of([batch], reading, "", 0)]
    rows, codes = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
    return design_of(settings, reading, rows, codes, dtype)


def design_of(settings: Settings, reading: Design, rows: AnyArray, codes: AnyArray, dtype: str) -> Design:
    """Choose basis functions, and ranks of columns, from a sample of rows as `learn_from_rows` does from all rows.

    Ranks are computed in float64: in float32, values near each other in a column with a long tail would tie.
    """
    refuse_underflow(rows)
    keys = row_keys(rows, reading.seed)
    basis = choose_views(
        settings.kernel,
        rows,
        np.ones(len(rows)),
        codes >= 0,
        keys,
        centers=settings.centers,
        bandwidth=settings.bandwidth,
        columns=settings.columns,
    )
    dtype = dtype if basis.representations is None else "float64"
    return Design(reading.columns, reading.classes, basis, settings.n_folds, reading.seed, dtype, reading.unlabeled)


def reading_design(
    columns: tuple[str, ...] | None, n_features: int, classes: AnyArray, unlabeled: Any, seed: int
) -> Design:
    """A design that reads the raw columns in float64."""
    basis = LinearBasis(np.zeros(n_features))
    return Design(columns, classes, basis, seed=seed, dtype="float64", unlabeled=unlabeled)


# The class prior from statistics alone: the position of U's mean score between the mean scores of the classes.

REPLICATES = 500
CONFIDENCE = 0.9
LEAST_GAP = 1e-3  # between the mean scores of two classes, as in ScorePrior


@dataclass(frozen=True)
class HeldOutScores:
    """Count, mean (K,) and covariance (K, K) of a group's out-of-fold scores."""

    count: float
    mean: AnyArray
    covariance: AnyArray

    def replicates(self, rng: np.random.Generator) -> AnyArray:
        """Parametric bootstrap replicates of the mean, shape (REPLICATES, K)."""
        return rng.multivariate_normal(self.mean, self.covariance / self.count, size=REPLICATES, method="eigh")


def prior_from_moments(statistics: PNUStatistics, seed: int = 0, n_jobs: int | None = None) -> PriorEstimate:
    """Class shares in the population that U is drawn from, with an interval; every class needs labelled rows."""
    groups = held_out_scores(statistics, n_jobs)
    means = np.stack([group.mean for group in groups])
    if _gap(means[:-1]) < LEAST_GAP:
        raise ValueError(
            "Held-out scores do not separate the labelled classes, so the class prior cannot be estimated from U. "
            "Pass the prior as a number, label more rows, or add columns in which the classes differ."
        )
    if len(groups) == 3:
        return _of_ratio(groups)
    rng = np.random.default_rng(seed)
    drawn = np.stack([group.replicates(rng) for group in groups], axis=1)
    replicates = np.array([_shares(one) for one in drawn if _gap(one[:-1]) >= LEAST_GAP])
    return settle(_shares(means), replicates, groups[-1].count, CONFIDENCE, "scores")


def _of_ratio(groups: list[HeldOutScores]) -> PriorEstimate:
    means = np.array([group.mean[0] for group in groups])
    variances = np.array([group.covariance[0, 0] / group.count for group in groups])
    estimate = settle(_shares(means[:, None]), [], groups[-1].count, CONFIDENCE, "scores")
    return replace(estimate, mass=ratio_mass(means, variances, np.array([group.count for group in groups[:2]])))


def held_out_scores(statistics: PNUStatistics, n_jobs: int | None = None) -> list[HeldOutScores]:
    """Out-of-fold scores of every class and of U by the PN candidate with the least balanced held-out squared risk."""
    n_classes = len(statistics.design.classes)
    equal = np.full(n_classes, 1 / n_classes)
    problem = MomentProblem(statistics, equal, Mixes.of("pn", None), ALPHAS)
    fits = explore_moments(problem, n_jobs)
    risks = np.stack([one.tally.squared(equal) for one in fits if one.tally is not None])
    index, _, alpha = np.unravel_index(int(np.argmin(risks)), risks.shape)
    return [_scores(problem, fits[index], int(index), int(alpha), group) for group in range(n_classes + 1)]


def _scores(problem: MomentProblem, fits: Fits, index: int, alpha: int, group: int) -> HeldOutScores:
    """Pool a group's score sums over folds: W M with the models' coefficients W (K, b + 1) and the fold's moments M."""
    total = np.zeros((len(problem.outputs) + 1, len(problem.outputs) + 1))
    for fold, candidates in enumerate(fits.candidates):
        if candidates is not None:
            choice = np.zeros((1, len(ALPHAS)))
            choice[0, alpha] = 1.0
            coef, intercept = candidates.average(choice)
            W = np.vstack([np.column_stack([coef, intercept]), np.append(np.zeros(coef.shape[1]), 1.0)])
            total += W @ unpack(problem.statistics.sums[fold, index, group]) @ W.T
    count = float(total[-1, -1])
    mean = total[:-1, -1] / count
    return HeldOutScores(count, mean, total[:-1, :-1] / count - np.outer(mean, mean))


def _gap(means: AnyArray) -> float:
    """The smallest difference between a class's mean score on its own output and that of another class."""
    if means.shape[1] == 1:
        return float(means[1, 0] - means[0, 0])
    own = np.diag(means)
    return float(np.min(own - means + np.diag(np.full(len(own), np.inf))))


def _shares(means: AnyArray) -> AnyArray:
    """θ with mean_U = Σ θ_c mean_c: the positive class's share of two, or the nearest point of the simplex."""
    if means.shape[1] == 1:
        low, high, unlabeled = means[:, 0]
        return np.asarray((unlabeled - low) / (high - low))
    return least_norm_shares((means[:-1] - means[-1]).T)


# Fitting from statistics, without the rows.

Recount = Callable[[list[Fits]], list[Fits]]


def learn_from_moments(
    settings: Settings,
    statistics: PNUStatistics,
    sample: RowSample | None = None,
    recount: Recount | None = None,
    *,
    random_counts: AnyArray | None = None,
    keep_scores: bool = False,
) -> FitResult:
    """Select candidates by the squared-loss PNU risk, and by the zero-one risk too if `recount` counts errors.

    If a `sample` of rows is given, the validation risk and its standard error are estimated from it. `keep_scores`
    keeps the sample's scores in the result. `random_counts` are the class counts of labelled rows that were drawn at
    random from the population.
    """
    settings.refuse_beyond_one_pass()
    design, sampling = statistics.design, settings.sampling
    risk = feasible_risk(settings.risk, settings.mix, _count_samples(statistics, sampling), design.classes)
    prior = prior_of_moments(settings, statistics, sample, random_counts)
    candidate_grid = CandidateGrid(settings, design.classes, prior, design.basis, Mixes.of(risk, settings.mix))
    problem = MomentProblem(statistics, prior.shares, candidate_grid.mixes, settings.alphas, sampling)
    with candidate_grid.solving():
        fits = explore_moments(problem, settings.n_jobs)
    fits = fits if recount is None else recount(fits)
    tallies = [one.tally for one in fits if one.tally is not None]
    if not tallies and candidate_grid.n_candidates > 1:
        _refuse_no_validation(statistics)
    search = candidate_grid.tabulate(tallies)
    with candidate_grid.solving():
        model = assemble_moments(problem, search.weight, settings.n_jobs)
    rows = _weigh_samples(statistics, sample, sampling)
    if sample is not None:
        folds = _cross_weights(candidate_grid, fits, search.weight)
        model = replace(model, validation_scores=_out_of_fold(problem, fits, folds, sample))
    names = None if design.columns is None else np.array(design.columns, dtype=object)
    learnt = candidate_grid.conclude(search, model, rows, names)
    if sample is not None:
        seen = bool((~np.isnan(model.validation_scores)).any())
        found = score_calibration(settings.loss, model.validation_scores, rows, prior.shares, held_out=seen)
        learnt = replace(learnt, calibration=found)
    if keep_scores:
        return learnt
    # The scores belong to an internal sample of rows, which the user cannot match with their own rows.
    return replace(learnt, validation_scores=None, judging_scores=None)


def prior_of_moments(
    settings: Settings, statistics: PNUStatistics, sample: RowSample | None, random_counts: AnyArray | None = None
) -> PriorEstimate:
    """The prior as given, else from the moments and labels drawn at random, else by the named method on the sample."""
    counts, design, prior = statistics.counts, statistics.design, settings.prior
    one_class = len(counts) == 3 and np.count_nonzero(counts[:-1]) < 2
    if settings.sampling == "random":
        random_counts = counts[:-1]
    elif one_class:
        random_counts = None  # labels of one class do not say how common it is
    if counts[-1] and not one_class and (prior is None or is_vague(prior)):
        found = _combine_priors(settings, statistics, random_counts)
        if found is not None:
            return found
    by_labels = (prior is None and not counts[-1]) or (isinstance(prior, str) and prior == "labeled")
    if by_labels or isinstance(prior, numbers.Real | Mapping | PriorEstimate) or is_vague(prior):
        rows = _count_samples(statistics, settings.sampling)
    elif sample is not None:
        rows = _weigh_samples(statistics, sample, settings.sampling)
    else:
        raise ValueError(
            f"prior={prior!r} cannot be estimated from these statistics: a class has no labelled rows, or "
            "the method needs rows. Pass the prior as a number, or fit from files."
        )
    return resolve_prior(
        prior,
        rows.X,
        rows.codes,
        rows.weight,
        classes=design.classes,
        random_state=design.seed,
        random_counts=random_counts,
    )


def _combine_priors(
    settings: Settings, statistics: PNUStatistics, random_counts: AnyArray | None
) -> PriorEstimate | None:
    """Combine the given prior, the counts of labels drawn at random and the estimate from the moments of U."""
    counts, design = statistics.counts, statistics.design
    known = [] if settings.prior is None else [read_prior(settings.prior, design.classes)]
    if random_counts is not None and random_counts.any():
        known.append(PriorEstimate.of_counts(random_counts))
    estimated = []
    if counts.all() and can_validate(statistics):
        try:
            estimated.append(prior_from_moments(statistics, design.seed, settings.n_jobs))
        except ValueError:  # the classes are not separated, which is an error only without other information
            if not known:
                raise
    return combine_evidence(known, estimated) if known else next(iter(estimated), None)


def _count_samples(statistics: PNUStatistics, sampling: Sampling) -> Samples:
    """Samples with one row per non-empty group that has the weight of the whole group, for code that reads counts."""
    counts = statistics.counts
    codes = np.append(np.arange(len(counts) - 1), -1)
    present = np.flatnonzero(counts)
    weight = counts[present].astype(float)
    return Samples(np.zeros((len(present), 1)), codes[present], weight, len(counts) - 1, sampling)


def _weigh_samples(statistics: PNUStatistics, sample: RowSample | None, sampling: Sampling) -> Samples:
    """The sample weighted to the group sizes of all rows; empty if there is no sample."""
    n_classes = len(statistics.design.classes)
    if sample is None:
        return Samples(np.zeros((0, statistics.design.n_features)), np.zeros(0, int), np.zeros(0), n_classes, sampling)
    drawn = np.bincount(sample.codes % (n_classes + 1), minlength=n_classes + 1)  # the last group is U, code −1
    weight = statistics.counts[sample.codes] / drawn[sample.codes]
    return Samples(sample.X, sample.codes, weight, n_classes, sampling)


def _refuse_no_validation(statistics: PNUStatistics) -> None:
    names = [*(f"class {name!r}" for name in statistics.design.classes.tolist()), "the unlabelled rows"]
    lonely = int(np.argmin(np.where(statistics.counts > 0, statistics.counts, np.inf)))
    raise ValueError(
        f"All rows of {names[lonely]} ({statistics.counts[lonely]:g}) are in one fold, too few to validate with. Add "
        "more of them, or pass single values of mix, alpha and bandwidth."
    )


def _cross_weights(candidate_grid: CandidateGrid, fits: list[Fits], weight: AnyArray) -> list[AnyArray]:
    """For every fold the candidates' weights from all other folds; from all folds if the others cannot be validated."""
    n_folds = len(fits[0].candidates)
    pooled = [[one.tally_without(fold) for one in fits] for fold in range(n_folds)]
    return [
        weight if any(tally is None for tally in others) else candidate_grid.tabulate([t for t in others if t]).weight
        for others in pooled
    ]


def _out_of_fold(problem: MomentProblem, fits: list[Fits], weights: list[AnyArray], sample: RowSample) -> AnyArray:
    """Scores (K, n) of the sample's rows by candidates neither fitted nor weighted with their fold, or NaN."""
    scores = np.full((len(problem.outputs), len(sample.codes)), np.nan)
    basis, folds = problem.statistics.design.basis, sample.folds(problem.statistics.design)
    prepared = basis.prepare(sample.X)
    for fold in np.unique(folds):
        members, weight = np.flatnonzero(folds == fold), weights[fold]
        pairs = [(int(index), fits[index].candidates[fold]) for index in np.flatnonzero(weight.any(axis=(1, 2)))]
        parts = [(index, candidates.average(weight[index])) for index, candidates in pairs if candidates is not None]
        if parts:
            scores[:, members] = sum(
                coef @ basis.features(prepared[members], index).T + intercept[:, None]
                for index, (coef, intercept) in parts
            )
    return scores


# Incremental learning: statistics are summed over batches, and a model is fitted as soon as they suffice.


def add_batch(
    settings: Settings,
    known: PNUStatistics | None,
    X: Any,
    y: ArrayLike,
    *,
    classes: ArrayLike | None,
    columns: Sequence[str] | None,
) -> PNUStatistics:
    """The statistics with a batch added; the first batch determines classes, columns and basis functions."""
    if known is None and classes is None:
        raise ValueError("classes must be passed on the first call to partial_fit, e.g. classes=[0, 1].")
    if known is None:
        known = PNUStatistics.zero(design_from_rows(settings, X, y, columns=columns, classes=classes, dtype="float64"))
    elif classes is not None and set(np.asarray(classes).tolist()) != set(known.design.classes.tolist()):
        raise ValueError(
            f"classes={list(np.asarray(classes))} differs from {known.design.classes.tolist()} of the first call."
        )
    return known + PNUStatistics.of(known.design, X, y, name="batches", start=known.n_rows)


def column_attributes(design: Design) -> dict[str, Any]:
    """scikit-learn's attributes about the columns: `n_features_in_` and, with names, `feature_names_in_`."""
    names = {} if design.columns is None else {"feature_names_in_": np.array(design.columns, dtype=object)}
    return {"n_features_in_": design.n_features} | names


def is_enough(settings: Settings, statistics: PNUStatistics) -> bool:
    """Whether a model can be fitted and validated.

    Rows of all classes are needed, or with a given prior labelled rows of one class and unlabelled rows.
    """
    labeled, unlabeled = statistics.counts[:-1] > 0, statistics.counts[-1] > 0
    learnable = labeled.all() or (settings.prior is not None and labeled.any() and unlabeled)
    return bool(learnable and can_validate(statistics))
