"""Safe semi-supervised SVM (Li and Zhou, 2011, 2015): labels of U with the largest worst-case gain over an SVM."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from numbers import Real
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np
from scipy.linalg import cholesky, lapack, solve_triangular
from scipy.optimize import linprog
from sklearn.svm import SVC

from pnulearn._arrays import AnyArray
from pnulearn._parameters import parameters
from pnulearn._problem.row_keys import row_keys
from pnulearn._solvers.linear_algebra import narrow_root, single_precision
from pnulearn.baselines._base import Baseline, BaselineTraining, Candidate, Parts, candidates

# Many SVMs with one kernel matrix and different labels, solved together.

RELAXATION = 1.6  # usual over-relaxation of ADMM; saves about a third of the iterations
CHECK_EVERY, CHECK_SHARE = 10, 0.25  # steps between two checks of the gap: at least so many, or this share of all steps
GAP = 1e-3  # relative duality gap at which a separator has converged
MOST_STEPS = 300
STIFF = (
    3.0  # factor of ρ for fixed labels, which converges faster. While labels change, the smaller ρ finds better ones
)
NEGLIGIBLE = 1e-6  # allowed error of the kernel's diagonal in a step
TIED = 1e-5  # differences below this are rounding errors of single precision
FEW = 200  # rows up to which double precision is used: it is 7 % slower there, a third at 350 rows, half at 1,000
WORTHWHILE = 0.4  # columns per row up to which a narrow root of the kernel is faster


@dataclass(frozen=True)
class Separators:
    """One separator per row: f(x) = Σ_i coef_i k(x_i, x) + bias, with the labels it was trained on."""

    labels: AnyArray  # (m, n), entries ±1
    coef: AnyArray  # (m, n)
    price: AnyArray  # (m, n), multipliers of the box constraints: about y − f
    bias: AnyArray  # (m,)
    scores: AnyArray  # (m, n), f at the training rows

    def take(self, rows: AnyArray) -> Separators:
        """Some of the separators."""
        return Separators(*(getattr(self, name)[rows] for name in self.__dataclass_fields__))


class _Step(NamedTuple):
    """Constants of an ADMM step in one precision: its matrix, K, ρ and C.

    K is stored as one matrix or as two narrow factors. In the second case the matrix of a step is the identity plus a
    product of two narrow factors.
    """

    matrix: tuple[AnyArray, ...]
    kernel: tuple[AnyArray, ...]
    rho: AnyArray
    cost: AnyArray

    def apply(self, points: AnyArray, out: AnyArray) -> AnyArray:
        """The product of points (m, n) and the matrix of a step."""
        np.matmul(_times(points, *self.matrix[:-1]), self.matrix[-1], out=out)
        if len(self.matrix) > 1:
            out += points
        return out

    def smooth(self, coef: AnyArray) -> AnyArray:
        """Scores without bias."""
        return _times(coef, *self.kernel)

    def single(self) -> _Step:
        """The step in single precision, with C-contiguous matrices, which are up to twice as fast here."""
        matrix, kernel = (tuple(map(single_precision, factors)) for factors in (self.matrix, self.kernel))
        return _Step(matrix, kernel, self.rho.astype(np.float32), self.cost.astype(np.float32))


def _times(points: AnyArray, *factors: AnyArray) -> AnyArray:
    return reduce(np.matmul, factors, points)


def narrow_columns(kernel: AnyArray) -> AnyArray:
    """F with K = FF′, or an array without columns if F would have too many."""
    F = narrow_root(kernel, NEGLIGIBLE * kernel.diagonal().max())
    return F if F.shape[1] <= WORTHWHILE * len(kernel) else F[:, :0]


class SharedKernelSVM:
    """min ½|f|² + Σ_i C_i max(0, 1 − y_i (f(x_i) + bias)) for many label vectors y at once.

    With f = Σ_i c_i k(x_i, ·) the dual is: min ½ c'Kc − y'c, sum(c) = 0, c_i between 0 and y_i C_i. Only the box and
    the linear term depend on y, so ADMM needs one inverse of K + diag(ρ) for all labellings, and one step for all of
    them is one matrix product. ρ = 1/C gives all boxes the same scale; the lower bound keeps ρ comparable to K.
    """

    def __init__(self, kernel: AnyArray, cost: AnyArray, columns: AnyArray | None = None):
        """`columns` are the `narrow_columns` of the kernel, if they are known."""
        self.kernel = kernel
        self.columns = narrow_columns(kernel) if columns is None else columns
        self.cost = cost
        self.floor = 0.1 * kernel.diagonal().mean()
        self.rho = np.maximum(1 / cost, self.floor)
        self.tied = TIED * min(1.0, float(cost.sum() * kernel.diagonal().max()))  # for scores in units of the margin

    @cached_property
    def _soft(self) -> _Step:
        return self._coarse(self.rho)

    @cached_property
    def _stiff(self) -> _Step:
        wide = self.cost.max() * self.floor > 0.5  # else few steps remain, and a second factorisation would be slower
        return self._coarse(STIFF * self.rho) if wide else self._soft

    @cached_property
    def _exact(self) -> _Step:
        return self._double(STIFF * self.rho)

    def _double(self, rho: AnyArray) -> _Step:
        """The step for minimising the penalised dual subject to sum(c) = 0: ρ(K + ρ)⁻¹, projected."""
        lower, _ = lapack.dpotri(cholesky(self.kernel + np.diag(rho), lower=True), lower=1)
        inverse = np.tril(lower) + np.tril(lower, -1).T
        ones = inverse.sum(axis=1)
        inverse -= np.outer(ones, ones / ones.sum())
        inverse *= rho[:, None]
        return _Step((inverse,), (self.kernel,), rho, self.cost)

    def _coarse(self, rho: AnyArray) -> _Step:
        """A faster step for kernels of low rank: K = FF′ gives (K + ρ)⁻¹ = 1/ρ − GG′ with as many columns."""
        F = self.columns
        if not F.shape[1]:
            return self._shortened(self._double(rho))
        inner = cholesky(np.eye(F.shape[1]) + F.T @ (F / rho[:, None]), lower=True)
        G = solve_triangular(inner, (F / rho[:, None]).T, lower=True).T
        ones = 1 / rho - G @ G.sum(axis=0)
        G = np.column_stack([G, ones / np.sqrt(ones.sum())])
        return self._shortened(_Step((rho[:, None] * G, -G.T), (F, F.T), rho, self.cost))

    def _shortened(self, step: _Step) -> _Step:
        """The step in single precision if there are many rows.

        Labels that depend on the last bits of single precision can differ between processors.
        """
        return step if len(self.cost) <= FEW else step.single()

    def solve(
        self, labels: AnyArray, start: Separators | None = None, *, tol: float = GAP, max_iter: int = MOST_STEPS
    ) -> Separators:
        """One separator per row of `labels`. `start` is a warm start from separators with similar labels.

        `tol` is the relative duality gap to reach in at most `max_iter` steps. With many rows, steps use single
        precision if its rounding error is a thousand times smaller than the gap.
        """
        step = self._soft if tol > GAP else self._stiff if tol == GAP else self._exact
        labels = labels.astype(step.rho.dtype, copy=False)
        coef, price = (part.astype(step.rho.dtype, copy=False) for part in self._starting_point(labels, start, step))
        smooth, bias = np.empty_like(coef), np.empty_like(coef[:, 0])
        active: AnyArray | slice = slice(None)  # a slice avoids copies as long as all are active
        done = 0
        while True:
            n_steps = min(max(CHECK_EVERY, int(CHECK_SHARE * done)), max_iter - done)
            done += n_steps
            y = labels[active]
            coef[active], price[active] = _iterate(step, y, coef[active], price[active], n_steps)
            smooth[active], bias[active] = _scores(step, y, coef[active], price[active])
            if done == max_iter:
                break
            gap, objective = _gap(step, y, coef[active], smooth[active], bias[active])
            going_on = gap > tol * objective
            if not going_on.any():
                break
            if not going_on.all():
                active = np.arange(len(labels))[active][going_on]
        if tol <= GAP:
            bias = best_bias(smooth, labels, step.cost)
        return Separators(labels, coef, price, bias, smooth + bias[:, None])

    def _starting_point(self, labels: AnyArray, start: Separators | None, step: _Step) -> tuple[AnyArray, AnyArray]:
        if start is None:
            return np.zeros_like(labels), np.zeros_like(labels)
        # Keep the scores y − price, and move relabelled rows to the bound of the box that these scores imply.
        price = start.price + (labels - start.labels)
        moved = np.where(price * labels > 0, labels * step.cost, 0)
        return np.where(labels == start.labels, start.coef, moved), price

    def objective(self, found: Separators, labels: AnyArray) -> AnyArray:
        """½|f|² + Σ_i C_i max(0, 1 − y_i f(x_i)) of every separator, for any labels."""
        norm = np.einsum("ti,ti->t", found.coef, found.scores - found.bias[:, None])
        return norm / 2 + np.maximum(0, 1 - labels * found.scores) @ self.cost


def _iterate(step: _Step, labels: AnyArray, coef: AnyArray, price: AnyArray, n_steps: int) -> tuple[AnyArray, AnyArray]:
    """Coefficients and prices after a few steps.

    Both are stored in z = c + price / ρ, whose projection onto the box is c. With M the matrix of a step and y the
    labels, a step of ADMM is z ← z + RELAXATION ((2c − z + y / ρ) M − c).
    """
    bound = labels * step.cost
    low, high = np.minimum(bound, 0), np.maximum(bound, 0)
    pulled = step.apply(labels / step.rho, np.empty_like(coef))
    moved, mirrored, z = np.empty_like(coef), np.empty_like(coef), coef + price / step.rho
    for _ in range(n_steps):
        np.maximum(z, low, out=coef)
        np.minimum(coef, high, out=coef)
        np.add(coef, coef, out=mirrored)
        mirrored -= z
        step.apply(mirrored, moved)
        moved += pulled
        moved -= coef
        moved *= RELAXATION
        z += moved
    np.maximum(z, low, out=coef)
    np.minimum(coef, high, out=coef)
    return coef, step.rho * (z - coef)


def _scores(step: _Step, labels: AnyArray, coef: AnyArray, price: AnyArray) -> tuple[AnyArray, AnyArray]:
    """f without bias, and the bias."""
    smooth = step.smooth(coef)
    return smooth, (labels - price - smooth).mean(axis=1)


def _gap(step: _Step, labels: AnyArray, coef: AnyArray, smooth: AnyArray, bias: AnyArray) -> tuple[AnyArray, AnyArray]:
    """Duality gap Σ_i C_i max(0, m_i) − |c_i| m_i, m = 1 − y f, and the objective.

    As long as sum(c) is not 0, |bias · sum(c)| is added as the uncertainty of the dual value.
    """
    short = 1 - labels * (smooth + bias[:, None])
    hinge = np.maximum(0, short) @ step.cost
    gap = hinge - np.einsum("ti,ti->t", np.abs(coef), short) + np.abs(bias * coef.sum(axis=1))
    return gap, hinge + np.einsum("ti,ti->t", coef, smooth) / 2


def best_bias(scores: AnyArray, labels: AnyArray, cost: AnyArray) -> AnyArray:
    """arg min over b of Σ_i C_i max(0, 1 − y_i (s_i + b)), per row; the midpoint if the minimum is an interval.

    The slope in b is −(cost of the positives) + (cost of the rows with y_i − s_i < b), so b is a weighted quantile.
    """
    kinks = labels - scores
    order = np.argsort(kinks, axis=1)
    kinks = np.take_along_axis(kinks, order, axis=1)
    passed = np.cumsum(cost[order], axis=1)
    target = ((labels > 0) @ cost)[:, None]
    slack = 1e-9 * cost.sum()
    last = scores.shape[1] - 1
    left = np.minimum((passed < target - slack).sum(axis=1), last)
    right = np.clip((passed <= target + slack).sum(axis=1), left, last)
    rows = np.arange(len(scores))
    return (kinks[rows, left] + kinks[rows, right]) / 2


# Diverse large-margin separators of labelled and unlabelled rows: random starts, local search, clustering.

RANDOM_SHARE = 0.8  # of the starts are random; the others are the supervised labels, a fifth of them flipped
FLIPPED = 0.2
ADOPTED = 0.8  # probability that a row adopts its new label in a random round
RANDOM_ROUNDS = 10  # rounds with random adoption; afterwards all rows adopt, and the search is a descent
COARSE_GAP, COARSE_STEPS = 1e-2, 20  # for separators whose labels will still change
CHANCE_STEPS = 10  # the same during random rounds
MOST_ROUNDS = 200
TOLERANCE = 0.1  # of the mean label, around its target
CONTENDERS = 3  # per group are solved fully, since coarse separators do not show which one is best

Part = TypeVar("Part", "FoundSeparators", Separators)


@dataclass(frozen=True)
class Balance:
    """The least and the greatest number of positives among the unlabelled rows."""

    low: int
    high: int

    @classmethod
    def around(cls, mean_label: float, signs: AnyArray) -> Balance:
        """Limits that keep the mean label of all rows within ±0.1 of the target; `signs` is 0 for unlabelled rows."""
        n, n_positive, n_unlabeled = len(signs), int(np.sum(signs > 0)), int(np.sum(signs == 0))
        at_least = math.ceil(n * (1 + mean_label - TOLERANCE) / 2 - 1e-9) - n_positive
        at_most = n - math.ceil(n * (1 - mean_label - TOLERANCE) / 2 - 1e-9) - n_positive
        low = min(max(at_least, 0), n_unlabeled)
        return cls(low, min(max(at_most, low), n_unlabeled))

    def thresholds(self, scores: AnyArray) -> AnyArray:
        """Per row of scores, the threshold nearest to zero that gives a permitted number of positives.

        It is zero if that is permitted, else midway between two scores. Equal scores stay on one side.
        """
        n_above = (scores > 0).sum(axis=1)
        kept = np.clip(n_above, self.low, self.high)
        threshold = np.zeros(len(scores), dtype=scores.dtype)
        rows = np.flatnonzero(kept != n_above)
        if not len(rows):
            return threshold
        ordered = np.full((len(rows), scores.shape[1] + 2), np.nan, dtype=scores.dtype)
        ordered[:, 1:-1] = -np.sort(-scores[rows], axis=1)
        each = np.arange(len(rows))
        above, below = ordered[each, kept[rows]], ordered[each, kept[rows] + 1]
        above = np.where(np.isnan(above), np.fmax(below, 0) + 1, above)
        below = np.where(np.isnan(below), np.fmin(above, 0) - 1, below)
        threshold[rows] = (above + below) / 2
        return threshold


@dataclass(frozen=True)
class FoundSeparators:
    """Separators k(x)'coef + offset whose signs on the unlabelled rows are `labels`."""

    labels: AnyArray  # (m, u), entries ±1
    coef: AnyArray  # (m, n)
    offset: AnyArray  # (m,)
    objective: AnyArray  # (m,), ½|f|² + Σ C_i max(0, 1 − y_i f_i), the lower the better

    def take(self, rows: AnyArray) -> FoundSeparators:
        """Some of the separators."""
        return FoundSeparators(*(getattr(self, name)[rows] for name in self.__dataclass_fields__))


