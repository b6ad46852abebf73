"""The share of good answers in a table: a column of few human labels and columns of verdicts of judge models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pnulearn._arrays import AnyArray, FloatArray, IntArray
from pnulearn._problem.labels import Labels, decode_labels
from pnulearn._reader.columns import is_plain
from pnulearn._reader.errors import TableError
from pnulearn._reader.frames import as_table, is_paths
from pnulearn._reader.in_memory import read_table
from pnulearn._reader.table import Table
from pnulearn._reader.words import YES, fold
from pnulearn.metrics._by_group import GroupEstimates, direction, estimate_facts
from pnulearn.metrics._estimate import Estimate
from pnulearn.metrics._judge import MEASURES, JudgeQuality, judge_quality
from pnulearn.metrics._share import ShareEstimate, ShareSampling, pnu_mean, pnu_share
from pnulearn.tables._label_column import label_text, match_label, read_targets
from pnulearn.tables._notes import note
from pnulearn.tables._provenance import read_weights
from pnulearn.tables._windows import estimate_windows, read_windows

NO_VERDICT = "(none)"
MOST_VERDICTS = 20  # different numbers with empty cells between them that are read as categories
MOST_TO_LOOK_AT = 10
LONGEST_TEXT = 200  # characters of a cell in the rows to look at
GOOD = {"good", "pass", "passed", "correct", "right", "ok", "accept", "accepted", "win", "helpful", "safe", "faithful"}


@dataclass(frozen=True, eq=False)
class Judgment:
    """The share of good answers, or the mean rating, and how good the judges are.

    Parameters
    ----------
    source : str
        Where the rows come from.
    human : str
        The column of human labels.
    positive : str
        The label that counts; empty if the mean of a rating is estimated.
    n_rows : int
        All rows.
    estimate : ShareEstimate
        The share or mean, with the help of the judges.
    alone : ShareEstimate, optional
        The same from the labels alone; None if they were not drawn at random.
    judges : list of str
        The columns of verdicts.
    said : mapping
        The share of positive verdicts, or the mean grade, of every judge.
    quality : mapping
        Error rates and agreement of every judge with two verdicts.
    groups : GroupEstimates, optional
        The estimate for every value of `by`, and which of them differ.
    by : str
        The column of groups.
    to_look_at : list of mappings
        Labelled rows on which a judge disagrees with the human.
    """

    source: str
    human: str
    positive: str
    n_rows: int
    estimate: ShareEstimate
    alone: ShareEstimate | None
    judges: Sequence[str]
    said: Mapping[str, float]
    quality: Mapping[str, JudgeQuality]
    groups: GroupEstimates | None = None
    by: str = ""
    to_look_at: Sequence[Mapping[str, Any]] = field(default_factory=list)

    @property
    def is_mean(self) -> bool:
        return not self.positive

    def show(self, value: float) -> str:
        """A share in percent, a mean as a number.

        Parameters
        ----------
        value : float
            A share or a mean.
        """
        return f"{value:.2f}" if self.is_mean else f"{100 * value:.1f} %"

    def sentence(self) -> str:
        """The result in plain words."""
        found, judges = self.estimate, " and ".join(self.judges)
        about = f"The mean of {self.human} is about" if self.is_mean else f"The share of {self.positive!r} is about"
        span = f"({self.show(found.low)} to {self.show(found.high)} with {100 * found.confidence:g} % confidence)"
        known = f"from {found.n_labels:,} human labels and the verdicts of {judges} on {self.n_rows:,} rows"
        return f"{about} {self.show(found.value)} {span}, {known}."

    def remarks(self) -> list[str]:
        """Further sentences: labels alone, what the judges say, which group differs, how many labels are needed."""
        found, lines = self.estimate, []
        if self.alone is not None:
            lines.append(
                f"Labels alone: {self.show(self.alone.value)} ({self.show(self.alone.low)} to "
                f"{self.show(self.alone.high)}). With verdicts, {found.n_labels:,} labels are worth {found.worth:,.0f}."
            )
        for name, said in self.said.items():
            far = said < found.low or said > found.high
            too = f", which is too {'high' if said > found.value else 'low'}" if far else ""
            lines.append(f"{name} itself says {self.show(said)}{too}.")
        if self.groups is not None:
            lines.append(f"By {self.by}: {self.groups.sentence(percent=not self.is_mean)}")
        if 4 * found.n_labels < self.n_rows:
            lines.append(
                f"About {4 * found.n_labels:,} human labels in all, four times as many, would halve the interval."
            )
        return lines

    def rows(self) -> list[dict[str, str]]:
        """A table in words: the estimate for all rows and for every group."""
        parts: dict[Any, Any] = {"all rows": self.estimate} | (dict(self.groups.groups) if self.groups else {})
        gaps = self.groups.differences if self.groups else {}
        return [
            {
                self.by or "rows": str(name),
                "mean" if self.is_mean else f"share of {self.positive}": self.show(found.value),
                "interval": f"{self.show(found.low)} to {self.show(found.high)}",
                "labels": f"{found.n_labels:,}",
                "worth": f"{found.worth:,.0f}",
                **({"against the others": direction(gaps[name]) if name in gaps else ""} if self.groups else {}),
            }
            for name, found in parts.items()
        ]

    def judge_rows(self) -> list[dict[str, str]]:
        """A table in words: one row per measure, one column per judge."""
        return [
            {"measure": measure}
            | {name: _show_measure(measure, getattr(quality, measure)) for name, quality in self.quality.items()}
            for measure in (MEASURES if self.quality else ())
        ]

    def facts(self) -> dict[str, Any]:
        """All of it as plain values, as `pnulearn judge --json` prints them."""
        found, alone = self.estimate, self.alone
        groups = {} if self.groups is None else {"by": self.by, "groups": self.groups.facts()}
        return {
            "verdict": self.sentence(),
            "remarks": self.remarks(),
            "mean" if self.is_mean else "share": found.value,
            "interval": [found.low, found.high],
            "confidence": found.confidence,
            "standard_error": found.stderr,
            "labels": found.n_labels,
            "worth": found.worth,
            "rows": self.n_rows,
            **({} if self.is_mean else {"positive": self.positive}),
            "labels_alone": None if alone is None else {"value": alone.value, "interval": [alone.low, alone.high]},
            "judges": {name: self._judge_facts(name) for name in self.judges},
            **groups,
            "rows_to_look_at": list(self.to_look_at),
        }

    def _judge_facts(self, name: str) -> dict[str, Any]:
        quality = self.quality.get(name)
        measures = {} if quality is None else {m: estimate_facts(getattr(quality, m)) for m in MEASURES}
        return {"says": self.said.get(name), **measures}


def _show_measure(measure: str, one: Estimate) -> str:
    """Shares in percent, Cohen's kappa as a number, a bias with its sign."""
    if measure == "kappa":
        return f"{one.value:.2f} ({one.low:.2f} to {one.high:.2f})"
    sign = "+" if measure == "bias" else ""
    return f"{100 * one.value:{sign}.0f} % ({100 * one.low:{sign}.0f} to {100 * one.high:{sign}.0f})"


