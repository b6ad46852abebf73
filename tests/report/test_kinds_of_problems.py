"""Reports of problems that are not the usual one: more classes, one labelled class, no unlabelled rows."""

import numpy as np
import pytest

from pnulearn import TableClassifier
from pnulearn.report._findings import investigate
from pnulearn.report._page import render


def fit(path, n_classes=2, labels=lambda names, i: names if i < 60 else "", **options):
    rng = np.random.default_rng(0)
    kind = rng.integers(0, n_classes, 240)
    x = rng.normal(size=(240, 2)) + 2.5 * np.column_stack([kind, kind % 2])
    rows = [f"{a:.3f},{b:.3f},{labels('abc'[k], i)}" for i, ((a, b), k) in enumerate(zip(x, kind, strict=True))]
    path.write_text("x,z,y\n" + "\n".join(rows))
    return TableClassifier(cv=3, **options).fit(path, "y").fitted_


def test_more_than_two_classes_have_a_verdict_columns_ingredients_and_rows(tmp_path):
    findings = investigate(fit(tmp_path / "t.csv", 3, prior={"a": 0.4, "b": 0.3, "c": 0.3}))
    page = render(findings)
    for section in ("mistakes", "columns", "ablations", "rows", "label", "prior", "data", "search"):
        assert f'id="{section}-section"' in page
    assert "line-section" not in page
    assert findings.verdict.headline in page.replace("&#39;", "'")
    assert {row.answer for row in findings.rows.sure} == {"a", "b", "c"}
    assert [len(effect.average) for effect in findings.columns.effects] == [3, 3]
    assert [one.column for one in findings.columns.importances if one.rise.low > 0]


@pytest.mark.filterwarnings("ignore:There are no negative rows")
def test_one_labelled_class_has_no_supervised_model_to_compare_with(tmp_path):
    fitted = fit(tmp_path / "t.csv", labels=lambda name, i: "b" if name == "b" and i < 80 else "", prior=0.5)
    findings = investigate(fitted)
    assert [ablation.name for ablation in findings.ablations] == ["without averaging"]
    assert "labels alone" not in render(findings)
    assert findings.rows.to_label


@pytest.mark.filterwarnings("ignore:There are no unlabelled rows")
def test_without_unlabelled_rows_there_is_nothing_to_label(tmp_path):
    findings = investigate(fit(tmp_path / "t.csv", labels=lambda name, i: name, prior=0.5))
    page = render(findings)
    assert "label-section" not in page
    assert "columns-section" in page


@pytest.mark.filterwarnings("ignore:Class 'b' has a single labelled row")
def test_a_class_with_a_single_labelled_row_is_reported_on(tmp_path):
    """That row is never held out, so no rate of its class is known from labels."""
    first = []

    def one_b(name, i):
        if name == "b" and not first:
            first.append(i)
            return name
        return name if name == "a" and i < 60 else ""

    fitted = fit(tmp_path / "t.csv", labels=one_b, prior=0.5)
    assert "mistakes-section" in render(investigate(fitted))
