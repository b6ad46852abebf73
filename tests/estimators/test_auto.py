"""PNU beside scikit-learn's models: weights as their risks say, files, commands."""

import json
import sys
import warnings
import zipfile

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

import pnulearn
from pnulearn import AutoPNU, PNUClassifier, PriorAdjusted
from pnulearn.__main__ import main
from pnulearn._estimators.auto import KIND, LEARNERS, SUPERVISED, TREES, auto_contents
from pnulearn._files.archive import write_archive
from pnulearn._files.refusals import ModelFileError
from pnulearn._learning.selection import validation_mix
from pnulearn.metrics import pnu_risk

RNG = np.random.default_rng(0)
TRUTH = np.concatenate([np.arange(40) % 2, RNG.random(160) < 0.3]).astype(int)
X = RNG.normal(size=(200, 3)) + 1.5 * TRUTH[:, None]
Y = np.where(np.arange(200) < 40, TRUTH, np.nan)
THREE = np.array(["a", "b", "c"])[(X[:, 0] > 0).astype(int) + (X[:, 1] > 0)]
QUICK = PNUClassifier(mix=[0.0, 0.5], alpha=[0.01, 0.1], centers=20)


@pytest.fixture(scope="module")
def auto():
    return AutoPNU(pnu=QUICK, prior=0.3, cv=3, random_state=0).fit(X, Y)


@pytest.mark.parametrize("name", SUPERVISED)
def test_one_supervised_learner_is_what_prior_adjusted_makes_of_it(name):
    alone = AutoPNU((name,), prior=0.3, cv=3, random_state=0).fit(X, Y)
    seed = int(np.random.RandomState(0).randint(2**31))
    wrapped = PriorAdjusted(SUPERVISED[name](seed), 0.3, cv=3, random_state=seed).fit(X, Y)
    assert_allclose(alone.predict_proba(X), wrapped.predict_proba(X), atol=1e-9)
    assert_array_equal(alone.predict(X), wrapped.predict(X))


def test_weights_follow_the_risks_and_the_average_is_one_of_probabilities(auto):
    assert [member.name for member in auto.members_] == list(LEARNERS)
    weights = np.array([member.weight for member in auto.members_])
    assert weights.sum() == pytest.approx(1)
    seed = int(np.random.RandomState(0).randint(2**31))
    prior, mix = auto.prior_estimate_, validation_mix(np.array([0.7, 0.3]), [20, 20], 160)
    energies, shares = [], 0.0
    for member, scores in zip(auto.members_, auto.member_scores_, strict=True):
        risks = [pnu_risk(Y, scores[0], prior=0.3, loss=loss, mix=mix).value for loss in ("zero_one", "squared")]
        energies.append(sum(risks))
        if member.name != "pnu":
            wrapped = PriorAdjusted(SUPERVISED[member.name](seed), prior, cv=3, random_state=seed).fit(X, Y)
            shares = shares + member.weight * wrapped.predict_proba(X)
        else:
            shares = shares + member.weight * auto.pnu_.predict_proba(X)
    assert_allclose(auto.predict_proba(X), shares, atol=1e-9)
    n = 1 / (0.3**2 / 20 + 0.7**2 / 20)
    assert_allclose(np.log(weights / weights[0]), n * (energies[0] - np.array(energies)), atol=1e-6)
    assert np.mean(auto.predict(X) == TRUTH) > 0.85
    assert auto.risk_.low < np.mean(auto.predict(X[40:]) != TRUTH[40:]) < auto.risk_.high


