"""Every command, used as a person and as a program would use it."""

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest

from pnulearn import load
from pnulearn.cli import app, run
from pnulearn.priors import PriorEstimate

FIT = ["--folds", "2", "--kernel", "linear"]


def answer(capsys, *arguments):
    """Exit code, standard output and standard error of a command."""
    capsys.readouterr()
    code = run(list(map(str, arguments)))
    return code, *capsys.readouterr()


def as_json(capsys, *arguments):
    code, out, _ = answer(capsys, *arguments, "--json")
    assert code == 0
    return json.loads(out)


def test_from_a_table_to_predictions_in_three_commands(capsys, customers, fitted, tmp_path):
    code, model, report = fitted
    assert code == 0
    assert report.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    out = tmp_path / "predicted.csv"
    code, printed, messages = answer(capsys, "predict", customers, "--model", model, "--out", out)
    assert (code, printed) == (0, "")
    assert "350 predictions" in messages
    with open(out, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["age", "income", "city", "note", "bought", "predicted_bought", "probability_yes"]
    labelled = [row for row in rows if row["bought"]]
    assert sum(row["bought"] == row["predicted_bought"] for row in labelled) > 0.85 * len(labelled)
    assert all((float(row["probability_yes"]) > 0.5) == (row["predicted_bought"] == "yes") for row in rows)


def test_info_tells_what_was_done(capsys, fitted):
    facts = as_json(capsys, "info", fitted[1])
    assert facts["rows"] == {"labelled": {"no": 20, "yes": 30}, "unlabelled": 300}
    assert facts["columns"] == {"number": ["age", "income"], "category": ["city"]}
    assert "free text" in facts["left_out"]["note"]
    assert facts["prior_interval"][0] <= facts["prior"] <= facts["prior_interval"][1]
    assert facts["validation_interval"][0] < facts["validation_error"] < facts["validation_interval"][1]


def test_columns_shows_the_plan_that_fit_follows(capsys, customers):
    code, out, _ = answer(capsys, "columns", customers, "--label", "bought", "--json")
    rows = {row["column"]: row for row in map(json.loads, out.splitlines())}
    assert code == 0
    assert list(rows) == ["age", "income", "city", "note", "bought"]
    assert [row["kind"] for row in rows.values()] == ["number", "number", "category", "-", "-"]
    assert rows["age"]["missing"] == 7
    assert "free text" in rows["note"]["treatment"]
    changes = ["--as", "age=category", "--as", "note=codes", "--drop", "city"]
    _, out, _ = answer(capsys, "columns", customers, *changes, "--json")
    changed = {row["column"]: row["kind"] for row in map(json.loads, out.splitlines())}
    assert changed == {"age": "category", "income": "number", "city": "-", "note": "codes", "bought": "flag"}
    options = ["--kernel", "linear", "--folds", "2", "--prior", "0.3"]
    facts = as_json(capsys, "fit", customers, "-l", "bought", *options, *changes)
    assert facts["columns"] == {"category": ["age"], "number": ["income"], "codes": ["note"]}
    assert answer(capsys, "columns", customers, "--as", "age=years")[0] == 2


def test_columns_names_the_option_for_marks_of_missing_cells(capsys, tmp_path):
    rows = "".join(f"{'?' if i % 3 else 'a'},{i * 37 % 101}\n" for i in range(60))
    (tmp_path / "t.csv").write_text("work,pay\n" + rows, encoding="utf-8")
    _, out, _ = answer(capsys, "columns", tmp_path / "t.csv", "--json")
    assert "'?' is one of them, unless --missing '?' is passed" in out


def test_columns_is_a_table_for_people(capsys, customers):
    code, out, messages = answer(capsys, "columns", customers, "-l", "bought")
    assert (code, out.split()[:2]) == (0, ["column", "kind"])
    assert "The positive label of column 'bought' is 'yes'" in messages


def test_a_column_that_gives_the_label_away_is_named(capsys, customers, tmp_path):
    lines = customers.read_text(encoding="utf-8").splitlines()
    leaky = [lines[0] + ",cancelled", *(f"{line},{7 if line.endswith('yes') else 3}" for line in lines[1:])]
    path = tmp_path / "leaky.csv"
    path.write_text("\n".join(leaky), encoding="utf-8")
    for command in (["columns"], ["fit", "--kernel", "linear", "--folds", "2", "--prior", "0.3"]):
        _, out, messages = answer(capsys, *command, path, "-l", "bought")
        assert "Column 'cancelled' alone separates the labelled rows (AUC 1.00)" in out + messages


def test_people_get_a_verdict_on_stdout_and_messages_on_stderr(capsys, customers):
    code, out, messages = answer(capsys, "fit", customers, "-l", "bought", "--kernel", "linear", "--folds", "2")
    assert code == 0
    assert out.startswith("Assumed: labelled rows were drawn by class")
    assert "always answering 'no'" in out.splitlines()[1]
    assert [line.split()[0] for line in out.splitlines() if "%" in line][-4:] == [
        "yardstick",
        "precision",
        "recall",
        "prior",
    ]
    assert "note:" not in out
    assert "Column 'note' is left out: free text" in messages
    assert "pass --model" in messages


def test_predict_in_json_lines(capsys, customers, fitted):
    code, out, _ = answer(capsys, "predict", customers, "-m", fitted[1], "--only", "--json")
    first = json.loads(out.splitlines()[0])
    assert code == 0
    assert set(first) == {"predicted_bought", "probability_yes"}
    assert isinstance(first["probability_yes"], float)
    _, out, _ = answer(capsys, "predict", customers, "-m", fitted[1], "--json")
    assert all(isinstance(json.loads(line)["income"], float) for line in out.splitlines())


def test_predict_from_standard_input(capsys, customers, fitted, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(customers.read_bytes())))
    from_pipe = answer(capsys, "predict", "-", "-m", fitted[1])
    assert from_pipe[:2] == answer(capsys, "predict", customers, "-m", fitted[1])[:2]


