"""Networks and optimisers: built from layer sizes or names, or supplied by the user."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from scipy import sparse

from pnulearn._arrays import AnyArray
from pnulearn._numbers import read_count

OPTIMIZERS: dict[str, Callable[..., torch.optim.Optimizer]] = {
    "adam": torch.optim.Adam,
    "adamw": torch.optim.AdamW,
    "sgd": partial(torch.optim.SGD, momentum=0.9),
}
ROWS_AT_ONCE = 4096


def build_network(network: Any, n_columns: int) -> torch.nn.Module:
    """A new network with one output: from sizes of hidden layers, a copy of a module, or the result of a function.

    >>> build_network((20,), 3)
    Sequential(
      (0): Linear(in_features=3, out_features=20, bias=True)
      (1): ReLU()
      (2): Linear(in_features=20, out_features=1, bias=True)
    )
    """
    if isinstance(network, torch.nn.Module):
        return deepcopy(network)
    if is_own(network):
        made = network(n_columns)
        if not isinstance(made, torch.nn.Module):
            raise TypeError(f"network({n_columns}) must return a torch.nn.Module, got {type(made).__name__}.")
        return made
    sizes = [n_columns, *read_sizes(network)]
    layers: list[torch.nn.Module] = []
    for wide, narrow in pairwise(sizes):
        layers += [torch.nn.Linear(wide, narrow), torch.nn.ReLU()]
    return torch.nn.Sequential(*layers, torch.nn.Linear(sizes[-1], 1))


def is_own(network: Any) -> bool:
    """Whether the network is a module or a function of the user, which cannot be saved in a model file."""
    return isinstance(network, torch.nn.Module) or callable(network)


def read_sizes(network: Any) -> tuple[int, ...]:
    """Validated sizes of hidden layers; without any, the model is linear."""
    if not isinstance(network, Sequence | np.ndarray) or isinstance(network, str):
        raise TypeError(
            f"network must be sizes of hidden layers such as (100,), a torch.nn.Module, or a function from the number "
            f"of columns to one, got {network!r}."
        )
    return tuple(read_count("each size in network", size) for size in network)


def make_optimizer(
    optimizer: Any, parameters: Iterable[torch.nn.Parameter], learning_rate: float, weight_decay: float
) -> torch.optim.Optimizer:
    """An optimiser by name, with this learning rate and weight decay, or by a function of the parameters."""
    if isinstance(optimizer, str) and optimizer in OPTIMIZERS:
        return OPTIMIZERS[optimizer](parameters, lr=learning_rate, weight_decay=weight_decay)
    if not callable(optimizer):
        raise ValueError(
            f"optimizer must be one of {', '.join(map(repr, OPTIMIZERS))}, or a function that takes the parameters "
            f"and returns a torch optimiser, got {optimizer!r}."
        )
    made = optimizer(parameters)
    if not isinstance(made, torch.optim.Optimizer):
        raise TypeError(f"optimizer(parameters) must return a torch optimiser, got {type(made).__name__}.")
    return made


def row_reader(X: Any, net: torch.nn.Module) -> Callable[[Any], torch.Tensor]:
    """A function from row numbers to a tensor on the network's device, in its precision. Sparse rows become dense."""
    weight = next(net.parameters(), torch.zeros(0))
    options = {"dtype": weight.dtype if weight.is_floating_point() else torch.float32, "device": weight.device}
    if sparse.issparse(X):
        return lambda rows: torch.as_tensor(X[rows].toarray(), **options)
    table = torch.as_tensor(X, **options)
    return lambda rows: table[rows]


def score_rows(net: torch.nn.Module, X: Any) -> AnyArray:
    """Scores g(x) of all rows, with the network in evaluation mode."""
    was_training = net.training
    net.eval()
    try:
        scores = np.zeros(X.shape[0])
        with torch.no_grad():
            for start in range(0, len(scores), ROWS_AT_ONCE):
                part = slice(start, start + ROWS_AT_ONCE)
                scores[part] = net(row_reader(X[part], net)(slice(None))).cpu().numpy().reshape(-1)
        return scores
    finally:
        net.train(was_training)
