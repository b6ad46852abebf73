"""SMIR against a dense solve of its own equations."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import linalg

from pnulearn.baselines import SMIRClassifier
from pnulearn.baselines._base import gram
from pnulearn.baselines._smir import SmirPath

rng = np.random.default_rng(0)
N_LABELED, N, SIGMA = 12, 40, 0.7
TRUTH = np.arange(N) % 3
X = rng.normal(size=(N, 2)) + 2.5 * np.column_stack([TRUTH == 1, TRUTH == 2])
CODES = TRUTH[:N_LABELED]
K = gram("rbf", X, X, SIGMA)
SHARES = np.array([0.5, 0.3, 0.2])


def dense_equations():
    """T = D^(−1/2) K^(1/2) and S = D^(−1/2) K D^(−1/2), written out."""
    inverse_root_degree = np.diag(K.sum(axis=1) ** -0.5)
    root = np.real(linalg.sqrtm(K))
    return inverse_root_degree, root, inverse_root_degree @ root, inverse_root_degree @ K @ inverse_root_degree


def objective(a, T, S, ridge, information, share, member):
    misfit = T[:, :N_LABELED].T @ a - member
    return misfit @ misfit / (2 * N_LABELED) - information / (2 * N * share) * a @ S @ a + ridge / 2 * a @ a


@pytest.mark.parametrize("information, alpha", [(0.0, 0.001), (0.01, 0.001), (10.0, 0.001), (100.0, 1.0)])
def test_the_shared_factorisation_solves_the_dense_system(information, alpha):
    inverse_root_degree, root, T, S = dense_equations()
    path = SmirPath.factorize(K.copy(), np.arange(N_LABELED))
    ridge = information / (N * SHARES.min()) + alpha
    for k, share in enumerate(SHARES):
        member = (k == CODES).astype(float)
        T_l = T[:, :N_LABELED]
        system = N * T_l @ T_l.T + ridge * N * N_LABELED * np.eye(N) - information * N_LABELED / share * S
        a = np.linalg.solve(system, N * T_l @ member)
        posterior = root @ inverse_root_degree @ a
        beta, normalized = path.solve(information, alpha, share, SHARES.min(), member > 0)
        assert normalized
        assert_allclose(K @ beta, posterior * N * share / posterior.sum(), atol=1e-7)


@pytest.mark.parametrize("information", [0.0, 0.1, 10.0])
def test_no_step_from_the_solution_lowers_the_objective(information):
    _, _, T, S = dense_equations()
    share, ridge = 0.3, information / (N * 0.2) + 0.001
    member = (CODES == 1).astype(float)
    T_l = T[:, :N_LABELED]
    system = N * T_l @ T_l.T + ridge * N * N_LABELED * np.eye(N) - information * N_LABELED / share * S
    a = np.linalg.solve(system, N * T_l @ member)
    least = objective(a, T, S, ridge, information, share, member)
    for _ in range(20):
        step = rng.normal(size=N)
        assert objective(a + 0.1 * step, T, S, ridge, information, share, member) > least


def test_the_similarity_matrix_has_eigenvalues_between_zero_and_one():
    path = SmirPath.factorize(K.copy(), np.arange(N_LABELED))
    assert path.smi_values.min() >= 0
    assert path.smi_values.max() == pytest.approx(1, abs=1e-12)


def test_without_information_it_is_ridge_on_the_indicators():
    inverse_root_degree, root, T, _ = dense_equations()
    features = (root @ inverse_root_degree)[:N_LABELED]  # q on the labelled rows is features @ a
    member = (CODES == 2).astype(float)
    gram_l = features @ features.T
    a = features.T @ np.linalg.solve(gram_l + 0.001 * N_LABELED * np.eye(N_LABELED), member)
    beta, _ = SmirPath.factorize(K.copy(), np.arange(N_LABELED)).solve(0.0, 0.001, 0.2, 0.2, member > 0)
    scaled = T.T @ a
    assert_allclose(K @ beta, scaled * N * 0.2 / scaled.sum(), atol=1e-8)


def test_the_mean_posterior_is_the_class_share():
    y = np.where(np.arange(N) < N_LABELED, TRUTH, np.nan)
    shares = {0.0: 0.5, 1.0: 0.3, 2.0: 0.2}
    model = SMIRClassifier(information=0.1, bandwidth=SIGMA, prior=shares).fit(X, y)
    assert_allclose((K @ model.dual_coef_).mean(axis=0), [0.5, 0.3, 0.2], atol=1e-8)


def test_three_classes_are_told_apart_with_probabilities_that_sum_to_one():
    y = np.where(np.arange(N) < N_LABELED, TRUTH, np.nan)
    rows = X + 2.5 * np.column_stack([TRUTH == 1, TRUTH == 2])
    model = SMIRClassifier(cv=3, prior={0: 0.34, 1: 0.33, 2: 0.33}, random_state=0).fit(rows, y)
    assert (model.predict(rows) == TRUTH).mean() > 0.9
    assert_allclose(model.predict_proba(rows).sum(axis=1), 1)
    assert_allclose(model.classes_[model.predict_proba(rows).argmax(axis=1)], model.predict(rows))
    assert_allclose(model.prior_, [0.34, 0.33, 0.33])


def test_two_classes_score_as_the_difference_of_posteriors():
    y = np.where(np.arange(N) < N_LABELED, TRUTH == 1, np.nan)
    model = SMIRClassifier(information=0.1, bandwidth=SIGMA, prior=0.3).fit(X, y)
    posteriors = model.predict_proba(X)
    assert_allclose(model.decision_function(X), posteriors[:, 1] - posteriors[:, 0])


def test_a_posterior_without_positive_mean_is_left_as_it_is(monkeypatch):
    factorise = SmirPath.factorize

    def upside_down(gram, labeled):
        path = factorise(gram, labeled)
        return replace(path, total=-path.total)

    monkeypatch.setattr(SmirPath, "factorize", upside_down)
    y = np.where(np.arange(N) < N_LABELED, TRUTH == 1, np.nan)
    with pytest.warns(UserWarning, match="was not scaled"):
        model = SMIRClassifier(information=0.1, bandwidth=SIGMA, prior=0.3).fit(X, y)
    assert np.isfinite(model.predict_proba(X)).all()


def test_duplicated_rows_make_a_singular_kernel_and_a_finite_answer():
    rows, y = np.concatenate([X, X]), np.full(2 * N, np.nan)
    y[:N_LABELED] = TRUTH[:N_LABELED]
    model = SMIRClassifier(information=1.0, bandwidth=SIGMA, prior="labeled").fit(rows, y)
    assert np.isfinite(model.predict_proba(rows)).all()
