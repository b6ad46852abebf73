"""PNU beside scikit-learn's models: weights as their risks say, files, commands."""

import json
import sys
import warnings
import zipfile

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import pnulearn
from pnulearn import AutoPNU, PNUClassifier, PriorAdjusted
from pnulearn.__main__ import main
from pnulearn._estimators import learners
from pnulearn._estimators.auto import BOOSTERS, KIND, auto_contents, trusted_types
from pnulearn._estimators.learners import SUPERVISED, BaggedTrees
from pnulearn._files.archive import write_archive
from pnulearn._files.refusals import ModelFileError
from pnulearn._learning.selection import validation_mix
from pnulearn._problem.labels import Labels
from pnulearn.metrics import pnu_risk

RNG = np.random.default_rng(0)
TRUTH = np.concatenate([np.arange(40) % 2, RNG.random(160) < 0.3]).astype(int)
X = RNG.normal(size=(200, 3)) + 1.5 * TRUTH[:, None]
Y = np.where(np.arange(200) < 40, TRUTH, np.nan)
THREE = np.array(["a", "b", "c"])[(X[:, 0] > 0).astype(int) + (X[:, 1] > 0)]
FOR_BOTH = ["pnu", *SUPERVISED]  # learners that are used where both classes have labels
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


def test_weights_minimise_the_penalised_risk_of_the_average_of_probabilities(auto):
    assert [member.name for member in auto.members_] == FOR_BOTH
    weights = np.array([member.weight for member in auto.members_])
    assert weights.sum() == pytest.approx(1)
    prior, mix = auto.prior_estimate_, validation_mix(np.array([0.7, 0.3]), [20, 20], 160)
    n, scores = 1 / (0.3**2 / 20 + 0.7**2 / 20), np.stack([one[0] for one in auto.member_scores_])

    def objective(w):
        risk = pnu_risk(Y, w @ scores, prior=0.3, loss="squared", mix=mix).value
        return risk + np.sum(w * np.log(w)) / n

    def of_logits(z):
        return objective(np.exp(z) / np.exp(z).sum())

    found = minimize(of_logits, np.zeros(5), method="BFGS", options={"gtol": 1e-8})
    assert_allclose(weights, np.exp(found.x) / np.exp(found.x).sum(), atol=1e-5)
    assert all(
        objective(weights) <= objective(0.99 * weights + 0.01 * other)
        for other in np.full((5, 5), 0.05) + 0.75 * np.eye(5)
    )
    seed, shares = int(np.random.RandomState(0).randint(2**31)), 0.0
    for member in auto.members_:
        if member.name != "pnu":
            wrapped = PriorAdjusted(SUPERVISED[member.name](seed), prior, cv=3, random_state=seed).fit(X, Y)
            shares = shares + member.weight * wrapped.predict_proba(X)
        else:
            shares = shares + member.weight * auto.pnu_.predict_proba(X)
    assert_allclose(auto.predict_proba(X), shares, atol=1e-9)
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


def test_own_classifiers_and_pipelines_are_wrapped_as_prior_adjusted_wraps_them():
    own = [KNeighborsClassifier(), make_pipeline(StandardScaler(), GaussianNB()), ("near", KNeighborsClassifier(3))]
    model = AutoPNU(["logistic", *own], prior=0.3, cv=3, random_state=0).fit(X, Y)
    assert [m.name for m in model.members_] == ["logistic", "kneighborsclassifier", "gaussiannb", "near"]
    assert [m.learner for m in model.members_][1:] == ["KNeighborsClassifier", "GaussianNB", "KNeighborsClassifier"]
    seed = int(np.random.RandomState(0).randint(2**31))
    for member, estimator in zip(model.members_[1:], [own[0], own[1], own[2][1]], strict=True):
        wrapped = PriorAdjusted(estimator, 0.3, cv=3, random_state=seed).fit(X, Y)
        assert_allclose(member.shares(X), wrapped.predict_proba(X), atol=1e-9)
        assert member.risk == wrapped.risk_
    assert clone(model).fit(X, Y).risk_ == model.risk_
    threads = AutoPNU(["logistic", *own], prior=0.3, cv=3, n_jobs=2, random_state=0).fit(X, Y)
    assert_array_equal(threads.predict_proba(X), model.predict_proba(X))
    linear = PNUClassifier(kernel="linear")
    two = AutoPNU(["pnu", ("linear", linear)], QUICK, prior=0.3, cv=3, random_state=0).fit(X, Y)
    alone = clone(linear).set_params(prior=0.3, cv=3, random_state=seed).fit(X, Y)
    assert_allclose(two.members_[1].shares(X), alone.predict_proba(X), atol=1e-9)


