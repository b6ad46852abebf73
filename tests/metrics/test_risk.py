"""The risk of any model's scores: value, standard error, interval and mix."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pnulearn.losses import LOSSES
from pnulearn.metrics import estimate_risk, pnu_risk
from pnulearn.risks import empirical_risk, pnu

PRIOR = 0.3


def draw(n_positive, n_negative, n_unlabeled, seed=0):
    """Scores on P, N and U of a linear model on two overlapping Gaussians."""
    rng = np.random.default_rng(seed)
    positive = rng.random(n_unlabeled) < PRIOR
    return (
        rng.normal(0.9, 1, n_positive),
        rng.normal(-0.7, 1, n_negative),
        np.where(positive, rng.normal(0.9, 1, n_unlabeled), rng.normal(-0.7, 1, n_unlabeled)),
    )


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("mix", [-1, -0.4, 0, 0.7, 1])
def test_value_is_the_empirical_risk_of_the_table(loss, mix):
    scores = draw(12, 15, 40)
    estimate = estimate_risk(scores, PRIOR, mix, loss)
    assert_allclose(estimate.value, empirical_risk(pnu(PRIOR, mix), loss, scores))
    assert estimate.low < estimate.value < estimate.high


@pytest.mark.parametrize("loss", LOSSES)
def test_the_optimal_mix_has_the_least_standard_error_of_all(loss):
    scores = draw(400, 300, 600)
    best = estimate_risk(scores, PRIOR, "optimal", loss)
    others = [estimate_risk(scores, PRIOR, mix, loss).stderr for mix in np.linspace(-1, 1, 81)]
    assert best.stderr <= min(others) * (1 + 1e-3)


def test_arrays_and_labels_give_the_same_answer():
    scores = draw(12, 15, 40)
    y = np.repeat([1.0, 0.0, np.nan], [12, 15, 40])
    shuffled = np.random.default_rng(1).permutation(67)
    apart = estimate_risk(scores, PRIOR)
    together = pnu_risk(y[shuffled], np.concatenate(scores)[shuffled] + 0.5, prior=PRIOR, threshold=0.5)
    assert_allclose([apart.value, apart.stderr, apart.low], [together.value, together.stderr, together.low])
