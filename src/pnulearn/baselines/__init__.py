"""The semi-supervised classifiers that the paper compares with, under one interface."""

from pnulearn.baselines.entropy.classifier import EntropyRegularizedClassifier
from pnulearn.baselines.lapsvm.classifier import LaplacianSVM
from pnulearn.baselines.s4vm.classifier import S4VM
from pnulearn.baselines.smir import SMIRClassifier
from pnulearn.baselines.wellsvm.classifier import WellSVM

__all__ = ["S4VM", "EntropyRegularizedClassifier", "LaplacianSVM", "SMIRClassifier", "WellSVM"]
