"""Evaluation of classifiers with few labels: risks, rates, curves and comparisons that also use unlabelled rows."""

from pnulearn.metrics._by_group import GroupEstimates, by_group
from pnulearn.metrics._comparison import Comparison, compare, compare_scores
from pnulearn.metrics._confusion import Confusion, pnu_confusion
from pnulearn.metrics._curves import (
    Curve,
    pnu_auc,
    pnu_average_precision,
    pnu_best_threshold,
    pnu_precision_recall_curve,
    pnu_reliability,
    pnu_roc_curve,
)
from pnulearn.metrics._estimate import Estimate, HelpedEstimate, RiskEstimate
from pnulearn.metrics._judge import JudgeQuality, judge_quality
from pnulearn.metrics._monitoring import Monitoring, MonitorState, monitor
from pnulearn.metrics._planning import LabelsNeeded, labels_for_difference, labels_for_share, labels_for_width
from pnulearn.metrics._rates import (
    Quality,
    count_decisions,
    judge_decisions,
    pnu_cost,
    pnu_f1,
    pnu_precision,
    pnu_recall,
    pnu_specificity,
)
from pnulearn.metrics._risk import estimate_risk, pnu_risk
from pnulearn.metrics._rows_to_label import RowsToLabel, rows_to_label
from pnulearn.metrics._scorer import make_pnu_scorer
from pnulearn.metrics._share import ShareEstimate, pnu_mean, pnu_share
from pnulearn.metrics._share_comparison import ShareComparison, compare_shares
from pnulearn.metrics._suspects import Suspects, suspicious_rows

__all__ = [
    "Comparison",
    "Confusion",
    "Curve",
    "Estimate",
    "GroupEstimates",
    "HelpedEstimate",
    "JudgeQuality",
    "LabelsNeeded",
    "MonitorState",
    "Monitoring",
    "Quality",
    "RiskEstimate",
    "RowsToLabel",
    "ShareComparison",
    "ShareEstimate",
    "Suspects",
    "by_group",
    "compare",
    "compare_scores",
    "compare_shares",
    "count_decisions",
    "estimate_risk",
    "judge_decisions",
    "judge_quality",
    "labels_for_difference",
    "labels_for_share",
    "labels_for_width",
    "make_pnu_scorer",
    "monitor",
    "pnu_auc",
    "pnu_average_precision",
    "pnu_best_threshold",
    "pnu_confusion",
    "pnu_cost",
    "pnu_f1",
    "pnu_mean",
    "pnu_precision",
    "pnu_precision_recall_curve",
    "pnu_recall",
    "pnu_reliability",
    "pnu_risk",
    "pnu_roc_curve",
    "pnu_share",
    "pnu_specificity",
    "rows_to_label",
    "suspicious_rows",
]
