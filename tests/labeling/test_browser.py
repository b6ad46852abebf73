"""The page in a real browser, where one is installed; nothing is installed or downloaded here."""

import json
import re
from threading import Thread

import numpy as np
import pytest
from tests.labeling.conftest import HOSTILE, make_app, write_table

from pnulearn.labeling._server import listen

pytestmark = pytest.mark.thorough


class Person:
    """Somebody before a browser who knows the truth."""

    def __init__(self, browser, address, truth=None, **options):
        self.context = browser.new_context(**{"viewport": {"width": 1200, "height": 850}, **options})
        self.page, self.truth = self.context.new_page(), truth
        self.trouble, self.requests = [], []
        self.page.on("console", lambda message: self.trouble.append(message.text))
        self.page.on("pageerror", lambda error: self.trouble.append(str(error)))
        self.page.on("dialog", lambda dialog: self.trouble.append(dialog.message))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(address)
        self.page.wait_for_selector("#cells dd")

    @property
    def row(self):
        return int(re.search(r"row (\d+)", self.page.inner_text("#question"))[1]) - 1

    @property
    def counts(self):
        return [int(text) for text in self.page.locator("#counts .number").all_inner_texts()]

    def press(self, key):
        """Press a key and wait for another row."""
        before = self.page.inner_text("#question")
        self.page.keyboard.press(key)
        self.page.wait_for_function("q => document.getElementById('question').textContent !== q", arg=before)

    def label(self, n):
        rows = []
        for _ in range(n):
            rows.append(self.row)
            self.press("y" if self.truth[self.row] else "n")
        return rows


def test_thirty_labels_by_keyboard_killed_and_resumed(browser, tmp_path, start_labeling):
    table = tmp_path / "table.csv"
    truth = write_table(table)
    original = table.read_bytes()
    server = start_labeling(table)
    person = Person(browser, server.address, truth)
    seen = person.label(12)
    waiting = person.row
    server.kill()
    person.page.keyboard.press("y")
    person.page.wait_for_selector("#trouble:not([hidden])")
    assert "labels are safe" in person.page.inner_text("#trouble")
    assert person.row == waiting  # the page has not moved on, since nothing was kept

    again = Person(browser, start_labeling(table).address, truth)
    assert again.row == waiting
    seen += again.label(18)
    assert len(set(seen)) == 30
    again.page.wait_for_function("() => document.querySelectorAll('#prior svg').length === 2")
    assert sum(again.counts) == 30
    assert again.counts == [int(np.sum(~truth[seen])), int(np.sum(truth[seen]))]
    assert "between" in again.page.inner_text("#error")
    assert re.search(r"ten more labels", again.page.inner_text("#forecast"))
    again.page.fill("#goal", "45")
    again.page.press("#goal", "Enter")
    again.page.wait_for_selector("#verdict.enough")
    assert again.page.inner_text("#verdict").startswith("Enough")
    again.page.fill("#goal", "1")
    again.page.press("#goal", "Enter")
    again.page.wait_for_selector("#verdict:not(.enough)")
    assert again.trouble == []
    assert all(url.startswith("http://127.0.0.1:") for url in again.requests)
    assert table.read_bytes() == original
    journal = [json.loads(line) for line in (tmp_path / "table.csv.labels.jsonl").read_text().splitlines()]
    assert sum(event["event"] == "answer" for event in journal) == 30


def test_undo_skip_and_do_not_know(browser, tmp_path, serve):
    truth = write_table(tmp_path / "table.csv")
    person = Person(browser, serve(tmp_path / "table.csv"), truth)
    assert person.page.is_disabled("#undo")
    first = person.row
    person.press("y")
    second = person.row
    assert person.counts == [0, 1]
    person.press("u")
    assert person.row == first
    assert person.counts == [0, 0]
    person.press("1")  # no, by its number
    assert (person.row, person.counts) == (second, [1, 0])
    person.press("s")
    third = person.row
    assert third not in (first, second)
    person.press("d")
    assert person.counts == [1, 0]
    person.page.wait_for_function("() => document.getElementById('rest').textContent.includes('don’t know')")
    assert "1 put off" in person.page.inner_text("#rest")
    person.page.click("#classes button >> nth=1")
    person.page.wait_for_function("() => document.querySelectorAll('#counts .number')[1].textContent === '1'")
    person.page.reload()
    person.page.wait_for_selector("#cells dd")
    assert person.counts == [1, 1]
    assert person.trouble == []


def test_two_browsers_never_see_the_same_row(browser, tmp_path, serve):
    truth = write_table(tmp_path / "table.csv", n_rows=24)
    address = serve(tmp_path / "table.csv")
    people = [Person(browser, address, truth) for _ in range(2)]
    seen = []
    for _ in range(10):
        rows = [person.row for person in people]
        assert len(set(rows)) == 2
        seen += rows
        for person in people:
            person.label(1)
    assert len(set(seen)) == 20


def test_it_fits_phones_and_dark_rooms_and_runs_nothing_from_the_table(browser, tmp_path, serve):
    truth = write_table(tmp_path / "table.csv")
    address = serve(tmp_path / "table.csv")
    for width, scheme in ((360, "light"), (360, "dark"), (1200, "dark")):
        person = Person(browser, address, truth, viewport={"width": width, "height": 740}, color_scheme=scheme)
        person.label(1)
        page = person.page
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert HOSTILE in page.inner_text("#cells")
        assert page.locator("#cells svg").count() == 1
        box = page.locator("#classes button >> nth=1").bounding_box()
        assert box["height"] >= 44
        assert box["y"] + box["height"] <= 740  # within reach without scrolling
        colors = page.evaluate(
            "[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]"
        )
        ink, paper = map(brightness, colors)
        assert (ink < paper) == (scheme == "light")
        assert person.trouble == []


