"""Learning to rank: the area under the ROC curve from positive, negative and unlabelled rows (Sakai et al. 2018)."""

from pnulearn.ranking._ranker import PNURanker

__all__ = ["PNURanker"]
