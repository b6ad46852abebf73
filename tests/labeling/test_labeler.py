"""The loop from Python: draws, answers, undo, several people, resumption."""

import json
import os
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.linear_model import LogisticRegression

from pnulearn.labeling import AlreadyAnsweredError, Goal, JournalError, Labeler, State, from_skactiveml
from pnulearn.labeling._learner import CurrentModel
from pnulearn.labeling._pool import Pool
from pnulearn.labeling._session import COMES_BACK, PATIENCE, PendingDraws
from pnulearn.labeling._strategies import STRATEGIES, read_mixture

NAMES = ["ham", "spam"]


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(300, centers=[[0, 0], [2, 2]], random_state=0)


def label(labeler, truth, n, names=NAMES):
    for _ in range(n):
        draw = labeler.next()
        labeler.answer(names[truth[draw.row]])


def test_it_starts_from_nothing_and_learns(blobs):
    X, truth = blobs
    labeler = Labeler(X, classes=NAMES, refit_every=20, goal=0.15)
    first = labeler.estimate()
    assert (first.n_labels, first.error.low, first.error.high, first.n_more) == (0, 0, 1, None)
    assert labeler.model is None
    label(labeler, truth, 60)
    progress = labeler.estimate()
    error = np.mean(labeler.model.predict(X) != truth)
    assert progress.error.low <= error <= progress.error.high
    assert progress.prior["spam"].low <= 0.5 <= progress.prior["spam"].high
    assert progress.after_ten < progress.error.half_width
    assert sum(progress.counts.values()) == 60
    assert {draw.reason for draw in labeler.draws} == {"random", "margin"}
    assert progress.is_enough == (progress.error.half_width <= 0.15)
    assert len(labeler.history) >= 3


@pytest.mark.parametrize(("model", "first"), [(None, 20), (LogisticRegression(), 5)])
def test_the_first_rows_are_random(blobs, model, first):
    X, truth = blobs
    labeler = Labeler(X, classes=NAMES, model=model, refit_every=4)
    label(labeler, truth, 30)
    by_margin = [draw.number for draw in labeler.draws if draw.reason == "margin"]
    assert first <= min(by_margin) < first + 8
    assert [draw.weight for draw in labeler.draws[:first]] == pytest.approx([1.0] * first)


def test_rows_are_drawn_with_the_stated_probability(blobs):
    """The same state, many draws: shares of rows against the probabilities on record."""
    X, _ = blobs
    liking = np.arange(12.0)

    def prefer_late(model, X, state):
        return liking

    pool = Pool(X[:12], np.ones(12, bool), read_mixture({"random": 0.4, prefer_late: 0.6}), seed=0)
    pool.put(pool.weigh(CurrentModel(), np.full(12, -1), pool.left, np.zeros(0, int), 2))
    draws = [pool.draw(number) for number in range(3000)]
    drawn, stated = Counter(draw.row for draw in draws), {draw.row: draw.probability for draw in draws}
    assert sum(stated.values()) == pytest.approx(1)
    for row, probability in stated.items():
        assert drawn[row] / 3000 == pytest.approx(probability, abs=4 * np.sqrt(probability / 3000))
        assert probability == pytest.approx(0.4 / 12 + 0.6 * liking[row] / liking.sum())


def test_the_next_row_stays_until_it_is_answered_and_can_be_taken_back(blobs):
    X, _ = blobs
    labeler = Labeler(X, classes=NAMES, refit_every=0)
    first = labeler.next()
    assert labeler.next() == first
    labeler.answer("spam")
    second = labeler.next()
    assert second.row != first.row
    assert labeler.undo() == first
    assert labeler.next() == first
    assert labeler.counts == {"ham": 0, "spam": 0}
    labeler.answer("ham")
    assert labeler.next() == second  # which nobody answered
    with pytest.raises(AlreadyAnsweredError):
        labeler.answer("ham", first)
    with pytest.raises(ValueError, match="none of the classes"):
        labeler.answer("eggs")
    assert Labeler(X, classes=NAMES).undo() is None


def test_undo_takes_back_the_last_answer_and_then_the_one_before(blobs):
    labeler, draws = Labeler(blobs[0], classes=NAMES, refit_every=0), []
    for name in ("spam", "ham", "spam"):
        draws.append(labeler.next())
        labeler.answer(name)
    assert labeler.undo() == draws[2]
    assert labeler.undo() == draws[1]
    assert labeler.counts == {"ham": 0, "spam": 1}


