"""What notebooks show: the same numbers as print, in a table, escaped."""

import re

import numpy as np

from pnulearn import PNUClassifier, advise, compare
from pnulearn._html import show_facts, show_rows


def cells(html):
    return re.findall(r"<td>(.*?)</td>", html)


def test_values_are_escaped():
    assert "<script>" not in show_facts("<script>", {"<script>": "<script>"})
    assert "<script>" not in show_rows("<script>", ["<script>"], [["<script>"]])


def test_risks_comparisons_advice_and_searches_have_views():
    rng = np.random.default_rng(0)
    positive = rng.random(150) < 0.4
    X = rng.normal(size=(150, 2)) + 2 * positive[:, None]
    y = np.where(np.arange(150) < 40, positive.astype(float), np.nan)
    model = PNUClassifier(prior=0.4, cv=3, random_state=0).fit(X, y)
    assert cells(model.risk_._repr_html_())[0] == f"{model.risk_.value:.4f}"
    assert cells(model.risk_._repr_html_())[-1] == f"{model.risk_.mix:.2f}"
    other = PNUClassifier("pn", prior=0.4, kernel="linear", cv=3, random_state=0).fit(X[:40], y[:40])
    comparison = compare(model, other, X, y, 0.4)
    assert f"{comparison.difference:+.4f}" in cells(comparison._repr_html_())
    assert str(comparison).partition(": ")[2] in comparison._repr_html_()
    shown = cells(model.search_._repr_html_())
    assert len(shown) == 10 * 7  # ten candidates, with columns given or as ranks
    assert shown[6] == f"{model.search_.weight.max():.3g}"
    assert "label next" in advise(20, 20, 110, 0.4)._repr_html_()
