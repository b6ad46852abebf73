"""PNURanker: learns a ranking by minimising the PNU estimate of the pairwise (AUC) risk."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize
from scipy.stats import kendalltau
from sklearn.metrics import roc_auc_score
from sklearn.utils.validation import check_is_fitted

from pnulearn._arrays import AnyArray
from pnulearn._estimators.base import PartiallyLabeledClassifier
from pnulearn._kernels.basis import Basis
from pnulearn._kernels.registry import KERNELS, choose_basis
from pnulearn._learning.result import allow_for_changes
from pnulearn._learning.selection import SearchTable, average_weights, best_candidate
from pnulearn._machine import one_blas_thread
from pnulearn._numbers import read_numbers
from pnulearn._parameters import parameters
from pnulearn._problem.alignment import refuse_misaligned
from pnulearn._problem.folds import assign_folds
from pnulearn._problem.inputs import LARGEST, SMALLEST, read_random_state
from pnulearn._problem.labels import decode_labels
from pnulearn._problem.row_keys import row_keys
from pnulearn._problem.samples import Samples
from pnulearn._solvers.candidates import ALPHAS
from pnulearn.losses import Loss, as_loss
from pnulearn.metrics._curves import count_beaten, pnu_auc
from pnulearn.metrics._estimate import RiskEstimate
from pnulearn.priors._estimate import PriorEstimate
from pnulearn.priors._resolve import resolve_prior
from pnulearn.theory import forced_mix

__all__ = ["PNURanker"]

# Pairwise risks: mean loss over pairs whose first row should score above the second.

P, N, U = 0, 1, 2
PAIRS = ((P, N), (P, U), (U, N), (P, P), (N, N))


def pair_weights(prior: float, mix: float) -> AnyArray:
    """Weights of the five kinds of pairs in the PNU risk; they sum to one.

    >>> pair_weights(0.5, 0.0).tolist(), pair_weights(0.25, -1.0).tolist()
    ([1.0, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 4.0, 0.0, -3.0])
    """
    pu, nu = max(mix, 0.0), max(-mix, 0.0)
    against = 1 - prior
    parts = [1 - pu - nu, pu / against, nu / prior, -pu * prior / against, -nu * against / prior]
    return np.array(parts) + 0.0


def count_pairs(sizes: Sequence[int]) -> AnyArray:
    """Number of pairs of every kind for samples of these sizes."""
    return np.array([sizes[a] * (sizes[b] - (a == b)) for a, b in PAIRS], dtype=float)


def is_possible(weights: AnyArray, sizes: Sequence[int]) -> bool:
    """Whether every kind of pair that the risk needs can be formed."""
    return bool((count_pairs(sizes)[weights != 0] > 0).all())


@dataclass(frozen=True)
class Moments:
    """Mean (b,) and mean square (b, b) of the features of a sample."""

    size: int
    mean: AnyArray
    second: AnyArray

    @classmethod
    def of(cls, features: AnyArray) -> Moments:
        size = len(features)
        return cls(size, features.sum(axis=0) / max(size, 1), features.T @ features / max(size, 1))


def quadratic_risk(samples: Sequence[Moments], weights: AnyArray) -> tuple[AnyArray, AnyArray]:
    """H and h with  risk(w) = (1 − 2 h'w + w'Hw) / 4  for g = φ'w and the squared loss (1 − m)² / 4."""
    b = len(samples[0].mean)
    H, h = np.zeros((b, b)), np.zeros(b)
    for (first, second), weight in zip(PAIRS, weights, strict=True):
        if not weight:
            continue
        A, B = samples[first], samples[second]
        cross = np.outer(A.mean, B.mean)
        scatter = A.second + B.second - cross - cross.T
        if first == second:
            scatter *= A.size / (A.size - 1)  # exclude the pairs of a row with itself, whose difference is zero
        H += weight * scatter
        h += weight * (A.mean - B.mean)
    return H, h


def smooth_risk(loss: Loss, scores: Sequence[AnyArray], weights: AnyArray) -> tuple[float, list[AnyArray]]:
    """The risk of any loss from the scores of P, N and U, and its derivative in each of them."""
    value, slopes = 0.0, [np.zeros(len(part)) for part in scores]
    for (first, second), weight in zip(PAIRS, weights, strict=True):
        if not weight:
            continue
        margin = scores[first][:, None] - scores[second]
        cost, slope = loss(margin), loss.derivative(margin)
        if first == second:
            np.fill_diagonal(cost, 0.0)
            np.fill_diagonal(slope, 0.0)
        share = weight / count_pairs([len(part) for part in scores])[PAIRS.index((first, second))]
        value += share * float(cost.sum())
        slopes[first] += share * slope.sum(axis=1)
        slopes[second] -= share * slope.sum(axis=0)
    return value, slopes


