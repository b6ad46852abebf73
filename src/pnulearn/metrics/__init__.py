"""Judging models with few labels: risks, scores and comparisons that use the unlabelled rows."""

from pnulearn.metrics.comparison import Comparison, compare, compare_scores
from pnulearn.metrics.risk import RiskEstimate, estimate_risk, pnu_risk
from pnulearn.metrics.scorer import make_pnu_scorer

__all__ = [
    "Comparison",
    "RiskEstimate",
    "compare",
    "compare_scores",
    "estimate_risk",
    "make_pnu_scorer",
    "pnu_risk",
]
