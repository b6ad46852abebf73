"""Evaluating scores on a table from few labels: those of a model, or a column that another tool wrote."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._moments import thin
from pnulearn._problem.labels import UNLABELED, Labels, decode_labels
from pnulearn._problem.samples import Sampling, read_sampling
from pnulearn._reader.batches import Batches
from pnulearn._reader.columns import Cells
from pnulearn._reader.errors import TableError
from pnulearn._reader.table import Table
from pnulearn.losses import as_loss
from pnulearn.metrics._by_group import GroupEstimates
from pnulearn.metrics._estimate import RiskEstimate
from pnulearn.metrics._population import one_sample_risk, population_of_sample
from pnulearn.metrics._risk import estimate_risk
from pnulearn.metrics._second_model import estimate_with_second_model, read_opinions, take_opinions
from pnulearn.metrics._variance import LossSample, loss_samples
from pnulearn.priors._estimate import PriorEstimate
from pnulearn.priors._one_sample import OneSample
from pnulearn.priors._resolve import read_prior
from pnulearn.tables._label_column import LabelCounter, label_text, match_label, read_targets
from pnulearn.tables._model import TableModel
from pnulearn.tables._new_rows import NewRows
from pnulearn.tables._notes import Advance, note, progress, warn
from pnulearn.tables._options import TableOptions
from pnulearn.tables._plan import Excerpt
from pnulearn.tables._prior import note_of_one_class, prior_facts, prior_words, random_prior, settle_prior
from pnulearn.tables._provenance import count_labels, find_origins, marked_rows, read_row_groups, read_weights
from pnulearn.tables._row_sampling import RowSampler, SampledRows
from pnulearn.tables._windows import Windows, estimate_windows, group_rows, read_windows, resolve_by, window_sizes

LEAST_SEEN, SEEN_SHARE = 5, 0.1  # labelled rows of the fit among those evaluated that are worth a warning


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The estimated error of a model in the population, and the data it was estimated from.

    Parameters
    ----------
    source : str
        Where the rows come from.
    subject : str
        What was evaluated: a column of scores or a model file.
    names : (str, str)
        The negative and the positive class.
    codes : array (rows,)
        1 positive, 0 negative, −1 unlabelled.
    scores : array (rows,)
        Scores that decide at 0.
    prior : PriorEstimate
        What is known about the share of positives.
    error : RiskEstimate
        The error rate, with the helper if there is one.
    unhelped : RiskEstimate, optional
        The same without the helper.
    cost : RiskEstimate, optional
        Expected cost per row, if costs were given.
    probabilities : array (rows,), optional
        Probabilities of the positive class, if the scores are such.
    groups : GroupEstimates, optional
        The error rate for every group or window of time, and which of them differ.
    windows : Windows, optional
        The groups.
    """

    source: str
    subject: str
    names: tuple[str, str]
    codes: AnyArray
    scores: AnyArray
    prior: PriorEstimate
    error: RiskEstimate
    unhelped: RiskEstimate | None = None
    cost: RiskEstimate | None = None
    probabilities: AnyArray | None = None
    groups: GroupEstimates | None = None
    windows: Windows | None = None

    @property
    def y(self) -> AnyArray:
        """Labels as numbers, NaN for unlabelled rows."""
        return np.where(self.codes < 0, np.nan, self.codes.astype(float))

    @property
    def counts(self) -> tuple[int, int, int]:
        """Positive, negative and unlabelled rows."""
        positive, negative, unlabeled = (int(np.sum(self.codes == code)) for code in (1, 0, -1))
        return positive, negative, unlabeled

    def sentence(self) -> str:
        """The result in plain words."""
        error = self.error
        span = f"{100 * error.low:.1f} % to {100 * error.high:.1f} % with {100 * error.confidence:g} % confidence"
        return f"{self.subject} errs on about {100 * error.value:.1f} % of the rows ({span})."

    def group_sentence(self) -> str:
        """Which groups have another error rate, in words; empty without groups."""
        if self.groups is None or self.windows is None:
            return ""
        return f"Error rate by {self.windows.column}: {self.groups.sentence(percent=True)}"

    def group_rows(self) -> list[dict[str, str]]:
        """A table in words: the error rate for all rows and for every group."""
        if self.groups is None or self.windows is None:
            return []
        return group_rows(
            self.groups, self.windows.column, "error rate", window_sizes(self.windows, self.codes != UNLABELED)
        )

    def facts(self) -> dict[str, Any]:
        """All of it as plain values, as `pnulearn evaluate --json` prints them."""
        error, alone, cost = self.error, self.unhelped, self.cost
        n_positive, n_negative, n_unlabeled = self.counts
        helped = {} if alone is None else {"helper": getattr(error, "helper", 0.0)}
        helped |= {} if alone is None else {"interval_without_helper": [alone.low, alone.high]}
        costs = {} if cost is None else {"cost_per_row": cost.value, "cost_interval": [cost.low, cost.high]}
        return {
            "error_rate": error.value,
            "standard_error": error.stderr,
            "interval": [error.low, error.high],
            "confidence": error.confidence,
            **prior_facts(self.prior),
            "mix": error.mix,
            **helped,
            "rows": {self.names[1]: n_positive, self.names[0]: n_negative, "unlabelled": n_unlabeled},
            **costs,
            **group_facts(self.groups, self.windows, self.group_sentence()),
        }


