"""WellSVM and its parts."""

from pnulearn.baselines.wellsvm.classifier import WellSVM

__all__ = ["WellSVM"]
