"""The report in a real browser, where one is installed; nothing is installed or downloaded here."""

import shutil

import pytest

from pnulearn.report.page import render

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update"),
]

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")


@pytest.fixture(scope="module")
def browser():
    api = pytest.importorskip("playwright.sync_api")
    with api.sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield launched
        launched.close()


@pytest.fixture(scope="module")
def address(findings, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(render(findings), encoding="utf-8")
    return path.as_uri()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1200])
def test_the_report_opens_without_trouble(browser, address, width, scheme):
    context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme)
    page = context.new_page()
    trouble, requests = [], []
    page.on("console", lambda message: trouble.append(message.text))
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.on("dialog", lambda dialog: trouble.append(dialog.message))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(address)
    assert trouble == []
    assert requests == [address]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    boxes = page.evaluate("[...document.querySelectorAll('figure svg')].map(s => s.getBoundingClientRect().toJSON())")
    assert len(boxes) == 8
    assert all(box["height"] > 60 and box["width"] > 250 for box in boxes)
    ink, paper = page.evaluate(
        "[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]"
    )
    assert (brightness(ink) < brightness(paper)) == (scheme == "light")
    context.close()


def brightness(color):
    return sum(map(int, color.removeprefix("rgb(").removesuffix(")").split(",")))
