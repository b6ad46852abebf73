"""Validated and resolved parameters of a classifier."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._kernels.basis import Basis
from pnulearn._kernels.centers import COLUMNS, GIVEN
from pnulearn._kernels.registry import KERNELS
from pnulearn._learning.progress import check_verbose
from pnulearn._machine import check_n_jobs, free_memory
from pnulearn._numbers import read_numbers
from pnulearn._problem.folds import check_cv
from pnulearn._problem.inputs import LARGEST, SMALLEST, read_random_state
from pnulearn._problem.samples import Samples, Sampling, read_sampling
from pnulearn._solvers.candidates import ALPHAS, Mixes
from pnulearn.losses import Loss, as_loss
from pnulearn.metrics._scored_rows import read_costs

AUTO = "auto"  # value of cv: leave-one-out if it has a closed form, else FOLDS folds
FOLDS = 5
CHOICES = {
    "risk": ("pnu", "punu", "pn", "pu", "nu"),
    "kernel": tuple(KERNELS),
    "columns": (AUTO, *COLUMNS),
    "selection": ("average", "best"),
    "tie_break": ("risk", "first"),
}
# Subset of the default mixes and alphas for losses whose models are solved one by one: five mixes, each the middle of a
# fifth of the grid (the ends, pure PU and NU, would get too much weight), and every second alpha.
COARSE = slice(2, None, 4), slice(None, None, 2)
NEEDS = {"pn": "PN", "pu": "PU", "nu": "NU", "punu": "PNU", "pnu": "PNU"}
WORDS = {"P": "positive", "N": "negative", "U": "unlabelled"}
ALWAYS_FREE = 2**25  # bytes, 32 MB; smaller requests are not checked against the free memory


@dataclass(frozen=True, eq=False)
class Settings:
    """The parameters of `PNUClassifier`, with the loss, the penalties and the seed resolved.

    They are plain values that can be pickled; the fitting functions do not depend on the classifier.
    """

    risk: str
    loss: Loss
    kernel: str
    columns: str
    prior: Any
    mix: Any
    alphas: AnyArray
    bandwidth: Any
    centers: Any
    selection: str
    tie_break: str
    cv: Any
    sampling: Sampling
    unlabeled: Any
    pos_label: Any
    n_jobs: int | None
    seed: int
    verbose: int
    costs: tuple[float, float] | None = None
    thins: bool = False

    @classmethod
    def of(cls, parameters: Mapping[str, Any], seed: int | None = None) -> Settings:
        """From `get_params(deep=False)`; a given seed replaces the one drawn from random_state.

        >>> from pnulearn import PNUClassifier
        >>> Settings.of(PNUClassifier(alpha=0.1, random_state=0).get_params(deep=False)).alphas
        array([0.1])
        """
        _check_parameters(parameters)
        rest = dict(parameters)
        alpha, state, loss = rest.pop("alpha"), rest.pop("random_state"), rest.pop("loss")
        alphas = ALPHAS if alpha is None else np.atleast_1d(np.asarray(alpha, dtype=float))
        seed = int(read_random_state(state).randint(2**31)) if seed is None else seed
        rest["sampling"] = read_sampling(rest["sampling"])
        costs = rest.pop("costs", None)
        costs = None if costs is None else read_costs(costs)
        loss = as_loss(loss)
        averages = alpha is None and rest["mix"] is None and rest["selection"] == "average"
        thins = averages and loss.quadratic is None
        return cls(**rest, loss=loss, alphas=alphas, seed=seed, costs=costs, thins=thins)

    def for_risk(self, risk: str) -> Settings:
        """With a coarse grid of mixes and alphas if models are solved one by one (losses that are not quadratic).

        Neighbouring candidates are similar, so averaging an eighth of them is as accurate (results/coarse-grid.md).
        The whole grid is used if mix or alpha is given or selection="best".
        """
        mixes = Mixes.of(risk, self.mix).values
        if not self.thins or len(mixes) == 1:
            return self
        return replace(self, mix=mixes[COARSE[0]], alphas=self.alphas[COARSE[1]], thins=False)

    @property
    def leaves_one_out(self) -> bool:
        """Whether leave-one-out is used if it has a closed form (cv="auto")."""
        return isinstance(self.cv, str)

    @property
    def counts_folds(self) -> bool:
        """Whether cv is "auto" or a number of folds, rather than a splitter or an iterable of (train, test) indices."""
        return isinstance(self.cv, str | numbers.Integral)

    @property
    def n_folds(self) -> int:
        """The number of folds if `counts_folds`."""
        return FOLDS if isinstance(self.cv, str) else int(self.cv)

    @property
    def folds(self) -> Any:
        """The number of folds, or the given splitter or splits."""
        return self.n_folds if self.counts_folds else self.cv

    def refuse_beyond_one_pass(self) -> None:
        """Raise ValueError for settings that one-pass learning does not support."""
        refuse_loss_in_one_pass(self.loss)
        if self.costs is not None:
            raise ValueError("costs need all rows at once: leave them out in one pass, and choose a threshold instead.")
        if not self.counts_folds:
            raise ValueError(f"In one pass cv is a number of folds, at least 2; got {self.cv!r}.")
        if isinstance(self.centers, str) and self.centers == "all":
            raise ValueError("centers='all' needs all rows at once. Pass a number, e.g. centers=500, or an array.")


def refuse_loss_in_one_pass(loss: Loss) -> None:
    """Raise ValueError for a loss whose model is not a function of sums over rows."""
    if not loss.one_pass:
        raise ValueError(f"loss={loss.name!r} needs all rows at once. In one pass only loss='squared' can be learnt.")


def _check_parameters(parameters: Mapping[str, Any]) -> None:
    """Raise an error for invalid parameters."""
    for name, allowed in CHOICES.items():
        if not isinstance(parameters[name], str) or parameters[name] not in allowed:
            raise ValueError(f"{name} must be one of {', '.join(map(repr, allowed))}, got {parameters[name]!r}.")
    if parameters["columns"] not in (AUTO, GIVEN) and not KERNELS[parameters["kernel"]].has_bandwidth:
        raise ValueError(
            f"columns={parameters['columns']!r} is for kernels around centres, got {parameters['kernel']!r}. Put "
            "sklearn.preprocessing.QuantileTransformer(output_distribution='normal') before the classifier in a "
            "pipeline, or pass columns='given'."
        )
    as_loss(parameters["loss"])
    low, high = (0, 1) if parameters["risk"] == "punu" else (-1, 1)
    why = "since without a penalty the risk may have no minimum"
    for name, ends, reason in (
        ("mix", (low, high), ""),
        ("alpha", (SMALLEST, LARGEST), why),
        ("bandwidth", (SMALLEST, LARGEST), ""),
    ):
        if parameters[name] is not None:
            read_numbers(name, parameters[name], *ends, why=reason)
    check_n_jobs(parameters["n_jobs"])
    check_verbose(parameters["verbose"])
    check_cv(parameters["cv"], AUTO)
    _check_centers(parameters["centers"])


def _check_centers(centers: Any) -> None:
    """Raise TypeError unless centers is a string, an integer or a 2-D array; its shape is checked against X later."""
    if isinstance(centers, str | numbers.Integral):
        return
    try:
        array = np.asarray(centers, dtype=float)
    except (TypeError, ValueError):
        array = np.zeros(0)
    if array.ndim != 2:
        raise TypeError(
            "centers must be 'auto', 'labeled', 'all', a whole number or an array of shape (n_centers, n_columns), "
            f"got {centers!r}."
        )


def feasible_risk(risk: str, mix: Any, samples: Samples, classes: AnyArray) -> str:
    """The requested risk, or with a warning one that the available rows allow."""
    present = {"U"} if len(samples.unlabeled) else set()
    if samples.n_classes > 2:
        present |= {"P", "N"}  # one-versus-rest: both exist for every class
    else:
        present.update(np.array(["N", "P"])[samples.counts > 0].tolist())
    if set(NEEDS[risk]) <= present:
        if len(classes) > 2 and risk in ("pu", "nu"):
            raise ValueError(f"risk={risk!r} is for two classes and y has {len(classes)}. Use risk='pnu' or 'pn'.")
        return risk
    missing = " and ".join(WORDS[group] for group in NEEDS[risk] if group not in present)
    fitting = [name for name in ("pn", "pu", "nu") if set(NEEDS[name]) <= present]
    if not fitting:
        found = ", ".join(
            f"{count:g} of class {name!r}" for name, count in zip(classes.tolist(), samples.counts, strict=True)
        )
        raise ValueError(
            f"risk={risk!r} needs {missing} rows, and no other risk can be used either: there is one class alone "
            f"({found}, no unlabelled rows). Add rows of the other class or unlabelled rows; if a value in y marks "
            "unlabelled rows, pass it as unlabeled=..."
        )
    if mix is not None:
        raise ValueError(
            f"mix={mix!r} needs {missing} rows, and there are none. Use risk={fitting[0]!r} and leave mix out."
        )
    if risk in ("pu", "nu") and "U" not in present:
        hint = " No row of y is missing or marked: is unlabeled=... right?"
    else:
        hint = ""
    warnings.warn(
        f"There are no {missing} rows, so the {fitting[0].upper()} risk is used instead of {risk.upper()}.{hint}",
        UserWarning,
        stacklevel=4,
    )
    return fitting[0]


def refuse_if_too_large(needed: int, what: str, basis: Basis) -> None:
    """Raise MemoryError before the fit starts if it needs more than 80 % of the free memory."""
    if needed <= ALWAYS_FREE:
        return
    memory = free_memory()
    if needed > 0.8 * memory:
        raise MemoryError(
            f"{what} need about {needed / 2**30:.1f} GiB and "
            f"{memory / 2**30:.1f} GiB are free. {basis.remedy}, or fit from files in one pass."
        )
