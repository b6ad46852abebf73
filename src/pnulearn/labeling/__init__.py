"""Active labelling: choosing rows to label, estimating the error with an interval, and deciding when to stop."""

from pnulearn.labeling._draws import Draw, Sample
from pnulearn.labeling._estimates import AnswerErrors, Goal, LabelingProgress, Share
from pnulearn.labeling._journal import JournalError, journal_of
from pnulearn.labeling._labeler import Labeler
from pnulearn.labeling._session import AlreadyAnsweredError
from pnulearn.labeling._strategies import STRATEGIES, State, at_random, diversity, from_skactiveml, margin, risk_change

__all__ = [
    "STRATEGIES",
    "AlreadyAnsweredError",
    "AnswerErrors",
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