# Pairs of held-out rows, counted fold by fold: scores of different folds are never compared.

SHARES = np.linspace(0.0, 0.8, 5)  # candidate weights of the pairs with U
HOPELESS = 10.0  # largest ratio of the variances of PU and NU


@dataclass(frozen=True)
class PairTally:
    """Sums over pairs of all candidates (..., 5 kinds): of wrongly ordered pairs, and of the squared loss."""

    sizes: AnyArray
    pairs: AnyArray
    lost: AnyArray
    squared: AnyArray

    @classmethod
    def of(cls, scores: AnyArray, samples: Sequence[AnyArray]) -> PairTally:
        """From scores (..., rows) and the row numbers of P, N and U."""
        parts = [scores[..., rows] for rows in samples]
        sizes = np.array([len(rows) for rows in samples])
        pairs = count_pairs(sizes.tolist())
        squared = np.stack([_mean_square(parts[a], parts[b], a == b) for a, b in PAIRS], axis=-1)
        return cls(sizes, pairs, _mean_lost(parts) * pairs, squared * pairs)

    def __add__(self, other: PairTally) -> PairTally:
        return PairTally(
            self.sizes + other.sizes, self.pairs + other.pairs, self.lost + other.lost, self.squared + other.squared
        )

    def risks(self, prior: float) -> tuple[AnyArray, AnyArray]:
        """The PNU risks of all candidates: 1 − AUC, and of the squared loss."""
        weights = pair_weights(prior, validation_mix(prior, self.sizes))
        shares = weights / np.where(self.pairs > 0, self.pairs, 1.0)
        return self.lost @ shares, self.squared @ shares

    @property
    def effective_labels(self) -> float:
        """The harmonic mean of the numbers of labels of both classes, or the number of the only labelled class."""
        labeled = self.sizes[:U][self.sizes[:U] > 0]
        return float(len(labeled) / np.sum(1 / labeled)) if len(labeled) else 0.0


def validation_mix(prior: float, sizes: AnyArray) -> float:
    """η of minimum variance for equal variances of all rows and large U; ±1 if a class has no labelled rows.

    >>> validation_mix(0.5, np.array([5, 5, 0])), round(validation_mix(0.1, np.array([5, 5, 100])), 3)
    (0.0, 0.985)
    """
    n_positive, n_negative, n_unlabeled = (int(size) for size in sizes)
    if not n_unlabeled:
        return 0.0
    if not n_negative or not n_positive:
        return 1.0 if n_positive else -1.0
    sides = side_variances(prior, sizes)
    side = min(sides, key=lambda sign: sides[sign])
    plain = 1 / (n_positive * n_negative)
    mix = side * plain / (plain + sides[side])
    return mix if is_possible(pair_weights(prior, mix), sizes.tolist()) else 0.0


def promising_mixes(prior: float, sizes: AnyArray) -> AnyArray:
    """Candidate mixes, without those of PU or NU if its variance is more than `HOPELESS` times that of the other.

    If positives are rare, U is nearly N, and little of P has to be subtracted from the pairs (P, U).

    >>> promising_mixes(0.05, np.array([15, 15, 500])).round(1).tolist()
    [0.0, 0.2, 0.4, 0.6, 0.8]
    >>> len(promising_mixes(0.5, np.array([15, 15, 500])))
    9
    """
    sides = side_variances(prior, sizes)
    least = min(sides.values())
    return np.unique([side * SHARES + 0.0 for side, variance in sides.items() if variance <= HOPELESS * least])


def side_variances(prior: float, sizes: AnyArray) -> dict[int, float]:
    """Approximate variances of PU (1) and NU (-1) for large U, from the subtracted pairs within a class."""
    n_positive, n_negative = (int(size) for size in sizes[:U])
    odds = prior / (1 - prior)
    return {
        1: odds**2 / (n_positive * max(n_positive - 1, 0.5)),
        -1: odds**-2 / (n_negative * max(n_negative - 1, 0.5)),
    }


