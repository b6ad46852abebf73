"""`evaluate` and `compare` for groups of rows and windows of time."""

import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from pnulearn import TableClassifier
from pnulearn.cli import run
from pnulearn.metrics import pnu_risk
from pnulearn.priors import PriorEstimate
from pnulearn.report._evaluation import render_evaluation

DAYS = {"2025-01": "2025-01-10", "2025-02": "2025-02-11", "2025-03": "2025-03-12"}


@pytest.fixture(scope="module")
def rows():
    """Three months; in the third, the first score errs on 45 % of the rows instead of 10 %."""
    rng = np.random.default_rng(3)
    truth = rng.random(1500) < np.repeat([0.3, 0.5, 0.4], 500)
    errs = np.repeat([0.1, 0.1, 0.45], 500)
    said = np.where(rng.random(1500) < errs, ~truth, truth)
    other = np.where(rng.random(1500) < 0.1, ~truth, truth)
    label = np.where(rng.random(1500) < 0.3, np.where(truth, "yes", "no"), None)
    return pd.DataFrame(
        {
            "day": np.repeat(list(DAYS.values()), 500),
            "x": truth + rng.normal(0, 0.6, 1500),
            "said": said * 1.0,
            "other": other * 1.0,
            "label": label,
            "audit": np.where(rng.random(1500) < 0.5, "yes", "no"),
        }
    )


@pytest.fixture
def file(rows, tmp_path):
    rows.to_csv(tmp_path / "rows.csv", index=False)
    return str(tmp_path / "rows.csv")


def facts(capsys, *arguments):
    capsys.readouterr()
    assert run([*arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize("large", ["0", "32"], ids=["batches", "memory"])
def test_evaluate_gives_the_error_of_every_month(rows, file, capsys, large):
    given = [
        "--label",
        "label",
        "--score",
        "said",
        "--threshold",
        "0.5",
        "--sampling",
        "random",
        "--stream-above",
        large,
    ]
    found = facts(capsys, "evaluate", file, *given, "--by", "month")
    assert found["by"] == "day"
    assert list(found["groups"]) == list(DAYS)
    for name, part in found["groups"].items():
        some = rows[rows["day"] == DAYS[name]]
        alone = pnu_risk(some["label"], some["said"] - 0.5, sampling="random", prior=None, pos_label="yes")
        assert_allclose([part["value"], *part["interval"]], [alone.value, alone.low, alone.high], atol=1e-9)
    assert [part["against_others"]["differs"] for part in found["groups"].values()] == [False, False, True]
    assert "2025-03 is higher than the others" in found["verdict"]


def test_the_prior_of_every_group_comes_from_rows_labelled_at_random(rows, file, capsys):
    given = ["--label", "label", "--score", "said", "--threshold", "0.5", "--at-random", "audit"]
    found = facts(capsys, "evaluate", file, *given, "--by", "day:month")
    some = rows[rows["day"] == DAYS["2025-02"]]
    drawn = some["label"][(some["audit"] == "yes") & some["label"].notna()]
    prior = PriorEstimate.of_counts([(drawn == "no").sum(), (drawn == "yes").sum()])
    alone = pnu_risk(some["label"], some["said"] - 0.5, prior=prior, pos_label="yes")
    assert_allclose(found["groups"]["2025-02"]["value"], alone.value, atol=1e-9)


def test_a_prior_that_all_groups_share_is_said(file, capsys):
    arguments = ["evaluate", file, "--label", "label", "--score", "said", "--threshold", "0.5", "--prior", "0.4"]
    assert run([*arguments, "--by", "month"]) == 0
    out, messages = capsys.readouterr()
    assert "taken to be 0.400 in every group" in messages
    assert out.startswith("said errs on about")
    assert "against the others" in out
    assert out.count("2025-02") == 1


def test_compare_says_in_which_month_the_difference_is_another(file, capsys):
    given = ["--label", "label", "--score", "said", "--score", "other", "--threshold", "0.5", "--sampling", "random"]
    found = facts(capsys, "compare", file, *given, "--by", "month")
    assert found["groups"]["2025-03"]["value"] > 0.2
    assert found["groups"]["2025-03"]["against_others"]["differs"]
    assert abs(found["groups"]["2025-01"]["value"]) < 0.1
    assert "2025-03 is higher than the others" in found["verdict"]
    assert run(["compare", file, *given, "--by", "month"]) == 0
    assert "difference" in capsys.readouterr().out
    plain = facts(capsys, "compare", file, *given)
    assert "groups" not in plain
    assert_allclose(plain["difference"], found["difference"])


def test_a_model_in_python(rows):
    train = rows.assign(label=rows["label"].where(np.arange(1500) % 2 == 0))
    model = TableClassifier(drop=["said", "other", "day", "audit"], kernel="linear", sampling="random").fit(
        train, "label"
    )
    found = model.evaluate(rows, "label", by="day:month")
    assert list(found.groups.groups) == list(DAYS)
    assert found.group_rows()[0]["day"] == "all rows"
    whole = found.groups.whole  # with the prior of the fit and of these labels, as without groups
    assert [whole.value, whole.low, whole.high] == [found.error.value, found.error.low, found.error.high]
    assert "<h2>Error rate by day</h2>" in render_evaluation(found)
    assert [row["rows"] for row in found.group_rows()] == ["1,500", "500", "500", "500"]
    assert model.evaluate(rows, "label").group_rows() == []


def test_groups_without_labels_are_named(rows, file, tmp_path, capsys):
    some = rows.assign(label=rows["label"].where(rows["day"] != DAYS["2025-01"]))
    some.to_csv(tmp_path / "some.csv", index=False)
    given = ["--label", "label", "--score", "said", "--threshold", "0.5", "--sampling", "random", "--by", "month"]
    found = facts(capsys, "evaluate", str(tmp_path / "some.csv"), *given)
    assert found["groups"]["2025-01"]["value"] is None
    assert found["groups"]["2025-03"]["against_others"]["differs"]
