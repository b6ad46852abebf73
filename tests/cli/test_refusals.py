"""What goes wrong gives one or two helpful lines and exit code 1 or 2, never a traceback unless asked for."""

import json
import pickle

import numpy as np
import pytest

from pnulearn import PNUClassifier
from pnulearn.cli import run
from pnulearn.cli.options import refuse_outputs

FIT = ["--kernel", "linear", "--folds", "2"]


def refusal(capsys, *arguments):
    capsys.readouterr()
    code = run(list(map(str, arguments)))
    out, messages = capsys.readouterr()
    assert out == ""
    assert "Traceback" not in messages
    return code, messages


@pytest.fixture
def table(tmp_path):
    def write(text, name="t.csv"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return write


ONE_CLASS = "x,z,y\n" + "".join(f"{i % 7},{i % 3},{'a' if i < 5 else ''}\n" for i in range(30))
TWO_CLASSES = "x,z,y\n" + "".join(f"{i % 7},{i % 3},{'ab'[i % 2] if i < 12 else ''}\n" for i in range(30))
NONE_MARKED = "x,w,y\n" + "".join(
    f"{i % 7},{'no' if i < 12 else 'yes'},{'ab'[i % 2] if i < 12 else ''}\n" for i in range(30)
)
LABELLED_ONE_CLASS = "x,z,y\n" + "".join(f"{i % 7},{i % 3},a\n" for i in range(30))


@pytest.mark.parametrize(
    "text, options, code, words",
    [
        (None, ["-l", "y"], 1, "There is no file"),
        ("", ["-l", "y"], 1, "is empty"),
        (b"a,y\n\x81\x8d,1\n", ["-l", "y"], 1, "--encoding"),
        ("x,label\n1,a\n2,b\n", ["-l", "labell"], 1, "Did you mean 'label'?"),
        ("x,y\n1,\n2,\n", ["-l", "y"], 1, "no label at all"),
        (LABELLED_ONE_CLASS, ["-l", "y"], 1, "one class alone"),
        ("x,y\n1,a\n2,b\n", ["-l", "y", "--prior", "30"], 2, "write 0.3"),
        ("x,y\n1,a\n2,b\n", ["-l", "y", "--prior", "30%"], 2, "write 0.3"),
        ("x,y\n1,a\n2,b\n", ["-l", "y", "--prior", "0"], 2, "strictly between 0 and 1"),
        ("x,y\n1,a\n2,b\n", ["-l", "y", "--prior", "third"], 2, "share such as 0.3"),
        ("x,y\n1,a\n2,b\n", ["-l", "y", "--prior", "0.1..much"], 2, "range such as 0.1..0.3"),
        ("x,y\n1,a\n2,b\n", ["-l", "y", "--prior", "0.3..0.1"], 2, "lower end of a range comes first"),
        ("x,y\n1,a\n2,b\n", ["-l", "y", "--prior", "10..30"], 2, "write 0.1"),
        (TWO_CLASSES, ["-l", "y", "--at-random", "w"], 1, "no column 'w'"),
        (TWO_CLASSES, ["-l", "y", "--at-random", "x"], 1, "with yes and no or 1 and 0; it holds '2'"),
        (TWO_CLASSES, ["-l", "y", "--at-random", "x", "--labels", "random"], 2, "pass one of them"),
        (TWO_CLASSES, ["-l", "y", "--labels", "chosen", "--sampling", "single_set"], 2, "contradict each other"),
        (NONE_MARKED, ["-l", "y", "--at-random", "w"], 1, "marks no labelled row"),
        ("x,y\n1,a\n2,b\n", [], 2, "--label"),
        ("x,y\n1,a\n2,b\n", ["-l", "y", "--loss", "log"], 2, "double_hinge"),
        (TWO_CLASSES, ["-l", "y", "--loss", "hinge", "--prior", "0.5"], 1, "the hinge loss fits --risk 'pn'"),
        ("x,y\n1,a\n2,b\n", ["-l", "y", "--model", "nowhere/m"], 2, "no folder"),
        ("x,y\n1,-1\n2,0\n3,1\n", ["-l", "y"], 1, "--unlabeled 0"),
        ("x,y\n1,0.5\n2,1.5\n3,1\n", ["-l", "y"], 1, "continuous"),
        ("x,y\n1,a\n2,b\n", ["-l", "y", "--drop", "z"], 1, "no column 'z'"),
    ],
)
def test_fit_refuses_in_a_few_words(capsys, table, tmp_path, text, options, code, words):
    path = tmp_path / "absent.csv" if text is None else table(text)
    found, messages = refusal(capsys, "fit", path, *options, *FIT)
    assert found == code
    assert words in messages
    assert len([line for line in messages.splitlines() if line.startswith(("error:", "Error:"))]) <= 1


def test_one_class_with_unlabelled_rows_is_learnt_with_a_warning(capsys, table):
    path = table(ONE_CLASS)
    assert run(["fit", str(path), "-l", "y", "--prior", "0.4", *FIT]) == 0
    assert "warning: There are no negative rows, so the PU risk is used" in capsys.readouterr().err


def test_debug_shows_the_traceback(table):
    with pytest.raises(ValueError, match="is empty"):
        run(["fit", str(table("")), "-l", "y", "--debug"])


def test_unexpected_errors_say_how_to_report_them(capsys, table, monkeypatch):
    monkeypatch.setattr("pnulearn._reader.in_memory.read_delimited", lambda *_, **__: 1 / 0)
    code, messages = refusal(capsys, "fit", table("x,y\n1,a\n"), "-l", "y")
    assert code == 1
    assert "ZeroDivisionError" in messages
    assert "--debug" in messages


def altered(path, target, change):
    """The model file with a changed header."""
    with np.load(path) as archive:
        arrays = dict(archive)
    header = json.loads(arrays["header"].tobytes())
    change(header, arrays)
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    with open(target, "wb") as file:
        np.savez(file, **arrays)


def test_files_that_are_no_model_are_refused_with_a_reason(capsys, customers, fitted, tmp_path):
    model, bad = fitted[1], tmp_path / "bad.pnu"

    def words():
        code, messages = refusal(capsys, "predict", customers, "-m", bad)
        assert code == 1
        return messages

    assert "No model file" in words()
    bad.write_bytes(model.read_bytes()[:-200])
    assert "not a complete pnulearn model file" in words()
    bad.write_bytes(pickle.dumps({"a": 1}))
    assert "is a pickle. Pickles are not read" in words()
    bad.write_text("hello")
    assert "is not a pnulearn model file" in words()
    with bad.open("wb") as file:
        np.savez(file, x=np.zeros(3))
    assert "is a zip archive, but not a pnulearn model file" in words()
    altered(model, bad, lambda header, _: header.update(version=99))
    assert "format version 99" in words()
    altered(model, bad, lambda header, _: header.update(format="other"))
    assert "not a pnulearn model file" in words()

    def spoil(_, arrays):
        name = next(name for name in arrays if "coef_" in name)
        arrays[name] = np.full_like(arrays[name], np.nan)

    altered(model, bad, spoil)
    assert "not finite" in words()


def test_a_model_saved_from_python_has_no_columns(capsys, customers, tmp_path):
    X = np.random.default_rng(0).normal(size=(40, 2))
    y = np.where(np.arange(40) < 20, (X[:, 0] > 0).astype(float), np.nan)
    PNUClassifier(kernel="linear", prior=0.5, random_state=0).fit(X, y).save(tmp_path / "m")
    code, messages = refusal(capsys, "predict", customers, "-m", tmp_path / "m")
    assert code == 1
    assert "saved from Python" in messages


def test_a_model_that_meets_other_columns_says_which(capsys, table, fitted):
    code, messages = refusal(capsys, "predict", table("Age,city\n1,Nara\n"), "-m", fitted[1])
    assert code == 1
    assert "'age', 'income'" in messages
    code, messages = refusal(capsys, "predict", table("age,extra,note\n1,2,3\n"), "-m", fitted[1])
    assert "Of its columns the model does not use 'extra'" in messages
    assert "'age'" not in messages
    assert refusal(capsys, "predict", table("age\n1\n"), "-m", fitted[1])[1].rstrip().endswith("does not have.")


def test_a_full_disk_leaves_the_old_model(capsys, customers, tmp_path, monkeypatch):
    model = tmp_path / "m.pnu"
    assert run(["fit", str(customers), "-l", "bought", *FIT, "-m", str(model)]) == 0
    old = model.read_bytes()

    def no_space(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pnulearn._files.writing.os.fsync", no_space)
    code, messages = refusal(capsys, "fit", customers, "-l", "bought", *FIT, "-m", model)
    assert code == 1
    assert f"No space left on device: '{model}'" in messages
    assert model.read_bytes() == old
    assert [p.name for p in tmp_path.iterdir()] == ["m.pnu"]


def test_colours_only_for_a_person_who_wants_them(capsys, table, monkeypatch):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    assert "\x1b[" in refusal(capsys, "prior", table(""), "-l", "y")[1]
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in refusal(capsys, "prior", table(""), "-l", "y")[1]


@pytest.mark.parametrize("options", [[], ["--positive", "yes"]])
def test_a_table_that_shows_nothing_but_no_learns_what_yes_is(capsys, table, options):
    path = table(ONE_CLASS.replace(",a\n", ",no\n"))
    assert run(["fit", str(path), "-l", "y", "--prior", "0.4", "--json", *FIT, *options]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["positive"], facts["risk"]) == ("yes", "nu")


def test_one_giant_cell_is_named_and_does_not_erase_its_column(capsys, table):
    lines = TWO_CLASSES.splitlines()
    lines[8] = "1e200,0," + lines[8].rsplit(",", 1)[1]
    code, messages = refusal(capsys, "fit", table("\n".join(lines)), "-l", "y", "--prior", "0.5", *FIT)
    assert code == 1
    assert "Column 'x' holds 1e+200 in row 8" in messages
    assert "--missing '1e+200'" in messages


def test_a_rare_flag_is_no_giant(table):
    rows = "".join(f"{int(i == 40)},{i % 7},{'ab'[i % 2] if i < 12 else ''}\n" for i in range(300))
    assert run(["fit", str(table("flag,x,y\n" + rows)), "-l", "y", "--prior", "0.5", *FIT]) == 0


def test_a_model_keeps_its_positive_class_and_threshold(capsys, customers, fitted):
    _, model, _ = fitted
    common = ["evaluate", customers, "-l", "bought", "-m", model]
    code, messages = refusal(capsys, *common, "--positive", "maybe")
    assert code == 1
    assert "positive class of the model is 'yes', not 'maybe'" in messages
    code, messages = refusal(capsys, *common, "--positive", "no")
    assert code == 1
    code, messages = refusal(capsys, *common, "--threshold", "0.3")
    assert code == 2
    assert "--threshold is for --score" in messages
    assert run([*map(str, common), "--positive", "yes"]) == 0


def test_a_column_of_predicted_labels_is_read_as_labels(capsys, table):
    rows = "".join(f"{i},{1 + i % 2 if i < 20 else ''},{1 + (i % 2 if i else 1)}\n" for i in range(60))
    path = table("x,y,said\n" + rows)
    capsys.readouterr()
    assert run(["evaluate", str(path), "-l", "y", "--score", "said", "--prior", "0.5", "--json"]) == 0
    out, messages = capsys.readouterr()
    assert "predicted labels" in messages
    assert json.loads(out)["error_rate"] < 0.1


def test_reports_need_their_extra_and_other_outputs_do_not(monkeypatch, table):
    path, asked = table(TWO_CLASSES), []
    monkeypatch.setitem(refuse_outputs.__globals__, "refuse_without_report", lambda: asked.append(1))
    without = {"--out": (path.with_name("p.csv"), "a table"), "--report": (None, "a report")}
    refuse_outputs(without, False, file=path)
    assert not asked
    refuse_outputs({"--report": (path.with_name("p.html"), "a report")}, False, file=path)
    assert asked