def evaluate_table(
    data: Table | Batches,
    label: str,
    options: TableOptions,
    *,
    model: TableModel | None = None,
    score: str = "",
    helper: Sequence[str] = (),
    threshold: float | None = None,
    confidence: float = 0.95,
    costs: tuple[float, float] | None = None,
    subject: str = "",
    by: str | None = None,
) -> Evaluation:
    """Evaluate a model, or the column `score`, on all rows of a table.

    Parameters
    ----------
    data : Table or Batches
        The rows, which must not have been used to fit the model.
    label : str
        The column of labels; missing ones mark unlabelled rows.
    options : TableOptions
        Positive label, prior, sampling, weights, groups and columns to leave out.
    model : TableModel, optional
        The model, unless a column of scores is evaluated.
    score : str
        The column of scores or predicted labels, if there is no model.
    helper : sequence of str
        Columns with a second model's labels, probabilities or scores.
    threshold : float, optional
        Scores above this mean positive; a score equal to it is predicted negative.
    confidence : float
        Confidence level of the interval.
    costs : (float, float), optional
        Costs of a false negative and of a false positive.
    subject : str
        Name of the model on the page; by default the column.
    by : str, optional
        A column of groups, or of dates to be cut into windows ("date:month"), for each of which the error is estimated.
    """
    head = data.head() if isinstance(data, Batches) else data
    note([] if isinstance(data, Batches) else head.remarks)
    origins = find_origins(head, label, options.at_random, options.weights, options.drop, options.groups)
    score_columns = [*helper, *([score] if model is None else [])]
    sampling = settle_sampling(options, [] if model is None or origins.at_random else [model])
    told = options.prior is not None or model is not None or origins.at_random is not None or sampling == "random"
    estimates = isinstance(options.prior, str) or not told  # the prior is estimated from rows with all columns
    grouping, by = ("", None) if by is None else resolve_by(head, by)
    needed = [*score_columns, *filter(None, (origins.at_random, origins.weights, options.groups, grouping))]
    gathered = _gather(data, label, needed, model, draw=estimates)
    table = gathered.table
    if model is None:
        labels = table_labels(table, label, options.pos_label, options.unlabeled)
        scores = score_column(table, score, labels.classes, threshold)
    else:
        labels = _labels_for(model, table, label, options)
        _warn_of_training_rows(model, gathered, labels)
        assert gathered.scores is not None
        scores = gathered.scores
    note([origins.remark] if origins.remark else [])
    note_of_one_class(sampling, labels)
    one_class = sampling == "random" and not labels.counts.all()  # some rows of a class are labelled, none of the other
    weight, together = read_weights(table, origins.weights), read_row_groups(table, options.groups)
    drawn = None if origins.at_random is None else marked_rows(table, origins.at_random)
    count = LabelCount(
        labels.codes if drawn is None else np.where(drawn, labels.codes, UNLABELED),
        weight if drawn is None else None,
        together,
    )
    by_marks = None if origins.at_random is None else random_prior(table, origins.at_random, labels, together)
    prior = known_prior(options.prior, model, by_marks, count, None if one_class else sampling)
    dropped = [*origins.drop, *filter(None, (origins.at_random, origins.weights, options.groups))]
    some, known, excerpt = (head, labels, None) if not estimates else gathered.sample(labels)
    counted = known.counts if one_class else None
    belief = settle_prior(prior, some, label, known, dropped, options.kinds, excerpt, counted, scores=score_columns)
    estimator = ErrorEstimator(labels, scores, weight, together, _opinions(table, helper, labels), one_class)
    error, alone = estimator.estimate(belief, confidence)
    windows = None if by is None else read_windows(table, by)
    groups = None
    if windows is not None:
        at_random = drawn is not None or (sampling == "random" and not one_class)
        priors = group_priors(belief, options.prior, count if at_random else None)
        groups = estimate_windows(partial(estimator.estimate_rows, priors), windows, confidence)
    return Evaluation(
        table.source,
        subject or score,
        (str(labels.classes[0]), str(labels.classes[1])),
        labels.codes,
        scores,
        belief,
        error,
        alone,
        None if costs is None else estimator.estimate(belief, confidence, costs)[0],
        None if model is not None else _probabilities(table, score),
        groups,
        windows,
    )