def sample_separators(
    machine: SharedKernelSVM,
    signs: AnyArray,
    supervised: AnyArray,
    balance: Balance,
    n_starts: int,
    n_groups: int,
    seed: int,
) -> FoundSeparators:
    """Distinct separators from `n_starts` random labellings and the supervised one, best objective first.

    If there are more than `n_groups`, only the best few of each group are searched to the end.
    """
    rng = np.random.default_rng(seed)
    unlabeled = np.flatnonzero(signs == 0)
    labels = np.tile(signs.astype(np.float32), (n_starts + 1, 1))  # the precision of coarse separators
    labels[:, unlabeled] = starting_labels(supervised, n_starts, rng)
    found = local_search(machine, labels, unlabeled, balance, n_groups, rng)
    return found.take(_different(found))


def starting_labels(supervised: AnyArray, n_starts: int, rng: np.random.Generator) -> AnyArray:
    """Random labels, then flipped supervised labels, then the supervised labels: shape (n_starts + 1, u)."""
    n_random = round(RANDOM_SHARE * n_starts)
    noise = rng.choice([-1.0, 1.0], size=(n_random, len(supervised)))
    kept = np.where(rng.random((n_starts - n_random, len(supervised))) < FLIPPED, -1.0, 1.0)
    return np.vstack([noise, kept * supervised, supervised])


