"""A page about any tool's scores: complete, escaped, and written by the command line."""

import numpy as np
import pytest

from pnulearn.cli import run

pytest.importorskip("jinja2")
pytest.importorskip("matplotlib")


@pytest.fixture
def scores(tmp_path):
    rng = np.random.default_rng(0)
    truth = np.append(np.repeat([True, False], 15), rng.random(300) < 0.4)
    score = 1 / (1 + np.exp(-rng.normal(2 * truth - 1, 1)))
    helper = np.where(rng.random(330) < 0.95, truth, ~truth)
    rows = [
        f"{('<b>no', 'yes')[int(t)] if i < 30 else ''},{s:.6f},{('<b>no', 'yes')[int(h)]}"
        for i, (t, s, h) in enumerate(zip(truth, score, helper, strict=True))
    ]
    file = tmp_path / "scores.csv"
    file.write_text("y,model,llm\n" + "\n".join(rows) + "\n")
    return file


def test_the_page_has_every_section_and_escapes_labels(scores, tmp_path):
    page = tmp_path / "r.html"
    arguments = ["evaluate", scores, "--label", "y", "--score", "model", "--positive", "yes", "--prior", "0.4"]
    assert run([*map(str, arguments), "--helper", "llm", "--report", str(page)]) == 0
    text = page.read_text()
    for words in ("labels alone", "with unlabelled rows", "Precision", "AUC", "ROC curve", "Calibration"):
        assert words in text
    assert text.count("<svg") == 3
    for words in ("false positive rate", "predicted probability", "share of positives"):  # names of axes
        assert words in text
    assert "fill: #ffffff" not in text  # the page may be dark
    assert text.count("AUC") == 1
    assert "<b>no" not in text
    assert "&lt;b&gt;no" in text


def test_a_file_of_another_kind_is_not_overwritten(scores):
    arguments = ["evaluate", scores, "--label", "y", "--score", "model", "--positive", "yes", "--prior", "0.4"]
    before = scores.read_text()
    assert run([*map(str, arguments), "--report", str(scores)]) != 0
    assert scores.read_text() == before