def _labels_for(model: TableModel, table: Table, label: str, options: TableOptions) -> Labels:
    """Labels encoded in the classes of a model."""
    labels = model_labels(table, model, label, options.unlabeled)
    if options.pos_label is not None:
        refuse_other_positive(model, options.pos_label)
    return labels


def _warn_of_training_rows(model: TableModel, gathered: Gathered, labels: Labels) -> None:
    """Warn if the model was fitted to this file, or to some of its labelled rows in another file or order."""
    fitted_to, known = model.record.fingerprint, labels.codes >= 0
    if fitted_to and fitted_to == gathered.table.fingerprint:
        warn("The model was fitted to this very file, so the error looks smaller than it is.")
        return
    n_seen, n_known = 0 if gathered.seen is None else int(gathered.seen[known].sum()), int(known.sum())
    if n_seen >= max(LEAST_SEEN, SEEN_SHARE * n_known):
        warn(
            f"{n_seen} of the {n_known} labelled rows have the values of rows that the model was fitted to, so the "
            "error looks smaller than it is. Evaluate on other rows."
        )


def settle_sampling(options: TableOptions, models: Sequence[TableModel]) -> Sampling | None:
    """How the labels were drawn: as said, or else at random if those of all models were and no prior is given."""
    if options.sampling is not None or options.prior is not None or not models:
        return None if options.sampling is None else read_sampling(options.sampling)
    if any(model.record.sampling is None or read_sampling(model.record.sampling) != "random" for model in models):
        return None
    note(['The labelled rows are taken to be drawn at random, as for the fit; if not, pass sampling="by_class".'])
    return "random"


def known_prior(
    prior: Any, model: TableModel | None, counted: PriorEstimate | None, count: LabelCount, sampling: str | None
) -> Any:
    """The given prior, or an estimate from labels drawn at random or else from the model; None if there is neither."""
    if isinstance(prior, float | str):
        return prior
    if sampling == "random":
        drawn = count.prior()
        return drawn if prior is None else read_prior(prior).combine(drawn)
    if prior is not None or counted is not None or model is None:
        return counted if prior is None else prior
    own = model.classifier.prior_estimate_
    if own.spread:
        note([f"The prior is that of the fit, {prior_words(own)}; pass prior=... if these rows have another."])
    return own