def judge_table(
    data: Any,
    human: str,
    judges: str | Sequence[str],
    *,
    by: str | None = None,
    sampling: ShareSampling = "random",
    pos_label: Any = None,
    pos_verdict: Any = None,
    unlabeled: Any = None,
    groups: str | None = None,
    weights: str | None = None,
    confidence: float = 0.95,
) -> Judgment:
    """The share of good answers in a table, from few human labels and the verdicts of judge models on all rows.

    Parameters
    ----------
    data : path, data frame or Table
        One row per answer.
    human : str
        Column of human labels; empty cells are unlabelled. With two values their share is estimated, with more than two
        numbers (a rating) their mean.
    judges : str or sequence of str
        Columns of verdicts, probabilities, grades or scores. An empty cell is a verdict of its own.
    by : str, optional
        Column of groups (the model, the language), or of dates: "date:month", or "month" if there is one such column.
    sampling : "random", "by_helper" or "by_class"
        How the labelled rows were chosen; see `pnulearn.metrics.pnu_share`.
    pos_label : object, optional
        The label whose share is estimated. Default: a word such as good, pass or yes, or the greater label.
    pos_verdict : object, optional
        The verdict that means the same. Default: by the same rule.
    unlabeled : object, optional
        Value that marks unlabelled rows, in addition to empty cells.
    groups : str, optional
        Column of rows that belong together, e.g. a conversation.
    weights : str, optional
        Column of row weights.
    confidence : float
        Confidence level of the intervals.

    Examples
    --------
    >>> import pandas as pd
    >>> good = ["good"] * 24 + ["bad"] * 4 + ["good"] * 2 + ["bad"] * 10 + [None] * 400
    >>> verdict = ["pass"] * 28 + ["fail"] * 12 + ["pass"] * 290 + ["fail"] * 110
    >>> found = judge_table(pd.DataFrame({"human": good, "judge": verdict}), "human", "judge")
    >>> print(found.sentence())  # doctest: +NORMALIZE_WHITESPACE
    The share of 'good' is about 66.6 % (54.5 % to 77.4 % with 95 % confidence), from 40 human labels and the verdicts
    of judge on 440 rows.
    """
    table = read_table(data) if is_paths(data) else as_table(data)
    note(table.remarks)
    names = [judges] if isinstance(judges, str) else list(dict.fromkeys(judges))
    if not names:
        raise ValueError("judges= must name at least one column of verdicts.")
    if human in names:
        raise ValueError(f"Column {human!r} is named as human labels and as a judge. Name two columns.")
    verdicts = {name: _read_verdicts(table, name) for name in names}
    rating = _read_rating(table, human, unlabeled) if pos_label is None else None
    answers = _Answers(
        _read_labels(table, human, pos_label, unlabeled) if rating is None else rating,
        verdicts,
        sampling,
        None if groups is None else table.column(groups).as_text().data,
        read_weights(table, weights),
        confidence,
    )
    found = answers.estimate(np.arange(table.n_rows), confidence)
    positives = {} if rating is not None else _positive_verdicts(verdicts, answers.y, pos_verdict)
    quality = {name: answers.judge(called) for name, called in positives.items()} if sampling != "by_class" else {}
    windows = None if by is None else read_windows(table, by)
    return Judgment(
        table.source,
        human,
        "" if rating is not None else label_text(answers.y.classes[1]),
        table.n_rows,
        found,
        answers.alone() if sampling == "random" else None,
        names,
        _said(verdicts, positives, answers.weight, rated=rating is not None),
        quality,
        None if windows is None else estimate_windows(answers.estimate, windows, confidence),
        "" if windows is None else windows.column,
        _rows_to_look_at(table, quality, human),
    )


