"""Positive and unlabelled rows of one sample: sampling="random" with labels of one class alone."""

import warnings

import numpy as np
import pytest
from scipy.stats import beta, norm
from sklearn.metrics import average_precision_score, f1_score, precision_score, recall_score, roc_auc_score

from pnulearn import PNUClassifier, check_scar, estimate_prior, make_pnu_scorer, metrics, pnu_risk, streaming
from pnulearn._intervals.posterior_grids import GRID, affine_mass, beta_mass, mass_deviation
from pnulearn._problem.samples import Samples
from pnulearn.priors import PriorEstimate, resolve_prior
from pnulearn.priors._one_sample import OneSample

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")
RANDOM = {"sampling": "random", "unlabeled": 0}


def draw(seed, n=600, prior=0.3, frequency=0.5, gap=2.0, n_columns=4):
    """X, y (1 for labelled positives, 0 for unlabelled rows) and the truth."""
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < prior
    X = rng.normal(size=(n, n_columns)) + gap / np.sqrt(n_columns) * truth[:, None]
    return X, (truth & (rng.random(n) < frequency)).astype(int), truth


class TestPrior:
    def test_is_that_of_the_table_not_of_its_unlabelled_rows(self):
        sample = OneSample(30.0, 70.0)
        assert sample.of_table(0.2) == pytest.approx((30 + 0.2 * 70) / 100)
        assert OneSample(30.0, 70.0, positive=False).of_table(0.2) == pytest.approx(0.2 * 70 / 100)

    @pytest.mark.parametrize("positive", [True, False])
    def test_back_and_forth(self, positive):
        sample = OneSample(3000.0, 7000.0, positive)
        of_unlabeled = PriorEstimate.of_mass(beta_mass(20, 60), "test")
        back = sample.prior_of_unlabeled(sample.prior_of_table(of_unlabeled))
        assert back.mean == pytest.approx(of_unlabeled.mean, abs=2e-3)
        assert back.spread == pytest.approx(of_unlabeled.spread, rel=0.05)

    def test_includes_the_sampling_error_of_the_labelled_share(self):
        rng = np.random.default_rng(0)
        sample, q = OneSample(30.0, 70.0), PriorEstimate.of_mass(beta_mass(20, 60), "test")
        s = beta(30.5, 70.5).rvs(200_000, random_state=rng)
        theta = s + (1 - s) * beta(20.5, 60.5).rvs(200_000, random_state=rng)
        assert sample.prior_of_table(q).spread == pytest.approx(theta.std(), rel=0.02)

    def test_affine_mass_against_draws(self):
        shares = beta(8.5, 4.5).rvs(200_000, random_state=0)
        moved = (shares - 0.3) / 0.7
        moved = moved[(moved >= 0) & (moved <= 1)]
        mass = affine_mass(beta_mass(8, 4), 1 / 0.7, -0.3 / 0.7)
        assert mass @ GRID == pytest.approx(moved.mean(), abs=2e-3)
        assert mass_deviation(mass) == pytest.approx(moved.std(), rel=0.01)

    def test_counts_of_one_class_are_no_evidence(self):
        X, y, _ = draw(0)
        found = PNUClassifier(risk="pu", **RANDOM, random_state=0).fit(X, y)
        assert y.mean() <= found.prior_interval_[0] < 0.3 < found.prior_interval_[1] < 0.7

    def test_estimate_prior_takes_the_sampling(self):
        X, y, _ = draw(0)
        of_table = estimate_prior(X, y, sampling="random", unlabeled=0, random_state=0)
        of_rest = estimate_prior(X, y, unlabeled=0, random_state=0)
        assert of_table.value == pytest.approx(y.mean() + (1 - y.mean()) * of_rest.value)
        counted = estimate_prior(X, np.where(np.arange(600) < 300, y, -1), sampling="random", unlabeled=-1)
        assert counted.value == pytest.approx(y[:300].mean(), abs=0.06)

    def test_a_range_is_cut_at_the_labelled_share(self):
        X, y, _ = draw(0)
        codes = np.where(y == 1, 1, -1)
        found = resolve_prior((0.05, 0.5), X, codes, classes=[0, 1], random_counts=np.array([0.0, y.sum()]))
        assert found.low > y.mean() - 0.02
        assert found.high < 0.55

    def test_a_prior_below_the_labelled_share_is_refused(self):
        X, y, _ = draw(0)
        with pytest.raises(ValueError, match=r"contradicts sampling='random'.*at least"):
            PNUClassifier(risk="pu", prior=0.05, **RANDOM).fit(X, y)

    def test_with_negatives_counts_are_evidence_as_before(self):
        X, _, truth = draw(0)
        y = np.where(np.arange(600) < 100, truth, -1)
        found = PNUClassifier(sampling="random", unlabeled=-1, random_state=0).fit(X, y)
        assert "labels drawn at random" in found.prior_estimate_.method

    def test_weights_and_copies_agree(self):
        _, y, _ = draw(0, n=200)
        twice = np.where(y == 1, 2.0, 1.0)
        rows = np.repeat(np.arange(200), twice.astype(int))
        codes = np.where(y == 1, 1, -1)
        one = OneSample.of(codes, twice, np.array([0.0, 1.0]))
        assert one == OneSample.of(codes[rows], None, np.array([0.0, 1.0]))

    def test_marked_rows_of_one_class_are_no_evidence(self):
        codes = np.array([1, 1, -1, -1])
        assert Samples(np.zeros((4, 1)), codes, np.ones(4), at_random=codes == 1).random_counts is None

    def test_streams_agree(self, tmp_path):
        X, y, _ = draw(1, n=2000)
        path = tmp_path / "rows.csv"
        header = ",".join([*"abcd", "y"])
        np.savetxt(path, np.column_stack([X, y]), delimiter=",", header=header, comments="")
        found = streaming.fit_files(PNUClassifier(risk="pu", random_state=0, **RANDOM), path, target="y")
        assert y.mean() < found.prior_ < 0.6
        assert found.prior_interval_[0] < 0.3 < found.prior_interval_[1]