@dataclass(frozen=True, eq=False)
class ErrorEstimator:
    """Estimates an error rate or a cost from labels, scores, weights, group numbers and opinions of second models."""

    labels: Labels
    scores: AnyArray
    weight: AnyArray | None
    together: AnyArray | None
    opinions: AnyArray | None  # log-odds
    one_class: bool = False  # labels of one class in one random sample: the unlabelled rows lack them

    def estimate(
        self, prior: PriorEstimate, confidence: float, costs: tuple[float, float] = (1.0, 1.0)
    ) -> tuple[RiskEstimate, RiskEstimate | None]:
        """The error rate or cost, and the same without the helper if there is one."""
        groups = [self.scores[rows] for rows in self.labels.groups]
        weights = None if self.weight is None else [self.weight[rows] for rows in self.labels.groups]
        together = None if self.together is None else [self.together[rows] for rows in self.labels.groups]
        samples = loss_samples(groups, weights=weights, groups=together)
        if self.one_class:
            return self._of_one_sample(samples, prior, confidence, costs), None
        alone = estimate_risk(groups, prior, confidence=confidence, weights=weights, groups=together, costs=costs)
        if self.opinions is None:
            return alone, None
        opinions = take_opinions(self.opinions, self.labels.groups)
        return estimate_with_second_model(alone, samples, opinions, prior, "rate", costs), alone

    def _of_one_sample(
        self, samples: list[LossSample], prior: PriorEstimate, confidence: float, costs: tuple[float, float]
    ) -> RiskEstimate:
        weight = np.ones(len(self.scores)) if self.weight is None else self.weight
        sample = OneSample.of(self.labels.codes, weight, self.labels.counts)
        if sample is None:
            raise ValueError("The error of one labelled class needs labelled and unlabelled rows.")
        return one_sample_risk(population_of_sample(prior, sample), samples, as_loss("zero_one"), confidence, costs)

    def estimate_rows(self, priors: GroupPriors, rows: AnyArray, confidence: float) -> RiskEstimate:
        """The error rate among these rows."""
        part = ErrorEstimator(
            Labels(self.labels.classes, self.labels.codes[rows]),
            self.scores[rows],
            None if self.weight is None else self.weight[rows],
            None if self.together is None else self.together[rows],
            None if self.opinions is None else self.opinions[rows],
            self.one_class,
        )
        return part.estimate(priors.of(rows), confidence)[0]


@dataclass(frozen=True, eq=False)
class LabelCount:
    """Class codes of the rows that were labelled at random, −1 for all others, with their weights and group numbers."""

    codes: AnyArray
    weight: AnyArray | None = None
    together: AnyArray | None = None

    def prior(self, rows: AnyArray | slice = slice(None)) -> PriorEstimate:
        """The prior by the labels of these rows."""
        if not (self.codes[rows] >= 0).any():
            raise ValueError("No row of it was labelled at random.")
        others = (None if part is None else part[rows] for part in (self.weight, self.together))
        return PriorEstimate.of_counts(count_labels(self.codes[rows], *others))


@dataclass(frozen=True, eq=False)
class GroupPriors:
    """Class priors of groups of rows: each has its own by `count`, or that of all rows, `whole`."""

    whole: PriorEstimate
    count: LabelCount | None

    def of(self, rows: AnyArray) -> PriorEstimate:
        if self.count is None or len(rows) == len(self.count.codes):
            return self.whole
        return self.count.prior(rows)


def group_priors(whole: PriorEstimate, given: Any, count: LabelCount | None) -> GroupPriors:
    """Priors from labels of each group that were drawn at random, if there are any, else that of all rows."""
    if isinstance(given, float) or count is None:
        warn(
            f"The share of positives is taken to be {whole.value:.3f} in every group. If it differs between them, "
            'label rows at random and pass sampling="random" without a prior: then each group has its own.'
        )
        return GroupPriors(whole, None)
    return GroupPriors(whole, count)


def group_facts(groups: GroupEstimates | None, windows: Windows | None, verdict: str) -> dict[str, Any]:
    """Estimates by group as plain values; nothing without groups."""
    if groups is None or windows is None:
        return {}
    return {"by": windows.column, "groups": groups.facts(), "verdict": verdict}


def _opinions(table: Table, columns: Sequence[str], labels: Labels) -> AnyArray | None:
    """Log-odds of second models on all rows."""
    if not columns:
        return None
    given = {name: opinion_column(table, name, labels.classes) for name in columns}
    return read_opinions(given, labels.classes, len(labels.codes))


def _probabilities(table: Table, score: str) -> AnyArray | None:
    column = table.column(score)
    if not column.is_numeric:
        return None
    values = column.values / (100 if _in_percent(table, score) else 1)
    return values if values.min() >= 0 and values.max() <= 1 else None


