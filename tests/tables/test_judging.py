"""The share of good answers in a table: `judge_table` and `pnulearn judge`."""

import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from pnulearn.cli import run
from pnulearn.metrics import judge_quality, pnu_mean, pnu_share
from pnulearn.report._judging import render_judgment
from pnulearn.tables import TableError, judge_table


@pytest.fixture(scope="module")
def answers():
    rng = np.random.default_rng(1)
    good = rng.random(900) < np.repeat([0.9, 0.6, 0.6], 300)
    verdict = np.where(rng.random(900) < 0.85, good, ~good)
    human = np.where(rng.random(900) < 0.3, np.where(good, "correct", "incorrect"), None)
    days = pd.Timestamp("2025-01-01") + pd.to_timedelta(np.repeat([5, 40, 70], 300), "D")
    return pd.DataFrame(
        {
            "model": np.repeat(["A", "B", "C"], 300),
            "date": days,
            "answer": ["<script>alert(1)</script>\x1b[31m"] * 900,
            "human": human,
            "verdict": np.where(verdict, "pass", "fail"),
            "score": np.clip(0.5 + 0.2 * np.where(verdict, 1, -1) + rng.normal(0, 0.1, 900), 0, 1),
            "user": rng.integers(0, 200, 900),
        }
    )


def test_the_share_is_that_of_pnu_share(answers):
    found = judge_table(answers, "human", "verdict")
    same = pnu_share(answers["human"], helper=answers["verdict"], pos_label="correct")
    assert (found.positive, found.estimate) == ("correct", same)
    assert found.alone == pnu_share(answers["human"], pos_label="correct")
    quality = judge_quality(answers["human"], answers["verdict"], pos_label="correct", pos_verdict="pass")
    assert found.quality["verdict"].kappa == quality.kappa
    assert found.said == {"verdict": np.mean(answers["verdict"] == "pass")}
    assert found.sentence().startswith(f"The share of 'correct' is about {100 * same.value:.1f} %")
    rows = [one["row"] for one in found.to_look_at]
    assert rows == sorted(quality.disagreements[:10] + 1)


def test_several_judges_groups_and_windows(answers):
    found = judge_table(answers, "human", ["verdict", "score"], by="model", groups="user")
    helper = {name: answers[name] for name in ("verdict", "score")}
    same = pnu_share(answers["human"], helper=helper, pos_label="correct", groups=answers["user"])
    assert_allclose([found.estimate.low, found.estimate.high], [same.low, same.high])
    assert list(found.quality) == ["verdict"]
    assert_allclose(found.said["score"], answers["score"].mean())
    assert found.groups.different == ["A"]
    assert "By model: A is higher than the others" in " ".join(found.remarks())
    months = judge_table(answers, "human", "verdict", by="month")
    assert list(months.groups.groups) == ["2025-01", "2025-02", "2025-03"]


def test_ratings_give_a_mean(answers):
    rng = np.random.default_rng(0)
    rating = np.where(answers["human"].isna(), np.nan, rng.integers(1, 6, 900))
    grade = np.nan_to_num(rating, nan=3) + rng.normal(0, 1, 900)
    found = judge_table(pd.DataFrame({"stars": rating, "grade": grade}), "stars", "grade")
    assert found.estimate == pnu_mean(rating, helper={"grade": grade})
    assert found.sentence().startswith("The mean of stars is about")
    assert found.said == {"grade": pytest.approx(grade.mean())}
    assert "mean" in found.facts()


def test_labels_chosen_by_verdict(answers):
    found = judge_table(answers, "human", "verdict", sampling="by_helper")
    assert found.alone is None
    assert found.estimate == pnu_share(
        answers["human"], helper=answers["verdict"], sampling="by_helper", pos_label="correct"
    )


def test_an_empty_verdict_is_a_verdict_of_its_own(answers):
    some = answers.assign(verdict=answers["verdict"].where(np.arange(900) % 9 > 0))
    found = judge_table(some, "human", "verdict")
    filled = some["verdict"].fillna("(none)")
    assert found.estimate == pnu_share(some["human"], helper=filled, pos_label="correct")
    with pytest.raises(TableError, match="holds scores and is empty in 100 rows, first in row 1"):
        judge_table(answers.assign(score=answers["score"].where(np.arange(900) % 9 > 0)), "human", "score")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"human": "humn"}, "no column 'humn'"),
        ({"judges": "human"}, "named as human labels and as a judge"),
        ({"judges": []}, "at least one column"),
        ({"human": "model"}, "3 different labels"),
        ({"pos_verdict": "yes"}, "holds fail and pass, not the verdict 'yes'"),
    ],
)
def test_refusals(answers, given, words):
    with pytest.raises(ValueError, match=words):
        judge_table(answers, **({"human": "human", "judges": "verdict"} | given))


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl"])
def test_the_command_reads_every_format(answers, tmp_path, capsys, ending):
    file = tmp_path / f"answers.{ending}"
    if ending == "csv":
        answers.to_csv(file, index=False)
    elif ending == "parquet":
        answers.to_parquet(file)
    else:
        answers.assign(date=answers["date"].astype(str)).to_json(file, orient="records", lines=True)
    arguments = ["judge", str(file), "--human", "human", "--judge", "verdict", "--by", "date:month"]
    assert run([*arguments, "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    same = judge_table(answers, "human", "verdict", by="month")
    assert_allclose(facts["interval"], [same.estimate.low, same.estimate.high])
    assert list(facts["groups"]) == ["2025-01", "2025-02", "2025-03"]
    assert facts["groups"]["2025-01"]["against_others"]["differs"]
    assert run(arguments) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[0].startswith("The share of 'correct' is about")
    assert "\x1b" not in out


def test_traces_with_nested_values(answers, tmp_path):
    """JSON lines with values that are objects and lists, which are left aside."""
    lines = answers.head(300).assign(date="2025-01-01").to_dict("records")
    traces = [{**line, "trace": {"tokens": [1, 2]}, "tools": ["search"]} for line in lines]
    file = tmp_path / "traces.jsonl"
    file.write_text("\n".join(json.dumps(one, default=int) for one in traces), encoding="utf-8")
    found = judge_table(file, "human", "verdict", by="model")
    assert found.estimate == judge_table(answers.head(300), "human", "verdict").estimate
    assert set(found.to_look_at[0]) == {"row", *answers.columns}


def test_the_page_shows_texts_escaped(answers, tmp_path, capsys):
    answers.to_csv(tmp_path / "answers.csv", index=False)
    page = tmp_path / "page.html"
    arguments = ["--human", "human", "--judge", "verdict", "--judge", "score", "--by", "model", "--report", str(page)]
    assert run(["judge", str(tmp_path / "answers.csv"), *arguments]) == 0
    html = page.read_text(encoding="utf-8")
    assert html.startswith("<!DOCTYPE html>")
    assert html.count("<svg") == 2
    assert "<script" not in html
    assert "&lt;script&gt;" in html
    assert run(["judge", str(tmp_path / "answers.csv"), *arguments]) == 0  # an older report is replaced


def test_a_page_without_groups_or_error_rates(answers):
    page = render_judgment(judge_table(answers, "human", "score"))
    assert "Are the judges any good?" not in page
    assert page.count("<svg") == 1


def test_the_command_refuses_other_words_for_the_sampling(answers, tmp_path, capsys):
    answers.to_csv(tmp_path / "answers.csv", index=False)
    assert (
        run(["judge", str(tmp_path / "answers.csv"), "--human", "human", "--judge", "verdict", "--sampling", "x"]) == 2
    )
    assert "'by-verdict'" in capsys.readouterr().err
