"""The report is complete, escaped, self-contained, small, and says no more than the evidence."""

import copy
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from pnulearn import PNUClassifier
from pnulearn.metrics.risk import estimate_risk
from pnulearn.priors import PriorEstimate, after_random_labels
from pnulearn.report import write_report
from pnulearn.report.page import render, verdict
from pnulearn.tables import read_table
from pnulearn.tables.model import fit_table

SECTIONS = ["data", "prior", "search", "validation", "help", "scores", "label", "reliability", "cost"]
FIGURES = ["prior", "over-prior", "search", "bandwidth", "validation", "help", "scores", "reliability"]


class Page(HTMLParser):
    """Tags with their attributes, text outside of styles, and where tables stand after figures."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.words, self.inside = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.inside.append(tag)

    def handle_endtag(self, tag):
        while self.inside and self.inside.pop() != tag:
            pass

    def handle_data(self, data):
        if "style" not in self.inside:
            self.words.append(data)


@pytest.fixture(scope="module")
def text(findings):
    return render(findings)


@pytest.fixture(scope="module")
def page(text):
    return Page(text)


def test_every_section_and_figure_is_there(page):
    ids = {attributes.get("id") for _, attributes in page.tags}
    assert {"data", *(f"{name}-section" for name in SECTIONS[1:]), *FIGURES} <= ids


def test_every_figure_has_a_table_below_it(page):
    names = [tag for tag, _ in page.tags if tag in ("figure", "table")]
    assert all(names[i + 1] == "table" for i, name in enumerate(names) if name == "figure")


def test_hostile_names_are_shown_as_text(page):
    assert not [tag for tag, _ in page.tags if tag in ("script", "img", "b", "i", "u")]
    words = "".join(page.words)
    for name in ("<script>alert('column')</script>", '<img src=x onerror="alert(1)">', "<b>yes</b>&amp;", "größe €"):
        assert name in words
    assert "<em>table.csv" in words


def test_the_page_needs_nothing_from_elsewhere(page):
    for _, attributes in page.tags:
        for name in ("src", "href", "xlink:href", "srcset", "data"):
            value = attributes.get(name) or "#"
            assert value.startswith(("#", "data:")), value
    assert not re.search(r"url\((?!#)|@import", "".join(attributes.get("style") or "" for _, attributes in page.tags))


def test_ids_are_unique_and_references_lead_somewhere(text):
    ids = re.findall(r'\bid="([^"]+)"', text)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'(?:href="|url\()#([^")]+)', text)) <= set(ids)


def test_two_reports_of_the_same_findings_are_equal(findings, text):
    assert render(findings) == text


def test_many_columns_still_make_a_small_page(tmp_path):
    rng = np.random.default_rng(0)
    names = [f"a rather long name of column number {j}" for j in range(200)]
    rows = [
        ",".join([*(f"{v:.3f}" for v in row), "ab"[i % 2] if i < 40 else ""])
        for i, row in enumerate(rng.normal(size=(300, 200)))
    ]
    path = tmp_path / "wide.csv"
    path.write_text(",".join([*names, "y"]) + "\n" + "\n".join(rows))
    write_report(fit_table(read_table(path), "y", cv=2, kernel="linear", prior=0.5), tmp_path / "r.html")
    assert (tmp_path / "r.html").stat().st_size < 500_000


def test_the_verdict_is_no_stronger_than_the_evidence(findings):
    def says(low, difference, high):
        changed = replace(findings.comparison, difference=difference, low=low, high=high)
        return verdict(replace(findings, comparison=changed))

    assert "chance alone could explain" in says(-0.05, -0.02, 0.01)
    assert "2.0 points lower" in says(-0.05, -0.02, 0.01)
    assert "more than chance explains" in says(-0.09, -0.05, -0.01)
    assert "5.0 points higher" in says(0.01, 0.05, 0.09)


def test_the_supervised_model_never_saw_the_unlabelled_rows(hostile, findings):
    """Fitted anew from the labelled rows alone, it has the error that the report gives it."""
    codes, classes = hostile.codes, hostile.model.classifier.classes_
    labeled = np.flatnonzero(codes >= 0)
    prior = hostile.model.classifier.prior_
    model = PNUClassifier("pn", prior=prior, cv=3, random_state=0, pos_label=classes[1])
    model.fit(hostile.X[labeled], classes[codes[labeled]])
    scores = model.decision_function(hostile.X)
    scores[labeled] = model.validation_scores_
    belief = hostile.model.classifier.prior_estimate_
    estimate = estimate_risk([scores[codes == k] for k in (1, 0, -1)], belief, findings.comparison.first.mix)
    assert findings.comparison.second.value == pytest.approx(estimate.value)


def test_the_error_over_the_prior_is_that_of_the_rates_that_agree_with_the_rows(hostile, findings):
    """On a grid of both rates, the likelihood of P, N and U is greatest where the report says."""
    codes, scores = hostile.codes, findings.scores
    wrong = [np.sum(scores[codes == 1] <= 0), np.sum(scores[codes == 0] > 0), np.sum(scores[codes == -1] > 0)]
    fnr, fpr = np.meshgrid(*2 * [np.linspace(0.001, 0.999, 999)])
    assert [point.level for point in findings.over_prior] == [0.05, 0.25, 0.5, 0.75, 0.95]
    for point in findings.over_prior[1:4]:
        shares = fnr, fpr, point.prior * (1 - fnr) + (1 - point.prior) * fpr
        sizes = [np.sum(codes == code) for code in (1, 0, -1)]
        logs = sum(k * np.log(s) + (n - k) * np.log(1 - s) for k, n, s in zip(wrong, sizes, shares, strict=True))
        best = np.unravel_index(logs.argmax(), logs.shape)
        assert point.error == pytest.approx(point.prior * fnr[best] + (1 - point.prior) * fpr[best], abs=0.02)


def test_rows_are_decided_otherwise_as_the_prior_moves_away_from_the_one_in_use(findings):
    low, _, middle, _, high = (point.changed for point in findings.over_prior)
    assert low >= middle <= high
    assert max(low, high) > 0


def test_what_is_wrong_with_the_prior_stands_before_the_error(hostile, findings):
    def page_with(estimate, doubt):
        classifier = copy.copy(hostile.model.classifier)
        classifier.prior_estimate_, classifier.prior_doubt_ = estimate, doubt
        fitted = replace(hostile, model=replace(hostile.model, classifier=classifier))
        return render(replace(findings, fitted=fitted))

    sure = page_with(PriorEstimate.of_range(0.3, 0.4), None)
    assert 'role="alert"' not in sure
    unsure = page_with(PriorEstimate.of_range(0.1, 0.6), "<b>doubt</b>")
    assert unsure.index("&lt;b&gt;doubt&lt;/b&gt;") < unsure.index("is expected to err")
    assert unsure.index("is hardly known: anything between 10% and 60%") < unsure.index("is expected to err")


def test_a_costly_prior_comes_with_what_would_narrow_it(findings):
    narrowing = after_random_labels(PriorEstimate.of_range(0.1, 0.7))
    costly = replace(narrowing, cost=0.03)
    assert str(costly) in render(replace(findings, narrowing=costly))
    assert str(costly) in render(replace(findings, narrowing=costly, over_prior=[]))  # one class without labels
    assert "15 rows labelled" not in render(replace(findings, narrowing=replace(narrowing, cost=0.004)))


def test_the_page_forbids_scripts_and_the_network_by_its_policy(findings):
    page = render(findings)
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    rules = dict(rule.strip().split(" ", 1) for rule in policy[1].split(";"))
    assert rules["default-src"] == "'none'"
    assert "script-src" not in rules  # so that the default holds
    assert page.index(policy[0]) < page.index("<style>")  # a policy binds only what comes after it
