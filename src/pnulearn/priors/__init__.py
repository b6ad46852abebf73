"""Estimation of class priors: the share of positives among the unlabelled rows, with an interval."""

from pnulearn.priors._bbe import BBEPrior
from pnulearn.priors._combined import CombinedPrior
from pnulearn.priors._dedpul import DEDPULPrior
from pnulearn.priors._em import EMPrior
from pnulearn.priors._energy import EnergyPrior, energy_prior
from pnulearn.priors._estimate import PriorEstimate
from pnulearn.priors._estimator import PriorEstimator
from pnulearn.priors._kernel_mean import KernelMeanPrior
from pnulearn.priors._km import KMPrior
from pnulearn.priors._pe import PearsonPrior
from pnulearn.priors._penl1 import PenalizedL1Prior
from pnulearn.priors._resolve import METHODS, AutoPrior, estimate_prior, resolve_prior
from pnulearn.priors._roc import ROCPrior
from pnulearn.priors._scores import ScorePrior
from pnulearn.priors._sensitivity import Narrowing, PriorSensitivity, after_random_labels, prior_cost, prior_sensitivity
from pnulearn.priors._tice import TIcEPrior

__all__ = [
    "METHODS",
    "AutoPrior",
    "BBEPrior",
    "CombinedPrior",
    "DEDPULPrior",
    "EMPrior",
    "EnergyPrior",
    "KMPrior",
    "KernelMeanPrior",
    "Narrowing",
    "PearsonPrior",
    "PenalizedL1Prior",
    "PriorEstimate",
    "PriorEstimator",
    "PriorSensitivity",
    "ROCPrior",
    "ScorePrior",
    "TIcEPrior",
    "after_random_labels",
    "energy_prior",
    "estimate_prior",
    "prior_cost",
    "prior_sensitivity",
    "resolve_prior",
]
