"""Every fact a loss declares is checked on a grid of margins."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pnulearn.losses import LOSSES, Loss, Ramp, Squared, TruncatedSquared, ZeroOne, as_loss

MARGINS = np.linspace(-4, 4, 1601) + 1e-4  # no point on a kink
EVERY_LOSS = pytest.mark.parametrize("loss", LOSSES.values(), ids=str)


@EVERY_LOSS
def test_gap_is_what_the_loss_declares(loss):
    difference, total = loss(MARGINS) - loss(-MARGINS), loss(MARGINS) + loss(-MARGINS)
    is_linear = np.allclose(difference, -MARGINS)
    is_constant = np.allclose(total, 1)
    assert loss.gap == ("linear" if is_linear else "constant" if is_constant else None)


@EVERY_LOSS
def test_derivative_is_the_numerical_one(loss):
    if isinstance(loss, ZeroOne):
        with pytest.raises(TypeError, match="no useful derivative"):
            loss.derivative(MARGINS)
        return
    step = 1e-6
    assert_allclose(loss.derivative(MARGINS), (loss(MARGINS + step) - loss(MARGINS - step)) / (2 * step), atol=1e-6)


@EVERY_LOSS
def test_curvature_is_the_numerical_one(loss):
    if not loss.smooth:
        with pytest.raises(TypeError):
            loss.curvature(MARGINS)
        return
    step = 1e-5
    numerical = (loss.derivative(MARGINS + step) - loss.derivative(MARGINS - step)) / (2 * step)
    assert_allclose(loss.curvature(MARGINS), numerical, atol=1e-6)


@EVERY_LOSS
def test_convexity_is_what_the_loss_declares(loss):
    second_difference = loss(MARGINS[2:]) - 2 * loss(MARGINS[1:-1]) + loss(MARGINS[:-2])
    assert loss.convex == bool((second_difference > -1e-12).all())


@EVERY_LOSS
def test_lipschitz_constant_is_the_smallest(loss):
    slopes = np.abs(np.diff(loss(MARGINS)) / np.diff(MARGINS))
    if loss.lipschitz is None:
        assert slopes.max() > 1
    else:
        assert slopes.max() <= loss.lipschitz + 1e-9
        assert slopes.max() > 0.95 * loss.lipschitz


@EVERY_LOSS
def test_zero_one_factor_is_the_smallest(loss):
    zero_one = ZeroOne()(MARGINS)
    assert (zero_one <= loss.zero_one_factor * loss(MARGINS) + 1e-9).all()
    assert (zero_one > 0.99 * loss.zero_one_factor * loss(MARGINS))[zero_one > 0].any()


@EVERY_LOSS
def test_quadratic_coefficients_reproduce_the_loss(loss):
    if loss.quadratic is None:
        assert not np.allclose(np.diff(loss(MARGINS), 3), 0, atol=1e-9) or not loss.smooth
    else:
        assert_allclose(np.polyval(loss.quadratic, MARGINS), loss(MARGINS))


def test_ramp_is_half_the_difference_of_two_hinges():
    hinges = np.maximum(0, 1 - MARGINS) - np.maximum(0, -1 - MARGINS)
    assert_allclose(Ramp()(MARGINS), hinges / 2)


def test_truncated_squared_lies_below_squared():
    assert (TruncatedSquared()(MARGINS) <= Squared()(MARGINS) + 1e-15).all()
    assert TruncatedSquared()(0.0) == 0.25


def test_losses_stay_finite_far_out():
    for loss in LOSSES.values():
        assert np.isfinite(loss([-1e6, 1e6])).all()


def test_unknown_names_are_answered_with_the_known_ones():
    with pytest.raises(ValueError, match=r"'squared'.*got 'square'"):
        as_loss("square")


def test_a_loss_of_ones_own_is_taken_as_it_is():
    class Quartic(Loss):
        name = "quartic"

        def __call__(self, margin):
            return (1 - np.asarray(margin)) ** 4

    loss = Quartic()
    assert as_loss(loss) is loss