def test_the_same_seed_gives_the_same_model(capsys, customers, tmp_path):
    for name in ("a", "b"):
        options = ["--kernel", "linear", "--folds", "2", "-m", tmp_path / name]
        assert answer(capsys, "fit", customers, "-l", "bought", *options)[0] == 0
    a, b = (answer(capsys, "predict", customers, "-m", tmp_path / name)[1] for name in ("a", "b"))
    assert a == b


def test_fit_with_another_loss(capsys, customers, tmp_path):
    model = tmp_path / "model.pnu"
    options = ["--loss", "logistic", "--kernel", "linear", "--folds", "2", "--prior", "0.3", "-m", model]
    facts = as_json(capsys, "fit", customers, "-l", "bought", *options)
    assert facts["loss"] == "logistic"
    assert facts["validation_error"] < 0.3
    assert as_json(capsys, "info", model)["loss"] == "logistic"
    assert answer(capsys, "predict", customers, "-m", model)[0] == 0


def test_evaluate_a_model_and_a_column_agree(capsys, customers, fitted, tmp_path):
    judged = as_json(capsys, "evaluate", customers, "-l", "bought", "-m", fitted[1], "--prior", "0.3")
    _, predicted, _ = answer(capsys, "predict", customers, "-m", fitted[1])
    path = tmp_path / "predicted.csv"
    path.write_text(predicted, encoding="utf-8")
    for column in ("predicted_bought", "probability_yes"):
        again = as_json(capsys, "evaluate", path, "-l", "bought", "-s", column, "--prior", "0.3")
        assert again["error_rate"] == pytest.approx(judged["error_rate"])
        assert again["rows"] == {"yes": 30, "no": 20, "unlabelled": 300}
    low, high = judged["interval"]
    assert low < judged["error_rate"] < high


