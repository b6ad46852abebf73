"""Training of networks: batches of P, N and U, early stopping, the training loop, and its preparation."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from itertools import chain, islice, repeat
from operator import index
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike

from pnulearn import risks
from pnulearn._arrays import AnyArray
from pnulearn._learning.progress import check_verbose, report_progress
from pnulearn._learning.settings import NEEDS
from pnulearn._numbers import read_count, read_number
from pnulearn._problem.folds import check_cv, content_splits, own_splits
from pnulearn._problem.inputs import read_random_state
from pnulearn._problem.row_keys import row_keys
from pnulearn._problem.samples import Samples, Sampling, population_of, read_sampling
from pnulearn.losses import LOSSES
from pnulearn.metrics._comparison import compare_scores, shared_mix
from pnulearn.priors._estimate import PriorEstimate
from pnulearn.risks import empirical_risk, pnu
from pnulearn.theory import heuristic_mix
from pnulearn.torch._loss import GROUPS, PNULoss
from pnulearn.torch._modules import build_network, is_own, make_optimizer, read_sizes, row_reader, score_rows

# Batches with rows of P, N and U, because every term of a risk needs rows.


class PNUBatchSampler(torch.utils.data.Sampler):
    """Batches of row numbers with fixed numbers of P, N and U rows, for DataLoader(batch_sampler=...).

    Every group is shuffled and split into batches repeatedly, so the mean over a batch is an unbiased estimate of the
    mean over the group. An epoch ends when every group has been used at least once; small groups are used several
    times.

    Parameters
    ----------
    codes : array (rows,)
        1 positive, 0 negative, −1 unlabelled, as returned by `label_codes`.
    batch_size : int or three ints
        Rows per batch, divided evenly among P, N and U as far as they have rows, since their means have similar weights
        in a risk. Or three numbers, for P, N and U.
    sampling : str
        "by_class" draws U from the unlabelled rows. "random" draws it from all rows, for labels that were drawn at
        random from the population; a labelled row can then occur twice, once with its label and once without.
    random_state : int, RandomState or None
        Seed; an int makes the batches repeatable.

    Attributes
    ----------
    batch_codes
        Codes of the rows of every batch, in the order P, N, U. Pass them to the loss.

    Examples
    --------
    >>> from pnulearn.torch import label_codes
    >>> codes = label_codes([1, 1, 0, 0, 0] + [None] * 12)
    >>> batches = PNUBatchSampler(codes, batch_size=8, random_state=0)
    >>> [len(rows) for rows in batches], batches.batch_codes.tolist()
    ([8, 8, 8, 8], [1, 1, 0, 0, 0, -1, -1, -1])
    """

    def __init__(
        self,
        codes: ArrayLike,
        batch_size: int | Sequence[int] = 128,
        *,
        sampling: Sampling = "by_class",
        random_state: Any = None,
    ):
        values = np.asarray(codes)
        if values.ndim != 1 or not len(values) or not np.isin(values, list(GROUPS.values())).all():
            raise ValueError(
                "codes must be a 1d array of 1, 0 and -1 (positive, negative, unlabelled): see label_codes."
            )
        self.groups = [np.flatnonzero(values == code) for code in (1, 0)] + [
            population_of(values, read_sampling(sampling))
        ]
        counts = [len(rows) for rows in self.groups]
        self.sizes = list(batch_size) if isinstance(batch_size, Sequence) else _even_shares(index(batch_size), counts)
        if len(self.sizes) != 3 or any(not 0 <= k <= n for k, n in zip(self.sizes, counts, strict=True)):
            raise ValueError(
                f"batch_size={batch_size!r} must be three numbers, at most the numbers of P, N and U rows, {counts}."
            )
        if not any(self.sizes):
            raise ValueError(f"batch_size must be positive, got {batch_size!r}.")
        self.batch_codes = torch.as_tensor(np.repeat(list(GROUPS.values()), self.sizes))
        self.random = read_random_state(random_state)

    def __len__(self) -> int:
        """Number of batches per epoch."""
        return max(-(-len(rows) // k) for rows, k in zip(self.groups, self.sizes, strict=True) if k)

    def __iter__(self) -> Iterator[list[int]]:
        decks = [self._deal(rows, k) for rows, k in zip(self.groups, self.sizes, strict=True) if k]
        for _ in range(len(self)):
            yield np.concatenate([next(deck) for deck in decks]).tolist()

    def _deal(self, rows: AnyArray, size: int) -> Iterator[AnyArray]:
        """Yield `size` rows at a time. The last rows of a shuffle are completed by rows of the next one."""
        deck = self.random.permutation(rows)
        while True:
            if len(deck) < size:
                deck = np.concatenate([deck, self.random.permutation(rows)])
            yield deck[:size]
            deck = deck[size:]


def _even_shares(total: int, counts: list[int]) -> list[int]:
    """Rows per group: even shares, where the others take what a small group cannot fill.

    >>> _even_shares(100, [8, 200, 3000])
    [8, 46, 46]
    """
    present = sorted((n, k) for k, n in enumerate(counts) if n)
    if total < len(present):
        raise ValueError(f"batch_size must be at least {len(present)}, one row of each group of rows, got {total}.")
    shares = [0] * len(counts)
    for place, (n, k) in enumerate(present):
        shares[k] = min(n, (total - sum(shares)) // (len(present) - place))
    return shares


# Early stopping by the PNU risk of held-out rows after every epoch, with the standard error of its increase.

SMOOTH_ERROR = LOSSES["sigmoid"]  # between 0 and 1 like the zero-one loss, but continuous in the scores


@dataclass
class Watch:
    """Early stopping: held-out scores and risks after every epoch.

    `fold` is the fold number of every row. Training stops after `patience` consecutive epochs whose risk exceeds the
    lowest by more than a standard error of the difference.
    """

    rows: Samples
    fold: AnyArray
    prior: PriorEstimate
    patience: int
    scores: list[AnyArray] = field(default_factory=list)
    risks: list[float] = field(default_factory=list)
    waited: int = 0

    def add(self, scores: AnyArray) -> None:
        """Add the scores (n,) of an epoch; NaN marks rows that were not held out."""
        self.scores.append(scores.astype(np.float32))
        self.risks.append(self._risk(scores, np.arange(len(scores))))
        self.waited = self.waited + 1 if self._is_worse() else 0

    @property
    def best(self) -> int:
        """The epoch with the lowest risk, counted from 0."""
        return int(np.argmin(self.risks))

    @property
    def is_over(self) -> bool:
        """Whether training should stop."""
        return self.waited >= self.patience

    def cross_validated_scores(self) -> AnyArray:
        """Scores (n,) of every row after the epoch with the lowest risk on the other folds."""
        chosen = self.scores[self.best].astype(float)
        for part in np.unique(self.fold[self.fold >= 0]):
            others = np.flatnonzero(self.fold != part)
            if self._has_risk(others):
                epoch = int(np.argmin([self._risk(scores, others) for scores in self.scores]))
                chosen[self.fold == part] = self.scores[epoch][self.fold == part]
        return chosen

    def _is_worse(self) -> bool:
        """Whether the risk of the last epoch exceeds the lowest by more than a standard error of the difference."""
        if self.best == len(self.scores) - 1:
            return False
        last, best = (self._groups(self.scores[epoch]) for epoch in (-1, self.best))
        found = compare_scores(last, best, self.prior, self._mix(last), loss=SMOOTH_ERROR)
        return found.difference > found.stderr

    def _risk(self, scores: AnyArray, among: AnyArray) -> float:
        groups = self._groups(scores, among)
        return empirical_risk(pnu(float(self.prior.mean), self._mix(groups)), SMOOTH_ERROR, groups)

    def _groups(self, scores: AnyArray, among: AnyArray | None = None) -> list[AnyArray]:
        """Scores of held-out P, N and U."""
        parts = [rows if among is None else np.intersect1d(rows, among) for rows in self.rows.split()]
        return [scores[rows[~np.isnan(scores[rows])]] for rows in parts]

    def _mix(self, groups: list[AnyArray]) -> float:
        """A mix that does not depend on the scores, so that epochs can be compared."""
        return shared_mix(float(self.prior.mean), *map(len, groups))

    def _has_risk(self, among: AnyArray) -> bool:
        """Whether at least two of P, N and U have held-out rows, so that a risk can be computed."""
        sizes = [len(group) > 0 for group in self._groups(self.scores[0], among)]
        return sum(sizes) >= 2


# Training of one network per fold; all are stopped after the same epoch.

LEAST_STEPS = 10  # per epoch; with few rows an epoch is one batch, and `max_epochs` steps would be too few

Split = tuple[AnyArray, AnyArray]


@dataclass(frozen=True)
class Recipe:
    """The parameters of an estimator that training needs."""

    network: Any
    objective: PNULoss
    optimizer: Any
    learning_rate: float
    weight_decay: float
    batch_size: Any
    max_epochs: int
    device: Any
    seed: int
    verbose: int


class Trainee:
    """A network with its optimiser and batches."""

    def __init__(self, recipe: Recipe, rows: Samples, seed: int):
        self.objective = deepcopy(recipe.objective).to(recipe.device)
        self.net = build_network(recipe.network, rows.X.shape[1]).to(recipe.device)
        self.optimizer = make_optimizer(
            recipe.optimizer, self.net.parameters(), recipe.learning_rate, recipe.weight_decay
        )
        n_rows, rows = len(rows.codes), _used_rows(recipe.objective, rows)
        sampling = rows.sampling if recipe.objective.risk.table[2].any() else "by_class"
        sizes = _batch_sizes(recipe, rows)
        self.batches = PNUBatchSampler(rows.codes, sizes, sampling=sampling, random_state=seed)
        self.n_steps = max(LEAST_STEPS, len(self.batches), -(-n_rows // int(np.sum(recipe.batch_size))))
        self.codes = self.batches.batch_codes.to(recipe.device)
        self.read = row_reader(rows.X, self.net)

    def run_epoch(self) -> float:
        """Train for one epoch and return the mean risk of the batches."""
        self.net.train()
        risks = []
        for numbers in islice(chain.from_iterable(repeat(self.batches)), self.n_steps):
            self.optimizer.zero_grad()
            risk = self.objective(self.net(self.read(numbers)), self.codes)
            risk.backward()
            self.optimizer.step()
            risks.append(risk.item())
        return float(np.mean(risks))


def _used_rows(objective: PNULoss, rows: Samples) -> Samples:
    """The rows without groups that have zero weight in the risk, to save time in every batch."""
    used = [group for group, weights in zip(rows.split(), objective.risk.table, strict=True) if weights.any()]
    kept = np.unique(np.concatenate(used))
    return rows if len(kept) == len(rows.codes) else rows.take(kept)


def _batch_sizes(recipe: Recipe, rows: Samples) -> Any:
    """The given batch sizes, limited to the rows that each group has without the held-out fold."""
    if not isinstance(recipe.batch_size, Sequence) or len(recipe.batch_size) != 3:
        return recipe.batch_size
    used = [bool(weights.any()) for weights in recipe.objective.risk.table]
    asked = zip(recipe.batch_size, rows.split(), used, strict=True)
    return [min(size, len(group)) if is_used else 0 for size, group, is_used in asked]


@dataclass(frozen=True)
class Trained:
    """The networks of the best epoch, and the risks during training."""

    networks: list[torch.nn.Module]
    n_epochs: int
    training_risks: AnyArray
    watch: Watch | None


def train_networks(
    recipe: Recipe, rows: Samples, splits: Sequence[Split], watch: Watch | None, validation: Samples
) -> Trained:
    """Train one network per split, or one on all rows if there are no splits; `validation` are the held-out rows.

    All networks are trained epoch by epoch together, because early stopping uses all held-out rows.
    """
    parts = splits or [(np.arange(len(rows.codes)), np.arange(len(validation.codes)))]
    with _own_random_numbers(recipe):
        trainees = [Trainee(recipe, rows.take(train), recipe.seed + k) for k, (train, _) in enumerate(parts)]
        done = report_progress(recipe.max_epochs, "epochs", recipe.verbose)
        training, kept, n_epochs = [], [deepcopy(one.net) for one in trainees], recipe.max_epochs
        for epoch in range(recipe.max_epochs):
            training.append(float(np.mean([one.run_epoch() for one in trainees])))
            _refuse_not_finite(training[-1], epoch)
            if watch is not None:
                watch.add(_held_out_scores(trainees, parts, validation))
                if watch.best == epoch:
                    kept, n_epochs = [deepcopy(one.net) for one in trainees], epoch + 1
            if done is not None:
                done(f", risk {(watch.risks if watch else training)[-1]:.3f}")
            if watch is not None and watch.is_over:
                break
    networks = kept if watch is not None else [one.net for one in trainees]
    return Trained([net.eval() for net in networks], n_epochs, np.array(training), watch)


@contextmanager
def _own_random_numbers(recipe: Recipe) -> Iterator[None]:
    """Seed PyTorch's random numbers for weights and dropout, and restore their state afterwards."""
    device = torch.device(recipe.device)
    with torch.random.fork_rng([device] if device.type == "cuda" else []):
        torch.manual_seed(recipe.seed)
        yield


