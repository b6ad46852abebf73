"""The log of draws and answers, in the order of the draws, and labels that existed before."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pnulearn._arrays import AnyArray
from pnulearn._problem.labels import UNLABELED, decode_labels, is_missing

# What was asked and what was answered, in the order in which rows were drawn.

PENDING, DONT_KNOW = -1, -2
RANDOM = "random"
EARLIER = "earlier"  # in a journal: marks draws from the table as it was before it was changed
MOST = 1e300  # of a number in a journal: what is larger is no count, share or probability


@dataclass(frozen=True)
class Draw:
    """A row that was chosen to be labelled, with its sampling probability.

    Parameters
    ----------
    number : int
        The place of the draw among all draws, from 0 on.
    row : int
        The row's number in the table.
    probability : float
        Probability of this row among all remaining rows under the whole mixture.
    n_left : int
        Rows that were left to choose from, this one included.
    reason : str
        The part of the mixture that chose it; "random" if every row had the same chance.
    """

    number: int
    row: int
    probability: float
    n_left: int
    reason: str = RANDOM

    @property
    def weight(self) -> float:
        """Inverse-probability weight relative to uniform sampling: 1 / (n_left probability)."""
        return 1 / (self.n_left * self.probability) if self.probability else np.inf


@dataclass
class AnswerLog:
    """Draws and their answers: codes of classes, or PENDING or DONT_KNOW.

    Parameters
    ----------
    draws : list of Draw
        In their order.
    codes : list of int
        The answers.
    """

    draws: list[Draw] = field(default_factory=list)
    codes: list[int] = field(default_factory=list)

    def add(self, draw: Draw, code: int = PENDING) -> None:
        """Enter a draw.

        Parameters
        ----------
        draw : Draw
            The next one.
        code : int
            Its answer, if that is known already.
        """
        self.draws.append(draw)
        self.codes.append(code)

    @property
    def pending(self) -> list[int]:
        """Numbers of draws that wait for an answer."""
        return [number for number, code in enumerate(self.codes) if code == PENDING]

    @property
    def answered(self) -> AnyArray:
        """Numbers of draws that have a class."""
        return np.flatnonzero(np.array(self.codes, dtype=int) >= 0)

    def sample(self, unknown: Iterable[int] = ()) -> Sample:
        """The draws that have a class, as arrays.

        Parameters
        ----------
        unknown : iterable of int
            Numbers of pending draws that are included too, with PENDING as their code.
        """
        numbers = np.union1d(self.answered, np.array([*unknown], dtype=int))
        chosen = [self.draws[number] for number in numbers]
        return Sample(
            np.array([draw.row for draw in chosen], dtype=int),
            np.array([self.codes[number] for number in numbers], dtype=int),
            np.array([draw.weight for draw in chosen]),
            np.array([draw.n_left for draw in chosen], dtype=float),
        )


@dataclass(frozen=True)
class Sample:
    """Rows with their classes, in the order of their draws.

    Parameters
    ----------
    rows : array of int
        Row numbers.
    codes : array of int
        Their classes; PENDING for rows that were put off, if these are included.
    weight : array
        1 / (n_left probability) of every draw.
    n_left : array
        Rows that were left at every draw.
    """

    rows: AnyArray
    codes: AnyArray
    weight: AnyArray
    n_left: AnyArray

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, some: AnyArray) -> Sample:
        return Sample(self.rows[some], self.codes[some], self.weight[some], self.n_left[some])

    @property
    def is_known(self) -> AnyArray:
        """Whether the class of each row is known."""
        return self.codes >= 0

    @property
    def training_weight(self) -> AnyArray:
        """Weights that make the training risk unbiased for all rows (Farquhar, Gal, Rainforth, 2021, "LURE").

        The m-th of M draws from N rows weighs 1 + (N − M) / (N − m) (w − 1), w being `weight`: one each if all were
        drawn at random, and one each again when every row has been labelled. Where rows were added to the table since
        then, the factor before (w − 1) stays at most one.

        >>> Sample(np.arange(2), np.zeros(2, int), np.array([1.0, 1.0]), np.array([9.0, 8.0])).training_weight
        array([1., 1.])
        """
        if not len(self):
            return np.zeros(0)
        left_at_end = self.n_left[-1] - 1
        return 1 + np.minimum(left_at_end / np.maximum(self.n_left - 1, 1), 1) * (self.weight - 1)


def draw_event(draw: Draw) -> dict[str, Any]:
    """A draw as a line of the journal."""
    return {
        "event": "draw",
        "draw": draw.number,
        "row": draw.row,
        "probability": draw.probability,
        "n_left": draw.n_left,
        "reason": draw.reason,
    }


def read_draw(event: Mapping[str, Any]) -> Draw:
    """The draw in a line of the journal; a `ValueError` says why there is none."""
    draw = Draw(
        read_whole(event, "draw"),
        read_whole(event, "row"),
        read_number(event, "probability"),
        read_whole(event, "n_left"),
        read_text(event, "reason"),
    )
    if not 0 < draw.probability <= 1:
        raise ValueError(f"its probability is {draw.probability}, which does not lie above 0 and up to 1")
    return draw


def read_whole(event: Mapping[str, Any], name: str) -> int:
    """A whole number in a line of the journal."""
    value = event.get(name)
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError(f"its {name} is {value!r}, not a whole number")
    return value


def read_number(event: Mapping[str, Any], name: str) -> float:
    """A finite number in a line of the journal."""
    value = event.get(name)
    if not isinstance(value, int | float) or isinstance(value, bool) or not abs(value) < MOST:
        raise ValueError(f"its {name} is {value!r}, not a number")
    return float(value)


def read_text(event: Mapping[str, Any], name: str, default: str | None = None) -> str:
    """A text in a line of the journal."""
    value = event.get(name, default)
    if not isinstance(value, str):
        raise ValueError(f"its {name} is {value!r}, not a text")
    return value


# Labels that were there before the first question.


def read_given(y: ArrayLike | None, classes: Sequence[Hashable] | None, n_rows: int) -> tuple[list[Hashable], AnyArray]:
    """Class names, and the code of every row, −1 where there is no label."""
    if classes is not None and len(set(classes)) < max(2, len(classes)):
        raise ValueError(f"Two different classes or more are needed, got {list(classes)}.")
    if y is None or all(is_missing(value) for value in np.asarray(y, dtype=object).ravel()):
        if classes is None:
            raise ValueError("Without labels the classes are unknown: pass them, e.g. classes=['no', 'yes'].")
        return list(classes), np.full(n_rows, UNLABELED)
    labels = decode_labels(y, classes=None if classes is None else np.array(list(classes)))
    if len(labels.codes) != n_rows:
        raise ValueError(f"X has {n_rows} rows and y {len(labels.codes)}: they must be as many.")
    return labels.classes.tolist(), labels.codes


def as_draws(given: AnyArray, seed: int) -> Iterator[tuple[Draw, int]]:
    """Labels of rows drawn at random, as draws in a pseudo-random order independent of the labels, with their codes."""
    rows = np.random.default_rng([seed, 2**31]).permutation(np.flatnonzero(given != UNLABELED))
    for number, row in enumerate(rows):
        n_left = len(given) - number
        yield Draw(number, int(row), 1 / n_left, n_left), int(given[row])