def test_evaluate_says_what_errors_cost(capsys, customers, fitted):
    options = ("evaluate", customers, "-l", "bought", "-m", fitted[1], "--prior", "0.3", "--costs")
    equal, dear = as_json(capsys, *options, "1", "1"), as_json(capsys, *options, "5", "1")
    assert equal["cost_per_row"] == equal["error_rate"]
    assert dear["cost_interval"][0] <= dear["cost_per_row"] <= dear["cost_interval"][1]
    assert dear["cost_per_row"] > equal["cost_per_row"]


def test_evaluate_warns_about_the_training_file(capsys, customers, fitted):
    assert "very file" in answer(capsys, "evaluate", customers, "-l", "bought", "-m", fitted[1])[2]


def test_evaluate_wants_exactly_one_thing_to_judge(capsys, customers, fitted):
    assert answer(capsys, "evaluate", customers, "-l", "bought")[0] == 2
    assert answer(capsys, "evaluate", customers, "-l", "bought", "-m", fitted[1], "-s", "age")[0] == 2


def test_compare_a_model_with_a_worse_column(capsys, customers, fitted, tmp_path):
    _, predicted, _ = answer(capsys, "predict", customers, "-m", fitted[1])
    rows = list(csv.DictReader(io.StringIO(predicted)))
    path = tmp_path / "two.csv"
    lines = [f"{row['age']},{row['income']},{row['city']},{row['bought']},{i % 2}" for i, row in enumerate(rows)]
    path.write_text("age,income,city,bought,coin\n" + "\n".join(lines), encoding="utf-8")
    facts = as_json(capsys, "compare", path, "-l", "bought", "-m", fitted[1], "-s", "coin", "--prior", "0.3")
    alone = as_json(capsys, "evaluate", path, "-l", "bought", "-s", "coin", "--prior", "0.3")
    assert facts["coin"]["error"] == pytest.approx(alone["error_rate"])
    assert facts["coin"]["error"] == pytest.approx(0.5, abs=0.15)
    assert "more than chance explains" in facts["verdict"]
    assert "points lower with" in facts["verdict"]
    assert answer(capsys, "compare", path, "-l", "bought", "-s", "coin")[0] == 2


def test_prior(capsys, customers):
    facts = as_json(capsys, "prior", customers, "--label", "bought")
    assert facts["interval"][0] < facts["prior"] < facts["interval"][1]
    assert facts["prior"] == pytest.approx(0.3, abs=0.12)
    assert facts["positive"] == "yes"
    turned = as_json(capsys, "prior", customers, "--label", "bought", "--positive", "no")
    assert turned["prior"] == pytest.approx(1 - facts["prior"], abs=1e-6)


def test_most_unlabeled_limits_the_rows_and_says_so(capsys, customers):
    options = ["--kernel", "linear", "--folds", "2", "--most-unlabeled", "100"]
    code, _, messages = answer(capsys, "fit", customers, "-l", "bought", *options)
    assert code == 0
    assert "100 of 300 unlabelled rows" in messages


def test_three_classes(capsys, tmp_path):
    path = tmp_path / "iris.csv"
    from sklearn.datasets import load_iris

    X, y = load_iris(return_X_y=True)
    rows = [",".join(map(str, [*x, "abc"[k] if i % 3 == 0 else ""])) for i, (x, k) in enumerate(zip(X, y, strict=True))]
    path.write_text("s,t,u,v,kind\n" + "\n".join(rows))
    model, report = tmp_path / "m.pnu", tmp_path / "r.html"
    options = ["--kernel", "linear", "--folds", "2", "-m", model, "-r", report]
    assert answer(capsys, "fit", path, "-l", "kind", *options)[0] == 0
    _, out, _ = answer(capsys, "predict", path, "-m", model)
    rows = list(csv.DictReader(io.StringIO(out)))
    assert sum(row["predicted_kind"] == "abc"[k] for row, k in zip(rows, y, strict=True)) > 110
    assert {"probability_a", "probability_b", "probability_c"} <= set(rows[0])


