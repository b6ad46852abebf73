"""`pnulearn prior`: the share of positives among the unlabelled rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from pnulearn.cli.console import remark, remarks, show_facts
from pnulearn.cli.options import (
    As,
    AtRandom,
    Delimiter,
    Drop,
    Encoding,
    File,
    Json,
    Label,
    Missing,
    NoHeader,
    Positive,
    Sampling,
    Unlabeled,
    Weights,
    method_name,
    open_table,
    read_drawn,
    read_kinds,
)

WORDS = {"random": "random", "by_class": "chosen"}  # of answers in JSON
FAR_APART = 5.0  # standard errors between what labels and unlabelled rows say: no random draw does that

if TYPE_CHECKING:
    from pnulearn._arrays import AnyArray
    from pnulearn._problem.labels import Labels
    from pnulearn.priors import PriorEstimate
    from pnulearn.tables import Table
    from pnulearn.tables._plan import Excerpt


def prior(
    file: File,
    label: Label,
    positive: Positive = None,
    unlabeled: Unlabeled = None,
    method: Annotated[str, typer.Option(help="How to estimate it; auto takes the best method we know.")] = "auto",
    sampling: Sampling = None,
    at_random: AtRandom = None,
    weights: Weights = None,
    kinds: As = [],  # noqa: B006
    drop: Drop = [],  # noqa: B006
    missing: Missing = [],  # noqa: B006
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    no_header: NoHeader = False,
    json: Json = False,
) -> None:
    """Estimate the share of positives among unlabelled rows."""
    from pnulearn.tables._provenance import find_origins, read_marks, read_weights
    from pnulearn.tables._scores import table_labels

    drawn, wanted = read_drawn(sampling, at_random), read_kinds(kinds)
    table = open_table(file, missing, encoding, delimiter, no_header)
    found = table_labels(table, label, positive, unlabeled, remark)
    origins = find_origins(table, label, at_random, weights, drop, said=drawn is not None)
    at_random, drop, drawn = origins.at_random, origins.drop, read_drawn(drawn, origins.at_random)
    remarks([origins.remark] if origins.remark else [])
    weight = read_weights(table, origins.weights)
    counted = None
    if drawn == "random":
        counted = found.counts
    elif at_random is not None:
        counted = count_classes(found.codes[read_marks(table, at_random, slice(None), found.codes)])
        drop = [*drop, at_random]
    drop = [*drop, origins.weights or ""]
    chosen = None if method == "auto" else method_name(method)
    estimate = estimated_prior(table, label, found, drop, chosen, wanted, counted, weight)
    facts = {
        "prior": estimate.value,
        "interval": [estimate.low, estimate.high],
        "confidence": estimate.confidence,
        "method": estimate.method,
        "positive": str(found.classes[1]),
    }
    show_facts(facts | drawn_facts(drawn, estimate, found.counts), json)


def estimated_prior(
    table: Table,
    label: str,
    labels: Labels,
    drop: list[str],
    method: str | None,
    kinds: dict[str, str] | None = None,
    counted: AnyArray | None = None,
    weight: AnyArray | None = None,
    excerpt: Excerpt | None = None,
) -> PriorEstimate:
    """The prior from all usable columns of a table, and from the counts of rows labelled at random."""
    from pnulearn.priors import resolve_prior
    from pnulearn.tables._scores import feature_columns

    X = feature_columns(table, label, [name for name in drop if name], kinds, excerpt)
    return resolve_prior(method, X, labels.codes, weight, classes=labels.classes, random_state=0, random_counts=counted)


def settled_prior(
    prior: Any,
    table: Table,
    label: str,
    labels: Labels,
    drop: list[str],
    kinds: dict[str, str] | None = None,
    excerpt: Excerpt | None = None,
) -> PriorEstimate:
    """A given prior as it is; otherwise one from the other columns, with a remark that it was estimated."""
    from pnulearn.priors.given import read_prior

    for name in filter(None, drop):
        table.refuse_absent(name)
    if prior is not None and not isinstance(prior, str):
        return read_prior(prior, labels.classes)
    estimate = estimated_prior(table, label, labels, drop, prior, kinds, excerpt=excerpt)
    remark(
        f"The prior was estimated from the other columns as {estimate.value:.3f} (90 % interval {estimate.low:.2f} to "
        f"{estimate.high:.2f}); pass --prior if you know it."
    )
    return estimate


def random_prior(table: Table, at_random: str, labels: Labels) -> PriorEstimate:
    """The prior from rows that a column marks as labelled at random, and from nothing else."""
    from pnulearn.priors import PriorEstimate
    from pnulearn.tables._provenance import read_marks

    return PriorEstimate.of_counts(count_classes(labels.codes[read_marks(table, at_random, slice(None), labels.codes)]))


def prior_facts(estimate: PriorEstimate) -> dict[str, Any]:
    """The prior that a risk is judged with, and its interval unless it is known."""
    known = estimate.is_known or estimate.interval is None
    return {
        "prior": float(estimate.mean),
        "prior_interval": None if known else [estimate.low, estimate.high],
    }


def drawn_facts(drawn: str | None, estimate: PriorEstimate, counts: Any) -> dict[str, Any]:
    """How labels were drawn. If nobody said it and it matters: what was assumed, and what the other answer would give.

    It matters if the prior of two classes is not known and both have labels, whose counts might tell it.
    """
    if drawn is not None:
        return {"labels": WORDS[drawn]}
    if estimate.mass is None or min(counts) == 0:
        return {}
    from pnulearn.priors import PriorEstimate
    from pnulearn.priors.resolve import beside_evidence

    assumed = {"labels": f"{WORDS['by_class']} (assumed)"}
    counted = PriorEstimate.of_counts(counts)
    if abs(counted.mean - estimate.mean) > FAR_APART * (counted.spread**2 + estimate.spread**2) ** 0.5:
        return assumed
    other = beside_evidence([counted], [estimate])
    remark(
        f"Labelled rows are taken as chosen by class (--sampling by-class), which gives a prior of {_words(estimate)}. "
        f"If they were drawn at random, pass --sampling random: it would be {_words(other)}."
    )
    return assumed | {"if_random": {"prior": other.value, "interval": [other.low, other.high]}}


def count_classes(codes: AnyArray) -> AnyArray:
    """Rows of either class."""
    import numpy as np

    return np.bincount(codes[codes >= 0], minlength=2)


def _words(estimate: PriorEstimate) -> str:
    return f"{estimate.value:.2f} ({estimate.low:.2f} to {estimate.high:.2f})"
