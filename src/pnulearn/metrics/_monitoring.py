"""Watching a model over windows of time: class prior, error, precision and recall, columns that moved, and alarms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln, logsumexp
from scipy.stats import chi2_contingency

from pnulearn._arrays import AnyArray, FloatArray
from pnulearn._numbers import read_count
from pnulearn._problem.labels import UNLABELED, Labels, decode_labels, is_missing, refuse_more_than_two
from pnulearn.metrics._estimate import Estimate
from pnulearn.metrics._judge import judge_quality
from pnulearn.metrics._share import ShareEstimate, ShareSampling, pnu_share
from pnulearn.metrics._strata import read_helpers
from pnulearn.priors._resolve import read_share

ODDS = (1.25, 1.5, 2.0, 3.0, 5.0)  # ratios of odds after and before a change, among which the evidence is divided
QUANTITIES = {"error": ODDS, "prior": (*ODDS, *(1 / odds for odds in ODDS))}
QUANTITIES["predicted"] = QUANTITIES["prior"]
WORDS = {
    "error": "the error rate",
    "prior": "the share of positives",
    "predicted": "the share of rows that the model predicts positive",
}
MOST_EVIDENCE = 1e12
N_BINS = 10  # of a numeric column
MOST_LEVELS, LEAST_ROWS = 20, 5  # categories of a column that are kept apart, and rows that each needs
OTHER, MISSING = "other", "missing"
LEAST_SIZE = 0.1  # smaller changes of a column are not reported


@dataclass(frozen=True)
class ChangeDetector:
    """Evidence that a share has changed, window by window.

    Parameters
    ----------
    positive : float
        Sum of k over the windows so far.
    size : float
        Sum of n over the windows so far.
    evidence : tuple of float
        For every ratio of odds, the evidence for a change by it in any of the windows so far.
    step : int
        Windows of this year so far.
    seen : tuple of str
        Windows that were counted.
    raised : str, optional
        The window that raised the alarm.
    """

    positive: float = 0.0
    size: float = 0.0
    evidence: tuple[float, ...] = ()
    step: int = 0
    seen: tuple[str, ...] = ()
    raised: str | None = None

    def add(
        self, window: str, share: float, n: float, odds: Sequence[float], rules: AlarmRules
    ) -> tuple[ChangeDetector, float]:
        """The detector after a window with this share of n rows or labels, and its evidence: an e-value."""
        center = float(np.clip((self.positive + share * n) / (self.size + n), 1e-6, 1 - 1e-6))
        n = max(round(1 / (1 / n + rules.tolerance**2 / (center * (1 - center)))), 1)
        k = round(share * n)
        known = replace(self, positive=self.positive + k, size=self.size + n, seen=(*self.seen, window))
        if not self.size:  # the first window is what later ones are compared with
            return known, 1.0
        step = 1 if self.step >= rules.horizon else self.step + 1
        before = np.zeros(len(odds)) if step == 1 else np.array(self.evidence)
        factors = likelihood_ratios(k, n, round(self.positive), round(self.size), odds)
        evidence = np.minimum((before + 1 / rules.horizon) * factors, MOST_EVIDENCE)
        total = float(evidence.mean()) + (rules.horizon - step) / rules.horizon
        raised = self.raised or (window if total >= rules.threshold else None)
        return replace(known, evidence=tuple(evidence.tolist()), step=step, raised=raised), total


def likelihood_ratios(k: int, n: int, known: int, size: int, odds: Sequence[float]) -> FloatArray:
    """Likelihood ratios of k of n rows against `known` of `size` earlier ones, given the sum k + known.

    ψᵏ / E[ψᴶ] with J from the hypergeometric distribution: Fisher's noncentral one with odds ratio ψ over the central
    one. Without a change its mean is 1, whatever the share.

    >>> from scipy.stats import nchypergeom_fisher
    >>> one = nchypergeom_fisher.pmf(3, 30, 6, 10, 2.0) / nchypergeom_fisher.pmf(3, 30, 6, 10, 1.0)
    >>> bool(np.isclose(likelihood_ratios(3, 10, 3, 20, [2.0])[0], one))
    True
    """
    total = k + known
    j = np.arange(max(0, total - size), min(n, total) + 1)
    ways = -gammaln(j + 1) - gammaln(n - j + 1) - gammaln(total - j + 1) - gammaln(size - total + j + 1)
    changed = logsumexp(ways + np.log(odds)[:, None] * (j - k), axis=1)
    return np.asarray(np.exp(logsumexp(ways) - changed))


@dataclass(frozen=True)
class AlarmRules:
    """When alarms are raised.

    Parameters
    ----------
    false_alarms : float
        Largest probability of any false alarm in `horizon` windows.
    horizon : int
        Windows per year.
    tolerance : float
        Standard deviation between windows that is normal and no reason for an alarm.
    """

    false_alarms: float = 0.05
    horizon: int = 52
    tolerance: float = 0.01

    @property
    def threshold(self) -> float:
        """Evidence that raises an alarm."""
        return len(QUANTITIES) / self.false_alarms


@dataclass(frozen=True)
class MonitorState:
    """All that is kept between two calls of `monitor`; `as_dict` and `from_dict` for JSON.

    Parameters
    ----------
    rules : AlarmRules
        When alarms are raised.
    detectors : mapping
        Evidence for a change of each quantity.
    columns : mapping
        The distribution of every column in the first window.
    """

    rules: AlarmRules
    detectors: Mapping[str, ChangeDetector]
    columns: Mapping[str, ColumnShares]

    @classmethod
    def start(cls, rules: AlarmRules) -> MonitorState:
        """The state before the first window.

        Parameters
        ----------
        rules : AlarmRules
            When to raise an alarm.
        """
        return cls(rules, {name: ChangeDetector() for name in QUANTITIES}, {})

    @property
    def alarms(self) -> dict[str, str]:
        """The quantities that raised an alarm, and the window in which they did."""
        return {name: one.raised for name, one in self.detectors.items() if one.raised is not None}

    def as_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> MonitorState:
        """The state from plain values; raises a ValueError if they are not one.

        Parameters
        ----------
        values : mapping
            What `as_dict` returned.
        """
        try:
            found = cls(
                AlarmRules(**values["rules"]),
                {name: _read_detector(values["detectors"][name], len(odds)) for name, odds in QUANTITIES.items()},
                {str(name): ColumnShares(**one) for name, one in values["columns"].items()},
            )
            for shares in found.columns.values():
                shares.check()
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"This is not the state of a monitor ({type(error).__name__}: {error}).") from None
        return found


def _read_detector(values: Mapping[str, Any], n_odds: int) -> ChangeDetector:
    found = ChangeDetector(**{**values, "evidence": tuple(values["evidence"]), "seen": tuple(values["seen"])})
    numbers = np.array([found.positive, found.size, found.step, *found.evidence], dtype=float)
    if not np.isfinite(numbers).all() or (numbers < 0).any() or len(found.evidence) not in (0, n_odds):
        raise TypeError("its numbers are damaged")
    if found.positive > found.size or not all(isinstance(name, str) for name in found.seen):
        raise TypeError("its numbers are damaged")
    return found


@dataclass(frozen=True)
class ColumnShares:
    """Counts of a column's bins in the first window: ranges between `edges` of a number, or `levels` of a category."""

    counts: list[float]
    edges: list[float] | None = None
    levels: list[str] | None = None

    @classmethod
    def of(cls, column: AnyArray) -> ColumnShares:
        if column.dtype.kind in "biuf":
            values = column.astype(float)
            known = values[~np.isnan(values)]
            edges = np.unique(np.quantile(known, np.arange(1, N_BINS) / N_BINS)).tolist() if len(known) else []
            return cls(_count_numbers(values, edges).tolist(), edges=edges)
        names, counts = np.unique(_texts(column), return_counts=True)
        often = [(-count, name) for name, count in zip(names.tolist(), counts.tolist(), strict=True)]
        levels = [name for count, name in sorted(often)[:MOST_LEVELS] if -count >= LEAST_ROWS and name != MISSING]
        return cls(_count_levels(column, levels).tolist(), levels=levels)

    def check(self) -> None:
        bins = (self.edges if self.edges is not None else self.levels) or []
        if len(self.counts) != len(bins) + 2 or not np.isfinite(np.array(self.counts, dtype=float)).all():
            raise TypeError("its columns are damaged")

    def compare(self, column: AnyArray) -> tuple[float, float]:
        """Size of the difference, from 0 to 1 (total variation distance of the bins), and its p-value."""
        numeric = column.dtype.kind in "biuf"
        if numeric != (self.edges is not None):
            return 1.0, 0.0  # numbers became words, or the other way round
        new = (
            _count_numbers(column.astype(float), self.edges or [])
            if numeric
            else _count_levels(column, self.levels or [])
        )
        counts = np.array([self.counts, new])
        counts = counts[:, counts.sum(axis=0) > 0]
        share = counts / counts.sum(axis=1, keepdims=True)
        size = float(np.abs(share[0] - share[1]).sum() / 2)
        return size, float(chi2_contingency(counts).pvalue) if counts.shape[1] > 1 else 1.0


