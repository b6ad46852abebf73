"""Learning from positive, negative and unlabelled data."""

from pnulearn.classifier import PNUClassifier, load
from pnulearn.folds import PNUStratifiedKFold

__all__ = ["PNUClassifier", "PNUStratifiedKFold", "load"]
