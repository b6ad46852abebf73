"""Fitting a table that is read in batches: all of its rows, in memory that does not grow with them.

The first reading counts labels and draws a random sample, from which the plan of the columns is learnt (of a table that
is no larger than the sample the plan is the one that `fit_table` learns) and centres are chosen. The second turns every
row into features by that plan and adds up the statistics of `pnulearn.streaming`, from which the model follows.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._estimators.classifier import PNUClassifier, accept
from pnulearn._learning.from_moments import learn_from_moments
from pnulearn._learning.planning import design_of, reading_design
from pnulearn._learning.settings import Settings
from pnulearn._moments import RowSample, thin
from pnulearn._tables.batches import Batches, BatchPart
from pnulearn._tables.table import Table
from pnulearn.streaming.passes import collect
from pnulearn.streaming.sources import Source
from pnulearn.streaming.threads import InThreads
from pnulearn.tables._classifier import FitRecord, Fitted, TableModel, label_text, left_out, versions
from pnulearn.tables._label_column import LabelCodes, LabelCounter
from pnulearn.tables._leakage import find_leaks
from pnulearn.tables._plan import MOST_CATEGORIES, ColumnPlan, Scaling, learn_plan
from pnulearn.tables._provenance import marked_rows, no_labeled
from pnulearn.tables._row_sampling import RowSampler, SampledRows

Watch = Callable[[str], AbstractContextManager[Callable[[float], None]]]


def unwatched(message: str) -> AbstractContextManager[Callable[[float], None]]:
    """Nobody is told how far the work is."""
    return nullcontext(lambda share: None)


def fit_batches(
    batches: Batches,
    label: str,
    *,
    positive: str | None = None,
    unlabeled: str | None = None,
    drop: Sequence[str] = (),
    at_random: str | None = None,
    kinds: Mapping[str, str] | None = None,
    most_categories: int = MOST_CATEGORIES,
    scaling: Scaling = "standard",
    dtype: str = "float32",
    command: str = "",
    seed: int = 0,
    watch: Watch = unwatched,
    **parameters: Any,
) -> Fitted:
    """Fit a `PNUClassifier` to all rows of files that are read in batches, twice; see `fit_table`.

    The result is a model like any other. Its rows are a sample, of at most 10,000 unlabelled rows and 2,000 labelled
    ones of each class, on which it was judged out of fold. Only loss="squared" can be learnt this way.

    Parameters
    ----------
    batches : Batches
        The files.
    label : str
        The column of labels.
    positive : str, optional
        The label that counts as positive.
    unlabeled : str, optional
        The cell that marks unlabelled rows, besides empty ones.
    drop : sequence of str
        Columns to leave out.
    at_random : str, optional
        A column of yes and no that marks rows labelled at random; it is no feature.
    kinds : mapping, optional
        Kinds of columns by name, where they are not those that the cells suggest.
    most_categories : int
        Categories that have a feature each; columns of more share features by hashing.
    scaling : str
        How number columns are scaled.
    dtype : str
        Precision of the features, "float32" or "float64"; sums are always float64.
    command : str
        The command line, for the report.
    seed : int
        Seed.
    watch : callable
        Given a message, a context that is told the share that is done.
    **parameters : object
        Parameters of `PNUClassifier`.
    """
    start = time.perf_counter()
    classifier = PNUClassifier(random_state=seed, **parameters)
    Settings.of(classifier.get_params(deep=False)).refuse_beyond_one_pass()
    with watch("Looking at all rows") as advance:
        survey = _survey(batches, label, at_random, seed + 1, advance)
    labels = survey.labels.read(batches.source, positive=positive, unlabeled=unlabeled)
    drawn = survey.drawing.result(batches.source, batches.fingerprint())
    fair = drawn.fair
    plan = learn_plan(
        fair.table,
        without=left_out(label, drop, at_random),
        scaling=scaling,
        kinds=kinds,
        most_categories=most_categories,
        excerpt=fair.excerpt,
    )
    rows, sample = _row_sample(drawn, plan, labels)
    classifier.set_params(pos_label=labels.meaning.positive)
    settings = Settings.of(classifier.get_params(deep=False))
    n_features = len(plan.feature_names)
    reading = reading_design(None, n_features, labels.classes, None, settings.seed)
    design = design_of(settings, reading, sample.X, sample.codes, dtype)
    with watch("Learning from all rows") as advance:
        told = _Told(advance, labels.n_rows)
        parts = tuple(PlannedPart(part, plan, labels, told) for part in batches.parts())
        source = Source(parts, None, None, n_features)
        statistics = collect(source, design, InThreads(settings.n_jobs or 1))
    counts = survey.random_counts(labels, batches.source, at_random)
    with watch("Comparing candidates"):
        learnt = learn_from_moments(settings, statistics, sample, random_counts=counts, keep_scores=True)
    accept(classifier, learnt)
    record = FitRecord(
        batches.source,
        drawn.table.fingerprint,
        labels.n_rows,
        labels.n_rows,
        {label_text(name): count for name, count in labels.meaning.counts.items()},
        _count_missing(fair, plan),
        time.perf_counter() - start,
        versions(),
        command,
        [*survey.remarks, *labels.meaning.remarks, *_sampling_remarks(fair, rows)],
        find_leaks(plan, sample.X, sample.codes),
    )
    model = TableModel(classifier, plan, label, record)
    return Fitted(model, drawn.table, sample.X, sample.codes, rows, drawn.excerpt.numbers)


@dataclass
class _Survey:
    """What the first reading gathers."""

    labels: LabelCounter
    drawing: RowSampler
    remarks: list[str] = field(default_factory=list)
    n_marked: AnyArray = field(default_factory=lambda: np.zeros(0, dtype=int))

    def random_counts(self, labels: LabelCodes, source: str, at_random: str | None) -> AnyArray | None:
        """Rows of every class that were labelled at random; None if no column marks them."""
        if at_random is None:
            return None
        counts = np.zeros(len(labels.classes), dtype=int)
        for code, count in zip(labels.code_of.values(), self.n_marked.tolist(), strict=False):
            if code >= 0:
                counts[code] += count
        if not counts.any():
            raise no_labeled(source, at_random)
        return counts


def _survey(
    batches: Batches, label: str, at_random: str | None, seed: int, advance: Callable[[float], None]
) -> _Survey:
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
    """Rows of the sample that the fit looks at, and their features."""
    codes = labels.codes(drawn.table)
    rows = thin(drawn.keys, codes)
    some = drawn.take(rows)
    return rows, RowSample(plan.features(some.table)[0], codes[rows], some.keys, some.names, some.places)


def _count_missing(fair: SampledRows, plan: ColumnPlan) -> int:
    """Empty cells of the columns in use, in proportion to those of the sample."""
    found = sum(int(fair.table.column(column.name).missing.sum()) for column in plan.columns)
    return round(found * fair.excerpt.n_rows / fair.table.n_rows)


def _sampling_remarks(fair: SampledRows, rows: AnyArray) -> Iterator[str]:
    n_rows, n_fair = fair.excerpt.n_rows, fair.table.n_rows
    yield f"Learnt from all {n_rows:,} rows, read in batches."
    if n_fair < n_rows:
        yield (
            f"What becomes of each column was decided by {n_fair:,} rows drawn at random; categories and words that "
            "they do not show count as missing or rare."
        )
    if len(rows) < n_rows:
        yield f"Held-out results, and all that a report shows of rows, rest on {len(rows):,} rows drawn at random."


@dataclass
class _Told:
    """Adds up rows, whichever thread has read them, and tells the share."""

    advance: Callable[[float], None]
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
    """A part of the files whose rows become features by the plan."""

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
        for table in self.part:
            yield self._batch(table)
            self.tell(table.n_rows)

    def _batch(self, table: Table) -> FeatureBatch:
        return FeatureBatch(self.plan.features(table)[0], self.labels.codes(table))

    def glimpse(self) -> PlannedPart:
        return self
