"""Estimates from rows drawn with unequal chances: unbiased by enumeration, their intervals true by simulation."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pnulearn._intervals.confidence_sequences import confidence_sequence
from pnulearn.labeling._draws import PENDING, AnswerLog, Draw, Sample
from pnulearn.labeling._estimates import (
    AnswerErrors,
    Share,
    as_prior,
    judge_class,
    judge_prior,
    judge_share,
    martingale_mean,
)
from pnulearn.labeling._learner import HeldOut

VALUES = np.array([1.0, 0.0, 1.0, 0.0, 0.0])
GUESS = np.array([0.7, 0.2, 0.4, 0.1, 0.5])


def chances(left, seen):
    """Chances that hang on what was seen, as those of a strategy do."""
    liking = np.array([1.0, 2.0, 0.5, 3.0, 1.5]) ** (1 + sum(VALUES[list(seen)]))
    liking = np.where(left, liking, 0)
    return 0.5 * left / left.sum() + 0.5 * liking / liking.sum()


def all_ways(n_draws):
    """Every order in which rows can be drawn, with its probability and its sample."""
    for rows in permutations(range(len(VALUES)), n_draws):
        left, probability, answer_log = np.ones(len(VALUES), bool), 1.0, AnswerLog()
        for number, row in enumerate(rows):
            q = chances(left, rows[:number])[row]
            answer_log.add(Draw(number, row, q, int(left.sum()), "x"), int(VALUES[row]))
            probability *= q
            left[row] = False
        yield probability, answer_log.sample()


def guesses(guess, sample):
    """What is said of drawn rows, and on average of all."""
    said, everywhere = guess[sample.rows], np.full(len(sample), guess.mean())
    return HeldOut(np.zeros(len(sample), int), *(np.stack([1 - v, v], axis=1) for v in (said, everywhere)), trust=1.0)


@pytest.mark.parametrize("n_draws", [1, 3, 4])
def test_shares_are_unbiased_whatever_the_chances(n_draws):
    plain, guided, total, trained = 0.0, 0.0, 0.0, 0.0
    for probability, sample in all_ways(n_draws):
        v = VALUES[sample.rows]
        plain += probability * martingale_mean(v, sample).value
        guided += probability * (martingale_mean(v - GUESS[sample.rows], sample).value + GUESS.mean())
        trained += probability * (sample.training_weight @ v) / n_draws
        total += probability
    assert_allclose([total, plain, guided, trained], [1, VALUES.mean(), VALUES.mean(), VALUES.mean()])


def test_the_mean_is_lure():
    """Σ v L / M with the weights of the paper, and the plain share for equal chances."""
    _, sample = list(all_ways(3))[17]
    v = VALUES[sample.rows]
    mean = martingale_mean(v, sample)
    m = np.arange(1, 4)
    q = 1 / (sample.n_left * sample.weight)
    lure = 1 + (5 - 3) / (5 - m) * (1 / ((5 - m + 1) * q) - 1)
    assert_allclose(sample.training_weight, lure)
    assert_allclose(mean.value, lure @ v / 3)
    assert martingale_mean(v, replace(sample, weight=np.ones(3))).value == pytest.approx(v.mean())


def test_a_table_that_is_labelled_whole_leaves_nothing_open():
    answer_log = AnswerLog()
    for number in range(50):
        answer_log.add(Draw(number, number, 1 / (50 - number), 50 - number), number % 5 == 0)
    share = judge_class(answer_log.sample(), 1, 0.95, population=False)
    assert share.value == pytest.approx(0.2)
    assert share.half_width < 0.03
    assert (
        judge_class(answer_log.sample(), 1, 0.95).half_width > 0.1
    )  # of the population there is only a sample of fifty


def simulate(rng, error, n_draws, n_rows=600):
    """A pool in which errors gather near a boundary, where half of the draws go."""
    x = rng.normal(size=n_rows)
    near = np.exp(-np.abs(x) / 0.4)
    is_wrong = rng.random(n_rows) < np.clip(error * near / np.mean(near), 0, 0.95)
    p = 1 / (1 + np.exp(-3 * (x - 0.5)))
    y = (rng.random(n_rows) < p).astype(int)
    left, answer_log = np.ones(n_rows, bool), AnswerLog()
    for number in range(n_draws):
        rows = np.flatnonzero(left)
        q = 0.5 / len(rows) + 0.5 * near[rows] / near[rows].sum()
        place = rng.choice(len(rows), p=q / q.sum())
        row = int(rows[place])
        answer_log.add(Draw(number, row, q[place], len(rows), "x"), int(y[row]))
        left[row] = False
    return answer_log.sample(), is_wrong, y, 0.3 + 0.4 * p  # what a model says that knows little


@pytest.mark.parametrize("error", [0.03, 0.15])
def test_intervals_hold_also_when_one_stops_at_will(error):
    """Cover of the pool's own shares from 20 draws on, at all times together and where the goal is reached."""
    rng = np.random.default_rng(0)
    always, at_stop, plain = [], [], []
    for _ in range(60):
        sample, is_wrong, y, guess = simulate(rng, error, 100)
        shares = []
        for n in range(20, 101, 10):
            part = type(sample)(*(values[:n] for values in vars(sample).values()))
            of_error = judge_share(part, is_wrong[part.rows], 0.95, population=False)
            of_class = judge_class(part, 1, 0.95, guesses(guess, part), population=False)
            held = [s.low <= truth <= s.high for s, truth in ((of_error, is_wrong.mean()), (of_class, y.mean()))]
            shares.append((of_error.half_width, of_class.half_width, *held))
        widths = np.array(shares)[:, :2]
        always.append(np.array(shares)[:, 2:].all(axis=0))
        stop = np.argmax(widths[:, 0] <= 0.1) if (widths[:, 0] <= 0.1).any() else -1
        at_stop.append(shares[stop][2])
        plain.append(widths[-1])
    assert np.mean(always, axis=0).min() >= 0.92
    assert np.mean(at_stop) >= 0.92
    assert np.mean(plain, axis=0).max() < 0.2  # and they do say something