class TestMetrics:
    def test_the_mean_loss_is_the_pu_risk_of_all_rows(self):
        X, y, _ = draw(2)
        score = X.sum(axis=1) - 2
        found = pnu_risk(y, score, prior=0.3, loss="squared", **RANDOM)
        loss = lambda g: (1 - g) ** 2 / 4  # noqa: E731
        own = score[y == 1]
        assert found.value == pytest.approx(
            0.3 * (loss(own).mean() - loss(-own).mean()) + loss(-score).mean(), abs=0.02
        )

    def test_the_error_is_the_pu_risk_of_all_rows(self):
        X, y, _ = draw(2, n=4000)
        score = X.sum(axis=1) - 2
        wrong = (score[y == 1] < 0).mean()
        found = pnu_risk(y, score, prior=0.3, **RANDOM)
        assert found.value == pytest.approx(0.3 * (2 * wrong - 1) + (score > 0).mean(), abs=0.005)

    def test_agree_with_the_truth_of_a_large_table(self):
        X, y, truth = draw(3, n=20_000)
        score = X.sum(axis=1) - 2.2
        called, given = score > 0, {"prior": 0.3, **RANDOM}
        pairs = [
            (pnu_risk(y, score, **given), np.mean(called != truth)),
            (metrics.pnu_precision(y, score, **given), precision_score(truth, called)),
            (metrics.pnu_recall(y, score, **given), recall_score(truth, called)),
            (metrics.pnu_f1(y, score, **given), f1_score(truth, called)),
            (metrics.pnu_specificity(y, score, **given), recall_score(~truth, ~called)),
            (metrics.pnu_auc(y, score, **given), roc_auc_score(truth, score)),
            (metrics.pnu_average_precision(y, score, **given), average_precision_score(truth, score)),
            (metrics.pnu_roc_curve(y, score, **given).area, roc_auc_score(truth, score)),
            (metrics.pnu_confusion(y, called.astype(int), **given).error, np.mean(called != truth)),
        ]
        for found, expected in pairs:
            assert found.value == pytest.approx(expected, abs=0.025), found

    @pytest.mark.parametrize(
        "metric",
        [metrics.pnu_risk, metrics.pnu_precision, metrics.pnu_specificity, metrics.pnu_auc, metrics.pnu_roc_curve],
    )
    def test_without_a_prior_it_is_estimated_from_the_scores(self, metric):
        X, y, _ = draw(4, n=2000)
        score = X.sum(axis=1) - 2
        with pytest.warns(UserWarning, match="estimated from the scores"):
            found = metric(y, score, **RANDOM)
        given = metric(y, score, prior=0.3, **RANDOM)
        found, given = (getattr(one, "area", one) for one in (found, given))
        assert found.value == pytest.approx(given.value, abs=0.05)
        assert found.high - found.low > given.high - given.low
        with pytest.raises(ValueError, match="all scores are equal"):
            metric(y, 0 * score, **RANDOM)

    def test_a_smooth_risk_below_zero_has_an_interval(self):
        y, share = np.array([1, 1, 0, 0, 0, 0]), np.array([0.9, 0.8, 0.3, 0.2, 0.1, 0.15])
        found = pnu_risk(y, np.log(share / (1 - share)), prior=0.8, loss="logistic", **RANDOM)
        assert (found.value, found.low) == (0, 0)
        assert found.high == pytest.approx(1.96 * found.stderr, rel=1e-3)

    def test_best_threshold(self):
        X, y, truth = draw(3, n=20_000)
        score = X.sum(axis=1)
        errors = [np.mean((score > t) != truth) for t in np.linspace(-2, 6, 81)]
        found = metrics.pnu_best_threshold(y, score, prior=0.3, **RANDOM)
        assert np.mean((score > found.value) != truth) < min(errors) + 0.01
        assert found.low <= found.value <= found.high

    @pytest.mark.parametrize("sampling", ["random", "by_class"])
    def test_values_and_ends_are_in_range(self, sampling):
        for seed in range(20):
            X, y, _ = draw(seed, n=150, gap=4.0, frequency=[0.2, 0.8][seed % 2])
            score = X.sum(axis=1) - 4
            given = {"prior": 0.32, "sampling": sampling, "unlabeled": 0}
            if sampling == "by_class":  # U has the prior 0.32, and the labelled rows come on top
                given["prior"] = 1 - (1 - 0.3) * 150 / np.sum(y == 0) if y.mean() < 0.3 else 0.05
                given["prior"] = float(np.clip(given["prior"], 0.05, 0.95))
            for measure in (
                metrics.pnu_risk, metrics.pnu_precision, metrics.pnu_recall, metrics.pnu_f1, metrics.pnu_specificity,
                metrics.pnu_average_precision, metrics.pnu_auc,
            ):  # fmt: skip
                found = measure(y, score, **given)
                assert 0 <= found.low <= found.value <= found.high <= 1, measure
            for curve in (metrics.pnu_roc_curve, metrics.pnu_precision_recall_curve):
                found = curve(y, score, **given)
                assert (found.low >= 0).all()
                assert (found.high <= 1).all()
                assert 0 <= found.area.low <= found.area.value <= found.area.high <= 1

    @pytest.mark.parametrize("sampling", ["random", "by_class"])
    def test_auc_of_one_class_and_unlabelled_rows(self, sampling):
        """The interval holds the truth and says something; with the classes exchanged it is the same."""
        hits, widths = [], []
        for seed in range(40):
            rng = np.random.default_rng(seed)
            truth = rng.random(300) < 0.3
            score = rng.normal(2 * truth, 1)
            y = (truth & (rng.random(300) < 0.5)).astype(float)
            if sampling == "by_class":
                score, y = np.append(score, rng.normal(2, 1, 50)), np.repeat([0.0, 1.0], [300, 50])
            given = {"sampling": sampling, "unlabeled": 0}
            found = metrics.pnu_auc(y, score, prior=0.3, **given)
            hits.append(found.low <= norm.cdf(2 / np.sqrt(2)) <= found.high)
            widths.append(found.high - found.low)
        assert np.mean(hits) >= 0.85
        assert np.mean(widths) < 0.25
        mirrored = metrics.pnu_auc(np.where(y == 1, 0, np.nan), -score, prior=0.7, sampling=sampling, pos_label=1)
        assert (mirrored.value, mirrored.low, mirrored.high) == pytest.approx((found.value, found.low, found.high))

    def test_curves_need_no_negatives_in_two_samples(self):
        rng = np.random.default_rng(0)
        truth = rng.random(20_000) < 0.3
        score = np.concatenate([rng.normal(2, 1, 5000), rng.normal(2 * truth, 1)])
        y = np.concatenate([np.ones(5000), np.full(20_000, np.nan)])
        found = metrics.pnu_precision_recall_curve(y, score, prior=0.3)
        assert found.area.value == pytest.approx(average_precision_score(truth, score[5000:]), abs=0.02)

    def test_reliability(self):
        X, y, _ = draw(3, n=20_000)
        probability = 1 / (1 + np.exp(-(2 * X.sum(axis=1) / 2 - 2 + np.log(0.3 / 0.7))))
        found = metrics.pnu_reliability(y, probability, prior=0.3, **RANDOM)
        assert found.area.value < 0.03

    def test_suspicious_rows_are_those_far_from_their_class(self):
        X, y, _ = draw(4)
        score = X.sum(axis=1)
        wrong = np.flatnonzero(y == 1)[:3]
        score[wrong] = -5.0
        found = metrics.suspicious_rows(y, score, prior=0.3, **RANDOM)
        assert set(found.rows[:3].tolist()) == set(wrong.tolist())
        assert (found.disagreement >= 0).all()
        assert (found.disagreement <= 1).all()
        assert set(found.rows.tolist()) == set(np.flatnonzero(y == 1).tolist())

    def test_without_a_prior_the_interval_is_wide(self):
        X, y, truth = draw(5)
        score = X.sum(axis=1) - 2
        found = pnu_risk(y, score, **RANDOM)
        assert found.low <= np.mean((score > 0) != truth) <= found.high
        assert found.value >= 0

    def test_a_contradiction_is_refused(self):
        X, y, _ = draw(5)
        with pytest.raises(ValueError, match="at least"):
            metrics.pnu_f1(y, X[:, 0], prior=0.05, **RANDOM)

    def test_by_class_without_prior_does_not_recommend_random(self):
        with pytest.raises(ValueError, match="estimate_prior") as caught:
            pnu_risk([1, 1, None, None], [1.0, 2.0, -1.0, 1.0])
        assert "random" not in str(caught.value)

    def test_scorer(self):
        X, y, truth = draw(6, n=4000)
        model = PNUClassifier(risk="pu", prior=0.3, random_state=0, **RANDOM).fit(X[:600], y[:600])
        score = make_pnu_scorer(0.3, **RANDOM)(model, X[600:], y[600:])
        assert -score == pytest.approx(np.mean((model.decision_function(X[600:]) > 0) != truth[600:]), abs=0.04)

    def test_negatives_alone_are_the_mirror_image(self):
        X, y, _ = draw(7)
        score = X.sum(axis=1) - 2.2
        one = pnu_risk(y, score, prior=0.3, **RANDOM)
        other = pnu_risk(np.where(y == 1, 0, -1), -score, prior=0.7, sampling="random", unlabeled=-1, pos_label=1)
        assert one.value == pytest.approx(other.value, abs=1e-9)
        assert one.low == pytest.approx(other.low, abs=1e-6)


