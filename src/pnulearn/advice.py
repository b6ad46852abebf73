"""Before any model is fitted: whether unlabelled rows help, by the paper's theory, and a test of how labels arose."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf, isfinite, isinf
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import norm
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_consistent_length

from pnulearn._extras import import_extra
from pnulearn._html import show_facts
from pnulearn._intervals.closed_forms import ratio_z
from pnulearn._problem.alignment import refuse_misaligned
from pnulearn._problem.inputs import read_features, read_weights
from pnulearn._problem.labels import Labels, decode_labels, refuse_more_than_two
from pnulearn._problem.samples import Sampling
from pnulearn.metrics._planning import LabelsNeeded, labels_for_width, read_error_rates
from pnulearn.metrics._population import read_population
from pnulearn.metrics._scored_rows import ScoredRows
from pnulearn.metrics._scorer import decode_for
from pnulearn.priors._groups import MOST_LABELED, MOST_UNLABELED, Groups, split_groups, standardize
from pnulearn.priors._positive_unlabeled import scores_against_unlabeled
from pnulearn.priors._resolve import read_prior, read_share
from pnulearn.priors._sensitivity import Narrowing, after_random_labels
from pnulearn.theory import Psi, nu_against_pn, pu_against_pn, unlabeled_enough, unlabeled_to_help

ASSUMED_RATES = (0.2, 0.2)
WORTHWHILE = 0.9  # a variance ratio above this does not justify the unlabelled rows


@dataclass(frozen=True)
class Advice:
    """Recommendation for given sample sizes. `str(advice)` is a text, `advice.plot()` draws the variance ratio.

    The variance ratio is about evaluation: how much more precise the estimated risk of a given model becomes. It does
    not predict how much the error rate of a model falls if it is trained with the unlabelled rows.

    Parameters
    ----------
    n_positive : int
        Labelled positive rows.
    n_negative : int
        Labelled negative rows.
    n_unlabeled : int
        Unlabelled rows.
    prior : float, (float, float), distribution or PriorEstimate
        Share of positives in the population, which the unlabelled rows are drawn from, or what is known about it; see
        `pnu_risk`.
    error_rates : (float, float), optional
        Shares of positives and of negatives that the model gets wrong.
    measured : bool
        Whether the error rates were measured rather than assumed.
    best : str
        The recommended risk: "pn" (labelled rows only), "pu" (positive and unlabelled rows), "nu" (negative and
        unlabelled rows) or "pnu" (all rows).
    mix : float
        Weight η of the unlabelled rows of minimum variance, for these sizes.
    paper_mix : float
        The same with unlimited unlabelled rows.
    variance_ratio : float
        Variance of the PNU risk at `mix` over that of the PN risk.
    limit_ratio : float
        The same with unlimited unlabelled rows.
    pu_against_pn : float
        Ratio of the error bounds of Niu et al. (2016); below 1, the bound of "pu" is smaller than that of "pn".
    nu_against_pn : float
        The same for "nu" and "pn".
    unlabeled_to_help : float
        Number of unlabelled rows from which the paper's mix lowers the variance.
    unlabeled_enough : float
        Number of unlabelled rows that give 90 % of the possible reduction; infinite if there is none.
    label_next : str
        "positive" or "negative", whichever label lowers the variance more.
    narrowing : Narrowing, optional
        Expected narrowing of an uncertain prior by labels drawn at random.
    needed : LabelsNeeded, optional
        Number of labels for the requested width of the interval of the error.
    """

    n_positive: int
    n_negative: int
    n_unlabeled: int
    prior: float
    error_rates: tuple[float, float]
    measured: bool
    best: str
    mix: float
    paper_mix: float
    variance_ratio: float
    limit_ratio: float
    pu_against_pn: float
    nu_against_pn: float
    unlabeled_to_help: float
    unlabeled_enough: float
    label_next: str
    narrowing: Narrowing | None = None
    needed: LabelsNeeded | None = None

    def psi(self, n_unlabeled: float | None = None) -> Psi:
        """The variance terms, for these sizes or another number of unlabelled rows.

        Parameters
        ----------
        n_unlabeled : int
            Unlabelled rows.
        """
        n = self.n_unlabeled if n_unlabeled is None else n_unlabeled
        return Psi.of_rates(*self.error_rates, prior=self.prior, sizes=(self.n_positive, self.n_negative, n))

    def plot(self, ax: Any = None) -> Any:
        """Variance ratio against the number of unlabelled rows, at the finite-sample mix and at the paper's.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; new axes by default.
        """
        if ax is None:
            with import_extra("report", "Drawing"):
                import matplotlib.pyplot as plt

            ax = plt.figure(layout="constrained").subplots()
        sizes = np.geomspace(1, max(10_000, 3 * self.n_unlabeled), 200)
        psis = [self.psi(n) for n in sizes]
        ax.semilogx(sizes, [psi.ratio(psi.best_mix) for psi in psis], label="mix for this number of rows")
        ax.semilogx(sizes, [psi.ratio(self.paper_mix) for psi in psis], "--", label="mix for unlimited rows")
        ax.axhline(1, color="0.6", linewidth=1)
        if self.n_unlabeled:
            ax.plot([self.n_unlabeled], [self.variance_ratio], "o", label="your rows")
        ax.set(xlabel="unlabelled rows", ylabel="variance of PNU risk / PN risk", ylim=(0, 2))
        ax.legend()
        return ax

    @property
    def _reason(self) -> str:
        return _NO_UNLABELED if self.best == "pn" and not self.n_unlabeled else _REASONS[self.best]

    def _repr_html_(self) -> str:
        facts = {
            "labels": f"{self.n_positive} positive, {self.n_negative} negative",
            "unlabelled rows": f"{self.n_unlabeled:,}",
            "prior": f"{self.prior:.3g}",
            "variance with them, against labels alone": f"{100 * self.variance_ratio:.0f} %",
            "label next": f"a {self.label_next} row",
        }
        return show_facts("advice", facts | {"in words": str(self)})

    def __str__(self) -> str:
        basis = "measured" if self.measured else "assumed"
        lines = [
            f"{self.n_positive} positive, {self.n_negative} negative, {self.n_unlabeled} unlabelled rows, prior "
            f"{self.prior:.1%}; error rates {basis}: {self.error_rates[0]:.0%} of positives, {self.error_rates[1]:.0%} "
            "of negatives.",
            f"Recommended risk: {self.best.upper()}. {self._reason}",
        ]
        if self.best in ("pn", "pnu") and self.n_unlabeled:
            lines.append(
                f"In evaluation, unlabelled rows change the variance of a model's estimated risk to "
                f"{self.variance_ratio:.0%} of that from labels alone, at mix {self.mix:+.2f}; with unlimited rows it "
                f"would be {self.limit_ratio:.0%}. To measure how much they help in training, compare with a fit "
                "that does not use them: risk='pn', centers='labeled'."
            )
        if not isinf(self.unlabeled_enough):
            lines.append(f"About {self.unlabeled_enough:.0f} unlabelled rows give 90 % of the possible gain.")
        lines.append(f"Label a {self.label_next} row next: it lowers the variance more.")
        if self.narrowing is not None:
            lines.append(str(self.narrowing))
        if self.needed is not None:
            lines.append(str(self.needed))
        return "\n".join(lines)


_REASONS = {
    "pnu": "The risk terms of the two classes have different variances; unlabelled rows can replace the noisier one.",
    "pn": "The risk terms of the two classes have similar variances, so unlabelled rows reduce the variance little.",
    "pu": "There are no labelled negatives; unlabelled rows replace them.",
    "nu": "There are no labelled positives; unlabelled rows replace them.",
}

_NO_UNLABELED = "There are no unlabelled rows, so only the labelled ones can be used."


def advise(
    n_positive: int,
    n_negative: int,
    n_unlabeled: int,
    prior: Any,
    *,
    error_rates: tuple[float, float] | None = None,
    width: float | None = None,
    sampling: Sampling = "by_class",
) -> Advice:
    """Recommend a risk for these numbers of rows ("pn", "pu", "nu" or "pnu"), and the class to label next.

    The names say which rows a risk uses: positive (p), negative (n), unlabelled (u), as in `PNUClassifier`. Error rates
    of 20 % for both classes are assumed if `error_rates` is not given.

    Parameters
    ----------
    n_positive : int
        Labelled positive rows.
    n_negative : int
        Labelled negative rows.
    n_unlabeled : int
        Unlabelled rows.
    prior : float, (float, float), distribution or PriorEstimate
        Share of positives in the population, which the unlabelled rows are drawn from, or what is known about it; see
        `pnu_risk`.
    error_rates : (float, float), optional
        Shares of positives and of negatives that the model gets wrong.
    width : float, optional
        Requested width of the 95 % interval of the error; `Advice.needed` is then the number of labels it takes.
    sampling : "by_class" or "random"
        How these labels will be drawn.

    Examples
    --------
    >>> advice = advise(10, 10, 300, prior=0.3)
    >>> advice.best, round(advice.mix, 2), round(advice.variance_ratio, 2), advice.label_next
    ('pnu', 0.64, 0.56, 'positive')
    """
    sizes = _checked_sizes(n_positive, n_negative, n_unlabeled)
    belief = read_prior(prior)
    prior = float(belief.value)
    rates = read_error_rates(ASSUMED_RATES if error_rates is None else error_rates)
    psi = Psi.of_rates(*rates, prior=prior, sizes=sizes)
    labeled_only = replace(psi, unlabeled=0.0)
    both = sizes[0] > 0 and sizes[1] > 0
    ratio = psi.ratio(psi.best_mix) if both else inf
    limit = labeled_only.ratio(labeled_only.best_mix) if both else inf
    return Advice(
        *sizes,
        prior,
        rates,
        error_rates is not None,
        best=_best(sizes, ratio),
        mix=psi.best_mix,
        paper_mix=labeled_only.best_mix,
        variance_ratio=ratio,
        limit_ratio=limit,
        pu_against_pn=pu_against_pn(prior, *sizes) if all(sizes) else inf,
        nu_against_pn=nu_against_pn(prior, *sizes) if all(sizes) else inf,
        unlabeled_to_help=unlabeled_to_help(psi, sizes[2], labeled_only.best_mix) if all(sizes) else inf,
        unlabeled_enough=unlabeled_enough(psi, sizes[2]) if all(sizes) and limit < WORTHWHILE else inf,
        label_next=_label_next(rates, prior, sizes),
        narrowing=after_random_labels(belief),
        needed=None
        if width is None
        else labels_for_width(width, belief, error_rates=rates, n_unlabeled=sizes[2], sampling=sampling),
    )


def advise_for(model: Any, X: Any, y: ArrayLike, *, prior: Any, unlabeled: Any = None, pos_label: Any = None) -> Advice:
    """`advise` with the error rates of a fitted model on rows that it was not fitted to.

    One correct and one wrong prediction are added to each class as pseudo-observations, so that no rate is zero.

    Parameters
    ----------
    model : classifier
        A fitted model, evaluated on X and y.
    X : array, sparse matrix or data frame (rows, columns)
        Features.
    y : array (rows,)
        Labels; missing values and `unlabeled` mark unlabelled rows.
    prior : float, (float, float), distribution or PriorEstimate
        Share of positives in the population, which the unlabelled rows are drawn from, or what is known about it; see
        `pnu_risk`.
    unlabeled : object, optional
        The value in y that marks unlabelled rows; missing values always do.
    pos_label : object, optional
        The positive class, by default the greater label.
    """
    refuse_misaligned(X=X, y=y)
    labels = decode_for([model], y, unlabeled, pos_label)
    predicted = np.asarray(model.predict(X))
    check_consistent_length(predicted, labels.codes)
    wrong = [int(np.sum(predicted[labels.codes == k] != labels.classes[k])) for k in (1, 0)]
    n_negative, n_positive = labels.counts.tolist()
    rates = ((wrong[0] + 1) / (n_positive + 2), (wrong[1] + 1) / (n_negative + 2))
    return advise(n_positive, n_negative, labels.n_unlabeled, prior, error_rates=rates)


def _best(sizes: tuple[int, int, int], ratio: float) -> str:
    if not sizes[1]:
        return "pu"
    if not sizes[0]:
        return "nu"
    return "pnu" if sizes[2] and ratio < WORTHWHILE else "pn"


def _label_next(rates: tuple[float, float], prior: float, sizes: tuple[int, int, int]) -> str:
    """The class whose label lowers the minimum variance more; a class without any label comes first."""
    if 0 in sizes[:2]:
        return "positive" if sizes[0] == 0 else "negative"
    more = [Psi.of_rates(*rates, prior=prior, sizes=(sizes[0] + a, sizes[1] + 1 - a, sizes[2])) for a in (1, 0)]
    with_positive, with_negative = (psi.variance(psi.best_mix) for psi in more)
    return "positive" if with_positive < with_negative else "negative"


def _checked_sizes(*sizes: int) -> tuple[int, int, int]:
    for name, size in zip(("n_positive", "n_negative", "n_unlabeled"), sizes, strict=True):
        if not isinstance(size, Real) or not isfinite(size) or size != int(size) or size < 0:
            raise ValueError(f"{name} must be a whole number, at least 0, got {size!r}.")
    if not any(sizes[:2]) or (not all(sizes[:2]) and not sizes[2]):
        raise ValueError(
            f"Learning is impossible from {sizes[0]} positive, {sizes[1]} negative and {sizes[2]} unlabelled rows: two "
            "of the three are needed, one of them labelled."
        )
    positive, negative, unlabeled = map(int, sizes)
    return positive, negative, unlabeled


@dataclass(frozen=True)
class ScarCheck:
    """Whether labelled rows can be a random sample of their class: a test of this assumption, given the class prior.

    Parameters
    ----------
    p_value : float
        Small if the rows contradict the assumption.
    region : float
        Share of the labelled rows in the region where they are too frequent.
    found : float
        Share of the unlabelled rows in that region.
    least : float
        Smallest share of the unlabelled rows in that region that is consistent with the assumption and the prior.
    prior : float
        Share of the labelled class among the unlabelled rows; if it is uncertain, the lower end of its interval.
    level : float
        The level of the test.
    """

    p_value: float
    region: float
    found: float
    least: float
    prior: float
    level: float = 0.05

    @property
    def contradicted(self) -> bool:
        """Whether the test rejects the assumption at its level."""
        return self.p_value < self.level

    def __str__(self) -> str:
        if not self.contradicted:
            return (
                f"No sign that the labelled rows are an unfair sample of their class (p = {self.p_value:.2g}). That "
                "does not prove that they are fair."
            )
        return (
            f"The labelled rows are no fair sample of their class, or there are fewer of them than {self.prior:.0%} "
            f"among the unlabelled rows (p = {self.p_value:.2g}). {self.region:.0%} of the labelled rows lie in a "
            f"region that should hold at least {self.least:.1%} of the unlabelled ones, and it holds {self.found:.1%}. "
            "Give labelled rows a sample_weight of 1 / (the probability of their label), if you know it, or label "
            "some rows at random."
        )


def check_scar(
    X: Any,
    y: ArrayLike | Labels,
    *,
    prior: Any,
    sampling: Sampling = "by_class",
    unlabeled: Any = None,
    pos_label: Any = None,
    sample_weight: ArrayLike | None = None,
    classifier: Any = None,
    level: float = 0.05,
) -> ScarCheck:
    """Test whether labelled rows can be a random sample of their class (SCAR, selected completely at random).

    Let P(A) and U(A) be the shares of the labelled and of the unlabelled rows in a region A of the features, and q the
    share of the labelled class among the unlabelled rows. If the labelled rows are a random sample of their class, then
    U(A) ≥ q P(A) for every region, because the other class cannot have a negative share. Nothing else follows from the
    assumption, so there is no test without knowledge of the prior. The region is that in which held-out odds of P
    against U exceed 1/q; a score test compares the shares of P and U in it.

    The test finds labels that are concentrated in a part of their class. It misses some violations: where the
    classes overlap, unlabelled rows of the other class lie in the region, too. An uncertain prior is
    replaced by its lower end, which makes the test conservative.

    Parameters
    ----------
    X : array, sparse matrix or data frame (rows, columns)
        Features.
    y : array (rows,)
        Labels; missing values and `unlabeled` mark unlabelled rows. If both classes have labelled rows, only the
        positive ones are compared with the unlabelled ones.
    prior : float, (float, float), distribution or PriorEstimate
        Class prior from another source than these rows. An estimate from the same labelled rows would assume what is
        tested.
    sampling : "by_class" or "random"
        "random" if the table is one sample, in which some positives are labelled, and `prior` that of the table.
    unlabeled : object, optional
        The value in y that marks unlabelled rows; missing values always do.
    pos_label : object, optional
        The positive class, by default the greater label.
    sample_weight : array (rows,), optional
        Weights of the rows, e.g. 1 / propensity of labelled ones: then the weighted rows are tested.
    classifier : classifier, optional
        Classifier for the held-out scores; kernel ridge candidates by default.
    level : float
        Level of the test.

    References
    ----------
    Teisseyre, Furmańczyk and Mielniczuk (2024), Verifying the Selected Completely at Random Assumption in
    Positive-Unlabeled Learning, arXiv 2404.00145: another test, by a bootstrap that needs a model of the classes.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> truth = rng.random(1000) < 0.4
    >>> X = rng.normal(size=(1000, 2)) + 3 * truth[:, None]
    >>> fair = truth & (rng.random(1000) < 0.3)
    >>> check_scar(X, fair.astype(int), prior=0.4, sampling="random", unlabeled=0).contradicted
    False
    >>> easy = truth & (rng.random(1000) < 0.6) & (X[:, 0] > 3)  # labels in one half of the class
    >>> check_scar(X, easy.astype(int), prior=0.4, sampling="random", unlabeled=0).contradicted
    True
    """
    refuse_misaligned(X=X, y=y, sample_weight=sample_weight)
    read_share(level, "level")
    X, labels = read_features(BaseEstimator(), X, reset=True), decode_labels(y, unlabeled, pos_label)
    refuse_more_than_two(labels.classes)
    check_consistent_length(X, labels.codes)
    weight = read_weights(sample_weight, len(labels.codes))
    code = 1 if np.any((labels.codes == 1) & (weight > 0)) else 0
    used = np.flatnonzero(((labels.codes == code) | (labels.codes < 0)) & (weight > 0))
    codes = labels.codes[used]
    if (codes < 0).sum() < 2 or (codes >= 0).sum() < 2:
        raise ValueError(
            f"check_scar compares labelled with unlabelled rows of positive weight, and there are {np.sum(codes >= 0)} "
            f"and {np.sum(codes < 0)}; two of each are needed."
        )
    q = _least_share(prior, sampling, ScoredRows(labels.groups, weight, labels.classes), code, level)
    groups = split_groups(X[used], codes, weight[used])
    pair = standardize(Groups((groups.classes[code],), groups.unlabeled).limit(MOST_LABELED, MOST_UNLABELED))
    labeled, rest = pair.classes[0], pair.unlabeled
    scores = scores_against_unlabeled(labeled, rest, classifier)
    found = [float(part.share @ (one > -np.log(q))) for part, one in zip((labeled, rest), scores, strict=True)]
    z = ratio_z(found, [labeled.size, rest.size], q)
    return ScarCheck(float(norm.sf(z)), found[0], found[1], q * found[0], q, level)


def _least_share(prior: Any, sampling: Sampling, rows: ScoredRows, code: int, level: float) -> float:
    """The share of the labelled class among the unlabelled rows; the low end of an uncertain one."""
    population = read_population(prior, sampling, rows)
    belief = population.of_unlabeled
    if belief.mass is None or population.known is not None:
        end = float(belief.mean)
    else:
        end = float(belief.within(1 - 2 * level)[1 - code])
    return end if code else 1 - end