@dataclass(frozen=True, eq=False)
class _Answers:
    """Labels (or ratings, NaN where there is none) and verdicts of all rows, and how the labelled rows were chosen."""

    y: Any
    verdicts: Mapping[str, AnyArray]
    sampling: ShareSampling
    group: AnyArray | None
    weight: AnyArray | None
    confidence: float

    def estimate(self, rows: IntArray, confidence: float) -> ShareEstimate:
        """The share or mean among these rows."""
        helper = {name: column[rows] for name, column in self.verdicts.items()}
        return self._estimate(rows, confidence, helper=helper, sampling=self.sampling)

    def alone(self) -> ShareEstimate:
        """The same without the judges."""
        return self._estimate(np.arange(self.n_rows), self.confidence)

    def judge(self, called: AnyArray) -> JudgeQuality:
        return judge_quality(
            self.y,
            called,
            pos_verdict=True,
            sampling=self.sampling,
            groups=self.group,
            sample_weight=self.weight,
            confidence=self.confidence,
        )

    @property
    def n_rows(self) -> int:
        return len(self.y.codes if isinstance(self.y, Labels) else self.y)

    def _estimate(self, rows: IntArray, confidence: float, **given: Any) -> ShareEstimate:
        given |= {
            "groups": None if self.group is None else self.group[rows],
            "sample_weight": None if self.weight is None else self.weight[rows],
            "confidence": confidence,
        }
        if isinstance(self.y, Labels):
            some: Any = Labels(self.y.classes, self.y.codes[rows])
            return pnu_share(some, **given)
        return pnu_mean(self.y[rows], **given)


def _read_rating(table: Table, human: str, unlabeled: Any) -> FloatArray | None:
    """Numbers, NaN where there is none; None if the column has two values only, or words."""
    column = table.column(human)
    if not column.is_numeric:
        return None
    values = np.array(column.values)
    if unlabeled is not None:
        values[values == match_label(label_text(unlabeled), np.unique(values[~np.isnan(values)]).tolist())] = np.nan
    if len(np.unique(values[~np.isnan(values)])) <= 2:
        return None
    note([f"Column {human!r} holds more than two numbers and was read as a rating: its mean is estimated."])
    return values


def _read_labels(table: Table, human: str, pos_label: Any, unlabeled: Any) -> Labels:
    targets = read_targets(table, human, positive=pos_label, unlabeled=unlabeled)
    if len(targets.counts) > 2:
        raise TableError(
            f"Column {human!r} of {table.source} has {len(targets.counts)} different labels "
            f"({', '.join(map(str, targets.counts))}); two are needed. If one marks unlabelled rows, pass unlabeled=..."
        )
    good = _good_word(list(targets.counts)) if pos_label is None else None
    note(targets.joined if good is not None else targets.remarks)
    return decode_labels(targets.y, pos_label=targets.positive if good is None else good)