def test_weights_that_go_with_errors_are_counted():
    """Errors drawn four times too rarely (finding B5): the estimate is right and its interval wide enough."""
    rng = np.random.default_rng(1)
    held, values = [], []
    for _ in range(200):
        wrong = rng.random(400) < 0.2
        left, answer_log = np.ones(400, bool), AnswerLog()
        for number in range(80):
            rows = np.flatnonzero(left)
            liking = np.where(wrong[rows], 0.25, 1.0)
            q = liking / liking.sum()
            place = rng.choice(len(rows), p=q)
            answer_log.add(Draw(number, int(rows[place]), q[place], len(rows), "x"), 0)
            left[rows[place]] = False
        sample = answer_log.sample()
        share = judge_share(sample, wrong[sample.rows], 0.95, population=False)
        held.append(share.low <= wrong.mean() <= share.high)
        values.append(share.value - wrong.mean())
    assert np.mean(held) >= 0.92
    assert abs(np.mean(values)) < 3 * np.std(values) / np.sqrt(200)


def test_no_error_is_no_certainty():
    answer_log = AnswerLog()
    for number in range(30):
        answer_log.add(Draw(number, number, 1 / (1000 - number), 1000 - number), number % 2)
    share = judge_share(answer_log.sample(), np.zeros(30), 0.95)
    assert share.value == share.low == 0
    assert 0.1 < share.high < 0.2


@pytest.mark.parametrize("guess", [0.0, 0.02])
def test_a_class_that_was_not_seen_may_be_there(guess):
    """Thirty rows at random without it: one in ten may well have it, whatever a model says."""
    answer_log = AnswerLog()
    for number in range(30):
        answer_log.add(Draw(number, number, 1 / (1000 - number), 1000 - number), 0)
    held = guesses(np.full(1000, guess), answer_log.sample()) if guess else None
    assert 0.1 < judge_class(answer_log.sample(), 1, 0.95, held).high < 0.4


def test_the_shares_become_a_prior():
    answer_log = AnswerLog()
    for number in range(90):
        answer_log.add(Draw(number, number, 1 / (1000 - number), 1000 - number), number % 3)
    prior = as_prior(judge_prior(answer_log.sample(), 3, 0.95))
    assert_allclose(prior.shares, [1 / 3] * 3, atol=0.01)
    assert as_prior(judge_prior(AnswerLog().sample(), 3, 0.95)) is None


# Rows that were put off, and answers that are wrong.


def put_off(answer_log, numbers):
    """The sample with these draws unknown."""
    for number in numbers:
        answer_log.codes[number] = PENDING
    return answer_log.sample(unknown=numbers)


