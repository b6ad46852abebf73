"""Take the pictures of a report that the documentation shows: python docs/screenshots.py (needs playwright, Chromium).

The table is made up: 30 buyers, 20 who did not buy, 2,000 customers of whom nobody knows, and a column of text.
"""

from __future__ import annotations

import csv
import shutil
import tempfile
from pathlib import Path

import numpy as np
from playwright.sync_api import Browser, sync_playwright

from pnulearn.report import write_report
from pnulearn.tables import read_table
from pnulearn.tables.model import fit_table

STATIC = Path(__file__).parent / "_static"
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
SHOTS = {  # name: width, height, colour scheme, section at the top (none: the head of the page)
    "report-desktop": (820, 1150, "light", None),
    "report-dark": (820, 900, "dark", "help-section"),
    "report-phone": (360, 760, "light", None),
    "report-phone-dark": (360, 760, "dark", "validation-section"),
}


def customers(path: Path) -> None:
    """A table in which buyers are older, spend more and come more often."""
    rng = np.random.default_rng(0)
    bought = rng.random(2050) < 0.35
    labels = np.full(len(bought), "", dtype=object)
    labels[np.flatnonzero(bought)[:30]], labels[np.flatnonzero(~bought)[:20]] = "yes", "no"
    home = np.where(rng.random(2050) < 0.3 + 0.3 * bought, "Łódź", rng.choice(["São Paulo", "Graz"], 2050))
    columns = {
        "age": rng.normal(40 + 8 * bought, 10).round(1),
        "spend": rng.gamma(2 + 2 * bought, 20).round(2),
        "visits": rng.poisson(3 + 3 * bought),
        "city": home,
        "bought": labels,
    }
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))


def shoot(browser: Browser, address: str, name: str) -> None:
    width, height, scheme, section = SHOTS[name]
    page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
    page.goto(address)
    if section:
        page.evaluate("id => document.getElementById(id).scrollIntoView()", section)
    page.screenshot(path=STATIC / f"{name}.png")
    page.close()


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        table, report = Path(folder) / "customers.csv", Path(folder) / "report.html"
        customers(table)
        write_report(fit_table(read_table(table), "bought"), report)
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        for name in SHOTS:
            shoot(browser, report.as_uri(), name)
        browser.close()


if __name__ == "__main__":
    main()
