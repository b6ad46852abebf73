"""What a notebook shows of a classifier."""

import numpy as np

from pnulearn import PNUClassifier


def test_a_fitted_classifier_shows_what_it_learnt():
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = np.array(["<b>", "no"], dtype=object)[(X[:, 0] > 0).astype(int)]
    y[30:] = None
    model = PNUClassifier(kernel="linear", prior=0.5, random_state=0)
    assert "learnt" not in model._repr_mimebundle_()["text/html"]
    model.fit(X, y)
    for html in (model._repr_html_(), model._repr_mimebundle_()["text/html"]):
        table = html[html.rindex("<table") :]
        assert "&lt;b&gt;, no" in table
        assert "<b>" not in table
        assert "validation error" in table
        assert "bandwidth" not in table
