"""Pictures in scikit-learn's manner: `from_estimator` or `from_predictions` computes, `plot` draws on given axes.

Matplotlib is imported only when something is drawn.
"""

from pnulearn.plots.boundary import BoundaryDisplay
from pnulearn.plots.effect import EffectDisplay
from pnulearn.plots.importance import ImportanceDisplay
from pnulearn.plots.prior import PriorDisplay
from pnulearn.plots.scores import ScoreDisplay
from pnulearn.plots.search import BandwidthDisplay, RiskSurfaceDisplay
from pnulearn.plots.variance import VarianceRatioDisplay, variance_ratio

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