def local_search(
    machine: SharedKernelSVM,
    labels: AnyArray,
    unlabeled: AnyArray,
    balance: Balance,
    n_groups: int,
    rng: np.random.Generator,
) -> FoundSeparators:
    """Alternate between training on labels and relabelling by scores under the balance constraint until convergence.

    Separators are solved coarsely while their labels change. When all have converged, the best few of every group are
    solved fully. Those whose labels change again continue.
    """
    finished: list[FoundSeparators] = []
    separators, chance = None, RANDOM_ROUNDS
    last = np.full(len(labels), np.inf)
    for _ in range(MOST_ROUNDS):
        rows, coarse = _come_to_rest(machine, labels, separators, unlabeled, balance, rng, chance)
        if separators is None:
            chosen = _contenders(_rebalance(machine, coarse, unlabeled, balance), n_groups)
            rows, coarse = rows[chosen], coarse.take(chosen)
        separators = machine.solve(coarse.labels, coarse)
        found = _rebalance(machine, separators, unlabeled, balance)
        moving = _moving(found, separators.labels[:, unlabeled], last[rows])
        finished.append(found.take(np.flatnonzero(~moving)))
        if not moving.any():
            break
        separators, found, chance = separators.take(moving), found.take(moving), 0
        labels, last = separators.labels.copy(), found.objective
        labels[:, unlabeled] = found.labels
    else:
        finished.append(found)
    return _join(finished)


