"""The kinds of columns a model can use.

A kind is a frozen dataclass of plain values, saved with the model. It is learnt from all rows of a column, labelled or
not, and turns the same column of any batch of rows into features. A new kind is a class here and a line in `KINDS`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from scipy.stats import norm
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction import FeatureHasher
from sklearn.feature_extraction.text import TfidfVectorizer

from pnulearn._arrays import AnyArray
from pnulearn._reader.columns import Column, Kind
from pnulearn._reader.dates import Moments, read_dates
from pnulearn._reader.errors import Caution, TableError
from pnulearn._reader.table import Table
from pnulearn._reader.words import MARKERS, NO, YES, fold
from pnulearn.tables._new_rows import SHOWN, NewCells, Seen, in_unit, settle_mark, unit_of

OFTEN_MISSING = 0.05
FEWEST_MISSING = 5  # smallest number of filled and of empty cells for a flag
LONG_TAIL = 2.0  # skewness (that of an exponential variable) above which values are replaced by ranks
FEWEST_FOR_TAIL = 20  # smallest number of rows to estimate a skewness
N_KNOTS = 257
GIANT = 1e8  # above this ratio, float64 cannot resolve the usual values any more
REMEDY = "The model was fitted to numbers there: correct the cell, or pass missing=... if it means missing."
RARE, OF_ROWS = 5, 100  # a category with fewer rows is rare; in small tables, one with less than 1 % of the rows
OTHER = "(other)"
N_OWN = 30  # number of most frequent categories with a feature each
N_SHARED = 16
CYCLES = {"weekday": 7.0, "month": 365.2425, "hour": 1.0}  # periods in days
LONG_ENOUGH = {"weekday": 14, "month": 330, "hour": 0}  # smallest range in days for a cycle to be used
MOST_WORDS = 5_000
N_TOPICS = 20
MOST_TEXTS = 20_000  # rows used to learn the words and topics
TFIDF = {"sublinear_tf": True, "strip_accents": "unicode"}


class Unusable(Exception):
    """The reason why a column is left out."""


class UsedColumn(Protocol):
    """A column of a model."""

    @property
    def name(self) -> str: ...

    @property
    def seen(self) -> Seen | None:
        """What the column held at the fit."""

    @property
    def feature_names(self) -> list[str]: ...

    @property
    def fate(self) -> str:
        """A sentence describing how the column is transformed."""

    @classmethod
    def fit(cls, column: Column, scaling: str) -> UsedColumn:
        """Fit to all rows; raises `Unusable` if the column carries no information."""

    def transform(self, table: Table) -> tuple[AnyArray, NewCells]:
        """Features (rows, len(feature_names)) of some rows, and counts of their cells."""


def often_missing(missing: AnyArray) -> bool:
    """
    >>> often_missing(np.arange(100) < 10), often_missing(np.arange(100) < 3)
    (True, False)
    """
    share = missing.mean()
    return bool(min(share, 1 - share) >= OFTEN_MISSING and min(missing.sum(), (~missing).sum()) >= FEWEST_MISSING)


def append_filled(features: AnyArray, missing: AnyArray, flagged: bool) -> AnyArray:
    """Features (rows, n) of a column, with one more, 1 where its cell is filled, if the column is flagged."""
    features = features if features.ndim == 2 else features[:, np.newaxis]
    return np.column_stack([features, ~missing]) if flagged else features


@dataclass(frozen=True, eq=False)
class Scale:
    """(h(x) − offset) / size with `fill` for missing values; h is x itself, or interpolates normal ranks at knots."""

    fill: float
    offset: float = 0.0
    size: float = 1.0
    knots: AnyArray | None = None
    ranks: AnyArray | None = None

    @classmethod
    def fit(cls, values: AnyArray, scaling: str) -> Scale:
        """Fill with the median; standard scaling gives mean 0 and variance 1, minmax the range [0, 1]."""
        present = values[~np.isnan(values)]
        fill = float(np.median(present))
        if scaling == "none":
            return cls(fill)
        knots, ranks = normal_ranks(present) if has_long_tail(present) else (None, None)
        shaped = cls(fill, knots=knots, ranks=ranks).apply(values)
        if scaling == "minmax":
            offset, size = float(shaped.min()), float(shaped.max() - shaped.min())
        else:
            offset, size = float(shaped.mean()), float(shaped.std())
        return cls(fill, offset, size or 1.0, knots, ranks)

    @property
    def is_ranked(self) -> bool:
        return self.knots is not None

    def apply(self, values: AnyArray) -> AnyArray:
        filled = np.where(np.isnan(values), self.fill, values)
        if self.knots is not None and self.ranks is not None:
            filled = np.interp(filled, self.knots, self.ranks)
        return (filled - self.offset) / self.size


def has_long_tail(values: AnyArray) -> bool:
    """Whether the skewness exceeds `LONG_TAIL`, so that a few values dominate mean and variance.

    >>> has_long_tail(np.arange(100.0)), has_long_tail(np.append(np.arange(100.0), 1e200))
    (False, True)
    """
    if len(values) < FEWEST_FOR_TAIL or len(np.unique(values[:FEWEST_FOR_TAIL])) < 3 > len(np.unique(values)):
        return False
    unit = values / (np.abs(values).max() or 1.0)  # the third power of 1e200 overflows
    centered = unit - unit.mean()
    spread = centered.std()
    return bool(spread > 0 and abs(np.mean((centered / spread) ** 3)) > LONG_TAIL)


def normal_ranks(values: AnyArray) -> tuple[AnyArray, AnyArray]:
    """Knots and their normal scores Φ⁻¹(F): F counts ties by half, so that equal values are one knot."""
    ordered = np.sort(values)
    knots = np.unique(ordered)
    if len(knots) > N_KNOTS:
        knots = np.unique(np.quantile(ordered, np.linspace(0, 1, N_KNOTS), method="nearest"))
    below, upto = (np.searchsorted(ordered, knots, side) for side in ("left", "right"))
    return knots, norm.ppf((below + upto) / (2 * len(ordered)))


@dataclass(frozen=True)
class NumberColumn:
    """A scaled column, with an indicator of filled cells if many are missing."""

    name: str
    scale: Scale
    flagged: bool = False
    decimal: str = ""
    unit: str = ""
    is_mark_certain: bool = True
    seen: Seen | None = None

    @property
    def feature_names(self) -> list[str]:
        return [self.name, f"{self.name} filled"] if self.flagged else [self.name]

    @property
    def fate(self) -> str:
        shape = (f"number in {self.unit}" if self.unit else "number") + (
            " with a long tail, by normal ranks" if self.scale.is_ranked else ""
        )
        return f"{shape}; missing cells get the median {self.scale.fill:.4g}" + (" and a flag" if self.flagged else "")

    @classmethod
    def fit(cls, column: Column, scaling: str) -> NumberColumn:
        _refuse_giant(column, float(np.median(column.data[~column.missing])))
        unit, decimal = unit_of(column), "" if column.doubtful else column.decimal
        values, _ = in_unit(column, unit, None)
        scale, flagged = Scale.fit(values, scaling), often_missing(column.missing)
        return cls(column.name, scale, flagged, decimal, unit, not column.doubtful, Seen.of(values))

    def transform(self, table: Table) -> tuple[AnyArray, NewCells]:
        column = table.numbers(self.name, REMEDY, self.decimal)
        column, doubts = settle_mark(table, column, REMEDY, self.seen, self.is_mark_certain)
        values, remarks = in_unit(column, self.unit, self.seen)
        refuse_infinity(self.name, values, table)
        features = append_filled(self.scale.apply(values), np.isnan(values), self.flagged)
        return features, NewCells.of_numbers(values, self.seen, [*doubts, *remarks])


def _refuse_giant(column: Column, center: float) -> None:
    """Raise an error for an extreme outlier, which would make the scale so large that all other values become equal."""
    distance = np.where(column.missing, 0.0, np.abs(column.data / 2 - center / 2))  # halves cannot overflow
    off = distance[distance > 0]
    row = int(np.argmax(distance))
    if len(off) and distance[row] / GIANT > max(float(np.median(off)), abs(center) / GIANT):
        raise TableError(
            f"Column {column.name!r} holds {column.data[row]:.3g} in row {row + 1}, more than {GIANT:g} times as far "
            "from the median as usual: after scaling, all other cells would be equal. Correct or empty the cell, "
            f"or pass missing=['{column.data[row]:g}'] if it means missing."
        )


def refuse_infinity(name: str, values: AnyArray, table: Table) -> None:
    infinite = np.flatnonzero(np.isinf(values))
    if len(infinite):
        row = table.start + int(infinite[0]) + 1
        raise TableError(f"Column {name!r} of {table.source} is infinite in row {row}. Correct the cell or empty it.")


@dataclass(frozen=True)
class FlagColumn:
    """1 for yes and 0 for no, scaled; the more frequent of them where a cell is missing."""

    name: str
    scale: Scale
    flagged: bool = False
    seen: Seen | None = None

    @property
    def feature_names(self) -> list[str]:
        return [self.name, f"{self.name} filled"] if self.flagged else [self.name]

    @property
    def fate(self) -> str:
        return "yes or no" + ("; missing cells get a flag" if self.flagged else "")

    @classmethod
    def fit(cls, column: Column, scaling: str) -> FlagColumn:
        values, _ = read_flags(column)
        fill = float(np.nanmean(values) > 0.5)
        filled = np.where(np.isnan(values), fill, values)
        scale = Scale(fill, float(filled.mean()), float(filled.std()) or 1.0) if scaling == "standard" else Scale(fill)
        return cls(column.name, scale, often_missing(np.isnan(values)), Seen.of(values))

    def transform(self, table: Table) -> tuple[AnyArray, NewCells]:
        column = table.column(self.name)
        values, strange = read_flags(column)
        features = append_filled(self.scale.apply(values), np.isnan(values), self.flagged)
        n_missing, n_odd = int(column.missing.sum()), int(np.sum(np.isnan(values) & ~column.missing))
        return features, NewCells(len(values), n_missing, n_unknown=n_odd, unknown=tuple(strange[:SHOWN]))


def are_flags(levels: list[str]) -> bool:
    """Whether the words are yes and no, and both occur.

    >>> are_flags(["Ja", "nein"]), are_flags(["yes"]), are_flags(["yes", "no", "maybe"])
    (True, False, False)
    """
    words = {fold(level) for level in levels}
    return words <= YES | NO and bool(words & YES) and bool(words & NO)


def read_flags(column: Column) -> tuple[AnyArray, list[str]]:
    """1, 0 or NaN for each cell, and the cells that are neither yes nor no."""
    if column.is_numeric:
        known = np.isin(column.data, (0, 1))
        strange = column.data[~known & ~column.missing]
        return np.where(known, column.data, np.nan), sorted({f"{value:g}" for value in strange})
    meaning = [1.0 if fold(level) in YES else 0.0 if fold(level) in NO else np.nan for level in column.levels]
    unknown = [level for level, value in zip(column.levels, meaning, strict=True) if np.isnan(value)]
    return np.array([*meaning, np.nan])[column.data], sorted(unknown)


@dataclass(frozen=True)
class CategoryColumn:
    """One 0/1 feature per category, one for all rare ones if there are any; a missing value is 0 in all of them."""

    name: str
    categories: tuple[str, ...]
    has_other: bool = False
    seen: Seen | None = None

    @property
    def feature_names(self) -> list[str]:
        return [f"{self.name}={value}" for value in (*self.categories, OTHER)[: len(self.categories) + self.has_other]]

    @property
    def fate(self) -> str:
        said = f"{len(self.categories)} categories, one feature each" + (
            ", and the rare ones" if self.has_other else ""
        )
        odd = [one for one in self.categories if one.casefold() in MARKERS]
        return said + (f"; {odd[0]!r} is one of them, unless missing=[{odd[0]!r}] is passed" if odd else "")

    @classmethod
    def fit(cls, column: Column, scaling: str) -> CategoryColumn:
        frequent, n_rare = frequent_levels(column)
        return cls(column.name, tuple(sorted(frequent)), n_rare > 0, _seen(column))

    def transform(self, table: Table) -> tuple[AnyArray, NewCells]:
        """Parse cells as text even if all look like numbers, because the kind is that of the model."""
        column = table.column(self.name, "text")
        X = encode_levels(column, self.categories, self.has_other)
        strange = [] if self.has_other else sorted(set(column.levels) - set(self.categories))
        return X, NewCells.of_texts(column.data, column.levels, strange)


def _seen(column: Column) -> Seen:
    return Seen(len(column.data), int(column.missing.sum()))


def frequent_levels(column: Column) -> tuple[list[str], int]:
    """Levels that are not rare, most frequent first, and the number of rare ones; a single rare one is not pooled."""
    least = min(RARE, len(column.data) // OF_ROWS)
    order = sorted(zip(column.counts.tolist(), column.levels, strict=True), key=lambda pair: (-pair[0], pair[1]))
    frequent = [level for count, level in order if count >= least]
    if len(order) - len(frequent) < 2 or not frequent:
        return [level for _, level in order], 0
    return frequent, len(order) - len(frequent)


def encode_levels(column: Column, known: tuple[str, ...], has_other: bool) -> AnyArray:
    """0/1 features of the known levels, and a last one for all others if there is one."""
    place = {level: k for k, level in enumerate(known)}
    absent = len(known) if has_other else -1
    places = np.array([*(place.get(level, absent) for level in column.levels), -1])[column.data]
    X = np.zeros((len(places), len(known) + has_other))
    hit = np.flatnonzero(places >= 0)
    X[hit, places[hit]] = 1.0
    return X


@dataclass(frozen=True)
class CodesColumn:
    """One 0/1 feature for each of the most frequent categories; all others share a few ±1 features by hashing.

    Labels are not used, so there is no leakage. A category that was not in the training table uses the shared features.
    """

    name: str
    own: tuple[str, ...]
    n_shared: int = N_SHARED
    seen: Seen | None = None

    @property
    def feature_names(self) -> list[str]:
        return [f"{self.name}={code}" for code in self.own] + [f"{self.name} #{k + 1}" for k in range(self.n_shared)]

    @property
    def fate(self) -> str:
        return f"many categories: the {len(self.own)} most frequent one feature each, the others share {self.n_shared}"

    @classmethod
    def fit(cls, column: Column, scaling: str) -> CodesColumn:
        frequent, _ = frequent_levels(column)
        return cls(column.name, tuple(frequent[:N_OWN]), seen=_seen(column))

    def transform(self, table: Table) -> tuple[AnyArray, NewCells]:
        column = table.column(self.name, "text")
        own = set(self.own)
        others = ([] if level in own else [level] for level in column.levels)
        hashed = FeatureHasher(self.n_shared, input_type="string").transform(others).toarray() if column.levels else []
        shared = np.vstack([np.reshape(hashed, (-1, self.n_shared)), np.zeros(self.n_shared)])[column.data]
        features = np.hstack([encode_levels(column, self.own, False), shared])
        return features, NewCells.of_texts(column.data, column.levels)


@dataclass(frozen=True)
class DateColumn:
    """Age in days relative to the newest date, and sine and cosine of the position in the week, year and day."""

    name: str
    newest: float
    age: Scale | None
    cycles: tuple[str, ...]
    day_first: bool | None = None
    flagged: bool = False
    is_order_certain: bool = False
    seen: Seen | None = None

    @property
    def feature_names(self) -> list[str]:
        age = [f"{self.name} age"] if self.age else []
        circles = [f"{self.name} {cycle} {axis}" for cycle in self.cycles for axis in ("cos", "sin")]
        return age + circles + [f"{self.name} filled"] * self.flagged

    @property
    def fate(self) -> str:
        newest = np.datetime_as_string(np.datetime64(0, "D") + int(self.newest // 1))
        parts = [f"age in days on {newest}"] if self.age else []
        order = {True: ", read as day/month", False: ", read as month/day", None: ""}[self.day_first]
        return "date: " + ", ".join([*parts, *self.cycles]) + order

    @classmethod
    def fit(cls, column: Column, scaling: str) -> DateColumn:
        found = read_dates(column.levels)
        days = _spread(column, found)
        if np.isnan(days).all():
            raise Unusable(f"no dates that can be read (such as {column.levels[0]!r})")
        newest, oldest = float(np.nanmax(days)), float(np.nanmin(days))
        age = Scale.fit(newest - days, scaling) if found.has_date and newest > oldest else None
        cycles = tuple(cycle for cycle in CYCLES if _is_seen(cycle, days, found.has_date))
        certain = found.day_first is not None and not found.doubtful
        flagged = often_missing(np.isnan(days))
        return cls(column.name, newest, age, cycles, found.day_first, flagged, certain, Seen.of(days))

    def transform(self, table: Table) -> tuple[AnyArray, NewCells]:
        column = table.column(self.name, "text")
        found = read_dates(column.levels, self.day_first)
        days = _spread(column, found)
        features = [self.age.apply(self.newest - days)] if self.age else []
        for cycle in self.cycles:
            angle = 2 * np.pi * (days % CYCLES[cycle]) / CYCLES[cycle]
            features += [np.nan_to_num(np.cos(angle)), np.nan_to_num(np.sin(angle))]
        strange = [text for text, day in zip(column.levels, found.days, strict=True) if np.isnan(day)]
        X = np.column_stack(features) if features else np.empty((len(days), 0))
        counts = NewCells.of_texts(column.data, column.levels, strange)
        if self.seen is not None and found.has_date:
            counts = replace(counts, n_far=_count_far(days, self.seen), lowest=np.nanmin(days, initial=np.inf))
        return append_filled(X, np.isnan(days), self.flagged), replace(counts, remarks=self._doubts(found))

    def _doubts(self, found: Moments) -> tuple[str, ...]:
        """A warning if the order of day and month is a guess, or another one than at the fit."""
        order = {True: "day/month", False: "month/day"}
        if found.doubtful and not self.is_order_certain:
            assert found.day_first is not None
            said = f"Dates such as {found.doubtful!r} in column {self.name!r} do not show whether the day or the month"
            return (
                Caution(f"{said} comes first; they are read as {order[found.day_first]}. Write them as 2024-01-31."),
            )
        if found.day_first is not None and self.day_first not in (None, found.day_first):
            said = f"Dates in column {self.name!r} are {order[found.day_first]} here and were read as"
            return (Caution(f"{said} {order[self.day_first]} at the fit."),)
        return ()


def _count_far(days: AnyArray, seen: Seen) -> int:
    """Number of dates that are farther from those of the fit than they are from each other, and than a year."""
    margin = max(seen.high - seen.low, 366.0)
    return int(np.sum((days < seen.low - margin) | (days > seen.high + margin)))


def _spread(column: Column, found: Moments) -> AnyArray:
    """Values of the levels, expanded to rows."""
    return np.append(found.days, np.nan)[column.data]


def _is_seen(cycle: str, days: AnyArray, has_date: bool) -> bool:
    """Whether a cycle carries information: dates without times have no hour; within a year, the month is the age."""
    present = days[~np.isnan(days)]
    if cycle == "hour":
        return len(np.unique(present % 1)) > 1
    if not has_date or np.ptp(present) < LONG_ENOUGH[cycle]:
        return False
    return cycle == "month" or len(np.unique(present // 1 % 7)) > 1


@dataclass(frozen=True, eq=False)
class TextColumn:
    """TF-IDF of the words, projected on the principal directions of the texts of all rows."""

    name: str
    words: tuple[str, ...]
    idf: AnyArray
    components: AnyArray
    center: AnyArray
    size: float
    seen: Seen | None = None

    @property
    def feature_names(self) -> list[str]:
        return [f"{self.name} topic {k + 1}" for k in range(len(self.components))]

    @property
    def fate(self) -> str:
        return f"text: {len(self.words)} words in {len(self.components)} topics"

    @classmethod
    def fit(cls, column: Column, scaling: str) -> TextColumn:
        """Features of the topics. All are divided by one scale, so that the first has variance 1."""
        texts = _texts(column)
        chosen = np.random.default_rng(0).permutation(len(texts))[:MOST_TEXTS]
        learner = TfidfVectorizer(max_features=MOST_WORDS, min_df=min(2, len(texts)), max_df=0.9, **TFIDF)
        try:
            weights = learner.fit_transform([texts[row] for row in np.sort(chosen)])
        except ValueError:
            raise Unusable("free text without a word that occurs in some rows but not in all") from None
        n_topics = min(N_TOPICS, weights.shape[1] - 1)
        if n_topics < 1:
            raise Unusable("free text with a single repeated word")
        components = TruncatedSVD(n_topics, random_state=0).fit(weights).components_
        scores = weights @ components.T
        size = float(scores.std(axis=0).max()) or 1.0
        words = tuple(learner.get_feature_names_out().tolist())
        return cls(column.name, words, learner.idf_, components, scores.mean(axis=0), size, _seen(column))

    def transform(self, table: Table) -> tuple[AnyArray, NewCells]:
        reader = TfidfVectorizer(vocabulary=list(self.words), **TFIDF)
        reader.idf_ = self.idf
        column = table.column(self.name, "text")
        if not table.n_rows:  # which TfidfTransformer refuses
            return np.empty((0, len(self.components))), NewCells.of_texts(column.data, column.levels)
        weights = reader.transform(_texts(column))
        features = (weights @ self.components.T - self.center) / self.size
        return features, NewCells.of_texts(column.data, column.levels)


def _texts(column: Column) -> list[str]:
    return [text or "" for text in column.values]


KINDS: dict[str, type[UsedColumn]] = {
    "number": NumberColumn,
    "flag": FlagColumn,
    "category": CategoryColumn,
    "codes": CodesColumn,
    "date": DateColumn,
    "text": TextColumn,
}
READ_AS: dict[str, Kind | None] = {"number": "number", "flag": None}  # all others read text
TYPES = (*KINDS.values(), Scale, Seen)


def kind_of(column: UsedColumn) -> str:
    """The name of a column's kind."""
    return next(name for name, kind in KINDS.items() if isinstance(column, kind))