def _good_word(words: Sequence[Any]) -> Any:
    """The word that praises an answer, if exactly one does.

    >>> _good_word(["incorrect", "correct"]), _good_word(["A", "B"])
    ('correct', None)
    """
    found = [word for word in words if isinstance(word, str) and fold(word) in GOOD | YES]
    return found[0] if len(found) == 1 else None


def _read_verdicts(table: Table, name: str) -> AnyArray:
    """Numbers or words for all rows. Empty cells are a verdict of their own, unless the column holds scores."""
    column = table.column(name)
    if not column.missing.any():
        return column.values if column.is_numeric else np.asarray(column.values, dtype=str)
    n_missing = int(column.missing.sum())
    words = column.as_text()
    if column.is_numeric and len(words.levels) > MOST_VERDICTS:
        row = int(np.flatnonzero(column.missing)[0]) + 1
        raise TableError(
            f"Column {name!r} of {table.source} holds scores and is empty in {n_missing:,} rows, first in row {row}. "
            "Every row needs a score: leave these rows out, or fill them."
        )
    note([f"Column {name!r} is empty in {n_missing:,} rows; these are a verdict of their own, {NO_VERDICT}."])
    return np.array([*words.levels, NO_VERDICT])[words.data]


def _positive_verdicts(verdicts: Mapping[str, AnyArray], labels: Labels, given: Any) -> dict[str, AnyArray]:
    """For judges with two verdicts: which rows they call positive."""
    called = {}
    for name, column in verdicts.items():
        found = [one for one in np.unique(column).tolist() if one != NO_VERDICT]
        if len(found) != 2:
            note([f"Column {name!r} holds {len(found)} different values: scores, for which no error rates are given."])
            continue
        called[name] = column == _positive_verdict(name, found, labels, given)
    if given is not None and not called:
        raise TableError(f"No judge has two verdicts, so none means {label_text(given)!r}. Leave pos_verdict=... out.")
    return called


def _positive_verdict(name: str, found: list[Any], labels: Labels, given: Any) -> Any:
    if given is not None:
        chosen = match_label(label_text(given), found)
        if chosen is None:
            raise TableError(f"Column {name!r} holds {found[0]} and {found[1]}, not the verdict {label_text(given)!r}.")
        return chosen
    same = match_label(label_text(labels.classes[1]), found)
    chosen = same if same is not None else _good_word(found)
    chosen = max(found) if chosen is None else chosen
    if isinstance(chosen, str) and same is None:
        note([f"In column {name!r} {chosen!r} is read as {label_text(labels.classes[1])!r}."])
    return chosen


def _said(
    verdicts: Mapping[str, AnyArray], positives: Mapping[str, AnyArray], weight: AnyArray | None, rated: bool
) -> dict[str, float]:
    """What the judges say themselves: the share of positive verdicts, the mean probability, or the mean grade."""
    meant = dict(positives)
    for name, column in verdicts.items():
        if name not in positives and column.dtype.kind == "f" and (rated or (column.min() >= 0 and column.max() <= 1)):
            meant[name] = column
    return {name: float(np.average(meant[name], weights=weight)) for name in verdicts if name in meant}


def _rows_to_look_at(table: Table, quality: Mapping[str, JudgeQuality], human: str) -> list[dict[str, Any]]:
    """A few labelled rows on which a judge disagrees with the human, with their cells."""
    wrong = dict.fromkeys(row for one in quality.values() for row in one.disagreements.tolist())
    rows = sorted(wrong)[:MOST_TO_LOOK_AT]
    some = Table(table.cells.take(rows), table.source, table.reading) if rows else None
    cells = [] if some is None else list(_plain_rows(some))
    return [{"row": row + 1, **one} for row, one in zip(rows, cells, strict=True)]


def _plain_rows(table: Table) -> Iterator[dict[str, str]]:
    names = [one.name for one in table.cells.schema if is_plain(one.type)]
    for row in Table(table.cells.select(names), table.source, table.reading).rows():
        yield {
            name: text if len(text) <= LONGEST_TEXT else text[:LONGEST_TEXT] + "…"
            for name, text in zip(names, row, strict=True)
        }