def test_the_estimated_error_of_a_model_is_never_negative():
    """500 rows, 30 % positive, half of them labelled: an earlier version said prior 0.99 and risk −0.5."""
    errors, held = [], 0
    for seed in range(6):
        X, y, _ = draw(seed, n=500, gap=2.5)
        model = PNUClassifier(risk="pu", random_state=0, **RANDOM).fit(X, y)
        X_new, _, truth = draw(seed + 100, n=5000, gap=2.5)
        error = np.mean((model.decision_function(X_new) > 0) != truth)
        errors.append(model.risk_.value - error)
        held += model.risk_.low <= error <= model.risk_.high
        assert 0 <= model.risk_.low <= model.risk_.value <= model.risk_.high
    assert abs(np.mean(errors)) < 0.08
    assert held >= 4


class TestScar:
    def labels(self, seed, bias, n=800):
        rng = np.random.default_rng(seed)
        truth = rng.random(n) < 0.4
        X = rng.normal(size=(n, 3)) + 2 * truth[:, None]
        chance = 0.3 * np.exp(bias * (X[:, 0] - 2) - bias**2 / 2)
        return X, (truth & (rng.random(n) < chance)).astype(int)

    def test_size_and_power(self):
        given = {"prior": 0.4, **RANDOM}
        fair = [check_scar(*self.labels(seed, 0.0), **given).contradicted for seed in range(25)]
        biased = [check_scar(*self.labels(seed, 1.0), **given).contradicted for seed in range(10)]
        assert np.mean(fair) <= 0.16  # at most four of 25, which a size of 6 % exceeds in 2 % of runs
        assert np.mean(biased) >= 0.8

    def test_weights_of_one_over_propensity_restore_it(self):
        X, y = self.labels(0, 0.7, n=3000)
        assert check_scar(X, y, prior=0.4, **RANDOM).contradicted
        weight = np.where(y == 1, np.exp(-0.7 * (X[:, 0] - 2)), 1.0)
        codes = np.where(y == 1, 1, -1)
        fair = check_scar(X, codes, prior=0.28, unlabeled=-1, sample_weight=weight)
        assert fair.p_value > check_scar(X, codes, prior=0.28, unlabeled=-1).p_value

    def test_words(self):
        X, y = self.labels(0, 1.0)
        assert "no fair sample" in str(check_scar(X, y, prior=0.4, **RANDOM))
        assert "No sign" in str(check_scar(*self.labels(1, 0.0), prior=0.4, **RANDOM))

    def test_an_uncertain_prior_is_weaker_evidence(self):
        X, y = self.labels(0, 1.0)
        known, vague = (check_scar(X, y, prior=p, **RANDOM).p_value for p in (0.4, (0.3, 0.5)))
        assert known <= vague

    def test_refusals(self):
        X, y = self.labels(0, 0.0)
        with pytest.raises(ValueError, match="two of each"):
            check_scar(X[:5], [1, 1, 1, 1, None], prior=0.4)
        with pytest.raises(ValueError, match="level"):
            check_scar(X, y, prior=0.4, level=2, **RANDOM)


def test_warns_of_its_assumption():
    X, y, _ = draw(0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        estimate_prior(X, y, unlabeled=0, random_state=0)
    assert any("irreducib" in str(one.message) for one in caught)