@pytest.mark.parametrize("package, learner", [("catboost", "CatBoostClassifier"), ("lightgbm", "LGBMClassifier")])
def test_boosting_is_the_best_that_is_installed(package, learner, monkeypatch, tmp_path):
    pytest.importorskip(package)
    if package == "lightgbm":
        monkeypatch.setattr(learners, "find_spec", lambda name: None if name == "catboost" else name)
    model = AutoPNU(("boosting",), prior=0.3, cv=3, random_state=0).fit(X, Y)
    assert model.members_[0].learner == learner
    pytest.importorskip("skops")
    pnulearn.save(model, tmp_path / "model.pnu")
    again = pnulearn.load(tmp_path / "model.pnu")
    assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert again.learners == ("boosting",)


def test_boosting_without_other_packages_and_for_equal_rows_is_that_of_scikit_learn(monkeypatch):
    equal = np.where(np.arange(200)[:, None] < 30, 0.0, X)
    assert AutoPNU(("boosting",), prior=0.3, cv=3).fit(equal, Y).members_[0].learner == "HistGradientBoostingClassifier"
    monkeypatch.setattr(learners, "find_spec", lambda name: None)
    assert AutoPNU(("boosting",), prior=0.3, cv=3).fit(X, Y).members_[0].learner == "HistGradientBoostingClassifier"


@pytest.mark.parametrize("labeled", [1, 0])
def test_labels_of_one_class_average_pnu_and_bagged_trees(labeled, tmp_path):
    y = np.where(labeled == Y, Y, np.nan)
    one = Labels(np.array([0, 1]), np.where(np.isnan(y), -1, np.nan_to_num(y)).astype(int))
    model = AutoPNU(pnu=QUICK, prior=0.3, random_state=0).fit(X, one)
    assert [(m.name, m.weight) for m in model.members_] == [("pnu", 0.5), ("bagging", 0.5)]
    pnu, trees = model.members_
    assert_allclose(model.predict_proba(X), (pnu.shares(X) + trees.shares(X)) / 2)
    unlabeled = one.codes < 0
    called = model.member_scores_[1][0][unlabeled] > 0
    assert np.mean(called) == pytest.approx(0.3, abs=1 / unlabeled.sum())  # cut at the out-of-bag quantile
    assert np.mean(model.predict(X) == TRUTH) > 0.85
    assert model.risk_.low < np.mean(model.predict(X[40:]) != TRUTH[40:]) < model.risk_.high
    pytest.importorskip("skops")
    pnulearn.save(model, tmp_path / "model.pnu")
    assert_array_equal(pnulearn.load(tmp_path / "model.pnu").predict_proba(X), model.predict_proba(X))
    with pytest.raises(ValueError, match="None of the learners forest, svm can learn from labels of one class"):
        AutoPNU(("forest", "svm"), prior=0.3).fit(X, one)


def test_one_sample_with_positives_alone_is_cut_at_the_share_among_all_rows():
    rng = np.random.default_rng(2)
    truth = (np.arange(300) % 10 < 4).astype(int)
    rows, y = rng.normal(size=(300, 3)) + 1.5 * truth[:, None], np.where((np.arange(300) < 150) & (truth == 1), 1, 0)
    model = AutoPNU(pnu=QUICK, prior=0.4, unlabeled=0, sampling="random", random_state=0).fit(rows, y)
    trees = next(place for place, member in enumerate(model.members_) if member.name == "bagging")
    assert np.mean(model.member_scores_[trees][0] > 0) == pytest.approx(0.4, abs=0.01)  # of all rows, not of U
    assert np.mean(model.predict(rows) != truth) < 0.15