def _count_numbers(values: FloatArray, edges: Sequence[float]) -> FloatArray:
    """Rows in the ranges between the edges, and missing ones last."""
    places = np.where(np.isnan(values), len(edges) + 1, np.searchsorted(edges, values, side="right"))
    return np.bincount(places, minlength=len(edges) + 2).astype(float)


def _count_levels(column: AnyArray, levels: Sequence[str]) -> FloatArray:
    """Rows of each level, of all others, and missing ones."""
    place = {name: k for k, name in enumerate([*levels, OTHER, MISSING])}
    places = [place.get(text, len(levels)) if text != OTHER else len(levels) for text in _texts(column).tolist()]
    return np.bincount(places, minlength=len(place)).astype(float)


def _texts(column: AnyArray) -> AnyArray:
    return np.array([MISSING if is_missing(cell) else str(cell) for cell in column.tolist()], dtype=object)


@dataclass(frozen=True)
class MonitoredWindow:
    """One window of time.

    Parameters
    ----------
    name : str
        The window.
    n_rows : int
        Rows.
    n_labels : int
        Labelled rows.
    predicted : float
        Share of rows that the model predicts positive.
    prior : Estimate, optional
        Share of positives; None without labels, like all that follow.
    error : Estimate, optional
        Error rate.
    precision : Estimate, optional
        Share of positives among rows predicted positive; None, too, if no row is.
    recall : Estimate, optional
        Share of positives that are predicted positive.
    moved : mapping
        Columns whose distribution differs from the first window, with the size of the difference (0 to 1).
    evidence : mapping
        Evidence for a change of each quantity, in windows that were counted now.
    """

    name: str
    n_rows: int
    n_labels: int
    predicted: float
    prior: Estimate | None = None
    error: Estimate | None = None
    precision: Estimate | None = None
    recall: Estimate | None = None
    moved: Mapping[str, float] = field(default_factory=dict)
    evidence: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Monitoring:
    """Windows of time, alarms, and the state for the next call; `str()` describes it.

    Parameters
    ----------
    windows : list of MonitoredWindow
        The windows of these rows.
    state : MonitorState
        The state for the next call.
    """

    windows: Sequence[MonitoredWindow]
    state: MonitorState

    @property
    def alarms(self) -> dict[str, str]:
        """The quantities that raised an alarm, and the window in which they did."""
        return self.state.alarms

    def sentence(self) -> str:
        """Whether there is an alarm, in words."""
        rules, raised = self.state.rules, self.alarms
        if raised:
            words = "; ".join(f"{WORDS[name]} has changed (alarm in {window})" for name, window in raised.items())
            return f"Alarm: {words}."
        return (
            f"No alarm. Without a change, an alarm has a probability of at most {100 * rules.false_alarms:g} % a year."
        )

    def __str__(self) -> str:
        lines = [self.sentence()]
        for one in self.windows:
            known = {"error": one.error, "prior": one.prior, "precision": one.precision, "recall": one.recall}
            words = [f"{k} {v.value:.3f} ({v.low:.3f} to {v.high:.3f})" for k, v in known.items() if v is not None]
            moved = (
                [f"moved: {', '.join(f'{name} {size:.2f}' for name, size in one.moved.items())}"] if one.moved else []
            )
            first = f"{one.n_rows} rows, {one.n_labels} labels, predicted positive {one.predicted:.3f}"
            lines.append(f"{one.name}: {'; '.join([first, *words, *moved])}")
        return "\n".join(lines)