def test_skipped_rows_come_back_and_unknown_ones_do_not(blobs):
    X, truth = blobs
    labeler = Labeler(X[:14], classes=NAMES, refit_every=0)
    skipped = labeler.next()
    labeler.skip()
    unknown = labeler.next()
    labeler.dont_know()
    seen = []
    while (draw := labeler.next()) is not None:
        seen.append(draw.row)
        labeler.answer(NAMES[truth[draw.row]])
    assert seen.index(skipped.row) == COMES_BACK - 1  # don't know is an answer, too
    assert unknown.row not in seen
    assert sorted([*seen, unknown.row]) == list(range(14))
    assert labeler.n_unknown == 1
    assert labeler.n_left == 0


def test_two_people_never_get_the_same_row(blobs):
    X, truth = blobs
    labeler = Labeler(X[:40], classes=NAMES, refit_every=0)
    seen = []
    for _ in range(20):
        draws = {who: labeler.next(who) for who in ("Ada", "Ben")}
        seen += [draw.row for draw in draws.values()]
        for who, draw in draws.items():
            labeler.answer(NAMES[truth[draw.row]], draw, who)
    assert sorted(seen) == list(range(40))
    assert labeler.next("Ada") is None
    mine = labeler.undo("Ada")
    assert labeler.next("Ben") is None
    assert labeler.next("Ada") == mine


def test_a_row_that_somebody_left_is_given_to_another():
    now = [0.0]
    pending = PendingDraws(lambda: now[0])
    pending.hold(3, "Ada")
    assert pending.hand_out("Ben", 0) is None
    now[0] = PATIENCE + 1
    assert pending.hand_out("Ben", 0) == 3
    assert pending.holder(3) == "Ben"


@pytest.mark.thorough
def test_a_killed_process_goes_on_where_it_was(blobs, tmp_path):
    X, truth = blobs
    path = tmp_path / "table.csv.labels.jsonl"
    code = (
        "import os, sys; import numpy as np; from pnulearn.labeling import Labeler\n"
        f"X = np.load({str(tmp_path / 'X.npy')!r}); truth = np.load({str(tmp_path / 'y.npy')!r})\n"
        f"labeler = Labeler(X, classes=['ham', 'spam'], journal={str(path)!r}, refit_every=10)\n"
        "for _ in range(13): labeler.answer(['ham', 'spam'][truth[labeler.next().row]])\n"
        "labeler.undo(); labeler.next(); os.kill(os.getpid(), 9)\n"
    )
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", truth)
    died = subprocess.run([sys.executable, "-c", code], check=False, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"})
    assert died.returncode == -9
    with path.open("ab") as file:
        file.write(b'{"event": "answ')  # a line that was being written
    labeler = Labeler(X, classes=NAMES, journal=path, refit_every=10)
    assert labeler.n_answers == 12
    assert labeler.next().number == 12
    label(labeler, truth, 5)
    labeler.close()
    again = Labeler(X, classes=NAMES, journal=path, refit_every=0)
    rows = [draw.row for draw in again.draws]
    assert len(rows) == len(set(rows)) == 17
    assert again.draws == labeler.draws
    np.testing.assert_array_equal(again.codes[rows], truth[rows])
    assert again.counts == labeler.counts
    again.close()
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    answers = [line for line in lines if line["event"] == "answer"]
    assert all({"time", "probability", "reason", "row", "label"} <= set(line) for line in answers)


def test_journals_of_something_else_are_refused(blobs, tmp_path):
    X, _ = blobs
    path = tmp_path / "j"
    labeler = Labeler(X, classes=NAMES, journal=path)
    labeler.next()
    with pytest.raises(JournalError, match="in use"):
        Labeler(X, classes=NAMES, journal=path)
    labeler.close()
    with pytest.raises(JournalError, match="classes"):
        Labeler(X, classes=["no", "yes"], journal=path)
    with pytest.raises(JournalError, match="n rows is 300"):
        Labeler(X[:200], classes=NAMES, journal=path)
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], lines[1], lines[1]]) + "\n")
    with pytest.raises(JournalError, match=r"Line 3 .* does not follow"):
        Labeler(X, classes=NAMES, journal=path)
    path.write_text(lines[0] + "\nnonsense\n" + lines[1] + "\n")
    with pytest.raises(JournalError, match=r"Line 2 .* damaged"):
        Labeler(X, classes=NAMES, journal=path)


