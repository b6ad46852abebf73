"""What people know about the prior, and what the command line says of what they do not know."""

import csv
import json

import numpy as np
import pytest

from pnulearn.cli import run
from pnulearn.metrics._risk import estimate_risk
from pnulearn.priors import PriorEstimate, estimate_prior
from pnulearn.priors._resolve import combine_evidence
from pnulearn.tables import read_table
from pnulearn.tables._evaluation import model_labels
from pnulearn.tables._loading import load_table_model
from pnulearn.tables._plan import learn_plan

FAST = ["--kernel", "linear", "--folds", "2"]


def answer(capsys, *arguments):
    capsys.readouterr()
    assert run(list(map(str, arguments))) == 0
    return capsys.readouterr()


def as_json(capsys, *arguments):
    return json.loads(answer(capsys, *arguments, "--json").out)


@pytest.fixture(scope="module")
def marked(customers):
    """The customers with a column that marks six of ten labelled rows as labelled at random: one yes, five no."""
    path = customers.parent / "marked.csv"
    with open(customers, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    left = {"yes": 1, "no": 5, "": 20}
    for row in rows:
        row["audit"] = "yes" if left[row["bought"]] > 0 else ""
        left[row["bought"]] -= 1
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def test_a_range_is_what_it_is_in_python(capsys, few):
    facts = as_json(capsys, "fit", few, "-l", "bought", "--prior", "0.2..0.4", "--sampling", "by-class", *FAST)
    wide = as_json(capsys, "fit", few, "-l", "bought", "--sampling", "by-class", *FAST)
    width, free = (high - low for low, high in (facts["prior_interval"], wide["prior_interval"]))
    assert width < 0.2 < free
    assert facts["labels"] == "chosen"
    assert "if_random" not in facts


def test_labels_drawn_at_random_are_counted(capsys, customers):
    drawn = as_json(capsys, "prior", customers, "-l", "bought", "--sampling", "random")
    assumed = as_json(capsys, "prior", customers, "-l", "bought")
    assert (drawn["labels"], assumed["labels"]) == ("random", "chosen (assumed)")
    assert assumed["if_random"] == {"prior": drawn["prior"], "interval": drawn["interval"]}
    assert drawn["prior"] > assumed["prior"]  # 30 of 50 labels are positive
    fitted = as_json(capsys, "fit", customers, "-l", "bought", "--sampling", "random", *FAST)
    assert fitted["prior"] == pytest.approx(drawn["prior"], abs=1e-9)
    for older in (["--labels", "random"], ["--sampling", "single_set"], ["--sampling", "random", "--labels", "random"]):
        same = as_json(capsys, "fit", customers, "-l", "bought", *older, *FAST)
        assert (same["labels"], same["validation_error"]) == ("random", fitted["validation_error"])
    assert as_json(capsys, "fit", customers, "-l", "bought", *FAST)["if_random"]["prior"] == pytest.approx(
        fitted["prior"]
    )


def test_what_was_assumed_is_said_in_one_line_if_it_matters(capsys, customers):
    lines = answer(capsys, "fit", customers, "-l", "bought", *FAST).out.splitlines()
    drawn = as_json(capsys, "fit", customers, "-l", "bought", "--sampling", "random", *FAST)
    low, high = drawn["prior_interval"]
    said = f"--sampling random: it would be {drawn['prior']:.0%} ({low:.0%} to {high:.0%})".replace("%", " %")
    assert [said in line for line in lines].index(True) == 0
    for said in (["--labels", "chosen"], ["--prior", "0.3"]):
        assert "Assumed" not in answer(capsys, "fit", customers, "-l", "bought", *said, *FAST).out


def test_labels_that_cannot_have_been_drawn_at_random_do_no_harm(capsys, many):
    facts = as_json(capsys, "prior", many, "-l", "bought")
    assert facts["labels"] == "chosen (assumed)"
    assert "if_random" not in facts


def test_a_column_marks_rows_that_were_labelled_at_random(capsys, marked):
    facts = as_json(capsys, "prior", marked, "-l", "bought", "--at-random", "audit")
    table = read_table(marked)
    y = np.array([row[4] or None for row in table.rows()], dtype=object)
    X, _ = learn_plan(table, without={"bought": "the label", "audit": "by request"}).features(table)
    scores = estimate_prior(X, y, pos_label="yes", random_state=0)
    expected = combine_evidence([PriorEstimate.of_counts([5, 1])], [scores])
    assert facts["prior"] == pytest.approx(expected.value)
    model = marked.parent / "marked.pnu"
    fitted = as_json(capsys, "fit", marked, "-l", "bought", "--at-random", "audit", "-m", model, *FAST)
    assert fitted["prior"] == pytest.approx(expected.value)
    assert "audit" not in str(fitted["columns"])
    assert fitted["left_out"]["audit"] == "marks rows labelled at random"


def test_a_costly_prior_comes_with_what_would_narrow_it(capsys, few, customers):
    facts = as_json(capsys, "fit", few, "-l", "bought", *FAST)
    assert facts["prior_cost"] >= 0.005
    assert "15 rows labelled at random would narrow it" in facts["prior_advice"]
    assert "prior_cost" not in as_json(capsys, "fit", customers, "-l", "bought", "--prior", "0.3", *FAST)


def test_a_model_is_judged_with_all_that_is_known_about_its_prior(capsys, customers, fitted):
    judged = as_json(capsys, "evaluate", customers, "-l", "bought", "-m", fitted[1])
    model, table = load_table_model(fitted[1]), read_table(customers)
    codes, scores = model_labels(table, model, "bought", None).codes, model.predict(table).scores
    groups = [scores[codes == code] for code in (1, 0, -1)]
    belief = model.classifier.prior_estimate_
    expected, certain = estimate_risk(groups, belief), estimate_risk(groups, belief.value)
    assert judged["interval"] == pytest.approx([expected.low, expected.high])
    assert judged["interval"][1] != pytest.approx(certain.high)
    assert judged["prior_interval"] == pytest.approx([belief.low, belief.high])


def test_ranges_are_taken_by_all_who_judge(capsys, customers, fitted):
    judge = ["-l", "bought", "--prior", "0.2..0.4"]
    compare = ["compare", customers, "-m", fitted[1], "-s", "income", "--threshold", "40"]
    for command in (["evaluate", customers, "-m", fitted[1]], compare):
        facts = as_json(capsys, *command, *judge)
        assert facts["prior_interval"] == pytest.approx([0.2, 0.4], abs=1e-3)
    assert "would narrow the prior" in as_json(capsys, "advise", customers, *judge)["advice"]


def test_a_prior_in_doubt_is_doubted_by_fit_and_info(capsys, customers, tmp_path):
    model = tmp_path / "doubt.pnu"
    messages = answer(capsys, "fit", customers, "-l", "bought", "--prior", "0.9", "-m", model, *FAST).err
    assert messages.count("warning: --prior 0.9 was given, but") == 1
    assert "--prior 0.9 was given, but" in answer(capsys, "info", model).out
    assert "0.9 was given" in as_json(capsys, "info", model)["prior_doubt"]


def test_scores_beside_nothing_but_numbers_of_rows_give_the_prior(capsys, tmp_path):
    rng = np.random.default_rng(0)
    share = rng.random(300)
    labels = np.where(rng.random(300) < share, "yes", "no").astype(object)
    labels[60:] = ""
    lines = [f"{i},{s:.3f},{rng.random():.3f},{y}" for i, (s, y) in enumerate(zip(share, labels, strict=True))]
    (tmp_path / "s.csv").write_text("\n".join(["id,score,other,y", *lines]), encoding="utf-8")
    for columns, command in (
        (["-s", "score", "--drop", "other"], "evaluate"),
        (["-s", "score", "-s", "other"], "compare"),
    ):
        said = answer(capsys, command, tmp_path / "s.csv", "-l", "y", *columns)
        assert "estimated from the scores, because there is no other column" in said.err
        assert 0 < as_json(capsys, command, tmp_path / "s.csv", "-l", "y", *columns)["prior"] < 1


def test_advice_has_the_prior_of_labels_drawn_at_random(capsys, customers):
    given = (customers, "-l", "bought", "--sampling", "random")
    advised, estimated = as_json(capsys, "advise", *given), as_json(capsys, "prior", *given)
    assert advised["prior"] == pytest.approx(estimated["prior"])
    assert advised["prior_interval"] == pytest.approx(estimated["interval"])
    assert "15 more rows labelled at random" in advised["advice"]


def test_prior_names_the_sampling_as_its_option_does(capsys, customers):
    out = answer(capsys, "prior", customers, "-l", "bought").out
    assert "by class (assumed)" in out
    assert "chosen" not in out


def test_a_file_of_labels_is_no_way_of_sampling(capsys, customers, fitted):
    given = ("evaluate", customers, "-l", "bought", "-m", fitted[1], "--labels", "few.csv")
    capsys.readouterr()
    assert run(list(map(str, given))) == 2
    words = " ".join(capsys.readouterr().err.replace("│", " ").split())
    assert "--sampling, which takes random or by-class" in words
    assert "labels are a column of the file" in words