def monitor(
    y: ArrayLike,
    y_score: ArrayLike,
    window: ArrayLike,
    *,
    columns: Any = None,
    state: MonitorState | None = None,
    threshold: float = 0.0,
    sampling: ShareSampling = "random",
    false_alarms: float = 0.05,
    horizon: int = 52,
    tolerance: float = 0.01,
    confidence: float = 0.95,
    unlabeled: Any = None,
    pos_label: Any = None,
) -> Monitoring:
    """Watch a model over windows of time, from all rows and few labels: what each window is like, and an alarm.

    Parameters
    ----------
    y : array (rows,)
        Labels. Missing values and the value `unlabeled` mark unlabelled rows; a window may have no label at all.
    y_score : array (rows,)
        Scores of the model; above `threshold` it predicts the positive class, at it and below the negative one.
    window : array (rows,)
        Window of every row: "2025-01", a number, a date. They are taken in sorted order.
    columns : data frame or mapping, optional
        Columns whose distribution is compared with the first window.
    state : MonitorState, optional
        What the call for earlier windows returned. Windows that were counted are not counted again; labels that arrive
        later than the rows of their window are.
    threshold : float
        Scores above this mean positive.
    sampling : "random" or "by_helper"
        How the labelled rows of a window were chosen: at random, or by the model's prediction.
    false_alarms : float
        Probability of any false alarm within `horizon` windows, at most.
    horizon : int
        Windows per year, or in whatever time `false_alarms` refers to.
    tolerance : float
        Standard deviation of shares between windows that is normal. Without it any tiny change would raise an alarm
        once windows have many rows.
    confidence : float
        Confidence level of the intervals of each window.
    unlabeled : object, optional
        Value in y that marks unlabelled rows, in addition to missing values.
    pos_label : object, optional
        The positive class. Default: the larger label.

    Returns
    -------
    Monitoring
        Windows, alarms, and the state for the next call.

    Notes
    -----
    Three shares are watched: errors (an alarm only if they become more frequent), positives, and rows predicted
    positive, which needs no labels. The window's share counts as k of n rows, where n is the number of random labels
    that the estimate is worth. Given the sum of this and all earlier windows, k has a hypergeometric distribution if
    nothing has changed, whatever the share is; so the likelihood ratio against a change of the odds by a factor ψ,
    ψᵏ / E[ψᴶ], is an e-value: its mean is 1. Ratios of successive windows are independent, because the sum is
    sufficient (an online compression model). Their products from any window j on are averaged over five to ten values
    of ψ and over all `horizon` windows j. This average is a nonnegative martingale with mean 1, so by Ville's
    inequality it ever exceeds 3 / false_alarms with probability at most false_alarms / 3, for each of the three shares.
    After `horizon` windows a new year begins. Measured rates and delays are in results/monitoring.md.

    Columns are compared with the first window by ten ranges of equal frequency or up to 20 categories. The size is the
    total variation distance, and a column is reported if it is .1 or more and the χ² test, corrected for all columns
    and `horizon` windows, rejects. Moved columns are no alarm: the model may not mind.

    References
    ----------
    Vovk, Gammerman and Shafer (2022), Algorithmic Learning in a Random World, chapters 8 and 11. Ramdas, Grünwald, Vovk
    and Shafer (2023), Game-theoretic statistics and safe anytime-valid inference. Statistical Science 38. Shin, Ramdas
    and Rinaldo (2024), E-detectors. New England Journal of Statistics in Data Science 2.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> month = np.repeat(["2025-01", "2025-02", "2025-03"], 1000)
    >>> truth = rng.random(3000) < np.repeat([0.3, 0.3, 0.5], 1000)
    >>> score = truth - 0.5 + rng.normal(0, 0.4, 3000)
    >>> y = np.where(rng.random(3000) < 0.1, truth, np.nan)
    >>> found = monitor(y, score, month, horizon=12)
    >>> found.alarms
    {'prior': '2025-03', 'predicted': '2025-03'}
    """
    read_share(confidence, "confidence")
    rules = _read_rules(false_alarms, horizon, tolerance)
    if sampling not in ("random", "by_helper"):
        raise ValueError(f"sampling must be 'random' or 'by_helper' here, got {sampling!r}.")
    labels = _read_labels(y, unlabeled, pos_label)
    n_rows = len(labels.codes)
    given = read_helpers({"y_score": y_score, "window": window}, n_rows)
    scores, windows = np.asarray(given["y_score"], dtype=float), given["window"]
    cells = {} if columns is None else _read_columns(columns, n_rows)
    found: list[MonitoredWindow] = []
    state = MonitorState.start(rules) if state is None else replace(state, rules=rules)
    for name in np.unique(windows.astype(str) if windows.dtype.kind == "O" else windows):
        rows = np.flatnonzero(windows == name)
        part = Labels(labels.classes, labels.codes[rows])
        own = {column: values[rows] for column, values in cells.items()}
        one, shares = _describe(str(name), part, scores[rows] > threshold, sampling, confidence)
        state, one = _count(state, one, shares, own)
        found.append(one)
    return Monitoring(found, state)


