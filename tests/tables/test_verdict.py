"""What is wrong with a model is said before any number, with what to do about it."""

import numpy as np
import pyarrow as pa
import pytest

from pnulearn import TableClassifier
from pnulearn.metrics import judge_decisions
from pnulearn.priors import PriorEstimate
from pnulearn.tables import Table
from pnulearn.tables._verdict import judge_held_out, percent, reach_verdict

FAST = {"kernel": "linear", "cv": 3, "settings": {"alpha": 0.01}}


def table_of(n=400, n_labels=80, gap=3.0, share=0.3, seed=0, classes=2, **more):
    """Columns x and z tell the classes apart; more columns are made from the truth."""
    rng = np.random.default_rng(seed)
    truth = rng.choice(classes, n, p=[1 - share, share] if classes == 2 else None)
    words = np.array(["no", "yes"] if classes == 2 else ["a", "b", "c"])[truth].astype(object)
    words[n_labels:] = None
    columns = {"x": gap * (truth == 1) + rng.normal(size=n), "z": gap * (truth == 2) + rng.normal(size=n), "y": words}
    return Table(pa.table(columns | {name: make(truth, rng) for name, make in more.items()}), "t")


def verdict_of(table, **options):
    return TableClassifier(**FAST | options).fit(table, "y").verdict_


def concerns_of(table, **options):
    return [concern.name for concern in verdict_of(table, **options).concerns]


def test_a_good_model_is_called_useful_beside_the_yardstick():
    found = verdict_of(table_of(), prior=0.3)
    assert found.concerns == ()
    assert found.headline.startswith("Useful: it errs on about")
    assert "always answering 'no' errs on 30 %" in found.headline
    names = [measure.name for measure in found.measures]
    assert names == ["error", "yardstick", "precision", "recall", "lift", "prior"]


def test_a_model_that_calls_hardly_anything_positive_says_so_first():
    found = verdict_of(table_of(gap=0.2, share=0.2), prior=0.2)
    assert found.headline.startswith("Do not rely on this model yet: it predicts")
    assert "but about 20 % are expected" in found.headline
    assert "Label more rows (now 80)" in found.advice
    assert found.concerns[0].grave
    unsure = verdict_of(table_of(gap=0.2, share=0.2), prior=PriorEstimate.of_range(0.1, 0.4))
    assert "but 10 % to 40 % are expected" in unsure.headline  # a wide range, not its middle
    assert "would narrow it to a range of about" in unsure.advice


@pytest.mark.parametrize(("errors", "grave"), [(0.5, True), (0.42, False), (0.1, None)])
def test_a_model_that_is_no_better_than_the_larger_class_says_with_what_chance(errors, grave):
    model = TableClassifier(prior=0.5, **FAST).fit(table_of(share=0.5), "y").model_
    right, wrong = 40 * (1 - errors), 40 * errors
    model.classifier.decisions_ = np.array([[right, wrong], [wrong, right], [160, 160]])
    model.classifier.risk_ = None
    found = [concern for concern in reach_verdict(model).concerns if concern.name == "no_better"]
    assert [concern.grave for concern in found] == ([] if grave is None else [grave])
    assert all("the chance that it is better is" in concern.what for concern in found)


def test_a_prior_that_is_hardly_known_is_a_concern_with_three_ways_out():
    found = verdict_of(table_of(n_labels=20, gap=1.5), prior=PriorEstimate.of_range(0.05, 0.6))
    concern = next(concern for concern in found.concerns if concern.name == "prior_hardly_known")
    assert "uncertain (5.0 % to 60 %)" in concern.what
    for option in ("prior=(0.1, 0.3)", 'sampling="random"', 'at_random="COLUMN"'):
        assert option in concern.remedy


def test_few_labels_leave_an_interval_wider_than_useful():
    assert "wide_interval" in concerns_of(table_of(n_labels=14, gap=1.2, share=0.5), prior=0.5)


def test_a_column_that_gives_the_label_away_comes_before_the_praise():
    found = verdict_of(table_of(leak=lambda truth, rng: 5.0 * truth + rng.random(len(truth))), prior=0.35)
    assert found.headline.startswith("Use with care")
    assert "Column 'leak' alone" in found.headline
    assert "drop=['leak']" in found.advice


def test_a_prior_that_the_rows_contradict_is_said_first():
    with pytest.warns(UserWarning, match="prior"):
        found = verdict_of(table_of(n=2_000, n_labels=400, gap=4.0), prior=0.5)
    assert found.concerns[0].name == "prior_doubted"


def test_three_classes_have_a_verdict_too():
    found = verdict_of(table_of(classes=3, n_labels=150))
    assert "always answering" in found.headline
    facts = found.facts()
    assert set(facts["precision"]) == {"a", "b", "c"}
    assert facts["error"]["low"] < facts["error"]["value"] < facts["error"]["high"]


def test_a_saved_model_keeps_its_verdict(tmp_path):
    from pnulearn import load

    fitted = TableClassifier(prior=0.3, **FAST).fit(table_of(), "y").fitted_
    fitted.model.save(tmp_path / "m.pnu")
    assert reach_verdict(load(tmp_path / "m.pnu")) == reach_verdict(fitted.model)