def test_a_screen_reader_is_told_everything(browser, tmp_path, serve):
    truth = write_table(tmp_path / "table.csv")
    person = Person(browser, serve(tmp_path / "table.csv"), truth)
    page = person.page
    person.label(6)
    page.wait_for_selector("#chart svg")
    for name in ("no", "yes", "Skip", "Don’t know", "Undo"):
        assert page.get_by_role("button", name=re.compile(f"^{name}")).count() == 1
    assert page.get_by_role("main").count() == page.get_by_role("complementary").count() == 1
    assert page.get_by_role("heading", level=1).count() == 1
    assert page.get_by_role("img", name=re.compile("Error against number of labels")).count() == 1
    assert page.get_by_label("Goal: know the error to within ±").count() == 1
    assert f"Row {person.row + 1}." in page.get_by_role("status").inner_text()
    assert page.locator("#classes button").first.get_attribute("aria-keyshortcuts") == "1 n"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the answers"
    unnamed = page.evaluate(
        "[...document.querySelectorAll('button, input, svg:not([aria-hidden])')].filter(e => !(e.textContent.trim() || "
        "e.getAttribute('aria-label') || e.labels?.length)).length"
    )
    assert unnamed == 0


def test_the_mixture_is_shown_and_can_be_set(browser, tmp_path, serve):
    truth = write_table(tmp_path / "table.csv")
    page = Person(browser, serve(tmp_path / "table.csv"), truth).page
    page.click("#choosing summary")
    shares = page.locator("#mixture input")
    assert [shares.nth(k).get_attribute("name") for k in range(4)] == ["random", "margin", "risk_change", "diversity"]
    page.fill("#mixture input[name=diversity]", "50")
    page.press("#mixture input[name=diversity]", "Tab")
    page.click("#title")
    page.wait_for_function("() => document.querySelector('#mixture input[name=diversity]').value === '33'")
    page.fill("#mixture input[name=random]", "0")
    page.press("#mixture input[name=random]", "Tab")
    page.wait_for_selector("#trouble:not([hidden])")
    assert "at random" in page.inner_text("#trouble")


@pytest.mark.parametrize("goal, is_inside", [(0.1, True), (0.09, False)])
def test_the_goal_is_reached_where_the_interval_lies_between_the_lines(browser, tmp_path, serve, goal, is_inside):
    write_table(tmp_path / "table.csv")
    page = Person(browser, serve(tmp_path / "table.csv")).page  # the interval is not symmetric around the estimate
    lines, band = page.evaluate(
        """goal => {
            const svg = drawCurve([[60, 0.2, 0.1, 0.4], [110, 0.1, 0.028, 0.218]], goal);
            const points = svg.querySelector(".band").getAttribute("points").split(" ");
            const heights = points.filter((_, place) => [1, 2].includes(place)).map(one => Number(one.split(",")[1]));
            return [[...svg.querySelectorAll("line.goal")].map(line => Number(line.getAttribute("y1"))), heights];
        }""",
        goal,
    )
    assert len(lines) == len(band) == 2
    assert (min(lines) < min(band) and max(band) < max(lines)) == is_inside


def test_an_earlier_answer_is_changed_from_the_list(browser, tmp_path, serve):
    truth = write_table(tmp_path / "table.csv")
    person = Person(browser, serve(tmp_path / "table.csv"), truth)
    page, seen = person.page, person.label(8)
    waiting = person.row
    page.click("#earlier summary")
    page.fill("#find", str(seen[2] + 1))
    page.click(f"#answered button:has-text('Row {seen[2] + 1}')")
    page.wait_for_function(
        "row => document.getElementById('question').textContent.includes(`row ${row}?`)", arg=seen[2] + 1
    )
    assert "Answer once more" in page.inner_text("#reason")
    assert sum(person.counts) == 7
    page.click("#question")
    person.press("n" if truth[seen[2]] else "y")
    assert person.row == waiting
    assert person.counts[int(not truth[seen[2]])] == 1 + sum(truth[row] != truth[seen[2]] for row in seen)
    assert person.trouble == []


def test_texts_in_any_direction_and_links(browser, tmp_path):
    rows = [f"{k},קפה {k}!,see https://example.org/{k}?a=1. or javascript:alert(1)," for k in range(30)]
    (tmp_path / "t.csv").write_text("\n".join(["size,שם,note,bought", *rows]), encoding="utf-8")
    app, listener = make_app(tmp_path / "t.csv"), listen()
    thread = Thread(target=app.serve, args=(listener,))
    address = app.address(listener.getsockname()[1])
    thread.start()
    try:
        person = Person(browser, address, viewport={"width": 360, "height": 740})
        page = person.page
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        cell = page.locator("#cells dd bdi", has_text="קפה")
        assert cell.get_attribute("dir") == "auto"
        assert cell.evaluate("node => getComputedStyle(node).direction") == "rtl"
        links = page.locator("#cells a")
        assert links.count() == 1
        assert links.get_attribute("href") == f"https://example.org/{person.row}?a=1"
        assert links.get_attribute("rel") == "noopener noreferrer"
        assert person.trouble == []
    finally:
        app.stop()
        thread.join()
        listener.close()


def brightness(color):
    return sum(map(int, color.removeprefix("rgb(").removesuffix(")").split(",")))