def table_labels(table: Table, label: str, positive: Any, unlabeled: Any) -> Labels:
    """The two classes of a label column and the code of every row; a note says how the column was read."""
    targets = read_targets(table, label, positive=positive, unlabeled=unlabeled)
    note(targets.remarks)
    labels = decode_labels(targets.y, pos_label=targets.positive)
    if len(labels.classes) != 2:
        raise TableError(f"Column {label!r} has {len(labels.classes)} classes; two are needed.")
    return labels


def model_labels(table: Table, model: TableModel, label: str, unlabeled: Any) -> Labels:
    """The codes of a label column in the classes of a model; a note says which spellings were joined."""
    if len(model.classifier.classes_) != 2:
        raise TableError(f"The model has {len(model.classifier.classes_)} classes; two are needed.")
    targets = read_targets(table, label, unlabeled=unlabeled, known=model.classifier.classes_.tolist())
    note(targets.joined)
    return decode_labels(targets.y, classes=model.classifier.classes_)


def refuse_other_positive(model: TableModel, positive: Any) -> None:
    """Refuse a positive class other than the one the model was fitted with."""
    if match_label(label_text(positive), model.classifier.classes_.tolist()) != model.classifier.classes_[1]:
        raise TableError(
            f"The positive class of the model is {model.classes[1]!r}, not {positive!r}: it was fixed by the fit. "
            f"Leave pos_label=... out, or fit the model with pos_label={positive!r}."
        )


def score_column(table: Table, name: str, classes: AnyArray, threshold: float | None) -> AnyArray:
    """Scores from a column, above 0 for the positive class; a note says how the column was read.

    Words, and numbers that are labels, are read as predicted labels. Other numbers within [0, 1] are read as
    probabilities with threshold 1/2, and numbers with percent signs with threshold 50 %, unless a threshold is given.
    Further scores of which none is below 0 need a threshold. A score equal to the threshold is predicted negative.
    """
    column = table.column(name)
    if column.missing.any():
        row = int(np.flatnonzero(column.missing)[0]) + 1
        raise TableError(f"Column {name!r} of {table.source} has no score in row {row}. Every row needs one.")
    if not column.is_numeric:
        note([f"Column {name!r} was read as predicted labels."])
        return _label_scores(name, column.values, classes)
    values, percent = column.values, _in_percent(table, name)
    if threshold is not None:
        if not np.isfinite(threshold):
            raise TableError(f"threshold= must be a finite number, got {threshold}.")
        if percent:
            note([f"Column {name!r} is in percent and was cut at {threshold:g} %."])
        return values - threshold
    if not percent and classes.dtype.kind in "biuf" and set(values.tolist()) <= set(classes.astype(float).tolist()):
        note(
            [
                f"Column {name!r} holds only {classes[0]} and {classes[1]} and was read as predicted labels "
                "(pass threshold=... to read them as scores)."
            ]
        )
        return np.where(values == float(classes[1]), 1.0, -1.0)
    low, high = float(values.min()), float(values.max())
    if percent and low >= 0 and high <= 100:
        note([f"Column {name!r} is in percent and was cut at 50 % (threshold=... overrides)."])
        return values - 50
    if low >= 0 and high <= 1:
        note([f"Column {name!r} lies in [0, 1] and was thresholded at 0.5 (threshold=... overrides)."])
        return values - 0.5
    if low >= 0:
        raise TableError(
            f"Column {name!r} holds scores from {low:g} to {high:g}, none of them below 0, so it is not clear which of "
            "them mean positive. Pass threshold=..., the score above which a row is predicted positive"
            + (", for example threshold=50 for percentages." if high <= 100 else ".")
        )
    return values


def _in_percent(table: Table, name: str) -> bool:
    """Whether the cells of a column of numbers have percent signs. Columns in which only some have one are refused."""
    import pyarrow as pa
    import pyarrow.compute as pc

    cells = table.cells.column(name)
    if pa.types.is_dictionary(cells.type):
        cells = cells.cast(cells.type.value_type)
    if not (pa.types.is_string(cells.type) or pa.types.is_large_string(cells.type)):
        return False
    signs = pc.match_substring(cells, "%").to_numpy(zero_copy_only=False).astype(bool)
    if signs.any() and not signs.all():
        row, other = int(np.argmax(signs)), int(np.argmin(signs))
        raise TableError(
            f"Column {name!r} of {table.source} holds {cells[row].as_py()!r} in row {row + 1} and "
            f"{cells[other].as_py()!r} in row {other + 1}. Write all scores with a percent sign, or none."
        )
    return bool(signs.any())