def test_bagged_trees_score_rows_by_trees_that_have_not_seen_their_group():
    y, groups = (np.arange(120) < 30).astype(int), np.arange(120) // 2
    trees = BaggedTrees(40, random_state=1).fit(X[:120], y, np.ones(120), groups)
    assert len(trees.estimators_) == 40
    assert {tree.tree_.weighted_n_node_samples[0] for tree in trees.estimators_} == {60.0}  # 30 of each
    order = np.random.default_rng(0).permutation(120)
    moved = BaggedTrees(40, random_state=1).fit(X[:120][order], y[order], np.ones(120), groups[order])
    assert_allclose(moved.held_out_, trees.held_out_[order])
    assert_allclose(moved.predict_proba(X), trees.predict_proba(X))
    noise = BaggedTrees(100, random_state=1).fit(RNG.normal(size=(120, 3)), y, np.ones(120), np.arange(120))
    assert abs(np.mean(noise.held_out_[:30]) - np.mean(noise.held_out_[30:])) < 0.15  # nothing was learnt by heart


def test_rows_of_a_group_and_weights_count_together():
    weight = np.where(np.arange(200) % 3, 1.0, 2.0)
    copies = np.repeat(np.arange(200), weight.astype(int))
    model = AutoPNU(("pnu", "logistic"), QUICK, prior=0.3, cv=3, random_state=0).fit(X, Y, weight)
    repeated = AutoPNU(("pnu", "logistic"), QUICK, prior=0.3, cv=3, random_state=0).fit(X[copies], Y[copies])
    assert_allclose(model.predict_proba(X), repeated.predict_proba(X), atol=1e-6)
    groups = np.arange(200) // 4
    grouped = AutoPNU(("pnu", "logistic"), QUICK, prior=0.3, cv=3, random_state=0).fit(X, Y, groups=groups)
    assert np.isfinite(grouped.judging_scores_).all()
    alone = PriorAdjusted(SUPERVISED["logistic"](0), 0.3, cv=3, random_state=RNG_SEED).fit(X, Y, groups=groups)
    assert grouped.members_[1].risk == alone.risk_


def test_a_model_that_skops_does_not_trust_is_refused_by_name(tmp_path):
    pytest.importorskip("skops")
    strange = AutoPNU(["logistic", Strange()], prior=0.3, cv=3).fit(X, Y)
    with pytest.raises(TypeError, match=r"learner 'strange' .* does not trust"):
        pnulearn.save(strange, tmp_path / "model.pnu")
    near = AutoPNU(["logistic", make_pipeline(StandardScaler(), GaussianNB())], prior=0.3, cv=3).fit(X, Y)
    pnulearn.save(near, tmp_path / "model.pnu")
    again = pnulearn.load(tmp_path / "model.pnu")
    assert_array_equal(again.predict_proba(X), near.predict_proba(X))
    assert [name for name, _ in again.learners[1:]] == ["gaussiannb"]
    assert again.fit(X, Y).members_[1].learner == "GaussianNB"


class Strange(GaussianNB):
    """A class that skops does not know."""


RNG_SEED = int(np.random.RandomState(0).randint(2**31))  # of the members of an AutoPNU with random_state=0


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
    models = skops.loads(content["models"].tobytes(), trusted=trusted_types(list(BOOSTERS)))
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
        (("tree",), "learners must be 'pnu', 'forest', .* got 'tree'"),
        ((), "learners is empty"),
        (("pnu", "pnu"), "'pnu' is there twice"),
        ((GaussianNB,), "learners must be .*, or scikit-learn classifiers; got <class"),
        (None, "or scikit-learn classifiers; got None"),
        ((("pnu", 3),), "or scikit-learn classifiers; got 3"),
    ],
)
def test_unknown_learners_are_refused_by_name(learners, message):
    with pytest.raises((TypeError, ValueError), match=message):
        AutoPNU(learners).fit(X, Y)


@pytest.mark.filterwarnings("ignore:Class .* has a single labelled row")
def test_a_class_with_one_label_gives_weights_and_a_risk():
    y = np.where(np.isin(np.arange(200), [1, *range(0, 40, 2)]), TRUTH, np.nan)
    model = AutoPNU(("pnu", "logistic"), QUICK, prior=0.3, random_state=0).fit(X, y)
    assert all(0 < member.weight < 1 for member in model.members_)
    assert model.risk_.high - model.risk_.low > 0.1


def test_a_class_that_cannot_be_held_out_leaves_no_risk_but_a_model():
    y = np.where(np.isin(np.arange(200), [1, 2]), TRUTH, np.nan)
    model = AutoPNU(("logistic",), prior=0.3, random_state=0).fit(X, y)
    assert model.risk_ is None
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
    assert list(said["learners"]) == (["logistic"] if learner == "logistic" else FOR_BOTH)
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