def test_the_order_of_rows_and_their_last_bits_are_irrelevant(auto):
    """Boosting adds gradients row by row and cuts between any two values; columns of few values tie often."""
    rows = np.column_stack([X, X[:, 0] > 0.5, np.round(X[:, 1])])
    order = np.random.default_rng(1).permutation(len(Y))
    folds = np.arange(len(Y)) % 3
    pairs = [(np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in range(3)]
    place = np.argsort(order)
    moved_pairs = [(place[train], place[test]) for train, test in pairs]
    for cv, moved_cv in ((3, 3), (pairs, moved_pairs)):
        model = clone(auto).set_params(cv=cv).fit(rows, Y)
        moved = clone(auto).set_params(cv=moved_cv).fit(np.nextafter(rows, np.inf)[order], Y[order])
        assert_allclose(moved.decision_function(rows), model.decision_function(rows), atol=1e-8)
        assert_allclose(moved.validation_scores_, model.validation_scores_[order], atol=1e-8)


@pytest.mark.thorough
def test_scikit_learn_finds_nothing_to_complain_about():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the checks fit fully labelled data, which we warn about
        results = check_estimator(AutoPNU(("pnu", "logistic"), PNUClassifier(alpha=0.1, centers=20)), on_fail=None)
    assert [r["check_name"] for r in results if r["status"] not in ("passed", "skipped")] == []


def test_more_classes_words_sparse_rows_and_another_positive_class():
    y = np.where(np.arange(200) < 60, THREE, None)
    model = AutoPNU(("pnu", "logistic", "svm"), QUICK, cv=3, random_state=0).fit(csr_matrix(X), y)
    assert [member.name for member in model.members_] == ["pnu", "logistic"]
    assert np.mean(model.predict(csr_matrix(X)) == THREE) > 0.7
    assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    words = np.where(np.arange(200) < 40, np.where(TRUTH == 1, "a", "b"), None)
    turned = AutoPNU(("forest", "svm"), prior=0.3, pos_label="a", cv=3, random_state=0).fit(X, words)
    assert turned.classes_.tolist() == ["b", "a"]
    assert np.mean(turned.predict(X[40:]) == np.where(TRUTH[40:] == 1, "a", "b")) > 0.85


def test_a_saved_model_answers_the_same_and_a_cut_one_is_refused(auto, tmp_path):
    pytest.importorskip("skops")
    pnulearn.save(auto, tmp_path / "model.pnu")
    again = pnulearn.load(tmp_path / "model.pnu")
    assert_array_equal(again.predict_proba(X), auto.predict_proba(X))
    assert again.risk_ == auto.risk_
    with pytest.raises(TypeError, match="learner='pnu'"):
        pnulearn.onnx.to_onnx(auto)
    (tmp_path / "cut.pnu").write_bytes((tmp_path / "model.pnu").read_bytes()[:-40])
    with pytest.raises(ModelFileError):
        pnulearn.load(tmp_path / "cut.pnu")


def test_a_file_with_other_models_than_it_names_is_refused(auto, tmp_path):
    skops = pytest.importorskip("skops.io")
    others = {
        "is a LogisticRegression": {"forest": next(m.model for m in auto.members_ if m.name == "logistic")},
        "different columns": {"forest": SUPERVISED["forest"](0).fit(X[:, :2], TRUTH)},
        "different columns or classes": {"forest": SUPERVISED["forest"](0).fit(X, THREE)},
        "Untrusted types": {"forest": Harmful()},
    }
    content = auto_contents(auto)
    models = skops.loads(content["models"].tobytes(), trusted=TREES)
    for message, other in others.items():
        blob = np.frombuffer(skops.dumps(models | other), dtype=np.uint8)
        write_archive(tmp_path / "model.pnu", KIND, content | {"models": blob})
        with pytest.raises(ModelFileError, match=message):
            pnulearn.load(tmp_path / "model.pnu")
    packed = skops.dumps(models, compression=zipfile.ZIP_DEFLATED)
    write_archive(tmp_path / "model.pnu", KIND, content | {"models": np.frombuffer(packed, dtype=np.uint8)})
    with pytest.raises(ModelFileError, match="compressed"):
        pnulearn.load(tmp_path / "model.pnu")


class Harmful:
    """A class that is not scikit-learn's."""


def test_a_file_of_another_scikit_learn_is_told_apart(auto, tmp_path):
    pytest.importorskip("skops")
    content = auto_contents(auto) | {"scikit-learn": "0.24.0"}
    write_archive(tmp_path / "model.pnu", KIND, content)
    with pytest.warns(UserWarning, match=r"saved with scikit-learn 0\.24\.0"):
        again = pnulearn.load(tmp_path / "model.pnu")
    assert_array_equal(again.predict(X), auto.predict(X))
    zeros = np.zeros_like(content["models"])
    zeros[:] = content["models"]
    zeros[len(zeros) // 3 : len(zeros) // 2] = 0
    write_archive(tmp_path / "model.pnu", KIND, content | {"models": zeros})
    with (
        pytest.raises(ModelFileError, match=r"Install scikit-learn 0\.24\.0, or fit the model again"),
        pytest.warns(UserWarning, match="saved with"),
    ):
        pnulearn.load(tmp_path / "model.pnu")


def test_without_skops_it_is_said_what_to_install(auto, tmp_path, monkeypatch):
    pytest.importorskip("skops")
    alone = AutoPNU(("pnu",), QUICK, prior=0.3, cv=3, random_state=0).fit(X, Y)
    pnulearn.save(auto, tmp_path / "model.pnu")
    monkeypatch.setitem(sys.modules, "skops", None)
    with pytest.raises(ImportError, match=r"Loading an AutoPNU .* pip install 'pnulearn\[skops\]'"):
        pnulearn.load(tmp_path / "model.pnu")
    with pytest.raises(ImportError, match=r"Saving an AutoPNU .* pip install 'pnulearn\[skops\]'"):
        pnulearn.save(auto, tmp_path / "other.pnu")
    pnulearn.save(alone, tmp_path / "alone.pnu")
    assert_array_equal(pnulearn.load(tmp_path / "alone.pnu").predict(X), alone.predict(X))


@pytest.mark.parametrize(
    "learners, message",
    [
        (("tree",), "learners must be distinct names out of 'pnu', 'forest'"),
        ((), "distinct names"),
        (("pnu", "pnu"), "distinct names"),
    ],
)
def test_unknown_learners_are_refused_by_name(learners, message):
    with pytest.raises(ValueError, match=message):
        AutoPNU(learners).fit(X, Y)


def test_a_class_that_cannot_be_held_out_leaves_no_risk_but_a_model():
    y = np.where(np.isin(np.arange(200), [1, 2, 4]), TRUTH, np.nan)
    model = AutoPNU(("logistic",), prior=0.3, random_state=0).fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "rows.csv"
    lines = [
        f"{a:.3f},{b:.3f},{c:.3f},{'' if i >= 40 else 'yes' if TRUTH[i] else 'no'}" for i, (a, b, c) in enumerate(X)
    ]
    path.write_text("\n".join(["first,second,third,bought", *lines]))
    return path


@pytest.mark.parametrize("learner", [pytest.param("logistic", marks=pytest.mark.thorough), "auto"])
def test_the_command_line_fits_reports_and_predicts(learner, table, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    model, page = tmp_path / "model.pnu", tmp_path / "page.html"
    settings = ["--set", "mix=[0,0.5]", "--set", "alpha=[0.01,0.1]"] if learner == "auto" else []
    arguments = ["--prior", "0.3", "--learner", learner, "--folds", "3", *settings]
    assert run("fit", table, "--label", "bought", *arguments, "-m", model, "-r", page, "--json") == 0
    said = json.loads(capsys.readouterr().out)
    assert list(said["learners"]) == (["logistic"] if learner == "logistic" else list(LEARNERS))
    assert "<td>logistic</td>" in page.read_text()
    assert ("svm alone" in page.read_text()) is (learner == "auto")
    assert run("predict", table, "--model", model, "--only") == 0
    predicted = capsys.readouterr().out.splitlines()[1:]
    assert np.mean([line.startswith("yes") for line in predicted] == (TRUTH == 1)) > 0.85
    assert run("info", model) == 0
    assert "logistic" in capsys.readouterr().out


def test_options_of_pnu_are_refused_for_others(table, capsys):
    pytest.importorskip("typer")
    assert run("fit", table, "--label", "bought", "--learner", "svm", "--kernel", "linear") != 0
    assert "--kernel is for --learner pnu or auto" in " ".join(capsys.readouterr().err.replace("│", "").split())


def run(*arguments):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.argv", ["pnulearn", *map(str, arguments)])
        try:
            main()
        except SystemExit as end:
            return end.code or 0
    return 0
