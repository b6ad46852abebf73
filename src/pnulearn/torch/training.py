"""Networks in training, side by side: each without a part of the rows, all stopped after the same epoch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from itertools import chain, islice, repeat
from typing import Any

import numpy as np
import torch

from pnulearn._arrays import AnyArray
from pnulearn._learning.progress import report_progress
from pnulearn._problem.samples import Samples
from pnulearn.torch.batches import PNUBatchSampler
from pnulearn.torch.loss import PNULoss
from pnulearn.torch.modules import build_network, make_optimizer, row_reader, score_rows
from pnulearn.torch.stopping import Watch

LEAST_STEPS = 10  # of an epoch: of few rows one batch is all, and a hundred steps teach a network little

Split = tuple[AnyArray, AnyArray]


@dataclass(frozen=True)
class Recipe:
    """All that training has to know of an estimator's parameters."""

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
    """A network with its optimiser and its batches."""

    def __init__(self, recipe: Recipe, rows: Samples, seed: int):
        self.objective = deepcopy(recipe.objective).to(recipe.device)
        self.net = build_network(recipe.network, rows.X.shape[1]).to(recipe.device)
        self.optimizer = make_optimizer(
            recipe.optimizer, self.net.parameters(), recipe.learning_rate, recipe.weight_decay
        )
        n_rows, rows = len(rows.codes), _used_rows(recipe.objective, rows)
        sampling = rows.sampling if recipe.objective.risk.table[2].any() else "case_control"
        sizes = _batch_sizes(recipe, rows)
        self.batches = PNUBatchSampler(rows.codes, sizes, sampling=sampling, random_state=seed)
        self.n_steps = max(LEAST_STEPS, len(self.batches), -(-n_rows // int(np.sum(recipe.batch_size))))
        self.codes = self.batches.batch_codes.to(recipe.device)
        self.read = row_reader(rows.X, self.net)

    def run_epoch(self) -> float:
        """A step for every batch; the mean of their risks."""
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
    """Without groups that the risk gives no weight: they would take time in every batch."""
    used = [group for group, weights in zip(rows.split(), objective.risk.table, strict=True) if weights.any()]
    kept = np.unique(np.concatenate(used))
    return rows if len(kept) == len(rows.codes) else rows.take(kept)


def _batch_sizes(recipe: Recipe, rows: Samples) -> Any:
    """What was asked for, as far as the groups that are used go: parts that are held out make them smaller."""
    if not isinstance(recipe.batch_size, Sequence) or len(recipe.batch_size) != 3:
        return recipe.batch_size
    used = [bool(weights.any()) for weights in recipe.objective.risk.table]
    asked = zip(recipe.batch_size, rows.split(), used, strict=True)
    return [min(size, len(group)) if is_used else 0 for size, group, is_used in asked]


@dataclass(frozen=True)
class Trained:
    """The networks after the best epoch, and what was seen on the way there."""

    networks: list[torch.nn.Module]
    n_epochs: int
    training_risks: AnyArray
    watch: Watch | None


def train_networks(recipe: Recipe, rows: Samples, splits: Sequence[Split], watch: Watch | None, judged: Any) -> Trained:
    """One network for each split, or one for all rows without any; `judged` are the rows that splits hold out.

    They go from epoch to epoch together, so that all held-out rows together say when to stop.
    """
    parts = splits or [(np.arange(len(rows.codes)), np.arange(len(judged.codes)))]
    with _own_random_numbers(recipe):
        trainees = [Trainee(recipe, rows.take(train), recipe.seed + k) for k, (train, _) in enumerate(parts)]
        done = report_progress(recipe.max_epochs, "epochs", recipe.verbose)
        training, kept, n_epochs = [], [deepcopy(one.net) for one in trainees], recipe.max_epochs
        for epoch in range(recipe.max_epochs):
            training.append(float(np.mean([one.run_epoch() for one in trainees])))
            _refuse_not_finite(training[-1], epoch)
            if watch is not None:
                watch.add(_held_out_scores(trainees, parts, judged))
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
    """Weights and dropout from the seed alone; PyTorch's own random numbers go on afterwards as if nothing had been."""
    device = torch.device(recipe.device)
    with torch.random.fork_rng([device] if device.type == "cuda" else []):
        torch.manual_seed(recipe.seed)
        yield


def _held_out_scores(trainees: Sequence[Trainee], parts: Sequence[Split], judged: Samples) -> AnyArray:
    scores = np.full(len(judged.codes), np.nan)
    for one, (_, test) in zip(trainees, parts, strict=True):
        scores[test] = score_rows(one.net, judged.X[test])
        _refuse_not_finite(float(scores[test].sum()))
    return scores


def _refuse_not_finite(number: float, epoch: int | None = None) -> None:
    if not np.isfinite(number):
        when = "" if epoch is None else f" in epoch {epoch + 1}"
        raise ValueError(
            f"The network no longer gives finite numbers{when}. Lower learning_rate, and bring the columns of X to a "
            "common scale, e.g. with sklearn.preprocessing.StandardScaler."
        )