def _come_to_rest(
    machine: SharedKernelSVM,
    labels: AnyArray,
    separators: Separators | None,
    unlabeled: AnyArray,
    balance: Balance,
    rng: np.random.Generator,
    chance: int,
) -> tuple[AnyArray, Separators]:
    """Coarse separators that keep their labels, and the numbers of the starts they come from.

    Starts that reach the same labels are merged. In the first `chance` rounds only some rows adopt their new labels.
    """
    rows, last = np.arange(len(labels)), np.full(len(labels), np.inf)
    at_rest: list[tuple[AnyArray, Separators]] = []
    for round_number in range(MOST_ROUNDS):
        by_chance = round_number < chance
        most = CHANCE_STEPS if by_chance else COARSE_STEPS
        coarse = machine.solve(labels, separators, tol=COARSE_GAP, max_iter=most)
        found = _rebalance(machine, coarse, unlabeled, balance)
        moving = _moving(found, labels[:, unlabeled], last)
        at_rest.append((rows[~moving], coarse.take(~moving)))
        on = _first_of_equals(found.labels, np.flatnonzero(moving))
        if len(on) == 0:
            break
        rows, separators, labels, found = rows[on], coarse.take(on), labels[on], found.take(on)
        last = np.full(len(rows), np.inf) if by_chance else found.objective
        adopting = (rng.random(found.labels.shape) < ADOPTED) | (not by_chance)
        labels[:, unlabeled] = np.where(adopting, found.labels, labels[:, unlabeled])
    else:
        at_rest.append((rows, coarse.take(on)))
    return np.concatenate([rows for rows, _ in at_rest]), _join([resting for _, resting in at_rest])


