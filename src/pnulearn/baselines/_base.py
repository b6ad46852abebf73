"""Base class of the baselines: labels, class priors, kernels, the grid of candidates, validation and search."""

from __future__ import annotations

import sys
import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import product
from time import perf_counter
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.model_selection import check_cv
from sklearn.utils import check_consistent_length

from pnulearn._arrays import AnyArray
from pnulearn._estimators.base import PartiallyLabeledClassifier
from pnulearn._kernels.basis import dense
from pnulearn._kernels.centers import MEDIAN_ROWS
from pnulearn._kernels.registry import KERNELS
from pnulearn._learning.selection import TIED_DIGITS, SearchTable, Tally, membership
from pnulearn._machine import check_n_jobs, free_memory, keep_freed_memory, map_in_threads, one_blas_thread
from pnulearn._numbers import read_numbers
from pnulearn._parameters import parameters
from pnulearn._problem.alignment import refuse_misaligned
from pnulearn._problem.folds import assign_folds, read_pairs
from pnulearn._problem.inputs import read_features, read_random_state
from pnulearn._problem.labels import UNLABELED, decode_labels
from pnulearn._problem.row_keys import row_keys
from pnulearn._problem.samples import Samples
from pnulearn.priors._resolve import resolve_prior

# The candidates of a search.

LARGEST, SMALLEST = 1e30, 1e-30  # beyond these limits linear systems overflow or become singular
STRENGTHS = tuple(10.0**power for power in range(-5, 3))  # the paper's grid for every regularisation weight

Candidate = dict[str, Any]
Axes = Mapping[str, Sequence[Any]]  # the values of every hyper-parameter, bandwidth first


def combine(axes: Axes) -> list[Candidate]:
    """All combinations, ordered by bandwidth, so that candidates with the same kernel matrix are adjacent."""
    return [dict(zip(axes, choice, strict=True)) for choice in product(*axes.values())]


def candidates(
    name: str, value: Any, default: Sequence[float] | Callable[[], ArrayLike] = STRENGTHS, *, zero: bool = False
) -> list[float]:
    """The values to try: `default` for None, else the user's number or numbers, checked.

    >>> candidates("alpha", 0.1), candidates("alpha", [1, 2])
    ([0.1], [1.0, 2.0])
    """
    if value is None:
        return np.asarray(default() if callable(default) else default, dtype=float).tolist()
    return read_numbers(name, value, SMALLEST, LARGEST, zero=zero).tolist()


@dataclass(frozen=True)
class BaselineProblem:
    """The rows of a problem, the population share of every class, and the seed of all random choices."""

    samples: Samples
    shares: AnyArray
    seed: int


@dataclass(frozen=True)
class BaselineTraining:
    """Rows, their kernel matrix (or features), class codes and population shares."""

    X: Any
    gram: AnyArray
    codes: AnyArray
    shares: AnyArray
    seed: int = 0

    @property
    def labeled(self) -> AnyArray:
        """Numbers of the labelled rows."""
        return np.flatnonzero(self.codes != UNLABELED)

    @property
    def unlabeled(self) -> AnyArray:
        """Numbers of the unlabelled rows."""
        return np.flatnonzero(self.codes == UNLABELED)

    @property
    def signs(self) -> AnyArray:
        """+1, −1 or 0 (unlabelled) for every row of a two-class problem."""
        return np.array([-1.0, 1.0, 0.0])[self.codes]

    @property
    def outputs(self) -> list[tuple[AnyArray, float]]:
        """Signs of the labelled rows and the population share of +1: once for two classes, else each class against
        the rest."""
        codes = self.codes[self.labeled]
        positives = [1] if len(self.shares) == 2 else range(len(self.shares))
        return [(np.where(codes == k, 1.0, -1.0), float(self.shares[k])) for k in positives]

    @property
    def balance(self) -> AnyArray:
        """θ_y / n_y for every labelled row. It sums to one and is 1/l if the prior is the class share of the labels."""
        codes = self.codes[self.labeled]
        return (self.shares / np.bincount(codes, minlength=len(self.shares)))[codes]


# Expected cost of a long fit, reported before it starts.

LONG = 60.0  # seconds of one fit above which there is a warning
SMALL = 1e11  # operations below which the speed of the machine is not measured
PROBE = 400  # rows of the matrix product that measures the speed
MATRICES = 5  # of size n × n in memory at the same time