def test_the_error_is_that_of_the_classifier():
    fitted = TableClassifier(prior=0.3, **FAST).fit(table_of(), "y").fitted_
    assert reach_verdict(fitted.model).quality.error == fitted.model.classifier.risk_


# What a verdict must not say.


def judged(decisions, prior, n_labels=100, classes=("no", "yes")):
    return judge_held_out(np.array(decisions, dtype=float), prior, None, classes, n_labels=n_labels)


def estimated(mean, n):
    """A prior as estimated from unlabelled rows."""
    counted = PriorEstimate.of_counts([n * (1 - mean), n * mean])
    return PriorEstimate(counted.value, "scores", counted.value, mass=counted.mass)


GOOD = [[46, 4], [5, 45], [640, 360]]


def test_a_useful_model_is_better_at_both_ends_of_a_wide_prior():
    narrow, wide = judged(GOOD, estimated(0.4, 400)), judged(GOOD, estimated(0.4, 12))
    assert narrow.kind == "useful"
    assert wide.kind != "useful"
    concern = next(one for one in wide.concerns if one.name == "depends_on_prior")
    assert "It is perhaps no better than always answering 'no' if" in concern.what
    ends = estimated(0.4, 12).widened(1.5).within(0.95)
    chances = [judge_decisions(np.array(GOOD, dtype=float), PriorEstimate.known(end)).chance_better for end in ends]
    assert min(chances) < 0.8


def test_the_headline_has_the_ranges_of_the_prior_and_of_the_yardstick():
    found = judged(GOOD, estimated(0.4, 400))
    low, high = (percent(end) for end in estimated(0.4, 400).within(0.9))
    assert f"if {low} to {high} of all rows are 'yes'; always answering 'no' errs on" in found.headline
    assert found.headline.endswith(" %).")
    known = judged(GOOD, PriorEstimate.known(0.4))
    assert known.headline.endswith("always answering 'no' errs on 40 %.")
    assert "of all rows are" not in known.headline


def test_the_yardstick_stands_once_in_a_headline():
    for decisions in ([[30, 20], [15, 35], [550, 450]], [[33, 17], [15, 35], [600, 400]], GOOD):
        found = judged(decisions, PriorEstimate.known(0.35))
        assert (
            found.headline.count("which errs on 35 %") + found.headline.count("always answering 'no' errs on 35 %") == 1
        )


def test_an_interval_that_says_nothing_is_not_known():
    found = judged([[3, 1], [1, 3], [20, 20]], PriorEstimate.known(0.5), n_labels=8)
    assert found.quality.error.high - found.quality.error.low > 0.3
    assert found.kind == "not_known"
    assert found.headline.startswith("Not known: it errs on")


def test_a_model_that_calls_nothing_has_no_precision():
    found = judged([[40, 0], [40, 0], [1000, 0]], PriorEstimate.known(0.2))
    shown = {measure.name: measure.value for measure in found.measures}
    assert (shown["precision"], shown["lift"]) == ("–", "–")
    assert shown["recall"] != "–"
    facts = found.facts()
    assert facts["precision"] is None
    assert facts["lift"] is None
    assert facts["kind"] == "do_not_use"


def test_a_chance_that_is_not_enough_does_not_look_as_if_it_were():
    text = " ".join(str(one) for one in judged([[44, 16], [14, 46], [580, 420]], PriorEstimate.known(0.4)).concerns)
    assert "95 %:" not in text.replace("with 95 % confidence", "")


def test_the_prior_and_the_yardstick_are_one_number():
    skewed = estimated(0.05, 30)
    skewed = PriorEstimate(0.03, "scores", 0.03, mass=skewed.mass)
    found = judged([[40, 2], [8, 32], [940, 60]], skewed)
    shown = {measure.name: measure.value for measure in found.measures}
    assert shown["yardstick"] == shown["prior"] == "3.0 %"


@pytest.mark.parametrize(("method", "labelled"), [("combined", "yes"), ("combined", "no"), ("bound", "yes")])
def test_a_prior_from_labels_of_one_class_is_a_bound(method, labelled):
    prior = PriorEstimate.of_mass(estimated(0.3, 400).mass, method)
    decisions = [[0, 0], [4, 76], [250, 150]] if labelled == "yes" else [[76, 4], [0, 0], [250, 150]]
    found = {concern.name: concern for concern in judged(decisions, prior).concerns}
    assert ("prior_is_bound" in found) == (method == "combined")
    if method == "combined":
        share = "30 %" if labelled == "yes" else "70 %"
        assert f"fewer than {share} of all rows are {labelled!r}" in found["prior_is_bound"].what
        assert "bound" in found["prior_is_bound"].remedy
    assert not any("if the labelled rows were drawn at random" in concern.remedy for concern in found.values())


def test_at_an_end_of_the_prior_the_larger_class_there_is_named():
    """Always answering 'yes' errs on 87 % of the rows if 13 % are 'yes': nobody would be compared with that."""
    found = judged([[40, 2], [4, 44], [230, 280]], estimated(0.55, 12))
    concern = next(one for one in found.concerns if one.name == "depends_on_prior")
    assert found.quality.larger == 1
    share = float(concern.what.partition(" if ")[2].partition(" %")[0])
    assert share < 50
    assert "no better than always answering 'no' if" in concern.what
