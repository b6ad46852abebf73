"""Semi-supervised classifiers to compare with, the paper's five and one more, under one interface."""

from pnulearn.baselines.entropy.classifier import EntropyRegularizedClassifier
from pnulearn.baselines.harmonic import HarmonicClassifier
from pnulearn.baselines.lapsvm.classifier import LaplacianSVM
from pnulearn.baselines.s4vm.classifier import S4VM
from pnulearn.baselines.smir import SMIRClassifier
from pnulearn.baselines.wellsvm.classifier import WellSVM

__all__ = ["S4VM", "EntropyRegularizedClassifier", "HarmonicClassifier", "LaplacianSVM", "SMIRClassifier", "WellSVM"]