@dataclass(frozen=True)
class Cost:
    """Expected seconds and bytes of one fit.

    >>> print(Cost(seconds=90, bytes=8e8))
    1.5 min and 0.8 GB
    """

    seconds: float
    bytes: float

    def __str__(self) -> str:
        units = (("s", 1, 90), ("min", 60, 5400), ("h", 3600, np.inf))
        name, length, _ = next(unit for unit in units if self.seconds < unit[2])
        return f"{self.seconds / length:.2g} {name} and {self.bytes / 1e9:.1g} GB"


def flops_per_second() -> float:
    """Speed of a matrix product on one core: the fastest of three runs."""
    A = np.full((PROBE, PROBE), 0.5)
    times = []
    with one_blas_thread():
        for _ in range(3):
            start = perf_counter()
            A @ A
            times.append(perf_counter() - start)
    return 2 * PROBE**3 / min(times)


def announce(
    flops: float, n_rows: int, n_candidates: int, *, advice: str, say: Callable[[str], None] | None = None
) -> None:
    """Report the expected cost of one fit on all rows: through `say` if given, and as a warning if it takes long.

    Without `say`, nothing is measured if the fit has so few operations that it takes less than a minute anywhere.
    """
    if say is None and flops < SMALL:
        return
    cost = Cost(flops / flops_per_second(), MATRICES * n_rows**2 * 8)
    message = f"One fit on {n_rows} rows will take about {cost}."
    if n_candidates > 1:
        message += f" The search fits {n_candidates} candidates on every split before that."
    if say is not None:
        say(message)
    if cost.seconds > LONG:
        warnings.warn(f"{message} {advice}", UserWarning, stacklevel=4)


# Kernel matrices and bandwidth candidates.


def gram(kernel: str, X: Any, centers: Any, bandwidth: float | None) -> AnyArray:
    """k(x, c) for every row and centre.

    >>> gram("rbf", np.array([[0.0], [1.0]]), np.array([[0.0]]), 1.0).round(3).tolist()
    [[1.0], [0.607]]
    """
    if X.shape[0] == 0:
        return np.empty((0, centers.shape[0]))
    return KERNELS[kernel].gram(X, centers, np.nan if bandwidth is None else bandwidth)


def bandwidth_candidates(kernel: str, X: Any, seed: int = 0) -> AnyArray:
    """The bandwidth grid of the kernel, from a random sample of the rows if there are many."""
    if X.shape[0] > MEDIAN_ROWS:
        X = X[np.argsort(row_keys(X, seed), kind="stable")[:MEDIAN_ROWS]]
    return KERNELS[kernel].grid(dense(X))


def refuse_beyond_memory(n_rows: int) -> None:
    """Raise a ValueError if the four n × n matrices of a kernel method do not fit in memory."""
    needed = 4 * n_rows**2 * 8
    free = free_memory()
    if needed > free:
        raise ValueError(
            f"{n_rows} rows need about {needed / 1e9:.0f} GB for kernel matrices and "
            f"{free / 1e9:.1f} GB are free. Use a random sample of the unlabelled rows."
        )


# Validation by folds or by a held-out set, with the pooled PNU zero-one risk (section E.1).


@dataclass(frozen=True)
class Split:
    """Numbers of the training rows, and the test rows with their codes."""

    train: AnyArray
    X_test: Any
    codes_test: AnyArray


def split_folds(X: Any, codes: AnyArray, cv: Any, seed: int) -> list[Split]:
    """Splits for a number of folds, a scikit-learn splitter, or an iterable of (train, test)."""
    return [Split(train, X[test], codes[test]) for train, test in _with_every_class(codes, _pairs(X, codes, cv, seed))]