def test_journals_of_the_last_version_are_read(blobs, tmp_path):
    """Their draws have predictions of the day, which nothing needs any more."""
    X, truth = blobs
    path = tmp_path / "j"
    labeler = Labeler(X, classes=NAMES, journal=path, refit_every=0)
    label(labeler, truth, 3)
    labeler.close()
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    old = [{**line, "predicted": [0.4, 0.6], "expected": []} if line["event"] == "draw" else line for line in lines]
    old.append({"event": "standing", "n_labels": 3, "error": [0.3, 0.1, 0.8, 3.0]})
    path.write_text("".join(json.dumps(line) + "\n" for line in old))
    again = Labeler(X, classes=NAMES, journal=path, refit_every=0)
    assert again.draws == labeler.draws
    assert [(past.n_labels, past.error.high) for past in again.history] == [(3, 0.8)]
    again.close()


def test_labels_from_before_are_learnt_from_and_judge_only_if_they_were_random(blobs):
    X, truth = blobs
    y = np.array([NAMES[code] for code in truth], dtype=object)
    y[60:] = None
    chosen = Labeler(X, y).estimate()
    assert (chosen.n_labels, chosen.error.high) == (0, 1)
    assert chosen.model is not None
    assert sum(chosen.counts.values()) == 60
    drawn = Labeler(X, y, sampling="random").estimate()
    assert drawn.n_labels == 60
    assert drawn.error.high < 0.5
    assert drawn.prior["spam"].value == pytest.approx(np.mean(truth), abs=0.02)  # their own share is three points off


def test_three_classes_and_any_classifier():
    X, truth = make_blobs(200, centers=3, random_state=1)
    names = ["a", "b", "c"]
    for model in (None, LogisticRegression()):
        labeler = Labeler(X, classes=names, model=model, refit_every=45)
        label(labeler, truth, 45, names)
        progress = labeler.estimate()
        assert progress.error.low <= np.mean(labeler.model.predict(X) != truth) <= progress.error.high
        assert sum(share.value for share in progress.prior.values()) == pytest.approx(1, abs=0.1)


def test_a_class_with_one_row_counts_as_an_error_until_it_is_learnt(blobs):
    X, truth = blobs
    y = np.array([NAMES[code] for code in truth[:40]] + ["eggs"] + [None] * 259, dtype=object)
    labeler = Labeler(X, y, sampling="random")
    assert labeler.estimate().error.value >= 1 / 41
    assert set(labeler.model.classes_) == {0, 1}


@pytest.mark.parametrize("name", list(STRATEGIES))
def test_every_strategy_gives_chances_with_and_without_a_model(blobs, name):
    X, truth = blobs
    labeler = Labeler(X, classes=NAMES, mixture={"random": 0.5, name: 0.5}, refit_every=15)
    label(labeler, truth, 31)
    chances = STRATEGIES[name](labeler.model, X, _state(labeler, X))
    assert chances.shape == (300,)
    assert (chances >= 0).all()
    if name == "margin":
        p = labeler.model.predict_proba(X)[:, 1]
        assert abs(p[np.argmax(chances)] - 0.5) == np.abs(p - 0.5).min()


def _state(labeler, X):
    return State(labeler.codes, labeler.codes < 0, labeler.model.predict_proba(X), 2, np.linspace(0, 1, len(X)))


def test_strategies_of_scikit_activeml_can_be_plugged_in(blobs):
    pool = pytest.importorskip("skactiveml.pool")
    classifier = pytest.importorskip("skactiveml.classifier")
    X, truth = blobs
    clf = classifier.ParzenWindowClassifier(classes=[0, 1])
    strategy = from_skactiveml(pool.UncertaintySampling(random_state=0), clf=clf)
    labeler = Labeler(X, classes=NAMES, mixture={"random": 0.5, strategy: 0.5}, refit_every=10)
    label(labeler, truth, 30)
    assert labeler.shares == {"random": 0.5, "UncertaintySampling": 0.5}
    assert labeler.estimate().error.high < 1
    greedy = from_skactiveml(pool.UncertaintySampling(random_state=0), clf=clf, sharpness=np.inf)
    chances = greedy(None, X, _state(labeler, X))
    assert set(chances) == {0.0, 1.0}
    assert chances[labeler.codes >= 0].sum() == 0


