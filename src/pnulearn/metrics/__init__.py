"""Judging models with few labels: risks, scores and comparisons that use the unlabelled rows."""

from pnulearn.metrics.auc import pnu_auc
from pnulearn.metrics.comparison import Comparison, compare, compare_scores
from pnulearn.metrics.estimate import Estimate, HelpedEstimate, RiskEstimate
from pnulearn.metrics.quality import Quality, count_decisions, judge_decisions
from pnulearn.metrics.risk import estimate_risk, pnu_risk
from pnulearn.metrics.scorer import make_pnu_scorer
from pnulearn.metrics.threshold import pnu_f1, pnu_precision, pnu_recall

__all__ = [
    "Comparison",
    "Estimate",
    "HelpedEstimate",
    "Quality",
    "RiskEstimate",
    "compare",
    "compare_scores",
    "count_decisions",
    "estimate_risk",
    "judge_decisions",
    "make_pnu_scorer",
    "pnu_auc",
    "pnu_f1",
    "pnu_precision",
    "pnu_recall",
    "pnu_risk",
]
