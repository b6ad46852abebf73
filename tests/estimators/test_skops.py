"""skops writes and reads our estimators: nothing in them that only a pickle could hold."""

import numpy as np
import pytest

from pnulearn import PNUClassifier

sio = pytest.importorskip("skops.io")


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_a_round_trip_through_skops_gives_the_same_model(kernel):
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = np.where(np.arange(60) < 30, np.where(X[:, 0] > 0, "spam", "ham"), None)
    model = PNUClassifier(kernel=kernel, prior=0.5, cv=3, random_state=0).fit(X, y)
    content = sio.dumps(model)
    unknown = sio.get_untrusted_types(data=content)
    assert all(name.startswith("pnulearn.") for name in unknown)
    again = sio.loads(content, trusted=unknown)
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert again.risk_ == model.risk_