def test_nothing_is_stated_where_no_row_is_drawn_at_random(blobs):
    X, truth = blobs
    labeler = Labeler(X, classes=NAMES, mixture={"margin": 1.0}, refit_every=20)
    label(labeler, truth, 20)
    progress = labeler.estimate()
    assert progress.error is None
    assert progress.prior == {}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "Without labels the classes are unknown"),
        ({"classes": ["a"]}, "Two different classes"),
        ({"classes": NAMES, "sampling": "some"}, "drawn at random"),
        ({"classes": NAMES, "confidence": 95}, "between 0 and 1"),
        ({"classes": NAMES, "mixture": {"randon": 1}}, "No strategy is called 'randon'"),
        ({"classes": NAMES, "mixture": {"random": -1}}, "Shares of a mixture"),
        ({"y": ["a", "b"]}, "X has 300 rows and y 2"),
    ],
)
def test_what_cannot_be_meant_is_refused(blobs, arguments, words):
    with pytest.raises(ValueError, match=words):
        Labeler(blobs[0], **arguments)


def test_a_strategy_that_returns_nonsense_is_named(blobs):
    def broken(model, X, state):
        return np.full(len(X), np.nan)

    with pytest.raises(ValueError, match="'broken' must return a finite number"):
        Labeler(blobs[0], classes=NAMES, mixture=broken).next()
    assert read_mixture(broken)["broken"][1] == 0.5


def test_goals_may_be_about_the_prior(blobs):
    X, truth = blobs
    labeler = Labeler(X, classes=NAMES, goal=Goal(error=None, prior=0.2), refit_every=20)
    label(labeler, truth, 60)
    progress = labeler.estimate()
    assert progress.is_enough == all(share.half_width <= 0.2 for share in progress.prior.values())


# Rows that are asked for a second time.


def label_with_slips(labeler, truth, n, slips, who=""):
    """Answer n questions, those in `slips` (by their place) wrongly; the places of second questions."""
    seen, again = {draw.row for draw, _ in labeler.answers}, []
    for place in range(n):
        draw = labeler.next(who)
        if draw.row in seen:
            again.append(place)
        seen.add(draw.row)
        labeler.answer(NAMES[truth[draw.row] ^ (place in slips)], draw, who)
    return again


def test_a_tenth_of_the_answers_is_asked_for_again_and_widens_the_interval(blobs, tmp_path):
    X, truth = blobs
    given = {"classes": NAMES, "model": LogisticRegression(), "refit_every": 0, "mixture": "random"}
    labeler = Labeler(X, repeat=0.1, journal=tmp_path / "j", **given)
    again = label_with_slips(labeler, truth, 66, slips=())
    assert len(again) == 6
    assert min(again) >= COMES_BACK
    assert labeler.n_answers == 66
    assert len(labeler.answers) == labeler.refresh().n_labels == 60
    progress = labeler.estimate()
    assert (progress.answer_errors.n_repeated, progress.answer_errors.n_different) == (6, 0)
    assert "Of 6 rows that were asked twice, 0 had two different answers" in progress.meaning
    plain = Labeler(X, **given)
    for draw, code in labeler.answers:  # the same draws
        assert plain.next() == draw
        plain.answer(NAMES[code])
    alone = plain.refresh()
    assert alone.answer_errors is None
    assert "taken to be right" in alone.meaning
    assert progress.error.low <= alone.error.low
    assert progress.error.high >= alone.error.high
    assert progress.error.half_width > alone.error.half_width
    assert progress.error.n_effective < alone.error.n_effective
    labeler.close()
    resumed = Labeler(X, repeat=0.1, journal=tmp_path / "j", **given)
    assert resumed.refresh().error == progress.error
    assert resumed.n_answers == 66
    assert resumed.answers == labeler.answers
    resumed.close()