def _moving(found: FoundSeparators, labels: AnyArray, last: AnyArray) -> AnyArray:
    """Whether the labels of a separator changed and its objective improved on the previous round.

    The improvement must exceed the accuracy of the solver; otherwise near-ties could alternate forever.
    """
    return (found.labels != labels).any(axis=1) & (found.objective < (1 - GAP) * last)


def _first_of_equals(labels: AnyArray, rows: AnyArray) -> AnyArray:
    """The first row of every set of rows with equal labels."""
    bits = np.packbits(labels[rows] > 0, axis=1)
    _, first = np.unique(bits.view(f"V{bits.shape[1]}").ravel() if len(bits) else bits, return_index=True)
    return rows[np.sort(first)]


def representatives(candidates: FoundSeparators, n_groups: int) -> FoundSeparators:
    """The best candidate of each of `n_groups` groups with similar labels."""
    return candidates.take(_best_of_groups(candidates, n_groups, 1))


def _contenders(found: FoundSeparators, n_groups: int) -> AnyArray:
    """Numbers of the best few separators of each group, without duplicates."""
    different = _different(found)
    return different[_best_of_groups(found.take(different), n_groups, CONTENDERS)]


def _different(found: FoundSeparators) -> AnyArray:
    """Numbers of the best separator for each labelling, best objective first."""
    return _first_of_equals(found.labels, _ascending(found.objective))


