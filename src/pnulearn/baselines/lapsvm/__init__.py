"""LaplacianSVM and its parts."""

from pnulearn.baselines.lapsvm.classifier import LaplacianSVM

__all__ = ["LaplacianSVM"]
