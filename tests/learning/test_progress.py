"""Who is told how long a fit takes: whoever asks, and whoever sits at a terminal before a long one."""

import io
import sys

import numpy as np

from pnulearn import PNUClassifier
from pnulearn._learning import progress, search
from pnulearn._learning.progress import announce_duration, report_progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def sit_at_terminal(monkeypatch):
    """Not a fixture: pytest puts its own stderr back before the test begins."""
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    return screen


def test_a_short_fit_at_a_terminal_is_silent_and_a_long_one_is_not(monkeypatch):
    terminal = sit_at_terminal(monkeypatch)
    steps = report_progress(2, "steps", 0)
    steps()
    assert terminal.getvalue() == ""
    now = iter([0.0, 11.0, 12.0, 23.0, 30.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(now))
    done = report_progress(4, "steps", 0)
    for _ in range(4):
        done()  # at 11, 12, 23 and 30 seconds: the second comes too soon and the last says nothing new
    assert terminal.getvalue() == "pnulearn: 1 of 4 steps, 33 s left\npnulearn: 3 of 4 steps, 8 s left\n"


def test_without_a_terminal_or_with_minus_one_nothing_is_said(monkeypatch):
    sit_at_terminal(monkeypatch)
    assert report_progress(2, "steps", -1) is None
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert report_progress(2, "steps", 0) is None
    announce_duration(1000, "a fit", "Wait.", 0)
    assert sys.stderr.getvalue() == ""


def test_models_that_are_solved_one_by_one_are_announced(monkeypatch):
    terminal = sit_at_terminal(monkeypatch)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 2)), np.where(np.arange(40) < 20, np.arange(40) % 2, np.nan)
    monkeypatch.setattr(search, "PROBE_FROM", 3)
    monkeypatch.setattr(progress, "LONG", 0.0)
    told = PNUClassifier(
        loss="logistic", prior=0.5, bandwidth=1.0, alpha=[0.1, 1.0], mix=[0.0, 0.5], cv=2, random_state=0
    )
    told.fit(X, y)
    first = terminal.getvalue().splitlines()[0]
    assert first.startswith("pnulearn: 8 models of 20 rows will take about ")
    assert "loss='squared'" in first
    before = terminal.getvalue()
    quiet = PNUClassifier(**{**told.get_params(), "verbose": -1}).fit(X, y)
    assert terminal.getvalue() == before
    assert np.array_equal(quiet.coef_, told.coef_)