def test_advice_from_numbers_and_from_a_table(capsys, customers):
    numbers = ["--n-positive", "30", "--n-negative", "20", "--n-unlabeled", "300", "--prior", "0.3"]
    facts = as_json(capsys, "advise", *numbers)
    assert facts["most_promising"] == "pnu"
    assert facts["pu_against_pn"] < 1 < facts["nu_against_pn"]
    assert 0 < facts["variance_ratio"] < 1
    assert as_json(capsys, "advise", customers, "-l", "bought", "--prior", "0.3") == facts
    assert answer(capsys, "advise", "--n-positive", "30")[0] == 2
    assert answer(capsys, "advise", customers)[0] == 2


@pytest.mark.parametrize("command", [None, *(command.callback.__name__ for command in app.registered_commands)])
def test_every_command_explains_itself(capsys, command):
    code, out, messages = answer(capsys, *([command] if command else []), "--help")
    assert (code, messages) == (0, "")
    assert "Usage: pnulearn" in out


def test_version(capsys):
    code, out, _ = answer(capsys, "--version")
    assert code == 0
    assert out.startswith("pnulearn ")


@pytest.mark.parametrize("options", [[], ["--only"], ["--json"], ["--no-guard"]], ids=str)
def test_a_large_file_is_predicted_in_batches_with_the_same_answer(capsys, customers, fitted, monkeypatch, options):
    from pnulearn._reader import batches

    whole = answer(capsys, "predict", customers, "-m", fitted[1], *options)
    monkeypatch.setattr(batches, "LARGE", 0)
    monkeypatch.setattr(batches, "BYTES_AT_ONCE", 2000)
    assert sum(1 for _ in batches.Batches.of(customers, batches.Reading())) > 3
    assert answer(capsys, "predict", customers, "-m", fitted[1], *options) == whole


def test_predict_keeps_the_columns_that_were_named(capsys, customers, fitted):
    code, out, _ = answer(capsys, "predict", customers, "-m", fitted[1], "--keep", "note", "--keep", "age")
    assert code == 0
    assert out.splitlines()[0] == "note,age,predicted_bought,probability_yes"
    whole = list(csv.DictReader(io.StringIO(answer(capsys, "predict", customers, "-m", fitted[1])[1])))
    kept = list(csv.DictReader(io.StringIO(out)))
    assert kept == [{name: row[name] for name in kept[0]} for row in whole]
    _, out, _ = answer(capsys, "predict", customers, "-m", fitted[1], "--keep", "note", "--json")
    assert list(json.loads(out.splitlines()[0])) == ["note", "predicted_bought", "probability_yes"]
    assert "no column 'id'" in answer(capsys, "predict", customers, "-m", fitted[1], "--keep", "id")[2]
    assert answer(capsys, "predict", customers, "-m", fitted[1], "--keep", "note", "--only")[0] == 2


def test_predict_names_the_row_of_a_bad_cell(capsys, customers, fitted, tmp_path):
    lines = customers.read_text(encoding="utf-8").splitlines()
    cells = lines[8].split(",")
    lines[8] = ",".join([cells[0], "much", *cells[2:]])
    path = tmp_path / "bad.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    code, _, messages = answer(capsys, "predict", path, "-m", fitted[1])
    assert code == 1
    assert "row 8 holds 'much'" in messages


def test_a_model_of_the_command_line_is_exported_to_onnx(capsys, customers, fitted, tmp_path):
    onnx = pytest.importorskip("onnx")
    import numpy as np

    from pnulearn import load
    from pnulearn.tables import read_table

    for precision, tolerance in (("float64", 1e-9), ("float32", 1e-3)):
        path = tmp_path / f"{precision}.onnx"
        facts = as_json(capsys, "export", fitted[1], "--onnx", path, "--precision", precision)
        assert facts["features"] == load(fitted[1]).plan.feature_names
        model, table = load(fitted[1]), read_table(customers)
        X = model.plan.features(table)[0].astype(precision)
        from onnx.reference import ReferenceEvaluator

        label, _, probability = ReferenceEvaluator(onnx.load(path)).run(None, {"X": X})
        np.testing.assert_allclose(probability, model.predict(table).probability, atol=tolerance)
        assert np.mean(label == model.predict(table).labels) > 0.99
    code, _, messages = answer(capsys, "export", fitted[1], "--onnx", fitted[1])
    assert code == 2
    assert "MODEL" in messages


