"""The semi-supervised classifiers that the paper compares with, under one interface."""

from pnulearn.baselines.entropy import EntropyRegularizedClassifier
from pnulearn.baselines.lapsvm import LaplacianSVM
from pnulearn.baselines.s4vm import S4VM
from pnulearn.baselines.smir import SMIRClassifier
from pnulearn.baselines.wellsvm import WellSVM

__all__ = ["S4VM", "EntropyRegularizedClassifier", "LaplacianSVM", "SMIRClassifier", "WellSVM"]