def _held_out_scores(trainees: Sequence[Trainee], parts: Sequence[Split], validation: Samples) -> AnyArray:
    scores = np.full(len(validation.codes), np.nan)
    for one, (_, test) in zip(trainees, parts, strict=True):
        scores[test] = score_rows(one.net, validation.X[test])
        _refuse_not_finite(float(scores[test].sum()))
    return scores


def _refuse_not_finite(number: float, epoch: int | None = None) -> None:
    if not np.isfinite(number):
        when = "" if epoch is None else f" in epoch {epoch + 1}"
        raise ValueError(
            f"The network no longer gives finite numbers{when}. Decrease learning_rate, and standardise the columns of "
            "X, e.g. with sklearn.preprocessing.StandardScaler."
        )


# Preparation: validation of parameters, choice of the risk, and splits.


def refuse_impossible(model: Any) -> None:
    """Raise an error for invalid parameters."""
    if not isinstance(model.risk, str) or model.risk not in NEEDS:
        raise ValueError(f"risk must be one of {', '.join(map(repr, NEEDS))}, got {model.risk!r}.")
    read_sampling(model.sampling)
    if model.mix is not None:
        read_number("mix", model.mix, 0 if model.risk == "punu" else -1, 1)
    if not is_own(model.network):
        read_sizes(model.network)
    read_number("learning_rate", model.learning_rate, 0, ends=False)
    read_number("weight_decay", model.weight_decay, 0)
    read_count("max_epochs", model.max_epochs)
    read_count("patience", model.patience)
    check_verbose(model.verbose)
    if model.cv is not None:
        check_cv(model.cv)
    _refuse_no_device(model.device)
    _objective(model, risks.pnu(0.5, 0.5))


