"""The class prior by matching P to U in Pearson divergence (du Plessis, Sugiyama 2014)."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import euclidean_distances

from pnulearn._arrays import AnyArray
from pnulearn._parameters import parameters
from pnulearn.priors._groups import Group, typical_distance
from pnulearn.priors._positive_unlabeled import PositiveUnlabeledPrior, Statistic

MOST_CENTERS = 200
BANDWIDTHS = (0.5, 1.0, 2.0)  # multiples of the median distance
PENALTIES = (1e-3, 1e-2, 1e-1, 1.0)
N_SPLITS = 5
TIED_DIGITS = 9  # losses are compared after rounding to this many digits


@parameters
class PearsonPrior(PositiveUnlabeledPrior):
    """θ = 1 / (2 h'G⁻¹h − h'G⁻¹H G⁻¹h),   h = mean_P φ,  H = mean_U φφ',  G = H + ρ I.

    The denominator estimates ∫ p_P²/p_U by least-squares density-ratio fitting with Gaussian features φ around rows of
    U; their width and ρ are cross-validated. Only P is matched, so the estimate is too large if the classes overlap.
    """

    method = "pe"

    def _statistic(self, labeled: Group, unlabeled: Group) -> Statistic:
        losses, choices = [], []
        for multiple in BANDWIDTHS:
            features = gaussian_features(labeled, unlabeled, multiple)
            for penalty in PENALTIES:
                losses.append(_validation_loss(features, (labeled.share, unlabeled.share), penalty))
                choices.append((*features, penalty))
        of_labeled, of_unlabeled, penalty = choices[int(np.argmin(np.round(losses, TIED_DIGITS)))]

        def matching(labeled_shares: AnyArray, unlabeled_shares: AnyArray) -> AnyArray:
            pairs = zip(labeled_shares.T, unlabeled_shares.T, strict=True)
            return np.array([_prior(of_labeled.T @ p, (of_unlabeled.T * u) @ of_unlabeled, penalty) for p, u in pairs])

        return matching


def gaussian_features(labeled: Group, unlabeled: Group, multiple: float) -> tuple[AnyArray, AnyArray]:
    """exp(−|x − c|² / (2σ²)) of the rows of P and of U around rows c of U; σ is a multiple of the median distance."""
    centers = unlabeled.first(MOST_CENTERS).X
    twice_variance = 2 * (multiple * typical_distance(unlabeled.X)) ** 2
    of_labeled, of_unlabeled = (
        np.exp(-euclidean_distances(group.X, centers, squared=True) / twice_variance) for group in (labeled, unlabeled)
    )
    return of_labeled, of_unlabeled


def _prior(h: AnyArray, H: AnyArray, penalty: float) -> float:
    ratio = _density_ratio(h, H, penalty)
    return float(min(1 / (2 * h @ ratio - ratio @ H @ ratio), 1))


def _density_ratio(h: AnyArray, H: AnyArray, penalty: float) -> AnyArray:
    """Coefficients of p_P / p_U that minimise ½ α'(H + ρ I)α − h'α."""
    return np.linalg.solve(H + penalty * np.eye(len(h)), h)


def _validation_loss(features: tuple[AnyArray, AnyArray], shares: tuple[AnyArray, AnyArray], penalty: float) -> float:
    """Mean of ½ α'H α − h'α over held-out fifths of P and U, α from the rest."""
    folds = [np.arange(len(share)) % N_SPLITS for share in shares]
    loss = 0.0
    for k in range(N_SPLITS):
        inside = [share * (fold != k) for share, fold in zip(shares, folds, strict=True)]
        outside = [share * (fold == k) for share, fold in zip(shares, folds, strict=True)]
        (h, H), (h_out, H_out) = _moments(features, inside), _moments(features, outside)
        ratio = _density_ratio(h, H, penalty)
        loss += ratio @ H_out @ ratio / 2 - h_out @ ratio
    return loss


def _moments(features: tuple[AnyArray, AnyArray], weights: list[AnyArray]) -> tuple[AnyArray, AnyArray]:
    of_labeled, of_unlabeled = features
    p, u = (weight / max(weight.sum(), 1e-300) for weight in weights)
    return p @ of_labeled, (of_unlabeled.T * u) @ of_unlabeled
