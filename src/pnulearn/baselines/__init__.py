"""Semi-supervised classifiers as baselines: the five of the paper and label propagation, with one interface."""

from pnulearn.baselines._entropy import EntropyRegularizedClassifier
from pnulearn.baselines._harmonic import HarmonicClassifier
from pnulearn.baselines._lapsvm import LaplacianSVM
from pnulearn.baselines._s4vm import S4VM
from pnulearn.baselines._smir import SMIRClassifier
from pnulearn.baselines._wellsvm import WellSVM

__all__ = ["S4VM", "EntropyRegularizedClassifier", "HarmonicClassifier", "LaplacianSVM", "SMIRClassifier", "WellSVM"]