def _refuse_no_device(device: Any) -> None:
    try:
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError, TypeError) as error:
        reason = str(error).splitlines()[0]
        raise ValueError(f"device={device!r} cannot be used here: {reason} Pass device='cpu'.") from None


def choose_mix(kind: str, mix: float | None, prior: float, rows: Samples) -> float:
    """The mix of a risk: implied by its name, given by the user, or the mix of least variance."""
    fixed = {"pn": 0.0, "pu": 1.0, "nu": -1.0}
    if kind in fixed:
        return fixed[kind]
    if mix is not None:
        return float(mix)
    n_negative, n_positive = rows.counts
    return 0.5 if kind == "punu" else heuristic_mix(prior, n_positive, n_negative)


def make_recipe(model: Any, kind: str, prior: float, mix: float, seed: int) -> Recipe:
    """The recipe of training for a model."""
    risk = risks.punu(prior, mix) if kind == "punu" else risks.pnu(prior, mix)
    return Recipe(
        network=model.network,
        objective=_objective(model, risk),
        optimizer=model.optimizer,
        learning_rate=float(model.learning_rate),
        weight_decay=float(model.weight_decay),
        batch_size=model.batch_size,
        max_epochs=int(model.max_epochs),
        device=model.device,
        seed=seed,
        verbose=model.verbose,
    )


