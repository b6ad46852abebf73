"""The share of positives of a table: as given, from rows labelled at random, or estimated from the other columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._problem.labels import Labels
from pnulearn._reader.table import Table
from pnulearn.advice import ScarCheck, check_scar
from pnulearn.priors import PriorEstimate, resolve_prior
from pnulearn.priors._resolve import combine_evidence, read_prior
from pnulearn.tables._notes import note
from pnulearn.tables._options import TableOptions
from pnulearn.tables._plan import Excerpt, NoColumnsLeft, learn_plan
from pnulearn.tables._provenance import (
    columns_without,
    count_labels,
    find_origins,
    read_marks,
    read_row_groups,
    read_weights,
)
from pnulearn.tables._verdict import percent

WORDS = {"random": "random", "by_class": "chosen"}  # values in JSON
FAR_APART = 5.0  # standard errors between the estimates from labels and from unlabelled rows that exclude random labels


def estimate_table_prior(table: Table, label: str, labels: Labels, options: TableOptions) -> dict[str, Any]:
    """The prior of a table, estimated by the method `options.prior`, as plain values for `pnulearn prior`."""
    options.refuse_contradictions()
    said = options.sampling is not None or options.at_random is not None
    origins = find_origins(table, label, options.at_random, options.weights, options.drop, options.groups, said=said)
    if not said:
        note_of_one_class(None, labels)
    note([origins.remark] if origins.remark else [])
    drawn = "by_class" if origins.at_random is not None else options.sampling
    weight, groups = read_weights(table, origins.weights), read_row_groups(table, options.groups)
    counted = None
    if drawn == "random":
        counted = count_labels(labels.codes, weight, groups) if len(labels.classes) == 2 else labels.counts
    if origins.at_random is not None:
        counted = _random_counts(table, origins.at_random, labels, groups) if labels.counts.all() else None
    drop = [*origins.drop, *filter(None, (origins.at_random, origins.weights, options.groups))]
    estimate = _estimate(table, label, labels, drop, options.prior, options.kinds, counted=counted, weight=weight)
    facts = {
        "prior": estimate.value,
        "interval": [estimate.low, estimate.high],
        "confidence": estimate.confidence,
        "method": estimate.method,
        "positive": str(labels.classes[1]),
    }
    note(filter(None, [assumed_sampling(drawn, estimate, labels.codes)]))
    return facts | sampling_facts(drawn, estimate, labels.codes)


def settle_prior(
    prior: Any,
    table: Table,
    label: str,
    labels: Labels,
    drop: Sequence[str],
    kinds: Mapping[str, str] | None = None,
    excerpt: Excerpt | None = None,
    counted: AnyArray | None = None,
    scores: Sequence[str] = (),
) -> PriorEstimate:
    """The given prior, or an estimate from the other columns, with a note.

    Columns of scores are used for it only if there is no other usable column.
    """
    for name in (*drop, *scores):
        table.refuse_absent(name)
    if prior is not None and not isinstance(prior, str):
        return read_prior(prior, labels.classes)
    estimate = partial(_estimate, table, label, labels, method=prior, kinds=kinds, excerpt=excerpt, counted=counted)
    try:
        found, source = estimate([*drop, *scores]), "the other columns"
    except NoColumnsLeft:
        if not scores:
            raise
        found, source = estimate(drop), "the scores, because there is no other column to learn from,"
    note([f"The prior was estimated from {source} as {prior_words(found)}; pass prior=... if you know it."])
    return found


def random_prior(table: Table, at_random: str, labels: Labels, groups: AnyArray | None = None) -> PriorEstimate:
    """The prior from rows that a column marks as labelled at random only; each of them has weight one."""
    return PriorEstimate.of_counts(_random_counts(table, at_random, labels, groups))


def note_of_one_class(sampling: str | None, labels: Labels) -> None:
    """Ask how labels of one class were drawn, if that was not said."""
    if sampling is not None or len(labels.classes) > 2 or labels.counts.all() or not labels.n_unlabeled:
        return
    seen = str(labels.classes[int(np.argmax(labels.counts))])
    note(
        [
            f"All labelled rows are {seen!r}. The unlabelled rows are taken for a sample of the population that was "
            f"drawn apart from them. If they are the rest of one table, in which some {seen!r} rows are marked, pass "
            'sampling="random".'
        ]
    )


def check_table_labels(table: Table, label: str, labels: Labels, options: TableOptions) -> ScarCheck | None:
    """Whether labels of one class can be a fair sample of it; None if the prior is not known from elsewhere."""
    if labels.counts.all() or min(labels.counts.max(), labels.n_unlabeled) < 2:
        return None
    if options.prior is None or isinstance(options.prior, str):
        return None
    X = learn_plan(table, without=columns_without(label, options.drop), kinds=options.kinds).features(table)[0]
    return check_scar(X, labels, prior=options.prior, sampling=options.sampling or "by_class")


def prior_facts(estimate: PriorEstimate) -> dict[str, Any]:
    """The prior used to estimate a risk, and its interval unless it is known."""
    known = estimate.is_known or estimate.interval is None
    return {
        "prior": float(estimate.value),
        "prior_interval": None if known else [estimate.low, estimate.high],
    }


def sampling_facts(drawn: str | None, estimate: PriorEstimate, codes: AnyArray) -> dict[str, Any]:
    """How labels were sampled. If that was not given and matters: the assumption, and the prior under the alternative.

    It matters if the prior of two classes is unknown and both classes have labels, whose counts might estimate it.
    """
    if drawn is not None:
        return {"labels": WORDS[drawn]}
    if not _matters(estimate, codes):
        return {}
    assumed = {"labels": f"{WORDS['by_class']} (assumed)"}
    other = _if_random(estimate, codes)
    return assumed | (
        {} if other is None else {"if_random": {"prior": other.value, "interval": [other.low, other.high]}}
    )


def assumed_sampling(drawn: str | None, estimate: PriorEstimate, codes: AnyArray) -> str:
    """A sentence about what was assumed of the sampling of labels and what it would change; empty if it was given."""
    if drawn is not None or not _matters(estimate, codes):
        return ""
    other = _if_random(estimate, codes)
    would = "the prior would come from them" if other is None else f"it would be {prior_words(other)}"
    return (
        f"Assumed: labelled rows were drawn by class, which gives a prior of {prior_words(estimate)}. If they were "
        f'drawn at random, pass sampling="random": {would}.'
    )


def _matters(estimate: PriorEstimate, codes: AnyArray) -> bool:
    return estimate.mass is not None and min(count_labels(codes)) > 0


def _if_random(estimate: PriorEstimate, codes: AnyArray) -> PriorEstimate | None:
    """The prior if labels were drawn at random; None if it is too far from that of the unlabelled rows for that."""
    counted = PriorEstimate.of_counts(count_labels(codes))
    if abs(counted.mean - estimate.mean) > FAR_APART * (counted.spread**2 + estimate.spread**2) ** 0.5:
        return None
    return combine_evidence([counted], [estimate])


def _estimate(
    table: Table,
    label: str,
    labels: Labels,
    drop: Sequence[str],
    method: str | None,
    kinds: Mapping[str, str] | None,
    *,
    excerpt: Excerpt | None = None,
    counted: AnyArray | None = None,
    weight: AnyArray | None = None,
) -> PriorEstimate:
    """From all usable columns of a table, and from the counts of rows labelled at random."""
    plan = learn_plan(table, without=columns_without(label, drop), kinds=kinds, excerpt=excerpt)
    X = plan.features(table)[0]
    return resolve_prior(method, X, labels.codes, weight, classes=labels.classes, random_state=0, random_counts=counted)


def _random_counts(table: Table, at_random: str, labels: Labels, groups: AnyArray | None = None) -> AnyArray:
    marked = read_marks(table, at_random, slice(None), labels.codes)
    return count_labels(np.where(marked, labels.codes, -1), None, groups)


def prior_words(estimate: PriorEstimate) -> str:
    return f"{percent(estimate.value)} ({percent(estimate.low)} to {percent(estimate.high)})"