def _ascending(objective: AnyArray) -> AnyArray:
    """Numbers in ascending order of the objective; ties up to rounding keep their order."""
    order = np.argsort(objective)
    place = np.empty(len(objective), dtype=int)
    place[order] = np.cumsum(np.diff(objective[order], prepend=-np.inf) > TIED * np.abs(objective[order]))
    return np.argsort(place, kind="stable")


def _best_of_groups(candidates: FoundSeparators, n_groups: int, n_each: int) -> AnyArray:
    """Numbers of the best `n_each` of each of `n_groups` groups with similar labels. All labels must be distinct."""
    n_groups = min(n_groups, len(candidates.labels))
    distance = (candidates.labels.shape[1] - candidates.labels @ candidates.labels.T) / 2
    group = group_by_medoids(distance, n_groups)
    members = [np.flatnonzero(group == k) for k in range(n_groups)]
    best = [rows[_ascending(candidates.objective[rows])[:n_each]] for rows in members]
    return np.sort(np.concatenate(best))


def group_by_medoids(distance: AnyArray, n_groups: int) -> AnyArray:
    """Group numbers by k-medoids: assign to the nearest medoid, then update medoids, while distances decrease.

    The initialisation is deterministic: the first medoid is row 0, every further one the row farthest from the others.
    """
    medoids = [0]
    while len(medoids) < n_groups:
        medoids.append(int(distance[medoids].min(axis=0).argmax()))
    total = np.inf
    while distance[medoids].min(axis=0).sum() < total:
        total = distance[medoids].min(axis=0).sum()
        group = distance[medoids].argmin(axis=0)
        medoids = [_most_central(distance, np.flatnonzero(group == k)) for k in range(n_groups)]
    return group


def _most_central(distance: AnyArray, rows: AnyArray) -> int:
    return int(rows[distance[np.ix_(rows, rows)].sum(axis=1).argmin()])


def _rebalance(machine: SharedKernelSVM, found: Separators, unlabeled: AnyArray, balance: Balance) -> FoundSeparators:
    threshold = balance.thresholds(found.scores[:, unlabeled]) + machine.tied
    labels = found.labels.copy()
    labels[:, unlabeled] = np.where(found.scores[:, unlabeled] > threshold[:, None], 1.0, -1.0)
    objective = machine.objective(found, labels)
    return FoundSeparators(labels[:, unlabeled], found.coef, found.bias - threshold, objective)


