"""Take the pictures of the labelling page that the documentation shows: python docs/label_screenshots.py.

Needs playwright and Chromium. The rows are those of the breast cancer set of scikit-learn, none of them labelled at
first; an oracle presses the keys.
"""

from __future__ import annotations

import csv
import re
import shutil
import tempfile
from pathlib import Path
from threading import Thread

from playwright.sync_api import Page, sync_playwright
from sklearn.datasets import load_breast_cancer

from pnulearn.labeling._cells import RowReader
from pnulearn.labeling._server import LabelingApp, listen
from pnulearn.labeling._table_labeling import read_task
from pnulearn.tables import read_table

STATIC = Path(__file__).parent / "_static"
FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
STEPS = {"label-1-start": 0, "label-2-learning": 30, "label-3-enough": 110}  # the last one goes on until it is enough
MORE = 5
COLUMNS = 8


def write_tumours(path: Path) -> list[str]:
    data = load_breast_cancer()
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([*data.feature_names[:COLUMNS], "diagnosis"])
        writer.writerows([*(f"{value:.4g}" for value in row[:COLUMNS]), ""] for row in data.data)
    return ["malignant" if code == 0 else "benign" for code in data.target]


def label(page: Page, truth: list[str], n: int) -> None:
    for _ in range(n):
        question = page.inner_text("#question")
        row = int(re.search(r"row (\d+)", question)[1]) - 1
        page.keyboard.press(truth[row][0])
        page.wait_for_function("q => document.getElementById('question').textContent !== q", arg=question)
        page.wait_for_timeout(120)  # so that fits keep up, as they do with people
    for _ in range(100):  # until the last answer was learnt from
        page.wait_for_timeout(300)
        if not page.evaluate("fetch('api/progress').then(answer => answer.json()).then(now => now.busy)"):
            break
    page.wait_for_timeout(3500)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        table = Path(folder) / "tumours.csv"
        truth = write_tumours(table)
        task = read_task(read_table(table), "diagnosis", classes=["benign", "malignant"])
        labeler = task.labeler(Path(folder) / "journal", refit_every=0, goal=0.1)
        app, listener = (
            LabelingApp(labeler, RowReader(task.table, {"diagnosis"}, None), table.name, "diagnosis"),
            listen(),
        )
        address = app.address(listener.getsockname()[1])
        thread = Thread(target=app.serve, args=(listener,))
        thread.start()
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        page, done = browser.new_page(viewport={"width": 1100, "height": 860}), 0
        page.goto(address)
        page.wait_for_selector("#cells dd")
        for name, n in STEPS.items():
            label(page, truth, n - done)
            done = n
            while name == list(STEPS)[-1] and "Enough" not in page.inner_text("#verdict"):
                label(page, truth, MORE)
            page.screenshot(path=STATIC / f"{name}.png")
        phone = browser.new_page(
            viewport={"width": 375, "height": 780}, color_scheme="dark", has_touch=True, is_mobile=True
        )
        phone.goto(address)
        phone.wait_for_selector("#cells dd")
        phone.wait_for_timeout(1000)
        phone.screenshot(path=STATIC / "label-phone-dark.png")
        browser.close()
        app.stop()
        thread.join()


if __name__ == "__main__":
    main()