def _label_scores(name: str, words: AnyArray, classes: AnyArray) -> AnyArray:
    negative, positive = (str(c).lower() if isinstance(c, bool) else str(c) for c in classes.tolist())
    unknown = sorted(set(words.tolist()) - {negative, positive})
    if unknown:
        raise TableError(
            f"Column {name!r} holds {unknown[0]!r}, which is neither a number nor one of {negative!r} and {positive!r}."
        )
    return np.where(words == positive, 1.0, -1.0)


def opinion_column(table: Table, name: str, classes: AnyArray) -> AnyArray:
    """Predictions of a second model for every row: numbers as they are, words as labels."""
    column = table.column(name)
    if column.missing.any():
        row = int(np.flatnonzero(column.missing)[0]) + 1
        raise TableError(
            f"Column {name!r} of {table.source} has no value in row {row}. A helper needs a value in every row."
        )
    if column.is_numeric:
        return column.values
    return np.where(_label_scores(name, column.values, classes) > 0, classes[1], classes[0])


@dataclass(frozen=True, eq=False)
class Gathered:
    """`table` has the needed columns of all rows, `drawn` all columns of a sample or None.

    `scores` and `seen` are of a model.
    """

    table: Table
    drawn: SampledRows | None = None
    scores: AnyArray | None = None
    seen: AnyArray | None = None

    def sample(self, labels: Labels) -> tuple[Table, Labels, Excerpt | None]:
        """Rows with all columns, all or at most 10,000 unlabelled ones and 2,000 of each class, and their labels."""
        if self.drawn is None:
            return self.table, labels, None
        codes = labels.codes[self.drawn.excerpt.numbers]
        rows = np.sort(thin(self.drawn.keys, codes))
        some = self.drawn.take(rows)
        return some.table, Labels(labels.classes, codes[rows]), some.excerpt


def _gather(
    data: Table | Batches,
    label: str,
    needed: Sequence[str],
    model: TableModel | None,
    *,
    draw: bool,
) -> Gathered:
    """All rows of a table in memory, or the needed columns of all rows of files, and the model's scores."""
    if isinstance(data, Batches):
        with progress("Evaluating all rows") as advance:
            return _gather_batches(data, label, needed, model, advance, draw=draw)
    if model is None:
        return Gathered(data)
    predictions = model.predict(data)
    note(predictions.remarks)
    return Gathered(data, scores=predictions.scores, seen=predictions.seen)


def _gather_batches(
    batches: Batches, label: str, columns: Sequence[str], model: TableModel | None, advance: Advance, *, draw: bool
) -> Gathered:
    """Read files once, keeping the label and these columns, and the model's scores if there is one.

    A sample of rows with all columns is drawn if it is needed.
    """
    import pyarrow as pa

    needed = list(dict.fromkeys([label, *columns]))
    counter, drawing, reading = LabelCounter(label), RowSampler(seed=0), Cells()
    kept, scores, seen, remarks = [], [], [], dict[str, None]()
    found: NewRows | None = None
    for table, share in batches:
        for name in needed:
            table.refuse_absent(name)
        remarks |= dict.fromkeys(table.remarks)
        reading = replace(table.reading, decimal_comma=table.reading.decimal_comma or reading.decimal_comma)
        groups = counter.add(table)
        if draw:
            drawing.add(table, table.source, groups)
        kept.append(pa.Table.from_batches([table.cells.select(needed)]))
        if model is not None:
            predictions = model.predict(table)
            scores.append(predictions.scores)
            seen += [] if predictions.seen is None else [predictions.seen]
            assert predictions.cells is not None
            found = predictions.cells if found is None else found + predictions.cells
        advance(share)
    fingerprint = batches.fingerprint()
    drawn = drawing.result(batches.source, fingerprint) if draw else None
    cells = pa.concat_tables(kept, promote_options="permissive")
    note([*remarks, *(() if found is None else found.remarks())])
    whole = Table(cells, batches.source, reading, fingerprint)
    scored, known = (np.concatenate(parts) if parts else None for parts in (scores, seen))
    return Gathered(whole, drawn, scored, known)
