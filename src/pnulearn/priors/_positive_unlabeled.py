"""Base class of the prior estimators that use one labelled class and U, with their common assumption."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import field
from typing import Any

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._intervals.posterior_draws import bayesian_bootstrap
from pnulearn._parameters import parameters
from pnulearn.priors._estimate import PriorEstimate, settle
from pnulearn.priors._estimator import PriorEstimator, generator
from pnulearn.priors._groups import Group, Groups, split_groups, standardize
from pnulearn.priors._posteriors import held_out_posteriors

TIED = 1e-9  # log-odds that are closer count as one threshold, because rounding errors decide their order

# weights of the labelled and of the unlabelled rows, one column per weighting -> one share per weighting
Statistic = Callable[[AnyArray, AnyArray], AnyArray]


class PositiveUnlabeledPrior(PriorEstimator):
    """The share of the labelled class in U, without examples of the other class.

    P and U alone determine only an upper bound κ ≥ θ, the largest share of P that U may contain:
    κ = inf_C U(C) / P(C).  It equals the prior if the negatives are irreducible, that is, if no part of them is
    distributed like the positives. Labelled negatives are not used. With negatives and no positives the roles are
    exchanged.
    """

    needs_every_class = False
    most_labeled = 2000
    most_unlabeled = 5000

    @abstractmethod
    def _statistic(self, labeled: Group, unlabeled: Group) -> Statistic:
        """Compute what does not depend on the row weights, and return the estimate as a function of them."""

    def estimate(self, X: Any, codes: AnyArray, weight: AnyArray | None = None, n_classes: int = 2) -> PriorEstimate:
        if n_classes != 2:
            raise ValueError(
                f"{self.method!r} is for two classes and y has {n_classes}. Use method='scores' or 'energy'."
            )
        weight = np.ones(len(codes)) if weight is None else np.asarray(weight, dtype=float)
        used = self._choose_rows(codes, weight)
        labeled, unlabeled, is_positive = self._labeled_and_unlabeled(split_groups(X[used], codes[used], weight[used]))
        rng = generator(self.random_state)
        draws = [bayesian_bootstrap(group.weight, self.n_bootstrap, rng) for group in (labeled, unlabeled)]
        return self._conclude(labeled, unlabeled, (draws[0].share, draws[1].share), is_positive)

    def _conclude(
        self, labeled: Group, unlabeled: Group, weights: tuple[AnyArray, AnyArray], is_positive: bool
    ) -> PriorEstimate:
        """The estimate from the statistic at the weights of the rows (first column) and of the bootstrap."""
        shares = self._statistic(labeled, unlabeled)(*weights)
        priors = shares if is_positive else 1 - shares
        return settle(priors[0], priors[1:], unlabeled.size, self.confidence, self.method)

    def _choose_rows(self, codes: AnyArray, weight: AnyArray) -> AnyArray:
        """Indices of all rows, without labelled negatives if there are labelled positives."""
        negative, positive = ((codes == code) & (weight > 0) for code in (0, 1))
        if not (negative.any() and positive.any() and (codes < 0).any()):
            return np.arange(len(codes))
        warnings.warn(
            f"{self.method!r} uses the positive and unlabelled rows only and ignores {int(negative.sum())} labelled "
            "negatives; method='scores' uses them.",
            UserWarning,
            stacklevel=4,
        )
        return np.flatnonzero(codes != 0)

    def _labeled_and_unlabeled(self, groups: Groups) -> tuple[Group, Group, bool]:
        negative, positive = groups.classes
        if len(groups.unlabeled) == 0:
            raise ValueError(
                "The class prior is estimated from unlabelled rows; there are none. Pass prior as a number."
            )
        labeled = positive if len(positive) else negative
        pair = standardize(Groups((labeled,), groups.unlabeled).limit(self.most_labeled, self.most_unlabeled))
        return pair.classes[0], pair.unlabeled, bool(len(positive))


@parameters
class ScoredPrior(PositiveUnlabeledPrior):
    """A method that reads held-out scores, of a classifier of the labelled class against U.

    Parameters
    ----------
    classifier : classifier, optional
        Classifier for the held-out scores; kernel ridge candidates by default.
    """

    classifier: Any = field(default=None, kw_only=False)

    @abstractmethod
    def _of_scores(self, scores: tuple[AnyArray, AnyArray], labeled: Group, unlabeled: Group) -> Statistic:
        """The estimate from held-out scores of both groups, as a function of their weights."""

    def _statistic(self, labeled: Group, unlabeled: Group) -> Statistic:
        return self._of_scores(scores_against_unlabeled(labeled, unlabeled, self.classifier), labeled, unlabeled)


def scores_against_unlabeled(labeled: Group, unlabeled: Group, classifier: Any) -> tuple[AnyArray, AnyArray]:
    """Held-out log-odds of being labelled rather than unlabelled, for the rows of both groups."""
    posteriors = held_out_posteriors([unlabeled, labeled], [], classifier)
    of_unlabeled, of_labeled = posteriors.at(np.array([0.5, 0.5]))
    return _log_odds(of_labeled), _log_odds(of_unlabeled)


def _log_odds(probabilities: AnyArray) -> AnyArray:
    against, of = np.clip(probabilities, 1e-12, None)
    return np.log(of / against)


def tail_shares(scores: tuple[AnyArray, AnyArray], shares: tuple[AnyArray, AnyArray]) -> tuple[AnyArray, AnyArray]:
    """q_P(t) and q_U(t), the weight of rows scoring at least t, for thresholds t (rows) and weightings (columns)."""
    pooled = np.concatenate(scores)
    order = np.argsort(pooled)
    places = np.empty(len(pooled), dtype=int)
    places[order] = np.cumsum(np.diff(pooled[order], prepend=-np.inf) > TIED) - 1
    tails = []
    for own, share in zip(np.split(places, [len(scores[0])]), shares, strict=True):
        mass = np.zeros((places.max() + 1, share.shape[1]))
        np.add.at(mass, own, share)
        tails.append(np.cumsum(mass[::-1], axis=0))
    return tails[0], tails[1]
