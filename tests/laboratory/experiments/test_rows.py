"""The rows file."""

from concurrent.futures import ThreadPoolExecutor

from pnulearn.laboratory.experiments import rows


def test_a_line_cut_short_is_dropped_and_does_no_harm_to_the_next(tmp_path):
    path = tmp_path / "rows" / "a.jsonl"
    rows.append(path, {"trial": 0})
    with path.open("a") as file:
        file.write('{"trial": 1, "err')
    rows.append(path, {"trial": 2})
    assert [row["trial"] for row in rows.read(path)] == [0, 2]


def test_a_missing_file_has_no_rows(tmp_path):
    assert rows.read(tmp_path / "none.jsonl") == []


def test_unique_rows_do_not_depend_on_the_order_they_came_in():
    some = [{"set": s, "trial": t, "value": i} for i, (s, t) in enumerate([("b", 10), ("a", 9), ("b", 2), ("a", 9)])]
    kept = rows.unique(some, ["set", "trial"])
    assert [(row["set"], row["trial"]) for row in kept] == [("a", 9), ("b", 2), ("b", 10)]
    assert kept[0]["value"] == 1


def _write_many(path, writer):
    for number in range(200):
        rows.append(path, {"writer": writer, "number": number, "padding": "x" * 50})


def test_several_writers_may_write_at_once(tmp_path):
    """Every row opens the file anew, so that threads meet there as processes would."""
    path = tmp_path / "a.jsonl"
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(_write_many, [path] * 3, range(3)))
    assert len(rows.unique(rows.read(path), ["writer", "number"])) == 600
    assert len(path.read_text().splitlines()) == 600