def test_rows_that_were_put_off_count_in_both_directions():
    """The ends are those of the two samples in which all of them are wrong, or none."""
    rng = np.random.default_rng(0)
    answer_log, codes = AnswerLog(), rng.integers(0, 2, 60)
    for number in range(60):
        answer_log.add(Draw(number, number, 1 / (600 - number), 600 - number), int(codes[number]))
    whole, later = answer_log.sample(), [3, 17, 40]
    sample = put_off(answer_log, later)
    assert_allclose(np.flatnonzero(~sample.is_known), later)
    ends = []
    for filled in (0, 1):
        has = codes.copy()
        has[later] = filled
        ends.append(judge_share(whole, has, 0.95))
    found = judge_share(sample, codes == 1, 0.95)
    assert found.low == ends[0].low
    assert found.high == ends[1].high
    assert found.low < judge_share(sample[sample.is_known], codes[sample.is_known], 0.95).value < found.high
    assert confidence_sequence_width(found, 57) == pytest.approx(found.half_width, abs=1e-6)
    of_class = judge_class(sample, 1, 0.95)
    assert (of_class.low, of_class.high) == (found.low, found.high)
    held = HeldOut(codes, np.full((57, 2), 0.5), np.full((57, 2), 0.5), trust=1.0)
    guided = judge_class(sample, 1, 0.95, held)
    assert guided.low < found.value < guided.high


def confidence_sequence_width(share, n_labels):
    low, high = confidence_sequence(share.value, share.n_effective, n_labels, 0.95)
    return (high - low) / 2


def anytime_cover(rng, error, *, skipped=0.0, wrong=0.0, repeat=0.0, runs=100, n_draws=120):
    """How often all intervals hold that one person sees, who skips errors of the model or gives wrong answers."""
    held, naive = [], []
    for _ in range(runs):
        is_wrong = rng.random(n_draws) < error
        is_off = is_wrong & (rng.random(n_draws) < skipped)
        seen = is_wrong ^ (rng.random(n_draws) < wrong)
        again = [(0, int(rng.random() < wrong) ^ int(rng.random() < wrong)) for _ in range(int(repeat * n_draws))]
        hold, hold_naive = True, True
        for n in range(20, n_draws + 1, 20):
            codes = np.where(is_off[:n], PENDING, 0)
            sample = Sample(np.arange(n), codes, np.ones(n), 1e6 - np.arange(n))
            share = judge_share(sample, seen[:n], 0.95)
            plain = judge_share(sample[sample.is_known], seen[:n][sample.is_known], 0.95)
            checked = AnswerErrors.of(again[: int(repeat * n)], 2, 0.95)
            share = share if checked is None else checked.correct(share, n, 0.95)
            hold &= share.low <= error <= share.high
            hold_naive &= plain.low <= error <= plain.high
        held.append(hold)
        naive.append(hold_naive)
    return np.mean(held), np.mean(naive)


@pytest.mark.parametrize("error", [0.1, 0.3])
def test_intervals_hold_if_the_rows_that_the_model_gets_wrong_are_skipped(error):
    cover, without = anytime_cover(np.random.default_rng(0), error, skipped=0.7)
    assert cover >= 0.95
    assert without < 0.8  # what leaving them out gives


@pytest.mark.parametrize(("error", "wrong"), [(0.02, 0.05), (0.02, 0.1), (0.1, 0.1), (0.3, 0.1)])
def test_intervals_hold_if_answers_are_wrong_and_a_tenth_of_the_rows_is_asked_twice(error, wrong):
    cover, without = anytime_cover(np.random.default_rng(0), error, wrong=wrong, repeat=0.1)
    assert cover >= 0.94
    assert cover > without - 0.02


def test_the_rate_of_wrong_answers_inverts_what_two_answers_show():
    for n_classes in (2, 4):
        for rate in (0.0, 0.03, 0.2):
            coincide = 1 / (n_classes - 1)
            different = 1 - (1 - rate) ** 2 - rate**2 * coincide
            n = 100_000
            repeated = [(0, 1)] * round(n * different) + [(0, 0)] * (n - round(n * different))
            found = AnswerErrors.of(repeated, n_classes, 0.95)
            assert found.rate.value == pytest.approx(rate, abs=1e-4)
            true = 0.17
            for is_class in (False, True):
                if is_class:  # a row of the class gets another label; one of another class gets this label
                    seen = true * (1 - rate) + (1 - true) * rate * coincide
                else:  # a wrong answer agrees with a wrong prediction if it happens to name the same class
                    seen = true * (1 - rate * coincide) + (1 - true) * rate
                corrected = found.correct(Share(seen, seen - 1e-9, seen + 1e-9, 1e9), 1000, 0.95, is_class=is_class)
                assert corrected.value == pytest.approx(true, abs=2e-3)
    assert AnswerErrors.of([], 2, 0.95) is None
