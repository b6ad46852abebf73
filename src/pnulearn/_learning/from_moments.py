"""From statistics to all that a fit leaves behind, without the rows."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._learning.moment_prior import prior_from_moments
from pnulearn._learning.moment_search import Fits, MomentProblem, assemble_moments, can_validate, explore_moments
from pnulearn._learning.result import Contest, Learnt
from pnulearn._learning.settings import Settings, feasible_risk
from pnulearn._moments import PNUStatistics, RowSample
from pnulearn._problem.samples import Samples, Sampling
from pnulearn._solvers.candidates import Mixes
from pnulearn.priors.estimate import PriorEstimate
from pnulearn.priors.resolve import beside_evidence, is_vague, read_prior, resolve_prior

Recount = Callable[[list[Fits]], list[Fits]]


def learn_from_moments(
    settings: Settings,
    statistics: PNUStatistics,
    sample: RowSample | None = None,
    recount: Recount | None = None,
    *,
    random_counts: AnyArray | None = None,
    keep_scores: bool = False,
) -> Learnt:
    """Search all candidates by the squared-loss PNU risk, or by the zero-one risk too if `recount` counts errors.

    The `sample` of rows, if there is one, gives the validation risk with its standard error; its scores are kept for
    those who know its rows. `random_counts` are the classes of labelled rows that were drawn at random.
    """
    settings.refuse_beyond_one_pass()
    design, sampling = statistics.design, settings.sampling
    risk = feasible_risk(settings.risk, settings.mix, _count_samples(statistics, sampling), design.classes)
    prior = prior_of_moments(settings, statistics, sample, random_counts)
    contest = Contest(settings, design.classes, prior, design.basis, Mixes.of(risk, settings.mix))
    problem = MomentProblem(statistics, prior.shares, contest.mixes, settings.alphas, sampling)
    with contest.solving():
        fits = explore_moments(problem, settings.n_jobs)
    fits = fits if recount is None else recount(fits)
    tallies = [one.tally for one in fits if one.tally is not None]
    if not tallies and contest.n_candidates > 1:
        _refuse_no_validation(statistics)
    search = contest.tabulate(tallies)
    with contest.solving():
        model = assemble_moments(problem, search.weight, settings.n_jobs)
    rows = _weigh_samples(statistics, sample, sampling)
    if sample is not None:
        folds = _cross_weights(contest, fits, search.weight)
        model = replace(model, validation_scores=_out_of_fold(problem, fits, folds, sample))
    names = None if design.columns is None else np.array(design.columns, dtype=object)
    learnt = contest.conclude(search, model, rows, names)
    if keep_scores:
        return learnt
    return replace(learnt, validation_scores=None, judging_scores=None)  # of a sample, which the user has never seen


def prior_of_moments(
    settings: Settings, statistics: PNUStatistics, sample: RowSample | None, random_counts: AnyArray | None = None
) -> PriorEstimate:
    """As given, from all rows' moments and labels drawn at random, or by another method from the sample."""
    counts, design, prior = statistics.counts, statistics.design, settings.prior
    if counts[-1] and (prior is None or is_vague(prior)):
        found = _put_together(settings, statistics, random_counts)
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


def _put_together(
    settings: Settings, statistics: PNUStatistics, random_counts: AnyArray | None
) -> PriorEstimate | None:
    """What the user knows, what labels drawn at random say, and what the moments of U say."""
    counts, design = statistics.counts, statistics.design
    known = [] if settings.prior is None else [read_prior(settings.prior, design.classes)]
    counted = counts[:-1] if settings.sampling == "random" else random_counts
    if counted is not None and counted.any():
        known.append(PriorEstimate.of_counts(counted))
    read_off = []
    if counts.all() and can_validate(statistics):
        try:
            read_off.append(prior_from_moments(statistics, design.seed, settings.n_jobs))
        except ValueError:  # the classes look alike, which matters only if there is nothing else to go by
            if not known:
                raise
    return beside_evidence(known, read_off) if known else next(iter(read_off), None)


def _count_samples(statistics: PNUStatistics, sampling: Sampling) -> Samples:
    """The groups that have rows, each as one row with the weight of all, for what only looks at counts."""
    counts = statistics.counts
    codes = np.append(np.arange(len(counts) - 1), -1)
    present = np.flatnonzero(counts)
    weight = counts[present].astype(float)
    return Samples(np.zeros((len(present), 1)), codes[present], weight, len(counts) - 1, sampling)


def _weigh_samples(statistics: PNUStatistics, sample: RowSample | None, sampling: Sampling) -> Samples:
    """The sample, weighted so that each group has its true share of all rows; no rows if there is none."""
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
        "more of them, or fix mix, alpha and bandwidth."
    )


def _cross_weights(contest: Contest, fits: list[Fits], weight: AnyArray) -> list[AnyArray]:
    """For every fold the candidates' weights without it; those of all folds where no other fold can be judged."""
    n_folds = len(fits[0].candidates)
    pooled = [[one.tally_without(fold) for one in fits] for fold in range(n_folds)]
    return [
        weight if any(tally is None for tally in others) else contest.tabulate([t for t in others if t]).weight
        for others in pooled
    ]


def _out_of_fold(problem: MomentProblem, fits: list[Fits], weights: list[AnyArray], sample: RowSample) -> AnyArray:
    """Scores (K, n) of the sample's rows by candidates that neither saw nor were weighed by their fold, or NaN."""
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
