"""Take the pictures of a report that the documentation shows: python docs/screenshots.py (needs playwright, Chromium).

The table is that of the tutorial: customers of a shop, of whom a hundred were asked.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from pnulearn import TableClassifier
from pnulearn._demo import TABLE, write_table
from pnulearn.report import write_report

STATIC = Path(__file__).parent / "_static"
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
SHOTS = {  # name: width, height, colour scheme, section at the top (none: the head of the page)
    "report-desktop": (900, 580, "light", None),
    "report-columns": (900, 1150, "light", "columns-section"),
    "report-line": (900, 760, "light", "line-section"),
    "report-dark": (900, 700, "dark", "ablations-section"),
    "report-phone": (390, 800, "light", None),
    "report-phone-dark": (390, 800, "dark", "columns-section"),
}


def shoot(browser: Browser, address: str, name: str) -> None:
    width, height, scheme, section = SHOTS[name]
    page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
    page.goto(address)
    if section:
        page.evaluate("id => document.getElementById(id).scrollIntoView()", section)
    page.screenshot(path=STATIC / f"{name}.png")
    page.close()


def main() -> None:
    command = "pnulearn fit shop.csv --label renews --sampling random --model shop.pnu --report report.html"
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        write_table(Path(folder))
        fitted = TableClassifier(sampling="random").fit(Path(folder) / TABLE, "renews", command=command).fitted_
        report = Path(folder) / "report.html"
        write_report(fitted, report)
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        for name in SHOTS:
            shoot(browser, report.as_uri(), name)
        browser.close()


if __name__ == "__main__":
    main()
