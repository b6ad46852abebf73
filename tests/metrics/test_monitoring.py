"""Windows of time: their numbers, the evidence for a change, and how often it is a false alarm."""

import json

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.stats import hypergeom

from pnulearn.metrics import MonitorState, judge_quality, monitor, pnu_share
from pnulearn.metrics._monitoring import ODDS, QUANTITIES, AlarmRules, ChangeDetector, likelihood_ratios


def draw(seed, prior, error=0.1, n=400, labels=40):
    """Labels, scores and windows for one share of positives per window."""
    rng = np.random.default_rng(seed)
    truth = rng.random((len(prior), n)) < np.reshape(prior, (-1, 1))
    wrong = rng.random((len(prior), n)) < np.reshape(np.broadcast_to(error, len(prior)), (-1, 1))
    scores = np.where(truth ^ wrong, 1.0, -1.0).ravel()
    y = np.where(rng.random((len(prior), n)) < labels / n, truth, np.nan).ravel()
    return y, scores, np.repeat([f"w{k:02}" for k in range(len(prior))], n)


@pytest.mark.parametrize(("n", "size", "total"), [(10, 40, 7), (30, 20, 25), (5, 100, 1), (4, 4, 8)])
def test_without_a_change_the_mean_likelihood_ratio_is_one(n, size, total):
    j = np.arange(max(0, total - size), min(n, total) + 1)
    mass = hypergeom.pmf(j, size + n, total, n)
    ratios = np.array([likelihood_ratios(int(k), n, total - int(k), size, QUANTITIES["prior"]) for k in j])
    assert_allclose(mass @ ratios, 1.0)


def test_the_evidence_is_the_mean_over_all_windows_in_which_the_change_may_have_happened():
    rules, shares = AlarmRules(horizon=5, tolerance=0.0), [0.1, 0.2, 0.5, 0.4]
    detector = ChangeDetector()
    for k, share in enumerate(shares):
        detector, evidence = detector.add(str(k), share, 50, ODDS, rules)
    counts, known = [round(50 * share) for share in shares], 0
    ratios = []
    for window, k in enumerate(counts):
        if window:
            ratios.append(likelihood_ratios(k, 50, known, 50 * window, ODDS))
        known += k
    from_each = [np.prod(ratios[start:], axis=0) for start in range(3)]
    assert_allclose(evidence, (np.sum(from_each, axis=0).mean() + 2) / 5)
    assert (detector.seen, detector.step) == (("0", "1", "2", "3"), 3)


def test_false_alarms_are_as_rare_as_promised():
    """20 % promised for three quantities, 6.7 % for one, in 12 windows: at most 30 of 200 with probability 1 − 1e-5."""
    rng, rules, raised = np.random.default_rng(1), AlarmRules(0.2, 12, 0.0), 0
    for _ in range(200):
        detector = ChangeDetector()
        for window, k in enumerate(rng.binomial(40, 0.15, 13)):
            detector, _ = detector.add(str(window), k / 40, 40, QUANTITIES["prior"], rules)
        raised += detector.raised is not None
    assert 0 < raised <= 30


def test_a_window_has_the_numbers_of_its_rows():
    y, scores, windows = draw(0, [0.3, 0.6])
    found = monitor(y, scores, windows)
    rows = windows == "w01"
    called = scores[rows] > 0
    one = found.windows[1]
    assert (one.n_rows, one.n_labels, one.predicted) == (400, int(np.sum(~np.isnan(y[rows]))), called.mean())
    assert one.prior == pnu_share(y[rows], helper=called)
    wrong = np.where(np.isnan(y[rows]), np.nan, y[rows] != called)
    assert_allclose([one.error.low, one.error.high], [(e := pnu_share(wrong, helper=called)).low, e.high])
    quality = judge_quality(y[rows], called.astype(float))
    assert (one.precision, one.recall) == (quality.precision, quality.sensitivity)


def test_changes_raise_alarms_and_their_quantity_is_named():
    found = monitor(*draw(0, [0.3] * 6 + [0.5] * 6), horizon=12)
    assert found.alarms["predicted"] == "w06"
    assert "error" not in found.alarms
    assert found.sentence().startswith("Alarm: the share of positives has changed")
    worse = monitor(*draw(1, [0.5] * 12, np.repeat([0.1, 0.35], 6), labels=100), horizon=12)
    assert list(worse.alarms) == ["error"]
    better = monitor(*draw(1, [0.5] * 12, np.repeat([0.35, 0.1], 6), labels=100), horizon=12)
    assert "error" not in better.alarms
    quiet = monitor(*draw(2, [0.3] * 12), horizon=12)
    assert not quiet.alarms
    assert "No alarm" in str(quiet)


