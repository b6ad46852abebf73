"""Judging models with few labels: risks, scores and comparisons that use the unlabelled rows."""

from pnulearn.metrics.auc import pnu_auc
from pnulearn.metrics.comparison import compare, compare_scores
from pnulearn.metrics.confusion import Confusion, pnu_confusion
from pnulearn.metrics.curves import (
    Curve,
    pnu_average_precision,
    pnu_best_threshold,
    pnu_precision_recall_curve,
    pnu_reliability,
    pnu_roc_curve,
)
from pnulearn.metrics.difference import Comparison
from pnulearn.metrics.estimate import Estimate, HelpedEstimate, RiskEstimate
from pnulearn.metrics.planning import LabelsNeeded, labels_for_difference, labels_for_width
from pnulearn.metrics.quality import Quality, count_decisions, judge_decisions
from pnulearn.metrics.risk import estimate_risk, pnu_risk
from pnulearn.metrics.scorer import make_pnu_scorer
from pnulearn.metrics.suspects import Suspects, suspicious_rows
from pnulearn.metrics.threshold import pnu_cost, pnu_f1, pnu_precision, pnu_recall, pnu_specificity

__all__ = [
    "Comparison",
    "Confusion",
    "Curve",
    "Estimate",
    "HelpedEstimate",
    "LabelsNeeded",
    "Quality",
    "RiskEstimate",
    "Suspects",
    "compare",
    "compare_scores",
    "count_decisions",
    "estimate_risk",
    "judge_decisions",
    "labels_for_difference",
    "labels_for_width",
    "make_pnu_scorer",
    "pnu_auc",
    "pnu_average_precision",
    "pnu_best_threshold",
    "pnu_confusion",
    "pnu_cost",
    "pnu_f1",
    "pnu_precision",
    "pnu_precision_recall_curve",
    "pnu_recall",
    "pnu_reliability",
    "pnu_risk",
    "pnu_roc_curve",
    "pnu_specificity",
    "suspicious_rows",
]
