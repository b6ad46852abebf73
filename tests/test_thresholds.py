"""A score equal to the threshold is predicted negative, by all that predicts and by all that evaluates."""

import copy
import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from pnulearn import LabeledOnly, PNUClassifier, PriorAdjusted, metrics
from pnulearn._reader.frames import as_table
from pnulearn.baselines import LaplacianSVM
from pnulearn.cli import run
from pnulearn.labeling import Labeler
from pnulearn.ranking import PNURanker
from pnulearn.risks import empirical_risk, pnu
from pnulearn.streaming import predict_files
from pnulearn.tables._evaluation import score_column

rng = np.random.default_rng(0)
N = 400
TRUTH = (np.arange(N) % 5 < 2).astype(float)
Y = np.where(np.arange(N) < 60, TRUTH, np.nan)
X = rng.normal(size=(N, 2)) + TRUTH[:, None]
CUT = 3.0
AT = np.arange(N) % 4 == 1  # rows of all three samples whose score is the threshold itself
SCORE = np.where(AT, CUT, CUT + np.where(rng.random(N) < 0.8, 2 * TRUTH - 1, 1 - 2 * TRUTH))
BELOW = np.where(AT, CUT - 1, SCORE)
ABOVE = np.where(AT, CUT + 1, SCORE)


class ColumnModel:
    """A fitted classifier whose scores are a column of X."""

    classes_ = np.array([0.0, 1.0])

    def __init__(self, column):
        self.column = column

    def decision_function(self, X):
        return X[:, self.column]


SCORES = np.column_stack([SCORE - CUT, BELOW - CUT, ABOVE - CUT, np.where(np.arange(N) % 7 == 0, -1.0, 1.0)])


def judged(metric, **options):
    return lambda score: metric(Y, score, prior=0.4, threshold=CUT, **options)


def compared(score):
    column = int(np.argmin([np.abs(score - CUT - one).sum() for one in SCORES.T]))
    return metrics.compare(ColumnModel(column), ColumnModel(3), SCORES, Y, 0.4)


