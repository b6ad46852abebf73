"""The report in a real browser, where one is installed; nothing is installed or downloaded here."""

import numpy as np
import pandas as pd
import pytest

from pnulearn.report._judging import render_judgment
from pnulearn.report._page import render
from pnulearn.tables import judge_table

WIDTHS, SCHEMES = (390, 1280), ("light", "dark")

pytestmark = pytest.mark.thorough


@pytest.fixture(scope="module")
def address(findings, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(render(findings), encoding="utf-8")
    return path.as_uri()


@pytest.fixture
def opened(browser, address):
    """Opens the page as asked, and tells of any trouble at the end."""
    trouble, requests, contexts = [], [], []

    def open_page(width=1280, scheme="light", media="screen"):
        context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        page.emulate_media(media=media, color_scheme=scheme)
        page.on("console", lambda message: trouble.append(message.text))
        page.on("pageerror", lambda error: trouble.append(str(error)))
        page.on("dialog", lambda dialog: trouble.append(dialog.message))
        page.on("request", lambda request: requests.append(request.url))
        page.goto(address)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert trouble == []
    assert set(requests) == {address}


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_the_report_fits_the_screen_and_its_colours(opened, width, scheme):
    page = opened(width, scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    boxes = page.evaluate("[...document.querySelectorAll('figure svg')].map(s => s.getBoundingClientRect().toJSON())")
    assert len(boxes) >= 11
    assert all(box["height"] > 60 and box["width"] > 200 for box in boxes)
    ink, paper = page.evaluate(
        "[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]"
    )
    assert (brightness(ink) < brightness(paper)) == (scheme == "light")


@pytest.fixture
def axe():
    return pytest.importorskip("axe_playwright_python.sync_playwright")


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_axe_finds_nothing(axe, opened, width, scheme):
    """With every table unfolded, so that nothing is hidden from it."""
    page = opened(width, scheme)
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    found = axe.Axe().run(page).response
    assert [(one["id"], one["impact"], one["nodes"][0]["html"]) for one in found["violations"]] == []
    assert len(found["passes"]) > 20


def test_the_price_of_a_miss_chooses_the_line(opened):
    page = opened()
    shown = "[...document.querySelectorAll('.prices p')].filter(p => p.offsetHeight).map(p => p.className)"
    assert page.evaluate(shown) == ["price-1"]
    page.get_by_label("10 false alarms", exact=True).check(force=True)
    assert page.evaluate(shown) == ["price-10"]
    page.keyboard.press("ArrowRight")
    assert page.evaluate(shown) == ["price-20"]


def test_print_shows_what_is_folded_on_the_screen(opened):
    tables = "[...document.querySelectorAll('details table')]"
    seen = f"{tables}.filter(table => table.checkVisibility()).length"
    assert opened(scheme="dark").evaluate(seen) == 0
    page = opened(scheme="dark", media="print")
    assert page.evaluate(f"{tables}.length") == page.evaluate(seen) > 10
    assert brightness(page.evaluate("getComputedStyle(document.body).color")) == 0  # black, whatever the screen
    assert len(page.pdf()) > 50_000


def brightness(color):
    return sum(map(int, color.removeprefix("rgb(").removesuffix(")").split(",")))


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    """A page about answers with long and hostile texts."""
    rng = np.random.default_rng(0)
    good = rng.random(400) < 0.7
    verdict = np.where(rng.random(400) < 0.85, good, ~good)
    rows = {
        "system": rng.choice(["A", "B", "a rather long name of a system " * 3], 400),
        "answer": ["<img src=x onerror=alert(1)> " + "word " * 80] * 400,
        "human": np.where(rng.random(400) < 0.4, np.where(good, "good", "bad"), None),
        "verdict": np.where(verdict, "pass", "fail"),
    }
    path = tmp_path_factory.mktemp("judged") / "page.html"
    path.write_text(render_judgment(judge_table(pd.DataFrame(rows), "human", "verdict", by="system")), encoding="utf-8")
    return path.as_uri()


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_the_page_about_judges_fits_and_is_accessible(axe, browser, judged, width, scheme):
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page, trouble, requests = context.new_page(), [], []
    page.on("console", lambda message: trouble.append(message.text))
    page.on("dialog", lambda dialog: trouble.append(dialog.message))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(judged)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate("document.querySelectorAll('figure svg').length") == 2
    found = axe.Axe().run(page).response
    assert [(one["id"], one["nodes"][0]["html"]) for one in found["violations"]] == []
    context.close()
    assert trouble == []
    assert set(requests) == {judged}
