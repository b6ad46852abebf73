"""The report is complete, escaped, self-contained, small, and says no more than the evidence."""

import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise

import numpy as np
import pytest
from markupsafe import escape
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from pnulearn import TableClassifier
from pnulearn.priors import PriorEstimate, after_random_labels
from pnulearn.report._figures import _fit_margins
from pnulearn.report._page import context, render
from pnulearn.tables._verdict import Concern

SECTIONS = ["mistakes", "columns", "line", "ablations", "rows", "label", "prior", "trust", "data", "search", "cost"]
FIGURES = [
    *("importance", "effect-1", "thresholds", "ablations", "prior", "over-prior", "scores", "reliability", "help"),
    "search",
]


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
    assert {*(f"{name}-section" for name in SECTIONS), *FIGURES} <= ids


def test_every_figure_has_a_table_below_it(page):
    names = [tag for tag, _ in page.tags if tag in ("figure", "table")]
    assert names[-1] == "table"
    assert all(names[i + 1] in ("table", "figure") for i, name in enumerate(names) if name == "figure")
    assert sum(before == after == "figure" for before, after in pairwise(names)) == 2  # effects share a table


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


@pytest.mark.thorough
def test_many_columns_still_make_a_small_page(tmp_path):
    rng = np.random.default_rng(0)
    names = [f"a rather long name of column number {j}" for j in range(200)]
    rows = [
        ",".join([*(f"{v:.3f}" for v in row), "ab"[i % 2] if i < 40 else ""])
        for i, row in enumerate(rng.normal(size=(300, 200)))
    ]
    path = tmp_path / "wide.csv"
    path.write_text(",".join([*names, "y"]) + "\n" + "\n".join(rows))
    TableClassifier(cv=2, kernel="linear", prior=0.5).fit(path, "y").report(tmp_path / "r.html")
    assert (tmp_path / "r.html").stat().st_size < 500_000


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


def test_the_verdict_stands_first_and_what_to_do_about_it_next(findings, text):
    """What speaks against the model, with the remedy, comes before any number of the page's own."""
    doubt = Concern("doubt", "<b>Something</b> is wrong.", "Do <i>this</i>.", grave=True)
    other = Concern("other", "Another thing.", "Do that.")
    changed = replace(findings.verdict, headline="Do not rely on it.", concerns=(doubt, other))
    page = render(replace(findings, verdict=changed))
    places = [
        page.index(words) for words in ("Do not rely on it.", "Do &lt;i&gt;this&lt;/i&gt;.", "Another thing. Do that.")
    ]
    assert places == sorted(places)
    assert places[-1] < page.index('<dl class="cards">') < page.index("<main>")
    assert 'class="lead grave"' in page
    assert escape(findings.verdict.headline) in text


def test_the_numbers_of_the_verdict_are_those_of_the_sections(findings, page):
    """One question has one answer: a thousand rows, the classes and the line at one half agree."""
    counts = context(findings)["counts"]
    assert counts["found"] + counts["false_alarms"] == pytest.approx(counts["called"])
    assert sum(counts[name] for name in ("found", "false_alarms", "missed", "rest")) == pytest.approx(1000)
    half = next(line for line in findings.thresholds if line.threshold == 0.5)
    quality = findings.verdict.quality
    for at_half, told in ((half.precision, quality.precision[1]), (half.recall, quality.recall[1])):
        assert [at_half.value, at_half.low, at_half.high] == pytest.approx([told.value, told.low, told.high])
    assert half.called == pytest.approx(counts["called"])


@pytest.mark.parametrize("names", [["a", "b"], ["a rather long name of a column", "b"]])
def test_no_text_of_a_figure_is_cut(names):
    figure = Figure(figsize=(5.2, 2))
    FigureCanvasSVG(figure)
    axes = figure.subplots()
    axes.set_yticks([0, 1], names)
    axes.set_xlabel("the increase of an error rate when a column is shuffled")
    _fit_margins(figure)
    box = figure.dpi_scale_trans.inverted().transform_bbox(axes.get_tightbbox())
    assert min(box.x0, box.y0) > 0
    assert box.x1 < 5.2
    assert box.y1 < 2


def test_contents_lead_to_every_section(page):
    links = [attributes["href"] for tag, attributes in page.tags if tag == "a"]
    sections = [f"#{attributes['id']}" for tag, attributes in page.tags if tag == "section"]
    assert links == sections


def test_tables_are_folded_except_those_to_act_on(text):
    """Words come before tables; open are right and wrong by class, and the rows."""
    unfolded = re.sub(r"<details>.*?</details>", "", text, flags=re.DOTALL)
    assert unfolded.count("<table") == 4
    assert text.count("<table") > 12


@pytest.mark.thorough
def test_a_costly_prior_comes_with_what_would_narrow_it(findings):
    narrowing = after_random_labels(PriorEstimate.of_range(0.1, 0.7))
    costly = replace(narrowing, cost=0.03)
    assert str(costly) in render(replace(findings, narrowing=costly))
    assert str(costly) in render(replace(findings, narrowing=costly, over_prior=[]))  # one class without labels
    assert "15 rows labelled" not in render(replace(findings, narrowing=replace(narrowing, cost=0.004)))


def test_the_page_forbids_scripts_and_the_network_by_its_policy(text):
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
    assert policy is not None
    rules = dict(rule.strip().split(" ", 1) for rule in policy[1].split(";"))
    assert rules["default-src"] == "'none'"
    assert "script-src" not in rules  # so that the default holds
    assert text.index(policy[0]) < text.index("<style>")  # a policy binds only what comes after it


def test_a_class_that_is_never_predicted_has_no_precision(findings):
    quality = findings.verdict.quality
    never = replace(findings.verdict, quality=replace(quality, called=(1.0, 0.0)))
    section = render(replace(findings, verdict=never)).partition('id="mistakes-section"')[2].partition("</table>")[0]
    row = section.partition("<tbody>")[2].partition("</tr>")[0]
    assert row.count("<td>–</td>") == 2  # precision and lift


def test_the_table_of_thresholds_begins_with_every_row_and_ends_with_none(text):
    table = text.partition('aria-label="Thresholds"')[2].partition("</table>")[0]
    assert re.findall(r'<tr><td class="n">(.*?)</td>', table)[:: len(re.findall("<tr><td", table)) - 1] == [
        "every row",
        "no row",
    ]
