"""Margin losses, with the properties that determine how they are trained.

A loss is a function of the margin m = y g(x). Risks use its values. A solver is chosen by `quadratic`, `smooth`,
`kinks` and `gap`, probabilities are computed according to `link`, and the theory uses `lipschitz` and
`zero_one_factor`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from pnulearn._arrays import AnyArray

Gap = Literal["linear", "constant"]
Link = Literal["identity", "logit"]


class Loss(ABC):
    """A margin loss ℓ(m) and its properties.

    Attributes
    ----------
    gap
        "linear" if ℓ(m) − ℓ(−m) = −m (then every risk of a convex loss is convex), "constant" if ℓ(m) + ℓ(−m) = 1 (then
        PNU and PUNU are the same family), None otherwise.
    quadratic
        (a, b, c) if ℓ(m) = a m² + b m + c, else None.
    kinks
        pairs (t, a) in decreasing order of t if ℓ(m) = Σ a max(0, t − m), else None.
    link
        relation between P = P(+|x) and the score of least expected loss: "identity" if the score is 2P − 1, "logit" if
        it is the log-odds, None otherwise (probabilities are then calibrated).
    convex, smooth
        whether ℓ is convex; whether ℓ′ is continuous.
    lipschitz
        the Lipschitz constant of ℓ, or None.
    zero_one_factor
        the smallest c with zero-one loss ≤ c ℓ, or None.
    """

    name: ClassVar[str]
    gap: ClassVar[Gap | None] = None
    quadratic: ClassVar[tuple[float, float, float] | None] = None
    kinks: ClassVar[tuple[tuple[float, float], ...] | None] = None
    link: ClassVar[Link | None] = None
    convex: ClassVar[bool] = False
    smooth: ClassVar[bool] = False
    lipschitz: ClassVar[float | None] = None
    zero_one_factor: ClassVar[float | None] = None

    @abstractmethod
    def __call__(self, margin: ArrayLike) -> AnyArray:
        """ℓ(m), elementwise."""

    def derivative(self, margin: ArrayLike) -> AnyArray:
        """ℓ′(m), elementwise; at a kink, a value between the one-sided slopes.

        Parameters
        ----------
        margin : array
            m = y g(x).
        """
        raise TypeError(f"The {self.name} loss has no useful derivative. Losses that can be trained: {trainable()}.")

    def curvature(self, margin: ArrayLike) -> AnyArray:
        """ℓ″(m), elementwise, for smooth losses.

        Parameters
        ----------
        margin : array
            m = y g(x).
        """
        raise TypeError(f"The {self.name} loss has no second derivative.")

    def class_losses(self, scores: ArrayLike) -> tuple[AnyArray, AnyArray]:
        """Losses of scores g if the row is positive, ℓ(g), and if it is negative, ℓ(−g).

        Parameters
        ----------
        scores : array
            g(x); a row is predicted positive if its score is above 0.
        """
        scores = np.asarray(scores, dtype=float)
        return self(scores), self(-scores)

    @property
    def trainable(self) -> bool:
        """Whether there is a solver for this loss."""
        return bool(self.quadratic or self.smooth or self.kinks)

    @property
    def one_pass(self) -> bool:
        """Whether training needs only sums over rows, as for (1 − m)² / 4 up to a constant."""
        return self.quadratic is not None and self.quadratic[:2] == (1 / 4, -1 / 2)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


def _sigmoid(margin: AnyArray) -> AnyArray:
    """1 / (1 + exp(−m))."""
    value: AnyArray = expit(margin)
    return value


class ZeroOne(Loss):
    """(1 − sign m) / 2: 1 for an error, 0 otherwise.

    A margin of 0 does not tell the class and counts 1/2. In all risks a score of 0 is predicted negative.

    >>> ZeroOne()([-2.0, 0.0, 2.0]).tolist()
    [1.0, 0.5, 0.0]
    >>> [losses.tolist() for losses in ZeroOne().class_losses([-2.0, 0.0, 2.0])]
    [[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """

    name, gap, zero_one_factor = "zero_one", "constant", 1.0

    def __call__(self, margin: ArrayLike) -> AnyArray:
        return (1 - np.sign(margin)) / 2

    def class_losses(self, scores: ArrayLike) -> tuple[AnyArray, AnyArray]:
        positive = np.asarray(scores, dtype=float) > 0
        return 1.0 - positive, 1.0 * positive


class Hinge(Loss):
    """max(0, 1 − m). Its PU and NU risks are not convex, so it is trained on the PN risk only."""

    name, convex, lipschitz, zero_one_factor = "hinge", True, 1.0, 1.0
    kinks = ((1.0, 1.0),)

    def __call__(self, margin: ArrayLike) -> AnyArray:
        value: AnyArray = np.maximum(0, 1 - np.asarray(margin))
        return value

    def derivative(self, margin: ArrayLike) -> AnyArray:
        return -1.0 * (np.asarray(margin) < 1)


class Squared(Loss):
    """(1 − m)² / 4. Its regularised risk has a closed-form minimiser.

    >>> float(Squared()(1.0)), float(Squared()(-1.0))
    (0.0, 1.0)
    """

    name, gap, link, convex, smooth = "squared", "linear", "identity", True, True
    quadratic, zero_one_factor = (1 / 4, -1 / 2, 1 / 4), 4.0

    def __call__(self, margin: ArrayLike) -> AnyArray:
        return (1 - np.asarray(margin)) ** 2 / 4

    def derivative(self, margin: ArrayLike) -> AnyArray:
        return (np.asarray(margin) - 1) / 2

    def curvature(self, margin: ArrayLike) -> AnyArray:
        return np.full(np.shape(margin), 1 / 2)


class Logistic(Loss):
    """log(1 + exp(−m)). Smooth and convex; its scores are log-odds under the population's class prior."""

    name, gap, link, convex, smooth = "logistic", "linear", "logit", True, True
    lipschitz, zero_one_factor = 1.0, 1 / np.log(2)

    def __call__(self, margin: ArrayLike) -> AnyArray:
        value: AnyArray = np.logaddexp(0, -np.asarray(margin))
        return value

    def derivative(self, margin: ArrayLike) -> AnyArray:
        return -_sigmoid(-np.asarray(margin))

    def curvature(self, margin: ArrayLike) -> AnyArray:
        return _sigmoid(np.asarray(margin)) * _sigmoid(-np.asarray(margin))


class DoubleHinge(Loss):
    """max(−m, max(0, (1 − m) / 2)): a piecewise linear loss whose PU risk is convex."""

    name, gap, convex, lipschitz, zero_one_factor = "double_hinge", "linear", True, 1.0, 2.0
    kinks = ((1.0, 1 / 2), (-1.0, 1 / 2))

    def __call__(self, margin: ArrayLike) -> AnyArray:
        margin = np.asarray(margin)
        value: AnyArray = np.maximum(-margin, np.maximum(0, (1 - margin) / 2))
        return value

    def derivative(self, margin: ArrayLike) -> AnyArray:
        margin = np.asarray(margin)
        return -((margin < 1) * 0.5 + (margin < -1) * 0.5)


class Hyperbolic(Loss):
    """(√(1 + m²) − m) / 2: a smooth double hinge, asymptotically linear and solved by Newton's method.

    >>> Hyperbolic()([-0.75, 0.0, 0.75]).tolist()
    [1.0, 0.5, 0.25]
    """

    name, gap, convex, smooth, lipschitz, zero_one_factor = "hyperbolic", "linear", True, True, 1.0, 2.0

    def __call__(self, margin: ArrayLike) -> AnyArray:
        side: AnyArray = np.abs(margin)
        short: AnyArray = 1 / (np.hypot(1, side) + side) / 2  # avoids cancellation in √(1 + m²) − m
        return np.where(np.less(margin, 0), short + side, short)

    def derivative(self, margin: ArrayLike) -> AnyArray:
        return (np.asarray(margin) / np.hypot(1, margin) - 1) / 2

    def curvature(self, margin: ArrayLike) -> AnyArray:
        return np.hypot(1, margin) ** -3 / 2


class Ramp(Loss):
    """max(0, min(2, 1 − m)) / 2: bounded, hence robust to a few wrong labels.

    >>> Ramp()([-3.0, 0.0, 3.0]).tolist()
    [1.0, 0.5, 0.0]
    """

    name, gap, lipschitz, zero_one_factor = "ramp", "constant", 0.5, 2.0
    kinks = ((1.0, 1 / 2), (-1.0, -1 / 2))

    def __call__(self, margin: ArrayLike) -> AnyArray:
        value: AnyArray = np.clip(1 - np.asarray(margin), 0, 2) / 2
        return value

    def derivative(self, margin: ArrayLike) -> AnyArray:
        return -0.5 * (np.abs(margin) < 1)


class Sigmoid(Loss):
    """1 / (1 + exp(m)): a smooth version of the ramp loss."""

    name, gap, smooth, lipschitz, zero_one_factor = "sigmoid", "constant", True, 0.25, 2.0

    def __call__(self, margin: ArrayLike) -> AnyArray:
        return _sigmoid(-np.asarray(margin))

    def derivative(self, margin: ArrayLike) -> AnyArray:
        return -_sigmoid(np.asarray(margin)) * _sigmoid(-np.asarray(margin))

    def curvature(self, margin: ArrayLike) -> AnyArray:
        value = _sigmoid(-np.asarray(margin))
        bend: AnyArray = value * (1 - value) * (1 - 2 * value)
        return bend


class TruncatedSquared(Loss):
    """(1 − m)² / 4 with m clipped to [0, 1]: the bounded loss of Theorem 2, for evaluation only."""

    name, lipschitz, zero_one_factor = "truncated_squared", 0.5, 4.0

    def __call__(self, margin: ArrayLike) -> AnyArray:
        return (1 - np.clip(margin, 0, 1)) ** 2 / 4

    def derivative(self, margin: ArrayLike) -> AnyArray:
        margin = np.asarray(margin)
        return np.where(margin > 0, (np.minimum(margin, 1) - 1) / 2, 0.0)


LOSSES: dict[str, Loss] = {
    loss.name: loss
    for loss in (
        ZeroOne(),
        Hinge(),
        Squared(),
        Logistic(),
        DoubleHinge(),
        Hyperbolic(),
        Ramp(),
        Sigmoid(),
        TruncatedSquared(),
    )
}


def trainable() -> str:
    """The names that `PNUClassifier(loss=...)` accepts, for messages."""
    return ", ".join(repr(name) for name, loss in LOSSES.items() if loss.trainable)


def as_loss(loss: str | Loss) -> Loss:
    """The loss of that name, or the loss itself.

    Parameters
    ----------
    loss : str or Loss
        Name of a loss, or a `Loss`, which is returned unchanged.

    Examples
    --------
    >>> as_loss("squared")
    Squared()
    """
    if isinstance(loss, Loss):
        return loss
    if not isinstance(loss, str) or loss not in LOSSES:
        raise ValueError(f"loss must be one of {', '.join(map(repr, LOSSES))} or a Loss, got {loss!r}.")
    return LOSSES[loss]
