"""Before training: parameters are checked, the risk is settled, and rows are set apart to stop by."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import torch

from pnulearn import risks
from pnulearn._arrays import AnyArray
from pnulearn._learning.progress import check_verbose
from pnulearn._learning.settings import NEEDS
from pnulearn._numbers import read_count, read_number
from pnulearn._problem.folds import check_cv, content_splits, own_splits
from pnulearn._problem.row_keys import row_keys
from pnulearn._problem.samples import Samples
from pnulearn.priors.estimate import PriorEstimate
from pnulearn.theory import heuristic_mix
from pnulearn.torch.loss import PNULoss
from pnulearn.torch.modules import is_own, read_sizes
from pnulearn.torch.stopping import Watch
from pnulearn.torch.training import Recipe, Split

CHOICES = {"risk": tuple(NEEDS), "sampling": ("case_control", "single_set")}


def refuse_impossible(model: Any) -> None:
    """Refuse parameters that cannot mean anything, each with what would."""
    for name, allowed in CHOICES.items():
        if not isinstance(getattr(model, name), str) or getattr(model, name) not in allowed:
            raise ValueError(f"{name} must be one of {', '.join(map(repr, allowed))}, got {getattr(model, name)!r}.")
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
    """The mix of a risk as a number: what is given, what the risk's name says, or what theory suggests."""
    fixed = {"pn": 0.0, "pu": 1.0, "nu": -1.0}
    if kind in fixed:
        return fixed[kind]
    if mix is not None:
        return float(mix)
    n_negative, n_positive = rows.counts
    return 0.5 if kind == "punu" else heuristic_mix(prior, n_positive, n_negative)


def make_recipe(model: Any, kind: str, prior: float, mix: float, seed: int) -> Recipe:
    """How the model's networks are trained."""
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
    """Splits of the rows, and the watch over what they hold out; neither where nothing can be held out."""
    patience = int(model.patience)
    if held_out is not None:
        return [], Watch(held_out, np.full(len(held_out.codes), -1), prior, patience)
    if model.cv is None:
        return [], None
    own = own_splits(model.cv, rows.codes, np.arange(len(rows.codes)))
    splits = own or content_splits(int(model.cv), rows, row_keys(rows.X, seed), classes, 1)
    if not splits:
        warnings.warn(
            "A class has a single labelled row, which has to be learnt from, so nothing is held out: one network is "
            f"trained for all {model.max_epochs} epochs, and risk_ is None. Label one more, or pass X_val and y_val.",
            UserWarning,
            stacklevel=3,
        )
        return [], None
    fold = np.full(len(rows.codes), -1)
    for number, (_, test) in enumerate(splits):
        fold[test] = number
    return splits, Watch(rows, fold, prior, patience)