def _join(parts: list[Part]) -> Part:
    names = parts[0].__dataclass_fields__
    return type(parts[0])(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


TIE = 1e-6  # votes this close to zero are decided by the supervised SVM
ROUNDING = 1e-9  # smaller scores count as zero, which is a vote for the negative class
EXACT = 1e-8  # tolerance of the supervised SVM
STEPS = 100  # solver steps per start in total, for the cost estimate; measured with C_unlabeled = 0.1


@parameters
class S4VM(Baseline):
    """Semi-supervised SVM that maximises the worst-case gain over the supervised SVM.

    Many large-margin separators fit the labelled and unlabelled rows about equally well. S4VM samples them, keeps a
    few diverse ones, and labels the unlabelled rows so that the gain over the supervised SVM is largest in the worst
    case, that is, if the least favourable separator is the true one. New rows are labelled by a vote, whose weights are
    the dual solution of this problem:

        sign( (1 + caution) Σ_t weight_t sign f_t(x) + (caution − 1) sign f_svm(x) ).

    Parameters
    ----------
    C, C_unlabeled
        cost of a margin error on a labelled and on an unlabelled row; None searches 10⁻⁵ … 10².
    kernel : str
        "rbf", "linear", "laplace" or "polynomial".
    n_starts, n_separators
        number of initial labellings, and number of separators that are kept.
    caution
        weight of a row that becomes wrong, relative to a row that becomes right.
    prior
        share of positives in U; the mean label of all rows is kept within 0.1 of the value that it implies.

    Examples
    --------
    >>> X = np.array([[0.0], [0.2], [1.0], [1.2], [0.1], [1.1]])
    >>> y = np.array([0, 0, 1, 1, np.nan, np.nan])
    >>> model = S4VM(C_unlabeled=0.1, bandwidth=0.5, prior=0.5, random_state=0).fit(X, y)
    >>> model.predict(X).tolist(), model.transduction_.tolist()
    ([0.0, 0.0, 1.0, 1.0, 0.0, 1.0], [0.0, 0.0, 1.0, 1.0, 0.0, 1.0])
    """

    _parts: ClassVar = ("dual_coef", "intercept", "vote")
    _without_unlabeled: ClassVar = "a plain SVM"
    _multi_class: ClassVar = False
    _cheaper: ClassVar = "To make it faster, decrease n_starts or use a random sample of the unlabelled rows."

    C: Any = 1.0
    C_unlabeled: Any = None
    kernel: str = "rbf"
    n_starts: int = 100
    n_separators: int = 10
    caution: float = 3.0

    def _grid(self) -> dict[str, Sequence[float]]:
        for name in ("n_starts", "n_separators"):
            value = getattr(self, name)
            if not isinstance(value, (int, np.integer)) or value < 1:
                raise ValueError(f"{name} must be a whole number of at least 1, got {value!r}.")
        if not isinstance(self.caution, Real) or not 0 < self.caution < np.inf:
            raise ValueError(f"caution must be a positive number (3 in the original), got {self.caution!r}.")
        return {"C": candidates("C", self.C), "C_unlabeled": candidates("C_unlabeled", self.C_unlabeled)}

    def _work(self, n_rows: int) -> float:
        return 3 * n_rows**3 + 2 * STEPS * (self.n_starts + 1) * n_rows**2

    def _learn(self, training: BaselineTraining, grid: Sequence[Candidate]) -> Iterator[Parts]:
        # Rows are sorted by content before random starts are drawn, so that their order in X does not matter.
        order = np.lexsort((training.codes, row_keys(training.X, training.seed)))
        back = np.argsort(order)
        training = replace(training, X=None, gram=training.gram[np.ix_(order, order)], codes=training.codes[order])
        svms = {C: supervised_svm(training.gram, training.signs, C) for C in {c["C"] for c in grid}}
        columns = narrow_columns(training.gram)
        for candidate in grid:
            parts = self._voters(training, candidate, columns, *svms[candidate["C"]])
            own = {"dual_coef": parts["dual_coef"][:, back], "transduction": parts["transduction"][back]}
            yield {**parts, **own}

    def _voters(
        self, training: BaselineTraining, candidate: Candidate, columns: AnyArray, coef: AnyArray, bias: float
    ) -> Parts:
        """The separators kept and the supervised SVM (last), with the weight of each in the vote."""
        signs, unlabeled = training.signs, training.unlabeled
        if len(unlabeled) == 0:
            parts = {"dual_coef": coef[None], "intercept": np.array([bias]), "vote": np.ones(1)}
            return parts | {"worst_case_gain": 0.0, "transduction": self.classes_[training.codes]}
        supervised = np.where(training.gram[unlabeled] @ coef + bias > ROUNDING, 1.0, -1.0)
        cost = np.where(signs == 0, float(candidate["C_unlabeled"]), float(candidate["C"]))
        machine = SharedKernelSVM(training.gram, cost, columns)
        mean_label = (signs.sum() + len(unlabeled) * (2 * training.shares[1] - 1)) / len(signs)
        balance = Balance.around(mean_label, signs)
        found = sample_separators(machine, signs, supervised, balance, self.n_starts, self.n_separators, training.seed)
        kept = representatives(found, self.n_separators)
        worst = safest_labels(kept.labels, supervised, self.caution)
        codes = training.codes.copy()
        codes[unlabeled] = worst.labels > 0
        return {
            "dual_coef": np.vstack([kept.coef, coef]),
            "intercept": np.append(kept.offset, bias),
            "vote": np.append((1 + self.caution) * worst.weight, self.caution - 1) / (2 * self.caution),
            "worst_case_gain": worst.gain,
            "transduction": self.classes_[codes],
        }

    def _respond(self, gram: AnyArray, parts: Parts) -> AnyArray:
        """The vote, between −1 and 1; ties are decided by the supervised SVM."""
        scores = gram @ parts["dual_coef"].T + parts["intercept"]
        vote = np.where(scores > ROUNDING, 1.0, -1.0) @ parts["vote"]
        tie_break = TIE * scores[:, -1] / (1 + np.abs(scores[:, -1]))
        return np.where(np.abs(vote) > TIE, vote, 0.0) + tie_break


def supervised_svm(kernel: AnyArray, signs: AnyArray, C: float) -> tuple[AnyArray, float]:
    """Coefficients for all rows (zero for unlabelled ones) and bias of an SVM fitted to the labelled rows."""
    labeled = np.flatnonzero(signs)
    machine = SVC(C=C, kernel="precomputed", tol=EXACT).fit(kernel[np.ix_(labeled, labeled)], signs[labeled])
    coef = np.zeros(len(signs))
    coef[labeled[machine.support_]] = machine.dual_coef_[0]
    return coef, float(machine.intercept_[0])


@dataclass(frozen=True)
class WorstCase:
    """Labels of the unlabelled rows with the largest worst-case gain, that gain, and the dual weights."""

    gain: float
    labels: AnyArray
    weight: AnyArray


def safest_labels(separators: AnyArray, supervised: AnyArray, caution: float) -> WorstCase:
    """Solve max over y in [−1, 1]^u of min over t of (gain − caution · loss) of y, if y_t were the true labels.

    Gain counts the rows that y gets right and the supervised labels wrong; loss counts the opposite. The objective is
    c_t'y + d_t with c_t = ((1 + λ) y_t + (λ − 1) y_svm) / 4 and d_t = ((1 − λ) u − (1 + λ) y_t'y_svm) / 4, λ = caution.
    The multipliers of the t constraints sum to one, and y is the sign of Σ_t weight_t c_t where that is not 0.
    """
    slopes = ((1 + caution) * separators + (caution - 1) * supervised) / 4
    levels = ((1 - caution) * len(supervised) - (1 + caution) * separators @ supervised) / 4
    if len(separators) == 1:
        labels = np.where(np.abs(slopes[0]) < 1e-9, supervised, np.sign(slopes[0]))
        return WorstCase(float(np.abs(slopes[0]).sum() + levels[0]), labels, np.ones(1))
    objective = np.append(np.zeros(len(supervised)), -1.0)
    limits = np.column_stack([-slopes, np.ones(len(slopes))])
    bounds = [(-1.0, 1.0)] * len(supervised) + [(None, None)]
    solution = linprog(objective, A_ub=limits, b_ub=levels, bounds=bounds, method="highs")
    labels = np.where(np.abs(solution.x[:-1]) < 1e-9, supervised, np.sign(solution.x[:-1]))
    return WorstCase(float(-solution.fun), labels, -solution.ineqlin.marginals)
