"""What held-out scores say about a model that was learnt from more rows than those that were judged."""

from dataclasses import astuple

import numpy as np
from numpy.testing import assert_allclose

from pnulearn import PNUClassifier
from pnulearn._learning.result import estimate_model_risk, held_out_risk
from pnulearn._problem.samples import Samples
from pnulearn.metrics import pnu_risk
from pnulearn.priors import PriorEstimate

PRIOR = PriorEstimate.known(0.4)
RNG = np.random.default_rng(0)
CODES = np.repeat([1, 0, -1], [10, 10, 40])
SCORES = RNG.normal(size=60) + np.where(CODES == 1, 1.0, 0.0)
ROWS = Samples(SCORES[:, None], CODES, RNG.integers(1, 4, 60).astype(float))


def test_a_model_that_decides_as_those_judged_keeps_its_interval():
    assert estimate_model_risk(ROWS, SCORES[None], lambda X: X.T, PRIOR) == held_out_risk(ROWS, SCORES, PRIOR)


def test_decisions_that_changed_widen_the_interval_by_their_weight_and_leave_the_value():
    risk, plain = (
        estimate_model_risk(ROWS, SCORES[None], lambda X: X.T - 0.5, PRIOR),
        held_out_risk(ROWS, SCORES, PRIOR),
    )
    between = (SCORES > 0) & (SCORES <= 0.5) & (CODES == -1)
    changed = ROWS.weight[between].sum() / ROWS.weight[CODES == -1].sum()
    assert risk.value == plain.value
    assert_allclose(risk.stderr**2 - plain.stderr**2, changed**2 / 3)
    reach = (risk.high - risk.value) ** 2 - (plain.high - plain.value) ** 2
    assert_allclose(np.sqrt(reach), 1.959964 * changed / np.sqrt(3), rtol=1e-6)


def test_a_model_judged_itself_on_held_out_rows_has_the_interval_of_pnu_risk(gaussians):
    X, y = gaussians(seed=1)
    X_val, y_val = gaussians(seed=2)
    model = PNUClassifier(prior=0.4, random_state=0).fit(X, y, X_val=X_val, y_val=y_val)
    expected = pnu_risk(y_val, model.decision_function(X_val), prior=0.4)
    assert_allclose(astuple(model.risk_), astuple(expected))