def _mean_square(first: AnyArray, second: AnyArray, same: bool) -> AnyArray:
    """The mean of (1 − (s − t))² / 4 over pairs of scores s and t."""
    if not first.shape[-1] or not second.shape[-1] or (same and first.shape[-1] < 2):
        return np.zeros(first.shape[:-1])
    ahead = first.mean(axis=-1) - second.mean(axis=-1)
    scatter = first.var(axis=-1) + second.var(axis=-1)
    if same:
        scatter = scatter * first.shape[-1] / (first.shape[-1] - 1)
    return (np.square(1 - ahead) + scatter) / 4


def _mean_lost(parts: Sequence[AnyArray]) -> AnyArray:
    """Shares of pairs (..., 5) in which the first does not score above the second, ties counting a half."""
    lost = np.full((*parts[0].shape[:-1], len(PAIRS)), 0.5)  # pairs within a sample
    for kind, (first, second) in enumerate(((P, N), (P, U), (U, N))):
        if parts[first].shape[-1] and parts[second].shape[-1]:
            for place in np.ndindex(parts[0].shape[:-1]):
                lost[(*place, kind)] = 1 - count_beaten(parts[first][place], parts[second][place]).mean()
    return lost


# Search over candidates.

# Coefficients of every mix and penalty on one sample of rows.

LEAST_CURVATURE = 1e-9  # relative to the largest eigenvalue; below it the minimum is not determined
MOST_STEPS = 200


def solve_candidates(
    features: AnyArray, samples: Sequence[AnyArray], prior: float, mixes: AnyArray, alphas: AnyArray, loss: Loss
) -> AnyArray:
    """Minimisers (mixes, alphas, b) of  risk + alpha ‖w‖², NaN where it has none.

    Some pairs have negative weights, so the risk may be unbounded below; then only a larger alpha has a minimum.
    """
    groups = [features[rows] for rows in samples]
    sizes = [len(group) for group in groups]
    moments = [Moments.of(group) for group in groups]
    coef = np.full((len(mixes), len(alphas), features.shape[1]), np.nan)
    for place, mix in enumerate(mixes):
        weights = pair_weights(prior, float(mix))
        if not is_possible(weights, sizes):
            continue
        coef[place] = _solve_penalties(*quadratic_risk(moments, weights), alphas)
        if loss.quadratic is None:
            coef[place] = [
                _descend(loss, groups, weights, float(alpha), start)
                for alpha, start in zip(alphas, coef[place], strict=True)
            ]
    return coef


def _solve_penalties(H: AnyArray, h: AnyArray, alphas: AnyArray) -> AnyArray:
    """(H + 4 alpha I) w = h for every alpha by one eigendecomposition."""
    values, vectors = np.linalg.eigh(H)  # SciPy's default driver, evr, fails on matrices with clustered eigenvalues
    curvature = values + 4 * alphas[:, None]
    curvature[curvature.min(axis=1) < LEAST_CURVATURE * np.abs(values).max()] = np.nan
    solution: AnyArray = (vectors.T @ h / curvature) @ vectors.T
    return solution


def _descend(loss: Loss, groups: Sequence[AnyArray], weights: AnyArray, alpha: float, start: AnyArray) -> AnyArray:
    """A local minimum, started at that of the squared loss; global if no weight is negative."""

    def value_and_slope(w: AnyArray) -> tuple[float, AnyArray]:
        value, slopes = smooth_risk(loss, [group @ w for group in groups], weights)
        slope = sum((group.T @ part for group, part in zip(groups, slopes, strict=True)), start=2 * alpha * w)
        return value + alpha * float(w @ w), slope

    start = np.nan_to_num(start)
    found = minimize(value_and_slope, start, jac=True, method="L-BFGS-B", options={"maxiter": MOST_STEPS})
    solution: AnyArray = found.x
    return solution


# Cross-validation of all candidates, and the cross-validated AUC of the result.