def _objective(model: Any, risk: risks.Risk) -> PNULoss:
    return PNULoss(
        risk, model.loss, nonnegative=model.nonnegative, tolerance=model.tolerance, step_back=model.step_back
    )


def hold_out(
    model: Any, rows: Samples, held_out: Samples | None, prior: PriorEstimate, classes: AnyArray, seed: int
) -> tuple[list[Split], Watch | None]:
    """Splits of the rows, and early stopping on the held-out rows; None if nothing can be held out."""
    patience = int(model.patience)
    if held_out is not None:
        return [], Watch(held_out, np.full(len(held_out.codes), -1), prior, patience)
    if model.cv is None:
        return [], None
    own = own_splits(model.cv, rows.codes, np.arange(len(rows.codes)))
    splits = own or content_splits(int(model.cv), rows, row_keys(rows.X, seed), classes, 1)
    if not splits:
        warnings.warn(
            "A class has a single labelled row, which is needed for training, so no rows are held out: one network is "
            f"trained for {model.max_epochs} epochs, and risk_ is None. Label another row, or pass X_val and y_val.",
            UserWarning,
            stacklevel=3,
        )
        return [], None
    fold = np.full(len(rows.codes), -1)
    for number, (_, test) in enumerate(splits):
        fold[test] = number
    return splits, Watch(rows, fold, prior, patience)
