"""Which rows to label, what the labels tell, and when there are enough of them."""

from pnulearn.labeling.activeml import from_skactiveml
from pnulearn.labeling.draws import Draw, Sample
from pnulearn.labeling.interview import AlreadyAnsweredError
from pnulearn.labeling.journal import JournalError, journal_of
from pnulearn.labeling.judging import Share
from pnulearn.labeling.labeler import Labeler
from pnulearn.labeling.standing import Goal, Standing
from pnulearn.labeling.strategies import STRATEGIES, State, at_random, diversity, margin, risk_change

__all__ = [
    "STRATEGIES",
    "AlreadyAnsweredError",
    "Draw",
    "Goal",
    "JournalError",
    "Labeler",
    "Sample",
    "Share",
    "Standing",
    "State",
    "at_random",
    "diversity",
    "from_skactiveml",
    "journal_of",
    "margin",
    "risk_change",
]
