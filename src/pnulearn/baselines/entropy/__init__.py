"""EntropyRegularizedClassifier and its parts."""

from pnulearn.baselines.entropy.classifier import EntropyRegularizedClassifier

__all__ = ["EntropyRegularizedClassifier"]
