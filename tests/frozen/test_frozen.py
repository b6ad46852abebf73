"""What users and programs rely on is what it was; `python -m tests.frozen.write NAME` rewrites it on purpose."""

import pytest

from .snapshots import SNAPSHOTS
from .store import FOLDER, changes, differences, read


@pytest.mark.parametrize("name", SNAPSHOTS)
@pytest.mark.filterwarnings("default::UserWarning")
def test_nothing_has_changed(name):
    changed = changes(name, SNAPSHOTS[name]())
    assert not changed, "\n".join(changed)


def test_every_stored_snapshot_is_compared():
    assert {path.stem for path in FOLDER.glob("*.json")} == set(SNAPSHOTS)


def test_a_page_with_other_words_figures_or_order_is_noticed():
    report = read("demo_report")["report"]
    place = next(k for k, line in enumerate(report) if "last message | +24.6" in line)
    for line in (report[place].replace("message", "letter"), report[place].replace("24.6", "99.9")):
        assert list(differences(report, [*report[:place], line, *report[place + 1 :]]))
    assert list(differences(report, report[1:] + report[:1]))


def test_an_answer_changed_by_a_millionth_is_noticed():
    fit, *_ = read("commands_two_classes").values()
    assert list(differences(fit, fit | {"prior": fit["prior"] * (1 + 1e-6)}))
