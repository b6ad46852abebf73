"""Judging models with few labels: risks, scores and comparisons that use the unlabelled rows."""

from pnulearn.metrics.risk import RiskEstimate, estimate_risk, pnu_risk

__all__ = ["RiskEstimate", "estimate_risk", "pnu_risk"]