class PairSearch:
    """Cross-validation of every combination of bandwidth, mix and alpha."""

    def __init__(
        self,
        basis: Basis,
        samples: Samples,
        folds: AnyArray,
        prior: float,
        mixes: AnyArray,
        alphas: AnyArray,
        loss: Loss,
    ):
        self.basis, self.samples, self.folds = basis, samples, folds
        self.prior, self.mixes, self.alphas, self.loss = prior, mixes, alphas, loss
        prepared = basis.prepare(samples.X)
        self.features = [basis.features(prepared, index).copy() for index in range(len(basis.bandwidths))]
        self.learnt = [[self._learn(Z, folds != fold) for fold in np.unique(folds)] for Z in self.features]
        self.tallies = [
            [self._tally(Z, coef, fold) for coef, fold in zip(per_fold, np.unique(folds), strict=True)]
            for Z, per_fold in zip(self.features, self.learnt, strict=True)
        ]

    def tabulate(self, selection: str, folds: Sequence[int]) -> SearchTable:
        """Risks of all candidates on these folds, and their weights."""
        tallies = [sum((per_fold[f] for f in folds[1:]), start=per_fold[folds[0]]) for per_fold in self.tallies]
        zero_one, squared = (np.stack(parts) for parts in zip(*(t.risks(self.prior) for t in tallies), strict=True))
        finite = np.isfinite(squared)
        if not finite.any():
            raise ValueError("No candidate has a minimum: pass a larger alpha, or mix=0.")
        zero_one, squared = np.where(finite, zero_one, np.inf), np.where(finite, squared, np.inf)
        n_labels = tallies[0].effective_labels
        if selection == "average":
            # Uniform over mixes: if positives are rare, mix 0 should not get half of the weight.
            alike = np.ones(len(self.mixes))
            weight = average_weights(zero_one, squared, n_labels, shares=alike)
        else:
            weight = best_candidate(zero_one, squared, n_labels, alphas=self.alphas, mixes=self.mixes, tie_break="risk")
        values = {"bandwidth": self.basis.bandwidths, "mix": self.mixes, "alpha": self.alphas}
        return SearchTable(values, zero_one, squared, weight)

    def assemble(self, weight: AnyArray) -> AnyArray:
        """Coefficients (bandwidths, b) fitted to all rows, averaged over candidates with these weights."""
        whole = np.ones(len(self.folds), dtype=bool)
        return np.stack([combine(self._learn(Z, whole), part) for Z, part in zip(self.features, weight, strict=True)])

    def estimate_auc(self, selection: str, prior: PriorEstimate, coef: AnyArray) -> RiskEstimate:
        """Cross-validated AUC. Held-out scores are converted to ranks within their fold.

        Folds evaluate rankers fitted to part of the labels. The AUC of the final ranker with coefficients
        (bandwidths, b) differs by at most the share of pairs that it orders differently; the interval is widened by it.
        """
        held_out = np.zeros(len(self.folds))
        final = np.sum([Z @ part for Z, part in zip(self.features, coef, strict=True)], axis=0)
        numbers, turned = np.unique(self.folds), []
        for place, fold in enumerate(numbers):
            rows = np.flatnonzero(self.folds == fold)
            weight = self.tabulate(selection, [k for k in range(len(numbers)) if k != place]).weight
            parts = zip(self.features, self.learnt, weight, strict=True)
            scores = np.sum([Z[rows] @ combine(per_fold[place], part) for Z, per_fold, part in parts], axis=0)
            unlabeled = self.samples.codes[rows] < 0
            population = unlabeled if unlabeled.sum() > 1 else np.ones(len(rows), dtype=bool)
            held_out[rows] = count_beaten(scores, scores[population])
            turned.append(share_turned(scores[population], final[rows[population]]))
        labels = np.where(self.samples.codes < 0, np.nan, self.samples.codes)
        auc = pnu_auc(labels, held_out - 0.5, prior=prior, pos_label=1.0)
        wide = allow_for_changes(auc, float(np.mean(turned)))
        return replace(wide, high=min(wide.high, max(auc.high, 1.0)))

    def _learn(self, Z: AnyArray, chosen: AnyArray) -> AnyArray:
        groups = [rows[chosen[rows]] for rows in self.samples.split()]
        return solve_candidates(Z, groups, self.prior, self.mixes, self.alphas, self.loss)

    def _tally(self, Z: AnyArray, coef: AnyArray, fold: int) -> PairTally:
        rows = np.flatnonzero(self.folds == fold)
        place = np.full(len(self.folds), -1)
        place[rows] = np.arange(len(rows))
        groups = [place[group[self.folds[group] == fold]] for group in self.samples.split()]
        return PairTally.of(coef @ Z[rows].T, groups)


def share_turned(scores: AnyArray, others: AnyArray) -> float:
    """Share of discordant pairs of two scores, from Kendall's τ; 0.5 if one of them is constant.

    >>> share_turned(np.array([1.0, 2.0, 3.0]), np.array([1.0, 3.0, 2.0]))  # one of three pairs
    0.3333333333333333
    """
    if np.ptp(scores) == 0 or np.ptp(others) == 0:
        return 0.5
    return float(1 - kendalltau(scores, others).statistic) / 2


