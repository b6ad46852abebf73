"""The semi-supervised classifiers that the paper compares with, under one interface."""

from pnulearn.baselines.entropy import EntropyRegularizedClassifier
from pnulearn.baselines.lapsvm import LaplacianSVM
from pnulearn.baselines.smir import SMIRClassifier

__all__ = ["EntropyRegularizedClassifier", "LaplacianSVM", "SMIRClassifier"]