def test_no_row_is_asked_for_a_third_time_and_none_again_that_nobody_knew(blobs):
    X, truth = blobs
    labeler = Labeler(X, classes=NAMES, refit_every=0, mixture="random", repeat=0.5)
    asked, unknown = Counter(), set()
    for place in range(60):
        draw = labeler.next()
        asked[draw.number] += 1
        if place % 3 == 0 and asked[draw.number] == 1:
            unknown.add(draw.number)
            labeler.dont_know(draw)
        else:
            labeler.answer(NAMES[truth[draw.row]], draw)
    again = {number for number, times in asked.items() if times > 1}
    assert len(again) > 5
    assert max(asked.values()) == 2
    assert not again & unknown


def test_a_second_answer_is_taken_back_before_the_first(blobs, tmp_path):
    X, truth = blobs
    labeler = Labeler(X, classes=NAMES, refit_every=0, mixture="random", repeat=0.1, journal=tmp_path / "j")
    assert label_with_slips(labeler, truth, 12, slips={11}) == [11]  # the second answer differs
    number = next(iter(labeler._session.second_answers))
    assert [first != second for first, second in labeler._session.repeated] == [True]
    assert labeler.undo().number == number
    assert labeler._session.repeated == []
    assert (labeler.n_answers, len(labeler.answers)) == (11, 11)
    assert labeler.next().number == number  # asked for again
    labeler.answer(NAMES[truth[labeler.next().row]])
    assert [first == second for first, second in labeler._session.repeated] == [True]
    assert labeler.next().number not in {draw.number for draw, _ in labeler.answers}
    labeler.undo()
    labeler.undo()  # the second answer, and then the last first answer
    assert (labeler.n_answers, len(labeler.answers)) == (10, 10)
    labeler.close()
    resumed = Labeler(X, classes=NAMES, refit_every=0, mixture="random", repeat=0.1, journal=tmp_path / "j")
    assert (resumed.n_answers, len(resumed.answers), resumed._session.repeated) == (10, 10, [])
    resumed.close()


def test_taking_an_answer_back_drops_ones_own_second_question_alone(blobs):
    X, truth = blobs
    labeler = Labeler(X, classes=NAMES, refit_every=0, mixture="random", repeat=0.1)
    label_with_slips(labeler, truth, 11, slips=(), who="anna")
    again, other = labeler.next("anna"), labeler.next("ben")
    assert again in [draw for draw, _ in labeler.answers]
    labeler.answer(NAMES[truth[other.row]], other, "ben")
    assert labeler.undo("ben") == labeler.next("ben") == other
    assert labeler.next("anna") == again
    assert labeler._session._asked_again == {again.number}
    taken = labeler.undo("anna")
    assert labeler.next("anna") == taken != again
    assert labeler._session._asked_again == set()


@pytest.mark.parametrize("way", ["skip", "dont_know"])
def test_a_second_question_can_be_left_without_an_answer(blobs, way):
    X, truth = blobs
    labeler = Labeler(X, classes=NAMES, refit_every=0, mixture="random", repeat=0.1)
    label_with_slips(labeler, truth, 11, slips=())
    again = labeler.next()
    assert again in [draw for draw, _ in labeler.answers]
    getattr(labeler, way)(again)
    assert (labeler.n_unknown, labeler._session.open_draws, len(labeler.answers)) == (0, [], 11)
    assert labeler.next().number == 11


def test_rows_that_were_put_off_count_as_unknown_until_they_are_answered(blobs):
    X, truth = blobs
    labeler = Labeler(X, classes=NAMES, refit_every=0, mixture="random")
    label(labeler, truth, 40)
    before = labeler.refresh()
    skipped = labeler.next()
    labeler.skip()
    label(labeler, truth, 5)
    during = labeler.refresh()
    assert (before.n_open, during.n_open) == (0, 1)
    assert "1 row that was put off counts as unknown" in during.meaning
    while labeler.next().number != skipped.number:  # shown again, and not answered yet
        label(labeler, truth, 1)
    assert labeler.refresh().n_open == 1
    label(labeler, truth, 1)
    assert labeler.refresh().n_open == 0


def test_a_row_that_somebody_left_behind_counts_as_unknown(blobs):
    X, truth = blobs
    labeler = Labeler(X, classes=NAMES, refit_every=0, mixture="random")
    left = labeler.next("anna")
    for _ in range(15):
        draw = labeler.next("ben")
        labeler.answer(NAMES[truth[draw.row]], draw, "ben")
    assert labeler._session.open_draws == [left.number]
    labeler.next("ben")  # drawn after all answers: not a choice of anybody
    assert labeler._session.open_draws == [left.number]
