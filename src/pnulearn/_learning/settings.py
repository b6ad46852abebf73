"""The parameters of a classifier, checked and resolved: all that learning has to know of them."""

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

AUTO = "auto"  # of cv: leave one row out after the other where that has a closed form, else FOLDS folds
FOLDS = 5
CHOICES = {
    "risk": ("pnu", "punu", "pn", "pu", "nu"),
    "kernel": tuple(KERNELS),
    "columns": tuple(COLUMNS),
    "selection": ("average", "best"),
    "tie_break": ("risk", "first"),
}
# Of the default mixes and alphas, where models are solved one by one: five mixes in the middle of a fifth of them each,
# since pure PU and NU would stand for more than themselves, and every second alpha.
COARSE = slice(2, None, 4), slice(None, None, 2)
NEEDS = {"pn": "PN", "pu": "PU", "nu": "NU", "punu": "PNU", "pnu": "PNU"}
WORDS = {"P": "positive", "N": "negative", "U": "unlabelled"}
ALWAYS_FREE = 2**25  # bytes that are not worth asking for: 32 MB


@dataclass(frozen=True, eq=False)
class Settings:
    """The parameters of `PNUClassifier`, with the loss, the penalties and the seed resolved.

    They are plain values that can be sent elsewhere; whoever learns from them knows no classifier.
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
        """From `get_params(deep=False)`; a seed that is given is used instead of drawing one from random_state.

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
        """With a coarse grid of mixes and alphas where every model of it is solved on its own.

        Neighbours are much alike and share their weight, so that the average of an eighth of them is as good
        (results/coarse-grid.md). Whoever names a mix or an alpha, or asks for the best candidate, gets the whole grid.
        """
        mixes = Mixes.of(risk, self.mix).values
        if not self.thins or len(mixes) == 1:
            return self
        return replace(self, mix=mixes[COARSE[0]], alphas=self.alphas[COARSE[1]], thins=False)

    @property
    def leaves_one_out(self) -> bool:
        """Whether rows are to be left out one by one where that has a closed form."""
        return isinstance(self.cv, str)

    @property
    def counts_folds(self) -> bool:
        """Whether rows are to be dealt into folds here, rather than by a splitter or pairs of row numbers."""
        return isinstance(self.cv, str | numbers.Integral)

    @property
    def n_folds(self) -> int:
        """The number of folds where rows are dealt into folds."""
        return FOLDS if isinstance(self.cv, str) else int(self.cv)

    @property
    def folds(self) -> Any:
        """The number of folds, or what was given instead of one."""
        return self.n_folds if self.counts_folds else self.cv

    def refuse_beyond_one_pass(self) -> None:
        """Refuse what cannot be learnt from sums."""
        if not self.loss.one_pass:
            raise ValueError(
                f"loss={self.loss.name!r} needs all rows at once. In one pass only loss='squared' can be learnt."
            )
        if self.costs is not None:
            raise ValueError("costs need all rows at once: leave them out in one pass, and choose a threshold instead.")
        if not self.counts_folds:
            raise ValueError(f"In one pass cv is a number of folds, at least 2; got {self.cv!r}.")
        if isinstance(self.centers, str) and self.centers == "all":
            raise ValueError("centers='all' needs all rows at once. Pass a number, e.g. centers=500, or an array.")
        refuse_ranks_in_one_pass(self.columns)


def refuse_ranks_in_one_pass(columns: str) -> None:
    """Ranks cannot be added up."""
    if columns != GIVEN:
        raise ValueError(
            f"columns={columns!r} needs all rows at once, to rank them. To learn batch by batch or from files pass "
            "columns='given', and bring skewed columns to a common scale before, e.g. by their logarithms."
        )


def _check_parameters(parameters: Mapping[str, Any]) -> None:
    """Refuse parameters that cannot mean anything, each with what would."""
    for name, allowed in CHOICES.items():
        if not isinstance(parameters[name], str) or parameters[name] not in allowed:
            raise ValueError(f"{name} must be one of {', '.join(map(repr, allowed))}, got {parameters[name]!r}.")
    if parameters["columns"] != GIVEN and not KERNELS[parameters["kernel"]].has_bandwidth:
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
    """What is neither a word nor a whole number must be a table of numbers; its shape is checked against X."""
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
    """The risk asked for, or the one that the rows at hand allow, with a warning that says so."""
    present = {"U"} if len(samples.unlabeled) else set()
    if samples.n_classes > 2:
        present |= {"P", "N"}  # which stand for all classes
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
            f"risk={risk!r} needs {missing} rows, and nothing else can be learnt either: one class alone ({found}, no "
            "unlabelled rows) does not make a classifier. Add rows of the other class or unlabelled rows; if a value "
            "in y marks unlabelled rows, name it with unlabeled=..."
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
    """Stop before any work rather than in the middle of it, when memory is exhausted."""
    if needed <= ALWAYS_FREE:
        return
    memory = free_memory()
    if needed > 0.8 * memory:
        raise MemoryError(
            f"{what} need about {needed / 2**30:.1f} GiB and "
            f"{memory / 2**30:.1f} GiB are free. {basis.remedy}, or fit from files in one pass."
        )
