"""Displays in the style of scikit-learn: `from_estimator` or `from_predictions` computes, `plot` draws on axes.

Matplotlib is imported only when something is drawn.
"""

from pnulearn.plots._columns import EffectDisplay, ImportanceDisplay
from pnulearn.plots._model import BandwidthDisplay, BoundaryDisplay, RiskSurfaceDisplay, ScoreDisplay
from pnulearn.plots._prior import PriorDisplay, VarianceRatioDisplay, variance_ratio

__all__ = [
    "BandwidthDisplay",
    "BoundaryDisplay",
    "EffectDisplay",
    "ImportanceDisplay",
    "PriorDisplay",
    "RiskSurfaceDisplay",
    "ScoreDisplay",
    "VarianceRatioDisplay",
    "variance_ratio",
]
