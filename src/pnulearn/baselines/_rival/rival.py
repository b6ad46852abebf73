"""What the rivals share: reading the problem, the candidates, and the search among them."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import product
from time import perf_counter
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_consistent_length, check_random_state

from pnulearn._estimators.partially_labeled import PartiallyLabeledClassifier
from pnulearn._machine.threads import map_in_threads, one_blas_thread
from pnulearn._problem.inputs import read_features
from pnulearn._problem.labels import UNLABELED, decode_labels
from pnulearn._problem.samples import Samples
from pnulearn.baselines._rival.kernel import KERNELS, bandwidth_candidates, gram, refuse_beyond_memory
from pnulearn.baselines._rival.shares import class_shares
from pnulearn.baselines._rival.validation import Split, best_of, fold_splits, judged

STRENGTHS = tuple(10.0**power for power in range(-5, 3))  # the paper's grid for every regularisation weight

WORTH_MANY_THREADS = 2000  # rows; below, several BLAS threads get in each other's way

Candidate = dict[str, Any]
Parts = Mapping[str, Any]


@dataclass(frozen=True)
class Training:
    """What a rival learns from: rows, their kernel matrix (or features), class codes and population shares."""

    X: Any
    gram: NDArray
    codes: NDArray
    shares: NDArray
    seed: int = 0

    @property
    def labeled(self) -> NDArray:
        """Numbers of the labelled rows."""
        return np.flatnonzero(self.codes != UNLABELED)

    @property
    def unlabeled(self) -> NDArray:
        """Numbers of the unlabelled rows."""
        return np.flatnonzero(self.codes == UNLABELED)

    @property
    def signs(self) -> NDArray:
        """+1, −1 or 0 (unlabelled) for every row of a two-class problem."""
        return np.array([-1.0, 1.0, 0.0])[self.codes]

    @property
    def outputs(self) -> list[tuple[NDArray, float]]:
        """Signs of the labelled rows and the population share of +1: once for two classes, else each class against
        the rest."""
        codes = self.codes[self.labeled]
        positives = [1] if len(self.shares) == 2 else range(len(self.shares))
        return [(np.where(codes == k, 1.0, -1.0), float(self.shares[k])) for k in positives]

    @property
    def balance(self) -> NDArray:
        """θ_y / n_y for every labelled row: sums to one, and is 1/l if the prior is the labelled share."""
        codes = self.codes[self.labeled]
        return (self.shares / np.bincount(codes, minlength=len(self.shares)))[codes]


class Rival(PartiallyLabeledClassifier):
    """A semi-supervised kernel classifier whose hyper-parameters are searched like everybody else's.

    A subclass lists its candidates in `_grid` and learns all candidates of one bandwidth in `_learn`, sharing what
    can be shared. What it yields are named parts, kept as attributes with a trailing underscore; `_respond` turns
    them and a kernel matrix into scores. A hyper-parameter is a number (fixed), a sequence (candidates) or None
    (the paper's candidates).
    """

    _parts: ClassVar[tuple[str, ...]] = ("dual_coef", "intercept")
    _without_unlabeled: ClassVar[str]  # what is left of the method then

    prior: Any
    kernel: str
    bandwidth: Any
    cv: Any
    random_state: Any
    n_jobs: int | None
    verbose: int

    @abstractmethod
    def _grid(self) -> dict[str, Sequence[float]]:
        """Candidate values of every hyper-parameter but the bandwidth, see `candidates`."""

    @abstractmethod
    def _learn(self, training: Training, grid: Sequence[Candidate]) -> Iterator[Parts]:
        """The parts learnt for every candidate, in the order of `grid`; may overwrite `training.gram`."""

    def _respond(self, gram: NDArray, parts: Parts) -> NDArray:
        """Scores from k(x, centres): shape (n,) for two classes, (n, n_classes) for more."""
        return gram @ parts["dual_coef"] + parts["intercept"]

    @property
    def _needs_gram(self) -> bool:
        """Whether matrices of n × n numbers are made."""
        return True

    def _features(self, X: Any, centers: Any, bandwidth: float | None) -> NDArray:
        return gram(self.kernel, X, centers, bandwidth)

    def fit(self, X: Any, y: ArrayLike, *, X_val: Any = None, y_val: ArrayLike | None = None) -> Rival:
        """Learn from labelled and unlabelled rows; hyper-parameters left open are searched.

        Candidates are judged by the PNU zero-one risk on (X_val, y_val) if given, else pooled over `cv` folds.
        """
        if (X_val is None) != (y_val is None):
            raise ValueError("X_val and y_val belong together: pass both or neither.")
        samples = self._read_problem(X, y)
        self._refuse_impossible(samples)
        shares = class_shares(self.prior, samples, self.classes_)
        self.prior_ = (
            float(shares[1]) if len(shares) == 2 else dict(zip(self.classes_.tolist(), shares.tolist(), strict=True))
        )
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        grid = self._candidates(samples.X, seed)
        scored = self._scored(grid, samples, shares, seed, X_val, y_val) if len(grid) > 1 else {}
        best = grid[best_of(scored)] if scored else grid[0]
        self.search_ = {name: np.array([c[name] for c in grid], dtype=float) for name in best} | scored
        for name, value in best.items():
            setattr(self, f"{name}_", value)
        self.centers_ = samples.X
        self._say(f"final fit on {len(samples.codes)} rows begins")
        start = perf_counter()
        with one_blas_thread() if len(samples.codes) < WORTH_MANY_THREADS else nullcontext():
            training = self._training(samples, best["bandwidth"], shares, seed)
            parts = next(iter(self._learn(training, [best])))
        for name, part in parts.items():
            setattr(self, f"{name}_", part)
        self._say(f"final fit done, {perf_counter() - start:.2f} s")
        return self

    def _scores(self, X: Any) -> NDArray:
        parts = {name: getattr(self, f"{name}_") for name in self._parts}
        return self._respond(self._features(X, self.centers_, self.bandwidth_), parts)

    def _refuse_impossible(self, samples: Samples) -> None:
        name = type(self).__name__
        if self.kernel not in KERNELS:
            raise ValueError(f"kernel must be one of {', '.join(map(repr, KERNELS))}, got {self.kernel!r}.")
        if samples.n_classes > 2 and not self.__sklearn_tags__().classifier_tags.multi_class:
            raise ValueError(
                f"Only binary classification is supported by {name}; y has {samples.n_classes} classes: "
                f"{self.classes_.tolist()}. SMIRClassifier and PNUClassifier take more."
            )
        for label, count in zip(self.classes_.tolist(), samples.counts, strict=True):
            if count == 0:
                raise ValueError(
                    f"{name} needs labelled rows of every class and y holds only one class: none of {label!r}. "
                    "PNUClassifier can learn from one labelled class and unlabelled rows."
                )
        if not (samples.codes == UNLABELED).any():
            warnings.warn(
                f"There are no unlabelled rows, so {name} is {self._without_unlabeled}. If a value in y marks "
                "unlabelled rows, name it with unlabeled=...",
                UserWarning,
                stacklevel=3,
            )
        if self._needs_gram:
            refuse_beyond_memory(samples.X.shape[0])

    def _candidates(self, X: Any, seed: int) -> list[Candidate]:
        """Every combination, bandwidth first so that neighbours share a kernel matrix."""
        if self.kernel != "rbf":
            bandwidths: Sequence[float | None] = [None]
        else:
            bandwidths = candidates("bandwidth", self.bandwidth, lambda: bandwidth_candidates(X, seed))
        values = {"bandwidth": bandwidths, **self._grid()}
        return [dict(zip(values, choice, strict=True)) for choice in product(*values.values())]

    def _training(self, samples: Samples, bandwidth: float | None, shares: NDArray, seed: int) -> Training:
        features = self._features(samples.X, samples.X, bandwidth)
        return Training(samples.X, features, samples.codes, shares, seed)

    def _scored(
        self, grid: Sequence[Candidate], samples: Samples, shares: NDArray, seed: int, X_val: Any, y_val: Any
    ) -> dict[str, NDArray]:
        """Pooled risks of all candidates; one job per bandwidth and split."""
        splits = self._splits(samples, seed, X_val, y_val)
        bandwidths = list(dict.fromkeys(candidate["bandwidth"] for candidate in grid))
        paths = [[c for c in grid if c["bandwidth"] == bandwidth] for bandwidth in bandwidths]
        jobs = [(path, split) for path in paths for split in splits]
        scores = map_in_threads(
            lambda k, path, split: self._path_scores(
                samples.take(split.train), path, split, shares, seed, f"{k + 1}/{len(jobs)}"
            ),
            [(k, path, split) for k, (path, split) in enumerate(jobs)],
            self.n_jobs,
        )
        pooled = [
            [np.concatenate(parts) for parts in zip(*scores[start : start + len(splits)], strict=True)]
            for start in range(0, len(jobs), len(splits))
        ]
        codes = np.concatenate([split.codes_test for split in splits])
        return judged([s for path in pooled for s in path], codes, shares)

    def _splits(self, samples: Samples, seed: int, X_val: Any, y_val: Any) -> list[Split]:
        if X_val is None:
            splits = fold_splits(samples.X, samples.codes, self.cv, seed)
        else:
            X_val = read_features(self, X_val, reset=False)
            codes = decode_labels(y_val, self.unlabeled, classes=self.classes_).codes
            check_consistent_length(X_val, codes)
            splits = [Split(np.arange(len(samples.codes)), X_val, codes)]
        if not any((split.codes_test != UNLABELED).any() for split in splits):
            raise ValueError(
                "No labelled row is left to choose hyper-parameters with. Pass X_val and y_val with labels, "
                "or fix every hyper-parameter."
            )
        return splits

    def _path_scores(
        self, samples: Samples, path: Sequence[Candidate], split: Split, shares: NDArray, seed: int, job: str
    ) -> list[NDArray]:
        """Scores on the split's test rows for all candidates of one bandwidth."""
        start = perf_counter()
        bandwidth = path[0]["bandwidth"]
        training = self._training(samples, bandwidth, shares, seed)
        test = self._features(split.X_test, samples.X, bandwidth)
        scores = [self._respond(test, parts) for parts in self._learn(training, path)]
        self._say(f"search {job}: {len(path)} candidates on {len(samples.codes)} rows, {perf_counter() - start:.2f} s")
        return scores

    def _say(self, message: str) -> None:
        if self.verbose:
            print(f"[{type(self).__name__}] {message}", flush=True)


def stacked(outputs: Sequence[Parts]) -> Parts:
    """The parts of one output as they are; of several, side by side along a last axis."""
    if len(outputs) == 1:
        return outputs[0]
    return {name: np.stack([parts[name] for parts in outputs], axis=-1) for name in outputs[0]}


def candidates(
    name: str, value: Any, default: Sequence[float] | Callable[[], ArrayLike] = STRENGTHS, *, zero: bool = False
) -> list[float]:
    """The values to try: `default` for None, else the user's number or numbers, checked.

    >>> candidates("alpha", 0.1), candidates("alpha", [1, 2])
    ([0.1], [1.0, 2.0])
    """
    if value is None:
        return np.asarray(default() if callable(default) else default, dtype=float).tolist()
    try:
        values = np.atleast_1d(np.asarray(value, dtype=float))
    except (TypeError, ValueError):
        values = np.array([])
    lowest = "at least 0" if zero else "greater than 0"
    if values.ndim != 1 or values.size == 0 or not np.isfinite(values).all():
        raise ValueError(f"{name} must be None, a number or a sequence of numbers, got {value!r}.")
    if (values < 0).any() or (not zero and (values == 0).any()):
        raise ValueError(f"{name} must be {lowest}, got {value!r}.")
    return values.tolist()
