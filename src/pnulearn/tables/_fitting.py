"""Fitting a model to a table: in memory, or in batches with memory that does not grow with the number of rows.

In batches the files are read twice. The first pass counts labels and draws a random sample, from which the column plan
is learnt and the centres are chosen. If the table is not larger than the sample, the plan is the same as in memory. The
second pass transforms every row to features and sums the statistics of `pnulearn.streaming`, from which the model is
fitted.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._estimators.auto import AutoPNU
from pnulearn._estimators.classifier import PNUClassifier, accept
from pnulearn._estimators.learners import LEARNERS, PNU
from pnulearn._learning.from_moments import design_of, learn_from_moments, reading_design
from pnulearn._learning.settings import Settings
from pnulearn._moments import RowSample, thin
from pnulearn._problem.labels import decode_labels
from pnulearn._problem.samples import read_sampling
from pnulearn._reader.batches import Batches, BatchPart
from pnulearn._reader.table import Table
from pnulearn.priors._estimate import PriorEstimate
from pnulearn.streaming._passes import collect
from pnulearn.streaming._sources import Source
from pnulearn.streaming._threads import InThreads
from pnulearn.tables._label_column import LabelCodes, LabelCounter, Targets, label_text, read_targets
from pnulearn.tables._leakage import find_leaks
from pnulearn.tables._model import FitRecord, Fitted, TableModel, hash_rows, versions
from pnulearn.tables._notes import Advance, detail, note, progress
from pnulearn.tables._options import MOST_UNLABELED, TableOptions
from pnulearn.tables._plan import ColumnPlan, describe_columns, learn_plan
from pnulearn.tables._prior import note_of_one_class
from pnulearn.tables._provenance import (
    columns_without,
    count_labels,
    find_origins,
    marked_rows,
    no_labeled,
    read_marks,
    read_row_groups,
    read_weights,
)
from pnulearn.tables._row_sampling import RowSampler, SampledRows
from pnulearn.tables._verdict import leakage_concerns

DTYPE = "float32"  # precision of features in batches; sums are always float64
MOST_HASHES = 20_000  # labelled rows by which a model recognises its own rows
DISTINCT = 0.9  # smallest share of distinct rows for that: otherwise other rows would look like its own


def fit_model(data: Table | Batches, label: str, options: TableOptions, command: str = "") -> Fitted:
    """Fit a model to a table with a partly empty label column; the result includes the rows, or a sample of them."""
    options.refuse_contradictions()
    head = data.head() if isinstance(data, Batches) else data
    options = _with_origins(options, head, label)
    needs_memory = options.needs_memory()
    if isinstance(data, Batches) and not needs_memory:
        fitted = _fit_batches(data, label, options)
    else:
        if isinstance(data, Batches):
            note([f"All of {data.source} is read into memory, because {needs_memory}."])
            head = data.whole()
        note(head.remarks)
        detail(f"{head.source} has {head.n_rows} rows and {len(head.names)} columns.")
        with progress(f"Learning from {head.n_rows} rows ...", is_long=False):
            fitted = _fit_table(head, label, options)
    record = replace(fitted.model.record, command=command, sampling=options.sampling)
    note(remark for remark in record.remarks if remark not in head.remarks or head is not fitted.table)
    record = replace(record, remarks=[str(remark) for remark in record.remarks])
    return replace(fitted, model=replace(fitted.model, record=record), sampling=options.sampling)


def _with_origins(options: TableOptions, head: Table, label: str) -> TableOptions:
    """The options, completed with the columns of an export of `pnulearn label`, and the sampling of the labels."""
    sampling = None if options.sampling is None else read_sampling(options.sampling)
    said = sampling is not None or options.at_random is not None
    origins = find_origins(head, label, options.at_random, options.weights, options.drop, options.groups, said=said)
    note([origins.remark] if origins.remark else [])
    if origins.at_random is not None:
        sampling = "by_class"
    return replace(
        options, at_random=origins.at_random, weights=origins.weights, drop=tuple(origins.drop), sampling=sampling
    )


def _fit_table(table: Table, label: str, options: TableOptions) -> Fitted:
    """Fit to rows in memory: all labelled rows and at most `most_unlabeled` others."""
    start = time.perf_counter()
    targets = read_targets(table, label, positive=options.pos_label, unlabeled=options.unlabeled)
    plan = _learn_plan(table, label, options)
    rows, remarks = _chosen_rows(targets, options)
    if options.at_random is None:
        note_of_one_class(options.sampling, decode_labels(targets.y, pos_label=targets.positive))
    X, remarks_of_cells = plan.features(table)
    X = X[rows]
    labels = decode_labels(targets.y[rows], pos_label=targets.positive)
    giveaways = find_leaks(plan, X, labels.codes)
    marked = None if options.at_random is None else read_marks(table, options.at_random, rows, labels.codes)
    classifier = _make_classifier(options).set_params(pos_label=targets.positive)
    weight, apart = read_weights(table, options.weights), read_row_groups(table, options.groups)
    apart = None if apart is None else apart[rows]
    if marked is not None and weight is not None and classifier.prior is None:
        # Weights correct for the sampling of rows. Rows marked as random need no correction: each has weight one.
        known = np.where(marked, labels.codes, -1)
        classifier.set_params(prior=PriorEstimate.of_counts(count_labels(known, None, apart)))
        marked = None
    weight = None if weight is None else weight[rows]
    if options.sampling == "random" and len(labels.classes) == 2 and not labels.counts.all():
        weight = _keep_labeled_share(labels.codes, weight, sum(value is None for value in targets.y))
    classifier.fit(X, labels, weight, at_random=marked, groups=apart)
    record = FitRecord(
        table.source,
        table.fingerprint,
        table.n_rows,
        len(rows),
        _counts(targets.counts),
        sum(int(table.column(column.name).missing.sum()) for column in plan.columns),
        time.perf_counter() - start,
        versions(),
        remarks=[*table.remarks, *targets.remarks, *remarks, *remarks_of_cells],
        giveaways=giveaways,
        labeled_rows=_labeled_rows(X, labels.codes),
    )
    return Fitted(TableModel(classifier, plan, label, record), table, X, labels.codes, rows)


def _labeled_rows(X: AnyArray, codes: AnyArray) -> AnyArray:
    """Hashes of the labelled rows, by which `evaluate` recognises them; none if many rows have the same features."""
    hashes = hash_rows(X[codes >= 0][:MOST_HASHES])
    distinct = np.unique(hashes)
    return distinct if len(distinct) >= DISTINCT * len(hashes) else distinct[:0]


def preview_columns(table: Table, label: str | None, options: TableOptions) -> list[dict[str, Any]]:
    """The column plan of a fit; notes name columns that leak the label."""
    plan = _learn_plan(table, label, options)
    if label is not None:
        targets = read_targets(table, label, positive=options.pos_label, unlabeled=options.unlabeled)
        counts = ", ".join(f"{count:,} {label_text(name)!r}" for name, count in targets.counts.items())
        n_labeled = sum(targets.counts.values())
        note([f"{table.source} has {table.n_rows:,} rows, {n_labeled:,} of them labelled ({counts})."])
        note(targets.remarks)
        codes = decode_labels(targets.y, pos_label=targets.positive).codes
        X, remarks = plan.features(table)
        note([*remarks, *map(str, leakage_concerns(find_leaks(plan, X, codes)))])
    return describe_columns(table, plan)


def _learn_plan(table: Table, label: str | None, options: TableOptions, **further: Any) -> ColumnPlan:
    return learn_plan(
        table,
        without=columns_without(label, options.drop, options.at_random, options.weights, options.groups),
        scaling=options.scaling,
        kinds=options.kinds,
        most_categories=options.most_categories,
        **further,
    )


def _make_classifier(options: TableOptions) -> PNUClassifier | AutoPNU:
    """The learner with that name; parameters that only PNU has are passed to the PNU learner."""
    common: dict[str, Any] = {"prior": options.prior, "sampling": options.sampling or "by_class"}
    common |= {} if options.cv is None else {"cv": options.cv}
    own: dict[str, Any] = {
        "risk": options.risk,
        "loss": options.loss,
        "kernel": options.kernel,
        "n_jobs": options.n_jobs,
    }
    own |= common | {"verbose": options.verbose} | dict(options.settings or {})
    if options.learner == PNU:
        return PNUClassifier(random_state=options.random_state, **own)
    if options.learner == "auto":
        return AutoPNU(LEARNERS, PNUClassifier(**own), random_state=options.random_state, **common)
    return AutoPNU((options.learner,), random_state=options.random_state, **common)


def _chosen_rows(targets: Targets, options: TableOptions) -> tuple[AnyArray, list[str]]:
    """Indices of all labelled rows and of at most `most` unlabelled ones, in the order of the table."""
    most = MOST_UNLABELED if options.most_unlabeled is None else options.most_unlabeled
    missing = np.array([value is None for value in targets.y])
    unlabeled = np.flatnonzero(missing)
    if len(unlabeled) <= most:
        return np.arange(len(missing)), []
    chosen = np.random.default_rng(options.random_state).choice(unlabeled, most, replace=False)
    remark = f"Learnt from {most} of {len(unlabeled)} unlabelled rows, drawn at random (most_unlabeled=...)."
    return np.sort(np.concatenate([np.flatnonzero(~missing), chosen])), [remark]


def _keep_labeled_share(codes: AnyArray, weight: AnyArray | None, n_unlabeled: int) -> AnyArray | None:
    """Weights with which the labelled rows are as large a share as in the table, if unlabelled ones were left out.

    The share is the least prior of a table in which some rows of one class are labelled.
    """
    kept = int(np.sum(codes < 0))
    if kept == n_unlabeled:
        return weight
    weight = np.ones(len(codes)) if weight is None else weight
    return np.where(codes < 0, weight, weight * kept / n_unlabeled)


def _counts(counts: dict[Any, int]) -> dict[str, int]:
    return {label_text(name): count for name, count in counts.items()}


def _fit_batches(batches: Batches, label: str, options: TableOptions) -> Fitted:
    """Fit to all rows of files that are read in batches, twice.

    The rows of the result are a sample of at most 10,000 unlabelled rows and 2,000 labelled ones of each class, on
    which the model was cross-validated. Only loss="squared" is possible in batches.
    """
    start = time.perf_counter()
    classifier = _make_classifier(options)
    assert isinstance(classifier, PNUClassifier)
    Settings.of(classifier.get_params(deep=False)).refuse_beyond_one_pass()
    with progress("Looking at all rows") as advance:
        survey = _survey(batches, label, options.at_random, options.random_state + 1, advance)
    labels = survey.labels.read(batches.source, positive=options.pos_label, unlabeled=options.unlabeled)
    drawn = survey.drawing.result(batches.source, batches.fingerprint())
    fair = drawn.fair
    plan = _learn_plan(fair.table, label, options, excerpt=fair.excerpt)
    remarks_of_cells = plan.features(fair.table)[1]
    rows, sample = _row_sample(drawn, plan, labels)
    classifier.set_params(pos_label=labels.meaning.positive)
    settings = Settings.of(classifier.get_params(deep=False))
    n_features = len(plan.feature_names)
    reading = reading_design(None, n_features, labels.classes, None, settings.seed)
    design = design_of(settings, reading, sample.X, sample.codes, DTYPE)
    with progress("Learning from all rows") as advance:
        told = _Told(advance, labels.n_rows)
        parts = tuple(PlannedPart(part, plan, labels, told) for part in batches.parts())
        source = Source(parts, None, None, n_features)
        statistics = collect(source, design, InThreads(settings.n_jobs or 1))
    counts = survey.random_counts(labels, batches.source, options.at_random)
    with progress("Comparing candidates"):
        learnt = learn_from_moments(settings, statistics, sample, random_counts=counts, keep_scores=True)
    accept(classifier, learnt)
    record = FitRecord(
        batches.source,
        drawn.table.fingerprint,
        labels.n_rows,
        labels.n_rows,
        _counts(labels.meaning.counts),
        _count_missing(fair, plan),
        time.perf_counter() - start,
        versions(),
        remarks=[*survey.remarks, *labels.meaning.remarks, *_sampling_remarks(fair, rows), *remarks_of_cells],
        giveaways=find_leaks(plan, sample.X, sample.codes),
        labeled_rows=_labeled_rows(sample.X, sample.codes),
    )
    model = TableModel(classifier, plan, label, record)
    return Fitted(model, drawn.table, sample.X, sample.codes, rows, drawn.excerpt.numbers)


@dataclass
class _Survey:
    """Results of the first pass."""

    labels: LabelCounter
    drawing: RowSampler
    remarks: list[str] = field(default_factory=list)
    n_marked: AnyArray = field(default_factory=lambda: np.zeros(0, dtype=int))

    def random_counts(self, labels: LabelCodes, source: str, at_random: str | None) -> AnyArray | None:
        """Counts of rows labelled at random, by class; None if no column marks them."""
        if at_random is None:
            return None
        counts = np.zeros(len(labels.classes), dtype=int)
        for code, count in zip(labels.code_of.values(), self.n_marked.tolist(), strict=False):
            if code >= 0:
                counts[code] += count
        if not counts.any():
            raise no_labeled(source, at_random)
        return counts


def _survey(batches: Batches, label: str, at_random: str | None, seed: int, advance: Advance) -> _Survey:
    found = _Survey(LabelCounter(label), RowSampler(seed))
    for table, share in batches:
        groups = found.labels.add(table)
        found.drawing.add(table, table.source, groups)
        found.remarks += table.remarks
        if at_random is not None:
            marked = np.bincount(groups[marked_rows(table, at_random)])
            longest = max(len(marked), len(found.n_marked))
            found.n_marked = np.pad(found.n_marked, (0, longest - len(found.n_marked)))
            found.n_marked[: len(marked)] += marked
        advance(share)
    return found


def _row_sample(drawn: SampledRows, plan: ColumnPlan, labels: LabelCodes) -> tuple[AnyArray, RowSample]:
    """Rows of the sample used in the fit, and their features."""
    codes = labels.codes(drawn.table)
    rows = thin(drawn.keys, codes)
    some = drawn.take(rows)
    return rows, RowSample(plan.features(some.table)[0], codes[rows], some.keys, some.names, some.places)


def _count_missing(fair: SampledRows, plan: ColumnPlan) -> int:
    """Estimated number of empty cells of the used columns, extrapolated from the sample."""
    found = sum(int(fair.table.column(column.name).missing.sum()) for column in plan.columns)
    return round(found * fair.excerpt.n_rows / fair.table.n_rows)


def _sampling_remarks(fair: SampledRows, rows: AnyArray) -> Iterator[str]:
    n_rows, n_fair = fair.excerpt.n_rows, fair.table.n_rows
    yield f"Learnt from all {n_rows:,} rows, read in batches."
    if n_fair < n_rows:
        yield (
            f"The kinds of columns were determined from {n_fair:,} rows drawn at random; categories and words that do "
            "not occur in them count as missing or rare."
        )
    if len(rows) < n_rows:
        yield f"Held-out results, and the rows in a report, are based on {len(rows):,} rows drawn at random."


@dataclass
class _Told:
    """Counts rows over all threads and reports the share that is done."""

    advance: Advance
    n_rows: int
    n_done: int = 0

    def __call__(self, n_rows: int) -> None:
        self.n_done += n_rows
        self.advance(min(1.0, self.n_done / max(1, self.n_rows)))


@dataclass(frozen=True)
class FeatureBatch:
    """Features (n, d) and class codes of some rows."""

    X: AnyArray
    y: AnyArray

    def __len__(self) -> int:
        return len(self.X)

    def part(self, start: int, stop: int) -> FeatureBatch:
        return FeatureBatch(self.X[start:stop], self.y[start:stop])

    def fill(self, out: AnyArray, columns: tuple[str, ...] | None, origin: AnyArray) -> None:
        np.subtract(self.X.T, origin[:, None], out=out, casting="same_kind")

    def label_counts(self) -> dict[Any, int]:
        codes, counts = np.unique(self.y, return_counts=True)
        return dict(zip(codes.tolist(), counts.tolist(), strict=True))

    def codes(self, classes: AnyArray, unlabeled: Any) -> AnyArray:
        return self.y


@dataclass(frozen=True)
class PlannedPart:
    """A part of the files whose rows are transformed to features by the plan."""

    part: BatchPart
    plan: ColumnPlan
    labels: LabelCodes
    tell: Callable[[int], None] = field(repr=False)

    @property
    def name(self) -> str:
        return self.part.name

    @property
    def start(self) -> int:
        return self.part.start

    def __str__(self) -> str:
        return str(self.part)

    def batches(self, columns: Sequence[str], as_text: Sequence[str] = ()) -> Iterator[FeatureBatch]:
        for table, _ in self.part.tables():
            yield self._batch(table)
            self.tell(table.n_rows)

    def _batch(self, table: Table) -> FeatureBatch:
        return FeatureBatch(self.plan.features(table)[0], self.labels.codes(table))

    def glimpse(self) -> PlannedPart:
        return self