JUDGES = {
    "pnu_risk": judged(metrics.pnu_risk),
    "pnu_risk at random": lambda score: metrics.pnu_risk(Y, score, sampling="random", threshold=CUT),
    "pnu_risk with costs": judged(metrics.pnu_risk, costs=(5, 1)),
    "pnu_risk with a helper": judged(metrics.pnu_risk, helper=np.where(X[:, 0] > 0.5, 1.0, 0.0)),
    "pnu_risk, uncertain prior": lambda score: metrics.pnu_risk(Y, score, prior=(0.3, 0.5), threshold=CUT),
    "pnu_precision": judged(metrics.pnu_precision),
    "pnu_recall": judged(metrics.pnu_recall),
    "pnu_specificity": judged(metrics.pnu_specificity),
    "pnu_f1": judged(metrics.pnu_f1),
    "pnu_cost": judged(metrics.pnu_cost, costs=(5, 1)),
    "compare": compared,
    "empirical_risk": lambda score: empirical_risk(
        pnu(0.4, 0.3), "zero_one", [score[Y == 1] - CUT, score[Y == 0] - CUT, score[np.isnan(Y)] - CUT]
    ),
    "monitor": lambda score: str(metrics.monitor(Y, score, np.arange(N) // 200, threshold=CUT)),
}


@pytest.mark.parametrize("judge", JUDGES.values(), ids=JUDGES)
def test_metrics_take_a_score_at_the_threshold_for_a_negative_prediction(judge):
    assert repr(judge(SCORE)) == repr(judge(BELOW))
    assert repr(judge(SCORE)) != repr(judge(ABOVE))


def test_the_command_line_takes_a_score_at_the_threshold_for_a_negative_prediction(tmp_path, capsys):
    file = tmp_path / "scores.csv"
    names = {"at": SCORE, "below": BELOW, "above": ABOVE}
    shown = np.where(np.isnan(Y), "", np.where(Y == 1, "yes", "no"))
    pd.DataFrame({"y": shown, **names}).to_csv(file, index=False)
    basic = [str(file), "--label", "y", "--positive", "yes", "--prior", "0.4", "--threshold", "3", "--json"]

    def facts(*words):
        assert run([words[0], *basic, *words[1:]]) == 0
        return json.loads(capsys.readouterr().out)

    found = {name: facts("evaluate", "--score", name)["error_rate"] for name in names}
    assert found["at"] == found["below"] != found["above"]
    assert facts("compare", "--score", "at", "--score", "below")["difference"] == 0
    assert facts("compare", "--score", "at", "--score", "above")["difference"] != 0


def test_exchanged_classes_leave_a_tie_with_the_same_class():
    """A score of zero is predicted as classes_[0], whichever class is called positive."""
    error = {
        positive: metrics.pnu_risk(
            np.where(np.isnan(Y), None, Y), metrics._scorer.signed_scores(ColumnModel(0), SCORES, other, positive),
            prior=share, pos_label=positive, threshold=0, mix=0,
        ).value
        for positive, other, share in ((1.0, 0.0, 0.4), (0.0, 1.0, 0.6))
    }  # fmt: skip
    assert_allclose(error[1.0], error[0.0], atol=1e-12)
    even = DecisionTreeClassifier(max_depth=1).fit(np.zeros((4, 1)), [0, 0, 1, 1])  # says 1/2 everywhere
    for positive, other in ((1, 0), (0, 1)):
        score = metrics._scorer.signed_scores(even, np.zeros((2, 1)), other, positive)
        assert ((score > 0) == (even.predict(np.zeros((2, 1))) == positive)).all()


def level(model):
    """The fitted model with all coefficients zero, so that every score is 0."""
    model = copy.deepcopy(model)
    for name in ("coef_", "intercept_", "dual_coef_"):
        if hasattr(model, name):
            setattr(model, name, np.zeros_like(getattr(model, name)))
    return model


FITTED = [
    PNUClassifier(kernel="linear", prior=0.4, random_state=0),
    PNUClassifier(kernel="linear", loss="double_hinge", mix=0.3, alpha=0.1, prior=0.4, random_state=0),
    PNUClassifier(centers=10, prior=0.4, random_state=0),
    LaplacianSVM(alpha=1e-3, manifold=1.0, bandwidth=1.0, prior=0.4, random_state=0),
]


@pytest.mark.parametrize("model", FITTED, ids=lambda model: f"{type(model).__name__}-{getattr(model, 'loss', '')}")
def test_estimators_predict_the_negative_class_at_a_score_of_zero(model):
    flat = level(model.fit(X, Y))
    assert_array_equal(flat.decision_function(X), 0)
    assert_array_equal(flat.predict(X), flat.classes_[0])
    if hasattr(flat, "predict_proba"):
        assert (flat.predict_proba(X)[:, 1] <= 0.5).all()


@pytest.mark.parametrize("wrap", [LabeledOnly, PriorAdjusted], ids=lambda wrap: wrap.__name__)
def test_wrappers_predict_the_negative_class_at_even_odds(wrap):
    model = wrap(LogisticRegression()).fit(X, Y)
    if wrap is PriorAdjusted:
        model.estimator_, model.adjustment_ = level(model.estimator_), type(model.adjustment_)(1.0, np.zeros(2))
    else:
        model.classifier_ = level(model.classifier_)
    assert_allclose(model.predict_proba(X), 0.5)
    assert_array_equal(model.predict(X), 0)


def test_a_row_at_the_threshold_of_a_ranking_is_negative():
    model = PNURanker(kernel="linear", prior=0.4, random_state=0).fit(X, Y)
    model.threshold_ += model.decision_function(X[:1])[0]
    assert model.decision_function(X[:1])[0] == 0
    assert model.predict(X[:1])[0] == 0


def test_a_network_predicts_the_negative_class_at_a_score_of_zero():
    torch = pytest.importorskip("torch")
    from pnulearn.torch import PNUNetClassifier

    model = PNUNetClassifier(network=(4,), prior=0.4, max_epochs=1, cv=2, random_state=0).fit(X, Y)
    with torch.no_grad():
        for network in model.networks_:
            for parameter in network.parameters():
                parameter.zero_()
    assert_array_equal(model.decision_function(X), 0)
    assert_array_equal(model.predict(X), 0)


def test_batch_prediction_predicts_the_negative_class_at_a_score_of_zero(tmp_path):
    model = level(PNUClassifier(kernel="linear", prior=0.4, random_state=0).fit(X, Y))
    pd.DataFrame(X, columns=["a", "b"]).to_csv(tmp_path / "rows.csv", index=False)
    model.feature_names_in_ = np.array(["a", "b"], dtype=object)
    found = pd.read_csv(predict_files(model, tmp_path / "rows.csv", tmp_path / "out.csv"))
    assert set(found["score"]) == {0.0}
    assert set(found["prediction"]) == {0.0}


def test_labelling_takes_even_odds_for_a_negative_prediction():
    """A tree without a split says 1/2; the estimated error is then the share of positives."""
    rows = np.zeros((200, 1))
    even = DecisionTreeClassifier(max_depth=1).fit(np.zeros((4, 1)), [0, 0, 1, 1])
    labeler = Labeler(rows, classes=[0, 1], model=even, mixture="random", refit_every=0)
    for _ in range(40):
        draw = labeler.next()
        labeler.answer(int(draw.row % 4 == 0))
    answers = labeler.sample.codes
    assert 0 < answers.mean() < 0.5
    assert_allclose(labeler.refresh().error.value, answers.mean(), atol=1e-9)


CLASSES = np.array(["no", "yes"])


@pytest.mark.parametrize(
    ("cells", "cut"),
    [([0.2, 0.5, 0.9], 0.5), (["20%", "50 %", "90%"], 50), (["0.2%", "0.5%", "0.9%"], 50), ([-2.0, 0.0, 70.0], 0)],
)
def test_scores_without_a_threshold_are_cut_where_their_scale_says(cells, cut):
    numbers = [float(str(cell).strip(" %")) for cell in cells]
    found = score_column(as_table(pd.DataFrame({"s": cells})), "s", CLASSES, None)
    assert_array_equal(found > 0, np.array(numbers) > cut)


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ([10, 20, 80], "threshold=50 for percentages"),
        ([0.5, 700.0, 80.0], r"from 0\.5 to 700.*Pass threshold="),
        (["25%", "0.25", "80%"], "'25%' in row 1 and '0.25' in row 2"),
        (["25%", "250%", "80%"], "Pass threshold="),
    ],
)
def test_scores_of_an_unknown_scale_are_refused_with_the_remedy(cells, words):
    with pytest.raises(ValueError, match=words):
        score_column(as_table(pd.DataFrame({"s": cells})), "s", CLASSES, None)


def test_a_threshold_reads_scores_of_any_scale():
    for cells in ([10, 20, 80], ["10%", "20%", "80%"], [0.5, 700.0, 80.0]):
        table = as_table(pd.DataFrame({"s": cells}))
        numbers = [float(str(cell).strip("%")) for cell in cells]
        assert_array_equal(score_column(table, "s", CLASSES, 20) > 0, np.array(numbers) > 20)


def test_scores_without_negative_ones_raise_a_warning_in_python():
    with pytest.warns(UserWarning, match=r"threshold=0\.5"):
        metrics.pnu_risk(Y, (SCORE - SCORE.min()) / np.ptp(SCORE), prior=0.4)
    with pytest.warns(UserWarning, match="threshold=50"):
        metrics.pnu_risk(Y, 10 * SCORE, prior=0.4)
