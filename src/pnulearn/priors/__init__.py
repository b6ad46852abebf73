"""Class priors: how many positives there are among the unlabelled rows, and how sure that is."""

from pnulearn.priors.bbe import BBEPrior
from pnulearn.priors.dedpul import DEDPULPrior
from pnulearn.priors.em import EMPrior
from pnulearn.priors.energy import EnergyPrior, energy_prior
from pnulearn.priors.estimate import PriorEstimate
from pnulearn.priors.estimator import PriorEstimator
from pnulearn.priors.kernel_mean import KernelMeanPrior
from pnulearn.priors.km import KMPrior
from pnulearn.priors.narrowing import Narrowing, after_random_labels, prior_cost
from pnulearn.priors.pe import PearsonPrior
from pnulearn.priors.penl1 import PenalizedL1Prior
from pnulearn.priors.resolve import METHODS, AutoPrior, estimate_prior, resolve_prior
from pnulearn.priors.roc import ROCPrior
from pnulearn.priors.scores import ScorePrior
from pnulearn.priors.sensitivity import PriorSensitivity, prior_sensitivity
from pnulearn.priors.tice import TIcEPrior

__all__ = [
    "METHODS",
    "AutoPrior",
    "BBEPrior",
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
