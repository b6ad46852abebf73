"""Which rows to label, what the labels tell, and when there are enough of them."""

from pnulearn.labeling._draws import Draw, Sample
from pnulearn.labeling._estimates import Goal, LabelingProgress, Share
from pnulearn.labeling._journal import JournalError, journal_of
from pnulearn.labeling._labeler import Labeler
from pnulearn.labeling._session import AlreadyAnsweredError
from pnulearn.labeling._strategies import STRATEGIES, State, at_random, diversity, from_skactiveml, margin, risk_change

__all__ = [
    "STRATEGIES",
    "AlreadyAnsweredError",
    "Draw",
    "Goal",
    "JournalError",
    "Labeler",
    "LabelingProgress",
    "Sample",
    "Share",
    "State",
    "at_random",
    "diversity",
    "from_skactiveml",
    "journal_of",
    "margin",
    "risk_change",
]