def _pairs(X: Any, codes: AnyArray, cv: Any, seed: int) -> Iterator[tuple[AnyArray, AnyArray]]:
    if isinstance(cv, (int, np.integer)):
        fold = assign_folds(codes, int(cv), row_keys(X, seed))
        return ((np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(int(cv)))
    return iter(read_pairs(check_cv(cv, codes, classifier=True).split(X, codes), len(codes)))


def _with_every_class(
    codes: AnyArray, pairs: Iterator[tuple[AnyArray, AnyArray]]
) -> Iterator[tuple[AnyArray, AnyArray]]:
    """Keep the rows of a class in the training set if all of them would be held out."""
    classes = np.unique(codes[codes != UNLABELED])
    for train, test in pairs:
        stay = np.isin(codes[test], np.setdiff1d(classes, codes[train]))
        yield np.concatenate([train, test[stay]]), test[~stay]


def pooled_risks(scores: Sequence[AnyArray], codes: AnyArray, shares: AnyArray) -> tuple[AnyArray, AnyArray]:
    """The pooled zero-one and squared PNU risks of every candidate.

    For the squared risk, scores are clipped at ±1, so that it does not depend on the scale of large scores.
    """
    outputs = [np.atleast_2d(s.T) for s in scores]
    cut = np.clip(np.stack(outputs, axis=1)[:, :, None, :], -1, 1)
    population = np.flatnonzero(codes == UNLABELED)
    tally = Tally.of(cut, membership(codes, np.ones(len(codes)), len(shares), population))
    return tally.zero_one(shares)[:, 0], tally.squared(shares)[:, 0]


def tabulate(axes: Axes, zero_one: AnyArray, squared: AnyArray) -> SearchTable:
    """Give all weight to the candidate with the least zero-one risk; ties are broken by the squared risk.

    Ties are common with few labels.
    """
    shape = tuple(map(len, axes.values()))
    weight = np.zeros(len(zero_one))
    weight[np.lexsort((squared.round(TIED_DIGITS), zero_one.round(TIED_DIGITS)))[0]] = 1.0
    values = {name: np.array(axis, dtype=float) for name, axis in axes.items()}  # None becomes NaN
    return SearchTable(values, zero_one.reshape(shape), squared.reshape(shape), weight.reshape(shape))


WORTH_MANY_THREADS = 2000  # rows; with fewer, several BLAS threads are slower than one

Parts = Mapping[str, Any]


@parameters
class Baseline(PartiallyLabeledClassifier):
    """Base class of semi-supervised kernel classifiers, with one hyper-parameter search for all.

    A subclass lists its candidates in `_grid` and fits all candidates of one bandwidth in `_learn`, so that they can
    share computations. `_learn` yields named parts, which are stored as attributes with a trailing underscore.
    `_respond` computes scores from these parts and a kernel matrix. A hyper-parameter is a number (fixed), a sequence
    (candidates) or None (the paper's candidates). `prior`, `prior_`, `prior_interval_` and `search_` are the same as in
    `PNUClassifier`.

    Parameters
    ----------
    bandwidth : float, array or None
        σ of the Gaussian kernel, or candidates; None searches multiples of the median distance.
    prior : object
        π, the share of positives in the population, as in `PNUClassifier`.
    cv : int, splitter or pairs
        Number of folds, a scikit-learn splitter, or pairs of row numbers.
    unlabeled : object, optional
        The value in y that marks unlabelled rows; missing values always do.
    pos_label : object, optional
        The positive class, by default the greater label.
    random_state : int, RandomState or None
        Seed; an int makes the result repeatable.
    n_jobs : int or None
        Number of threads; the result does not depend on it. With a few hundred rows, one thread is fastest.
    verbose : int
        1 reports progress.
    """

    _parts: ClassVar[tuple[str, ...]] = ("dual_coef", "intercept")
    _without_unlabeled: ClassVar[str]  # what the method reduces to without unlabelled rows
    _multi_class: ClassVar[bool] = True
    _cheaper: ClassVar[str] = ""  # advice if a fit takes long

    kernel = "rbf"  # a parameter in subclasses that support other kernels

    bandwidth: Any = None
    prior: Any = None
    cv: Any = 5
    unlabeled: Any = None
    pos_label: Any = None
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int = 0

    @abstractmethod
    def _grid(self) -> dict[str, Sequence[float]]:
        """Candidate values of every hyper-parameter but the bandwidth, see `candidates`."""

    @abstractmethod
    def _learn(self, training: BaselineTraining, grid: Sequence[Candidate]) -> Iterator[Parts]:
        """Yield the fitted parts of every candidate, in the order of `grid`; may overwrite `training.gram`."""

    def _respond(self, gram: AnyArray, parts: Parts) -> AnyArray:
        """Scores from k(x, centres): shape (n,) for two classes, (n, n_classes) for more."""
        return gram @ parts["dual_coef"] + parts["intercept"]

    def _work(self, n_rows: int) -> float:
        """Number of operations of one fit; 0 for fast methods, whose cost is not announced."""
        return 0.0

    @property
    def _needs_gram(self) -> bool:
        """Whether the method needs n × n matrices."""
        return True

    def _features(self, X: Any, centers: Any, bandwidth: float | None) -> AnyArray:
        return gram(self.kernel, X, centers, bandwidth)

    def fit(
        self, X: Any, y: ArrayLike, *, X_val: Any = None, y_val: ArrayLike | None = None, **unknown: Any
    ) -> Baseline:
        """Fit to labelled and unlabelled rows; hyper-parameters that are not fixed are searched.

        Candidates are evaluated by the PNU zero-one risk on (X_val, y_val) if given, else pooled over `cv` folds.
        `sample_weight` is not supported: with a kernel around every row, weight two is not equivalent to two copies.

        Parameters
        ----------
        X : array, sparse matrix or data frame (rows, columns)
            Features.
        y : array (rows,)
            Labels; missing values and `unlabeled` mark unlabelled rows.
        X_val : like X, optional
            Validation set, used instead of cross-validation.
        y_val : like y, optional
            Labels of the validation set, any of which may be missing.
        **unknown : object
            Any other argument raises a TypeError.
        """
        refuse_misaligned(X=X, y=y)
        _refuse_arguments(type(self).__name__, unknown)
        if (X_val is None) != (y_val is None):
            raise ValueError("Pass both X_val and y_val, or neither for cross-validation.")
        samples = self._read_problem(X, y)
        self._refuse_impossible(samples)
        keep_freed_memory()
        problem = self._learn_prior(samples)
        axes = self._axes(samples.X, problem.seed)
        grid = combine(axes)
        self._announce(len(samples.codes), len(grid))
        risks = self._validate(grid, problem, X_val, y_val) if len(grid) > 1 else (np.array([np.nan]),) * 2
        self.search_ = tabulate(axes, *risks)
        best = grid[int(np.argmax(self.search_.weight))]
        self.centers_ = samples.X
        for name, value in {**best, **self._learn_finally(problem, best)}.items():
            setattr(self, f"{name}_", value)
        return self

    def _learn_prior(self, samples: Samples) -> BaselineProblem:
        """Resolve the prior and set prior_ and prior_interval_."""
        seed = int(read_random_state(self.random_state).randint(2**31 - 1))
        prior = resolve_prior(
            self.prior, samples.X, samples.codes, samples.weight, classes=self.classes_, random_state=seed
        )
        self.prior_, self.prior_interval_ = prior.value, prior.interval
        return BaselineProblem(samples, prior.shares, seed)

    def _learn_finally(self, problem: BaselineProblem, best: Candidate) -> Parts:
        """Fit the best candidate to all rows and return its parts."""
        n_rows = len(problem.samples.codes)
        self._say(f"final fit on {n_rows} rows begins")
        start = perf_counter()
        with one_blas_thread() if n_rows < WORTH_MANY_THREADS else nullcontext():
            training = self._training(problem, problem.samples, best["bandwidth"])
            parts = next(iter(self._learn(training, [best])))
        self._say(f"final fit done, {perf_counter() - start:.2f} s")
        return parts

    def _scores(self, X: Any) -> AnyArray:
        parts = {name: getattr(self, f"{name}_") for name in self._parts}
        return self._respond(self._features(X, self.centers_, self.bandwidth_), parts)

    def _refuse_impossible(self, samples: Samples) -> None:
        name = type(self).__name__
        check_n_jobs(self.n_jobs)
        if not isinstance(self.kernel, str) or self.kernel not in KERNELS:
            raise ValueError(f"kernel must be one of {', '.join(map(repr, KERNELS))}, got {self.kernel!r}.")
        if samples.n_classes > 2 and not self._multi_class:
            raise ValueError(
                f"Only binary classification is supported by {name}; y has {samples.n_classes} classes: "
                f"{self.classes_.tolist()}. Use SMIRClassifier or PNUClassifier for more classes."
            )
        for label, count in zip(self.classes_.tolist(), samples.counts, strict=True):
            if count == 0:
                raise ValueError(
                    f"{name} needs labelled rows of every class, and y has only one class: there are no rows of "
                    f"{label!r}. PNUClassifier can be fitted to one labelled class and unlabelled rows."
                )
        if not (samples.codes == UNLABELED).any():
            warnings.warn(
                f"There are no unlabelled rows, so {name} is {self._without_unlabeled}. If a value in y marks "
                "unlabelled rows, pass it as unlabeled=...",
                UserWarning,
                stacklevel=3,
            )
        if self._needs_gram:
            refuse_beyond_memory(samples.X.shape[0])

    def _axes(self, X: Any, seed: int) -> Axes:
        bandwidths: Sequence[float | None] = [None]
        if KERNELS[self.kernel].has_bandwidth:
            bandwidths = candidates("bandwidth", self.bandwidth, lambda: bandwidth_candidates(self.kernel, X, seed))
        return {"bandwidth": bandwidths, **self._grid()}

    def _announce(self, n_rows: int, n_candidates: int) -> None:
        flops = self._work(n_rows)
        if flops:
            announce(flops, n_rows, n_candidates, advice=self._cheaper, say=self._say if self.verbose else None)

    def _training(self, problem: BaselineProblem, samples: Samples, bandwidth: float | None) -> BaselineTraining:
        features = self._features(samples.X, samples.X, bandwidth)
        return BaselineTraining(samples.X, features, samples.codes, problem.shares, problem.seed)

    def _validate(
        self, grid: Sequence[Candidate], problem: BaselineProblem, X_val: Any, y_val: Any
    ) -> tuple[AnyArray, AnyArray]:
        """Pooled risks of all candidates; one job per bandwidth and split."""
        splits = self._splits(problem, X_val, y_val)
        bandwidths = dict.fromkeys(candidate["bandwidth"] for candidate in grid)
        paths = [[c for c in grid if c["bandwidth"] == bandwidth] for bandwidth in bandwidths]
        jobs = [(problem, path, split) for path in paths for split in splits]
        numbered = [(*job, f"{k + 1}/{len(jobs)}") for k, job in enumerate(jobs)]
        scores = map_in_threads(self._path_scores, numbered, self.n_jobs)
        pooled = [
            np.concatenate(parts)
            for start in range(0, len(jobs), len(splits))
            for parts in zip(*scores[start : start + len(splits)], strict=True)
        ]
        return pooled_risks(pooled, np.concatenate([split.codes_test for split in splits]), problem.shares)

    def _splits(self, problem: BaselineProblem, X_val: Any, y_val: Any) -> list[Split]:
        samples = problem.samples
        if X_val is None:
            splits = split_folds(samples.X, samples.codes, self.cv, problem.seed)
        else:
            refuse_misaligned(X_val=X_val, y_val=y_val)
            X_val = read_features(self, X_val, reset=False)
            codes = decode_labels(y_val, self.unlabeled, classes=self.classes_).codes
            check_consistent_length(X_val, codes)
            splits = [Split(np.arange(len(samples.codes)), X_val, codes)]
        if not any((split.codes_test != UNLABELED).any() for split in splits):
            raise ValueError(
                "There are no labelled rows for validation, so hyper-parameters cannot be chosen. Pass X_val and y_val "
                "with labels, or fix every hyper-parameter."
            )
        return splits

    def _path_scores(
        self, problem: BaselineProblem, path: Sequence[Candidate], split: Split, job: str
    ) -> list[AnyArray]:
        """Scores on the split's test rows for all candidates of one bandwidth."""
        start = perf_counter()
        samples, bandwidth = problem.samples.take(split.train), path[0]["bandwidth"]
        training = self._training(problem, samples, bandwidth)
        test = self._features(split.X_test, samples.X, bandwidth)
        scores = [self._respond(test, parts) for parts in self._learn(training, path)]
        self._say(f"search {job}: {len(path)} candidates on {len(samples.codes)} rows, {perf_counter() - start:.2f} s")
        return scores

    def _say(self, message: str) -> None:
        if self.verbose:
            print(f"pnulearn: {type(self).__name__}, {message}", file=sys.stderr, flush=True)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self._multi_class
        return tags


def _refuse_arguments(name: str, unknown: Mapping[str, Any]) -> None:
    """Raise a TypeError for any argument, with an explanation for `sample_weight`.

    `sample_weight` is not in the signature of `fit`, because scikit-learn would then assume that it is supported.
    """
    if unknown.get("sample_weight") is not None:
        raise TypeError(
            f"{name}.fit takes no sample_weight: it has a kernel around every row, so weight two would not be "
            "equivalent to two copies of a row. PNUClassifier supports weights."
        )
    for argument in unknown.keys() - {"sample_weight"}:
        raise TypeError(f"{name}.fit() got an unexpected keyword argument {argument!r}.")


def stack_outputs(outputs: Sequence[Parts]) -> Parts:
    """Stack the parts of several outputs along a new last axis; a single output is returned unchanged."""
    if len(outputs) == 1:
        return outputs[0]
    return {name: np.stack([parts[name] for parts in outputs], axis=-1) for name in outputs[0]}
