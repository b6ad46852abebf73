"""Class priors: how many positives there are among the unlabelled rows, and how sure that is."""

from pnulearn.priors.energy import energy_prior
from pnulearn.priors.estimate import PriorEstimate

__all__ = ["PriorEstimate", "energy_prior"]