def _read_labels(y: Any, unlabeled: Any, pos_label: Any) -> Labels:
    """Labels of all rows; without any, the classes do not matter."""
    if not isinstance(y, Labels):
        cells = np.asarray(y).ravel().tolist()
        if all(is_missing(cell) or (unlabeled is not None and cell == unlabeled) for cell in cells):
            return Labels(np.array([0, 1]), np.full(len(cells), UNLABELED))
    labels = decode_labels(y, unlabeled, pos_label)
    refuse_more_than_two(labels.classes)
    return labels


def _read_rules(false_alarms: float, horizon: int, tolerance: float) -> AlarmRules:
    if not 0 <= tolerance < 0.5:
        raise ValueError(f"tolerance must be at least 0 and below 0.5, got {tolerance!r}.")
    return AlarmRules(read_share(false_alarms, "false_alarms"), read_count("horizon", horizon, 2), float(tolerance))


def _read_columns(columns: Any, n_rows: int) -> dict[str, AnyArray]:
    names = columns if isinstance(columns, Mapping) else columns.columns
    found = {str(name): np.asarray(columns[name]) for name in names}
    for name, column in found.items():
        if column.shape != (n_rows,):
            raise ValueError(f"columns[{name!r}] has shape {column.shape}; y has {n_rows} rows.")
    return found


