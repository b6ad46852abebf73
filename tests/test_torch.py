"""The risks as PyTorch losses: against NumPy, against the written-out rule of nnPU, and on batches."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from pnulearn import PNUClassifier, risks
from pnulearn.losses import LOSSES

torch = pytest.importorskip("torch", reason="PyTorch is the extra 'torch'")

from pnulearn.torch import PNUBatchSampler, PNULoss, label_codes, margin_loss  # noqa: E402

pytestmark = pytest.mark.thorough
PRIOR = 0.3
ETAS = [-1.0, -0.6, 0.0, 0.4, 1.0]
TRAINABLE = [name for name in LOSSES if name not in ("zero_one", "truncated_squared")]
NONNEGATIVE_LOSSES = ["sigmoid", "logistic", "hyperbolic", "double_hinge", "squared"]


def batch(seed, spread=1.0, sizes=(5, 4, 9)):
    """Scores in float64 and codes, in mixed order."""
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.repeat([1, 0, -1], sizes))
    scores = spread * rng.normal(size=len(codes))
    return torch.tensor(scores, requires_grad=True), torch.tensor(codes)


def groups(scores, codes):
    """The scores of P, of N and of U as arrays."""
    return [scores.detach().numpy()[codes.numpy() == code] for code in (1, 0, -1)]


def gradient(loss, scores, codes):
    (slope,) = torch.autograd.grad(loss(scores, codes), scores)
    return slope.numpy()


def overfitted(sign, seed=0):
    """Scores with which the part read off U is below zero: the labelled group scored far better than U looks."""
    rng = np.random.default_rng(seed)
    codes = np.repeat([1, 0, -1], (5, 4, 9))
    scores = np.where(codes == -1, -3.0 * sign, np.where(codes == 1, 3.0, -3.0)) + 0.1 * rng.normal(size=18)
    return torch.tensor(scores, requires_grad=True), torch.tensor(codes)


def written_out(eta, name, p, n, u, tolerance=0.0, step_back=1.0):
    """nnPNU for η ≥ 0 as in the literature: value, r, and the step with respect to the scores of P, N and U."""
    loss, slope = LOSSES[name], LOSSES[name].derivative
    r = loss(-u).mean() - PRIOR * loss(-p).mean()
    keep, kappa = (1, 1) if r >= -tolerance else (0, -step_back)
    supervised = PRIOR * loss(p).mean() + (1 - PRIOR) * loss(-n).mean()
    value = (1 - eta) * supervised + eta * (PRIOR * loss(p).mean() + max(r, -tolerance))
    step_p = (1 - eta + eta * keep) * PRIOR * slope(p) + kappa * eta * PRIOR * slope(-p)
    step_n = -(1 - eta) * (1 - PRIOR) * slope(-n)
    step_u = -kappa * eta * slope(-u)
    return value, r, (step_p / len(p), step_n / len(n), step_u / len(u))


@pytest.mark.parametrize("name", TRAINABLE)
def test_every_loss_is_numpys(name):
    margins = np.linspace(-3.3, 3.1, 41)
    tensor = torch.tensor(margins, requires_grad=True)
    value = margin_loss(name)(tensor)
    assert_allclose(value.detach(), LOSSES[name](margins), atol=1e-14)
    value.sum().backward()
    assert_allclose(tensor.grad, LOSSES[name].derivative(margins), atol=1e-14)


@pytest.mark.parametrize("name", TRAINABLE)
@pytest.mark.parametrize("risk", [*(risks.pnu(PRIOR, eta) for eta in ETAS), risks.punu(PRIOR, 0.3)], ids=str)
def test_the_unbiased_loss_is_the_empirical_risk(risk, name):
    scores, codes = batch(0, spread=2.0)
    value = PNULoss(risk, name, nonnegative=False)(scores, codes)
    assert_allclose(value.item(), risks.empirical_risk(risk, name, groups(scores, codes)), rtol=1e-13)


@pytest.mark.parametrize("nonnegative", [False, True, "abs"])
@pytest.mark.parametrize("risk", [risks.pnu(PRIOR, -0.6), risks.pnu(PRIOR, 0.4), risks.punu(PRIOR, 0.3)], ids=str)
def test_gradients_are_numerical_derivatives_where_nothing_is_clipped(risk, nonnegative):
    scores, codes = batch(1, spread=0.5)
    loss = PNULoss(risk, "logistic", nonnegative=nonnegative)
    unbiased = PNULoss(risk, "logistic", nonnegative=False)
    assert_allclose(loss(scores, codes).item(), unbiased(scores, codes).item(), rtol=1e-14)
    assert torch.autograd.gradcheck(lambda g: loss(g, codes), scores)


@pytest.mark.parametrize("sign", [1, -1])
def test_the_absolute_value_has_numerical_derivatives_below_zero(sign):
    scores, codes = overfitted(sign)
    loss = PNULoss(risks.pnu(PRIOR, 0.8 * sign), "sigmoid", nonnegative="abs")
    plain = PNULoss(risks.pnu(PRIOR, 0.8 * sign), "sigmoid", nonnegative=False)
    assert plain(scores, codes) < 0 < loss(scores, codes)
    assert torch.autograd.gradcheck(lambda g: loss(g, codes), scores)


@pytest.mark.parametrize("tolerance, step_back", [(0.0, 1.0), (0.0, 0.2), (0.05, 1.0), (0.5, 0.7)])
@pytest.mark.parametrize("name", NONNEGATIVE_LOSSES)
@pytest.mark.parametrize("eta", [0.0, 0.4, 1.0])
def test_value_and_step_are_those_of_the_written_out_rule(eta, name, tolerance, step_back):
    loss = PNULoss(risks.pnu(PRIOR, eta), name, tolerance=tolerance, step_back=step_back)
    branches = set()
    for scores, codes in [batch(2), batch(3, 3.0), overfitted(1)]:
        value, r, steps = written_out(eta, name, *groups(scores, codes), tolerance, step_back)
        branches.add(bool(r < -tolerance))
        assert_allclose(loss(scores, codes).item(), value, rtol=1e-12, atol=1e-14)
        slope = gradient(loss, scores, codes)
        for code, step in zip((1, 0, -1), steps, strict=True):
            assert_allclose(slope[codes.numpy() == code], step, rtol=1e-12, atol=1e-14)
    assert branches == {True, False} or tolerance == 0.5, "both branches must have been tried"


@pytest.mark.parametrize("eta", [0.4, 1.0])
@pytest.mark.parametrize("make", [batch, overfitted], ids=["above", "below"])
def test_exchanging_the_classes_mirrors_the_rule(make, eta):
    """NU is PU with P and N, g and −g, θ and 1 − θ exchanged."""
    scores, codes = make(1)
    mirrored = torch.where(codes == -1, codes, 1 - codes)
    there = PNULoss(risks.pnu(PRIOR, eta))
    back = PNULoss(risks.pnu(1 - PRIOR, -eta))
    flipped = (-scores).detach().requires_grad_()
    assert_allclose(back(flipped, mirrored).item(), there(scores, codes).item(), rtol=1e-13)
    assert_allclose(gradient(back, flipped, mirrored), -gradient(there, scores, codes), rtol=1e-12, atol=1e-15)


def test_punu_corrects_each_half_by_itself():
    gamma = 0.3
    for scores, codes in [batch(4), overfitted(1), overfitted(-1)]:
        parts = [PNULoss(risk(PRIOR)) for risk in (risks.pu, risks.nu)]
        whole = PNULoss(risks.punu(PRIOR, gamma))
        values, steps = zip(
            *((part(scores, codes).item(), gradient(part, scores, codes)) for part in parts), strict=True
        )
        assert_allclose(whole(scores, codes).item(), (1 - gamma) * values[0] + gamma * values[1], rtol=1e-12)
        assert_allclose(gradient(whole, scores, codes), (1 - gamma) * steps[0] + gamma * steps[1], atol=1e-14)


@pytest.mark.parametrize("nonnegative", [True, "abs"])
@pytest.mark.parametrize("name", NONNEGATIVE_LOSSES)
def test_the_corrected_risk_is_never_negative_and_never_below_the_unbiased_one(name, nonnegative):
    lowest = np.inf
    for seed in range(100):
        scores, codes = batch(seed, spread=4.0, sizes=(2, 2, 3))
        for risk in (risks.pnu(PRIOR, ETAS[seed % 5]), risks.punu(PRIOR, 0.5)):
            unbiased = PNULoss(risk, name, nonnegative=False)(scores, codes).item()
            corrected = PNULoss(risk, name, nonnegative=nonnegative)(scores, codes).item()
            lowest = min(lowest, unbiased)
            assert corrected >= max(0, unbiased - 1e-12)
    assert lowest < 0, "the test must have met a negative risk"


def test_the_supervised_risk_ignores_the_unlabelled_rows():
    scores, codes = batch(5)
    slope = gradient(PNULoss(risks.pnu(PRIOR, 0.0), "logistic"), scores, codes)
    assert (slope[codes.numpy() == -1] == 0).all()
    p, n, _ = groups(scores, codes)
    assert_allclose(slope[codes.numpy() == 1], PRIOR * LOSSES["logistic"].derivative(p) / len(p), rtol=1e-13)
    assert_allclose(slope[codes.numpy() == 0], -(1 - PRIOR) * LOSSES["logistic"].derivative(-n) / len(n), rtol=1e-13)


@pytest.mark.parametrize("eta", [-0.5, 0.5])
def test_a_linear_network_finds_the_closed_form(gaussians, eta):
    """R + λ w'w with an unpenalised intercept, minimised by L-BFGS, is PNUClassifier's solution."""
    X, y = gaussians(seed=3)
    alpha = 0.1
    model = PNUClassifier(kernel="linear", prior=0.4, mix=eta, alpha=alpha, random_state=0).fit(X, y)
    rows, codes = torch.tensor(X), label_codes(y)
    torch.manual_seed(0)  # L-BFGS ends within 2e-8 of the minimum, sometimes nearer
    net = torch.nn.Linear(X.shape[1], 1, dtype=torch.float64)
    risk = PNULoss(risks.pnu(0.4, eta), "squared", nonnegative=False)
    optimizer = torch.optim.LBFGS(
        net.parameters(), max_iter=500, tolerance_grad=1e-12, tolerance_change=0, line_search_fn="strong_wolfe"
    )

    def closure():
        optimizer.zero_grad()
        objective = risk(net(rows), codes) + alpha * net.weight.square().sum()
        objective.backward()
        return objective

    optimizer.step(closure)
    assert_allclose(net(rows)[:, 0].detach(), model.decision_function(X), atol=1e-7)


@pytest.mark.parametrize("risk", [risks.pnu(PRIOR, 0.4), risks.nu(PRIOR)], ids=str)
def test_batches_add_up_to_the_whole(risk):
    """Where the batch sizes divide the groups, batch risks of an epoch average to the full risk, gradients too."""
    scores, codes = batch(6, sizes=(6, 9, 24))
    loss = PNULoss(risk, "logistic", nonnegative=False)
    sampler = PNUBatchSampler(codes, (3, 3, 4), random_state=0)
    assert len(sampler) == 6  # as many as U needs; P comes round three times, N twice
    total = sum(loss(scores[rows], codes[rows]) for rows in sampler) / len(sampler)
    assert_allclose(total.item(), loss(scores, codes).item(), rtol=1e-12)
    (slope,) = torch.autograd.grad(total, scores)
    assert_allclose(slope, gradient(loss, scores, codes), atol=1e-14)


def test_batch_risks_are_unbiased_where_sizes_do_not_divide():
    scores, codes = batch(7, sizes=(5, 7, 23))
    loss = PNULoss(risks.pnu(PRIOR, 0.4), "logistic", nonnegative=False)
    sampler = PNUBatchSampler(codes, (3, 2, 5), random_state=0)
    with torch.no_grad():
        values = [loss(scores[rows], codes[rows]).item() for _ in range(400) for rows in sampler]
        whole = loss(scores, codes).item()
    error = np.mean(values) - whole
    assert abs(error) < 4 * np.std(values) / np.sqrt(len(values))
    assert abs(error) < 0.1 * np.std(values), "the test must be able to tell a bias from noise"


def test_every_batch_holds_all_groups_and_an_epoch_every_row():
    codes = torch.tensor([1] * 8 + [0] * 200 + [-1] * 3000)
    sampler = PNUBatchSampler(codes, 100, random_state=0)
    batches = list(sampler)
    assert sampler.sizes == [8, 46, 46]
    assert len(batches) == len(sampler) == 66
    assert {tuple(torch.bincount(codes[rows] + 1).tolist()) for rows in batches} == {(46, 46, 8)}
    assert set(np.concatenate(batches)) == set(range(len(codes)))


def test_a_seed_decides_the_batches_and_epochs_differ():
    codes = [1] * 10 + [0] * 10 + [-1] * 30
    first, second = (PNUBatchSampler(codes, 12, random_state=4) for _ in range(2))
    epochs = list(first), list(first)
    assert (list(second), list(second)) == epochs
    assert epochs[0] != epochs[1]


def test_a_group_that_is_absent_is_left_out():
    codes = torch.tensor([1] * 4 + [-1] * 10)
    rows = next(iter(PNUBatchSampler(codes, 6, random_state=0)))
    assert sorted(codes[rows].tolist()) == [-1, -1, -1, 1, 1, 1]
    assert PNULoss(risks.pu(PRIOR))(torch.zeros(6), codes[rows]).isfinite()


def test_a_loader_takes_the_sampler_and_half_precision_is_summed_in_single():
    data = torch.utils.data.TensorDataset(torch.randn(20, 2), torch.tensor([1] * 5 + [0] * 5 + [-1] * 10))
    loader = torch.utils.data.DataLoader(data, batch_sampler=PNUBatchSampler(data.tensors[1], 9, random_state=0))
    for rows, codes in loader:
        value = PNULoss(risks.pnu(PRIOR, 0.5))(rows[:, :1].half(), codes)
        assert value.dtype == torch.float32


def test_a_function_may_be_the_loss():
    scores, codes = batch(8)
    own = PNULoss(risks.pnu(PRIOR, 0.4), lambda m: torch.nn.functional.softplus(-m))
    assert_allclose(gradient(own, scores, codes), gradient(PNULoss(own.risk, "logistic"), scores, codes))


@pytest.mark.parametrize(
    "attempt, message",
    [
        (
            lambda: PNULoss(risks.Risk(positive=(1.0, -1.0), unlabeled=(0.0, 1.0)) + risks.pn(0.3)),
            "unbiased risk such as",
        ),
        (lambda: PNULoss(risks.pu(0.3), "zero_one"), "cannot train a network"),
        (lambda: PNULoss(risks.pu(0.3), "cubic"), "loss must be one of"),
        (lambda: PNULoss(risks.pu(0.3), nonnegative="max"), "True, False or 'abs', got 'max'"),
        (lambda: PNULoss(risks.pu(0.3), step_back=2.0), r"step_back in \[0, 1\], got 0.0 and 2.0"),
        (lambda: PNULoss(risks.pu(0.3))(torch.zeros(2), torch.tensor([-1, -1])), "no positive rows.*PNUBatchSampler"),
        (lambda: PNULoss(risks.pu(0.3))(torch.zeros(3), torch.tensor([1, -1])), "same length, got 3 and 2"),
        (lambda: PNULoss(risks.pu(0.3))(torch.zeros(3, 2), torch.tensor([1, 0, -1])), r"got \(3, 2\)"),
        (lambda: PNULoss(risks.pu(0.3))(torch.zeros(2), torch.tensor([1.0, torch.nan])), "label_codes"),
        (lambda: label_codes(["a", "b", "c", None]), "Two classes are needed here, and y has 3"),
        (lambda: PNUBatchSampler([1, 0, -1, 2]), "see label_codes"),
        (lambda: PNUBatchSampler([1, 0, -1], 2), "batch_size must be at least 3"),
        (lambda: PNUBatchSampler([1, 0, -1], (1, 2, 1)), r"at most the numbers of P, N and U rows, \[1, 1, 1\]"),
        (lambda: PNUBatchSampler([1, 0, -1], (0, 0, 0)), "must be positive"),
    ],
)
def test_wrong_use_is_explained(attempt, message):
    with pytest.raises(ValueError, match=message):
        attempt()