def test_a_helper_column_makes_the_error_surer(capsys, tmp_path):
    """Nothing but labels, scores and a second opinion in the file: the prior comes from the scores."""
    rng = np.random.default_rng(0)
    truth = np.append(np.repeat([True, False], 25), rng.random(800) < 0.4)
    model = np.where(rng.random(850) < 0.75, truth, ~truth)
    helper = np.where(rng.random(850) < 0.95, truth, ~truth)
    words = np.array(["no", "yes"])
    rows = [
        f"{words[int(t)] if i < 50 else ''},{words[int(m)]},{words[int(h)]}"
        for i, (t, m, h) in enumerate(zip(truth, model, helper, strict=True))
    ]
    file = tmp_path / "scores.csv"
    file.write_text("y,model,llm\n" + "\n".join(rows) + "\n")
    basic = ("evaluate", file, "--label", "y", "--score", "model", "--positive", "yes", "--prior", "0.4")
    plain, helped = as_json(capsys, *basic), as_json(capsys, *basic, "--helper", "llm")
    assert helped["helper"] > 0.4
    assert np.ptp(helped["interval"]) < 0.85 * np.ptp(plain["interval"])
    assert helped["interval_without_helper"] == plain["interval"]
    assert as_json(capsys, *basic[:-2], "--helper", "llm")["prior_interval"] is not None
    drawn = as_json(capsys, *basic[:-2], "--labels", "random")
    assert drawn["prior"] == pytest.approx(0.5, abs=0.02)


def test_advice_says_how_many_labels_a_width_takes(capsys):
    basic = ("advise", "--n-positive", 10, "--n-negative", 10, "--n-unlabeled", 1000, "--prior", 0.3)
    by_class = as_json(capsys, *basic, "--width", 0.15)["labels_needed"]
    assert by_class["positive"] == by_class["negative"] > 20
    drawn = as_json(capsys, *basic, "--width", 0.15, "--labels", "random")["labels_needed"]
    assert drawn["positive"] < drawn["negative"]


def test_prior_and_advise_begin_with_a_sentence_and_speak_in_percent(customers, capsys):
    assert run(["prior", str(customers), "--label", "bought", "--drop", "note", "-q", "--json"]) == 0
    exact = json.loads(capsys.readouterr().out)["prior"]
    assert run(["prior", str(customers), "--label", "bought", "--drop", "note", "-q"]) == 0
    told = capsys.readouterr().out
    assert told.startswith(f"About {100 * exact:.0f} % of the rows are 'yes' (90 % interval ")
    assert "0." not in told.partition("\n")[2]
    counts = ["--n-positive", "20", "--n-negative", "30", "--n-unlabeled", "500", "--prior", "0.3"]
    assert run(["advise", *counts]) == 0
    told = capsys.readouterr().out
    assert told.startswith("Recommended risk: ")
    assert "in percent of labels alone" in told
    assert "30 %" in told


def test_evaluate_and_compare_speak_in_percent_and_of_one_prior(customers, fitted, capsys):
    judge = [str(customers), "-l", "bought", "-m", str(fitted[1]), "-q"]
    fit_prior = load(fitted[1]).facts()["prior"]
    facts = as_json(capsys, "evaluate", *judge)
    assert facts["prior"] == pytest.approx(fit_prior)
    told = answer(capsys, "evaluate", *judge)[1]
    headline, _, table = told.partition("\n")
    assert f"errs on about {100 * facts['error_rate']:.1f} % of the rows" in headline
    for value in (
        f"{100 * facts['error_rate']:.1f} %",
        f"{100 * facts['interval'][1]:.1f} %",
        f"{100 * fit_prior:.0f} %",
    ):
        assert value in table
    compared = answer(capsys, "compare", *judge, "-s", "income", "--threshold", "40")[1]
    assert compared.count(" points") >= 5
    assert f"{facts['error_rate']:.4g}" not in told