def _describe(
    name: str, labels: Labels, called: AnyArray, sampling: ShareSampling, confidence: float
) -> tuple[MonitoredWindow, dict[str, tuple[float, float]]]:
    """A window without evidence, and its shares with the number of random rows or labels that each is worth."""
    codes, n_labels = labels.codes, int(np.sum(labels.codes != UNLABELED))
    one = MonitoredWindow(name, len(codes), n_labels, float(called.mean()))
    shares = {"predicted": (one.predicted, float(len(codes)))}
    if not n_labels:
        return one, shares
    error, prior = error_and_prior(labels, called, sampling, confidence)
    shares |= {name: (x.value, max(x.worth, 1.0)) for name, x in (("error", error), ("prior", prior))}
    verdict, known = np.where(called, labels.classes[1], labels.classes[0]), cast(Any, labels)
    quality = judge_quality(known, verdict, sampling=sampling, confidence=confidence)
    precision = quality.precision if called.any() else None
    return replace(one, prior=prior, error=error, precision=precision, recall=quality.sensitivity), shares


def error_and_prior(
    labels: Labels, called: AnyArray, sampling: ShareSampling = "random", confidence: float = 0.95
) -> tuple[ShareEstimate, ShareEstimate]:
    """The shares of errors and of positives, with the predictions as second opinion."""
    codes = labels.codes
    wrong = Labels(np.array([0, 1]), np.where(codes == UNLABELED, UNLABELED, codes != called))
    error, prior = (
        pnu_share(cast(Any, y), helper=called, sampling=sampling, confidence=confidence) for y in (wrong, labels)
    )
    return error, prior


def _count(
    state: MonitorState, one: MonitoredWindow, shares: Mapping[str, tuple[float, float]], cells: Mapping[str, AnyArray]
) -> tuple[MonitorState, MonitoredWindow]:
    """The state after a window, and the window with its evidence and the columns that moved."""
    detectors, evidence = dict(state.detectors), {}
    for name, (share, n) in shares.items():
        if one.name not in detectors[name].seen:
            detectors[name], evidence[name] = detectors[name].add(one.name, share, n, QUANTITIES[name], state.rules)
    known = {column: state.columns.get(column) or ColumnShares.of(values) for column, values in cells.items()}
    level = state.rules.false_alarms / (max(len(cells), 1) * state.rules.horizon)
    sizes = {column: known[column].compare(values) for column, values in cells.items()}
    moved = {column: size for column, (size, p) in sizes.items() if size >= LEAST_SIZE and p < level}
    ordered = dict(sorted(moved.items(), key=lambda item: -item[1]))
    state = replace(state, detectors=detectors, columns={**state.columns, **known})
    return state, replace(one, moved=ordered, evidence=evidence)