def test_window_by_window_gives_what_all_at_once_gives():
    y, scores, windows = draw(3, [0.3] * 4 + [0.45] * 2)
    columns = {"x": scores, "c": np.where(scores > 0, "a", "b")}
    whole = monitor(y, scores, windows, columns=columns)
    state = None
    for name in np.unique(windows):
        rows = windows == name
        part = monitor(
            y[rows], scores[rows], windows[rows], columns={k: v[rows] for k, v in columns.items()}, state=state
        )
        state = MonitorState.from_dict(json.loads(json.dumps(part.state.as_dict())))
        again = monitor(y[rows], scores[rows], windows[rows], state=state)
        assert again.state.detectors == state.detectors  # the same window is not counted twice
    assert state == whole.state


def test_labels_may_arrive_later_than_rows():
    y, scores, windows = draw(4, [0.3] * 3)
    without = monitor(np.full(len(y), np.nan), scores, windows)
    assert without.windows[2].error is None
    assert without.state.detectors["error"].seen == ()
    later = monitor(y, scores, windows, state=without.state)
    assert later.state.detectors == monitor(y, scores, windows).state.detectors


def test_columns_that_moved_are_named_with_their_size():
    rng = np.random.default_rng(0)
    y, scores, windows = draw(5, [0.3] * 3)
    second = windows == "w02"
    columns = pd.DataFrame(
        {
            "same": rng.normal(size=1200),
            "moved": rng.normal(0, 1, 1200) + 1.0 * second,
            "city": np.where(second & (rng.random(1200) < 0.5), "new", rng.choice(["a", "b"], 1200)),
            "gone": np.where(second, np.nan, 1.0),
            "kind": pd.Series(["x"] * 800 + [None] * 400),
        }
    )
    found = monitor(y, scores, windows, columns=columns)
    assert found.windows[1].moved == {}
    assert list(found.windows[2].moved) == ["gone", "kind", "city", "moved"]
    assert_allclose(found.windows[2].moved["gone"], 1.0)
    assert_allclose(found.windows[2].moved["city"], np.mean(columns["city"][second] == "new"), atol=0.05)
    assert "moved: gone 1.00" in str(found)


def test_a_small_steady_difference_between_many_rows_is_no_alarm():
    y, scores, windows = draw(6, [0.30, 0.30, 0.34, 0.34], n=30_000)
    assert not monitor(y, scores, windows).alarms
    assert "predicted" in monitor(y, scores, windows, tolerance=0.0).alarms


def test_all_rows_of_one_prediction_and_one_label():
    found = monitor(["no"] * 30 + [None] * 30, np.full(60, -1.0), ["a", "b"] * 30, pos_label="yes")
    assert found.windows[0].predicted == 0
    assert found.windows[0].error.value == 0


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"horizon": 1}, "horizon"),
        ({"false_alarms": 0}, "false_alarms"),
        ({"tolerance": -1}, "tolerance"),
        ({"sampling": "by_class"}, "sampling"),
        ({"columns": {"x": [1.0]}}, "columns"),
    ],
)
def test_refusals(given, words):
    with pytest.raises(ValueError, match=words):
        monitor(*draw(0, [0.3], n=50, labels=20), **given)


@pytest.mark.parametrize("damage", ["detectors", "numbers", "seen", "columns", "text"])
def test_damaged_states_are_refused(damage):
    y, scores, windows = draw(0, [0.3, 0.3], n=50, labels=20)
    values = json.loads(json.dumps(monitor(y, scores, windows, columns={"x": scores}).state.as_dict()))
    if damage == "detectors":
        del values["detectors"]["error"]
    elif damage == "numbers":
        values["detectors"]["error"]["size"] = -1
    elif damage == "seen":
        values["detectors"]["error"]["seen"] = [1]
    elif damage == "columns":
        values["columns"]["x"]["counts"] = [1.0]
    else:
        values = {"rules": "none"}
    with pytest.raises(ValueError, match="not the state of a monitor"):
        MonitorState.from_dict(values)