def combine(coef: AnyArray, weight: AnyArray) -> AnyArray:
    """Weighted sum of candidates. The weight of candidates without a minimum is distributed over the others."""
    there = np.isfinite(coef).all(axis=-1) & (weight > 0)
    if not there.any():
        return np.zeros(coef.shape[-1])
    share = weight[there] * (weight.sum() / weight[there].sum())
    summed: AnyArray = share @ coef[there]
    return summed


# The estimator. Its threshold is the score at which the share of U predicted positive equals the class prior.

LOSSES = ("squared", "logistic")


@parameters
class PNURanker(PartiallyLabeledClassifier):
    """Learns scores whose order separates the classes, from P, N and U.

    It minimises a pairwise risk (Sakai, Niu, Sugiyama 2018): a smooth surrogate of 1 − AUC, the probability that a
    positive row does not score above a negative one. AUC does not depend on the class prior. Bandwidths, mixes and
    penalties are evaluated by the PNU estimate of AUC in cross-validation and averaged, as in `PNUClassifier`.
    `predict` uses the threshold at which the share of U predicted positive equals the class prior.

    Parameters
    ----------
    loss : str
        "squared" (closed form) or "logistic" (iterative and slower; use few candidates).
    kernel : str
        "rbf", "linear", "laplace" or "polynomial".
    prior : object
        θ, the share of positives in the population, as in `PNUClassifier`.
    mix : float or array, optional
        η of the PNU risk between −1 (N and U) and 1 (P and U), or candidates; None tries five from 0 to 0.8, five from
        0 to −0.8 if negatives are the rare class, and all of them if neither class is rare.
    alpha : float or array, optional
        Penalties to try; None for those of `PNUClassifier`.
    bandwidth : float or array, optional
        Bandwidths to try; None for multiples of the median distance.
    centers : str, int or array
        Centres of the basis functions: a number of rows, "labeled", "all", or an array.
    selection : str
        "average" weights all candidates by their validation risk, "best" selects one.
    cv : int
        Number of folds.
    unlabeled : object, optional
        The value in y that marks unlabelled rows; missing values always do.
    pos_label : object, optional
        The positive class, by default the greater label.
    random_state : int, RandomState or None
        Seed; an int makes the result repeatable.

    Attributes
    ----------
    auc_
        Cross-validated AUC with its interval; the weights of candidates are chosen on the other folds.
    search_
        every candidate with `zero_one` = 1 − AUC, the squared pair risk, and its weight.
    prior_, prior_interval_, prior_estimate_
        the class prior that was used.
    threshold_
        score above which rows are predicted positive; it is subtracted in `decision_function`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> truth = np.concatenate([np.arange(20) % 2, rng.random(200) < 0.1])
    >>> X = rng.normal(size=(220, 2)) + 2 * truth[:, None]
    >>> y = np.where(np.arange(220) < 20, truth, np.nan)
    >>> model = PNURanker(prior=0.1, random_state=0).fit(X, y)
    >>> bool(roc_auc_score(truth[20:], model.decision_function(X[20:])) > 0.9)
    True
    """

    loss: str = "squared"
    kernel: str = "rbf"
    prior: Any = None
    mix: Any = None
    alpha: Any = None
    bandwidth: Any = None
    centers: Any = 200
    selection: str = "average"
    cv: int = 5
    unlabeled: Any = None
    pos_label: Any = None
    random_state: Any = None

    def fit(self, X: Any, y: ArrayLike) -> PNURanker:
        """Learn from labelled and unlabelled rows.

        Parameters
        ----------
        X : array, sparse matrix or data frame (rows, columns)
            Features.
        y : array (rows,)
            Labels; missing values and `unlabeled` mark unlabelled rows.
        """
        self._check_parameters()
        samples = self._read_problem(X, y)
        sizes = self._count_samples(samples)
        seed = int(read_random_state(self.random_state).randint(2**31))
        keys = row_keys(samples.X, seed)
        basis = self._choose_basis(samples, keys)
        estimate = resolve_prior(self.prior, samples.X, samples.codes, classes=self.classes_, random_state=seed)
        self.prior_, self.prior_interval_, self.prior_estimate_ = estimate.value, estimate.interval, estimate
        mixes = self._possible_mixes(sizes, float(estimate))
        folds = np.unique(assign_folds(samples.codes, self.cv, keys), return_inverse=True)[1]
        if not folds.any():  # copies are held out together
            raise ValueError("All rows of X are identical, so none can be held out. Check the columns of X.")
        with one_blas_thread():  # many small systems
            search = PairSearch(basis, samples, folds, float(estimate), mixes, self._alphas, as_loss(self.loss))
            self.search_ = search.tabulate(self.selection, np.unique(folds).tolist())
            coef = search.assemble(self.search_.weight)
            self.auc_ = search.estimate_auc(self.selection, estimate, coef)
            self._keep(basis, coef)
        population = samples.unlabeled if len(samples.unlabeled) else np.arange(len(samples.codes))
        self.threshold_ = 0.0
        self.threshold_ = float(np.quantile(self._scores(samples.X[population]), 1 - float(estimate)))
        return self

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """AUC on the labelled rows of y.

        Parameters
        ----------
        X : array, sparse matrix or data frame (rows, columns)
            Features.
        y : array (rows,)
            Labels; missing values and `unlabeled` mark unlabelled rows.
        sample_weight : array (rows,), optional
            Weights of the rows; one each by default.
        """
        refuse_misaligned(X=X, y=y, sample_weight=sample_weight)
        check_is_fitted(self)
        labels = decode_labels(y, self.unlabeled, classes=self.classes_)
        scores, known = self.decision_function(X), labels.labeled
        weight = None if sample_weight is None else np.asarray(sample_weight)[known]
        return float(roc_auc_score(labels.codes[known], scores[known], sample_weight=weight))

    def _scores(self, X: Any) -> AnyArray:
        scores: AnyArray = KERNELS[self.kernel].scores(vars(self), X)[:, 0] - self.threshold_
        return scores

    def _keep(self, basis: Basis, coef: AnyArray) -> None:
        for name, value in basis.name_learnt(np.arange(len(basis.bandwidths)), coef[None], np.zeros(1)).items():
            setattr(self, name, value)

    def _choose_basis(self, samples: Samples, keys: AnyArray) -> Basis:
        centers = self.centers
        if isinstance(centers, int | np.integer):
            centers = min(int(centers), len(np.unique(keys)))
        return choose_basis(self.kernel, samples.X, samples.codes >= 0, keys, centers, self.bandwidth)

    @property
    def _alphas(self) -> AnyArray:
        return ALPHAS if self.alpha is None else read_numbers("alpha", self.alpha, SMALLEST, LARGEST)

    def _check_parameters(self) -> None:
        for name, allowed in (("loss", LOSSES), ("kernel", tuple(KERNELS)), ("selection", ("average", "best"))):
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name} must be one of {', '.join(map(repr, allowed))}, got {getattr(self, name)!r}.")
        if self.bandwidth is not None:
            read_numbers("bandwidth", self.bandwidth, SMALLEST, LARGEST)
        if self.mix is not None:
            read_numbers("mix", self.mix, -1, 1)
        _ = self._alphas

    def _count_samples(self, samples: Samples) -> AnyArray:
        """Numbers of rows of P, N and U; at least two must be non-empty."""
        if samples.n_classes > 2:
            raise ValueError(
                f"Only binary classification is supported by PNURanker; y has {samples.n_classes} classes: "
                f"{self.classes_.tolist()}. Rank one against the others."
            )
        sizes = np.array([len(rows) for rows in samples.split()])
        if (sizes > 0).sum() < 2:
            raise ValueError(
                f"Pairs need rows of two samples; found {sizes[0]} positive, {sizes[1]} negative and {sizes[2]} "
                "unlabelled rows, which is only one class."
            )
        if not isinstance(self.cv, int | np.integer) or not 2 <= self.cv <= len(samples.codes):
            raise ValueError(f"cv must be a number of folds from 2 to {len(samples.codes)} rows, got {self.cv!r}.")
        return sizes

    def _possible_mixes(self, sizes: AnyArray, prior: float) -> AnyArray:
        """Candidate mixes whose pairs of samples are all non-empty."""
        forced = forced_mix(*sizes.tolist())
        if self.mix is not None:
            mixes = read_numbers("mix", self.mix, -1, 1)
        else:
            mixes = promising_mixes(prior, sizes) if forced is None else np.array([forced])
        possible = np.array([is_possible(pair_weights(0.5, float(mix)), sizes.tolist()) for mix in mixes])
        if not possible.any():
            raise ValueError(
                f"{sizes[0]} positive, {sizes[1]} negative and {sizes[2]} unlabelled rows can be ranked with "
                f"mix={forced or 0:g} only, got {self.mix!r}."
            )
        return mixes[possible]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