def test_evaluate_reads_files_as_fit_does(customers, fitted, capsys, tmp_path):
    names, *lines = customers.read_text(encoding="utf-8").splitlines()
    (tmp_path / "two.csv").write_text("\n".join([names, ",,,,", *lines]), encoding="utf-8")
    judge = ("-l", "bought", "-m", fitted[1], "--prior", "0.3")
    found = as_json(capsys, "evaluate", tmp_path / "two.csv", *judge, "--header-rows", "2", "--decimal", ".")
    assert found["interval"] == as_json(capsys, "evaluate", customers, *judge)["interval"]


def test_evaluate_and_compare_draw_labels_as_the_fit_did_and_say_so(customers, capsys, tmp_path):
    model = tmp_path / "random.pnu"
    assert run(["fit", str(customers), "-l", "bought", "--sampling", "random", *FIT, "-m", str(model)]) == 0
    judge = (customers, "-l", "bought", "-m", model)
    for command, more in (("evaluate", ()), ("compare", ("-m", model))):
        found, asked, chosen = (
            as_json(capsys, command, *judge, *more, *said)
            for said in ((), ("--sampling", "random"), ("--sampling", "by-class"))
        )
        assert found["interval"] == asked["interval"]
        assert found["prior"] == asked["prior"] != chosen["prior"]
        assert "taken to be drawn at random, as for the fit" in answer(capsys, command, *judge, *more)[2]
        assert "as for the fit" not in answer(capsys, command, *judge, *more, "--prior", "0.3")[2]


def test_labels_at_random_give_the_prior_of_their_own_rows(customers, capsys, tmp_path):
    """Not joined with the prior of the fit, whose rows may be another month's, or the same labels a second time."""
    model = tmp_path / "random.pnu"
    assert run(["fit", str(customers), "-l", "bought", "--sampling", "random", *FIT, "-m", str(model)]) == 0
    rows = csv.DictReader(io.StringIO(customers.read_text(encoding="utf-8")))
    said = [row["bought"].strip().lower() for row in rows]
    counted = PriorEstimate.of_counts([said.count("no"), said.count("yes")])
    given = (customers, "-l", "bought", "-m", model, "--sampling", "random")
    evaluated, compared = as_json(capsys, "evaluate", *given), as_json(capsys, "compare", *given, "-m", model)
    assert evaluated["prior_interval"] == compared["prior_interval"] == pytest.approx([counted.low, counted.high])


def test_compare_states_every_error_as_evaluate_does(customers, fitted, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    other = Path("an_other.pnu")
    assert run(["fit", str(customers), "-l", "bought", "--drop", "age", *FIT, "-m", str(other)]) == 0
    for sampling in ("random", "by-class"):
        judge = (customers, "-l", "bought", "--prior", "0.3", "--sampling", sampling)
        compared = as_json(capsys, "compare", *judge, "-m", fitted[1], "-m", other)
        for model in (fitted[1], other):
            alone = as_json(capsys, "evaluate", *judge, "-m", model)
            assert compared[str(model)]["error"] == pytest.approx(alone["error_rate"], abs=1e-12)
            assert [compared[str(model)][end] for end in ("from", "to")] == pytest.approx(alone["interval"])
    out, messages = answer(capsys, "compare", *judge, "-m", other, "-s", "income", "--threshold", "30")[1:]
    assert "\nan_other.pnu " in out  # not "an other.pnu"
    assert "The difference is estimated by itself" in messages
