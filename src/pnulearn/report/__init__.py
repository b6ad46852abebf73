"""Self-contained HTML pages about a fitted model, the evaluation of scores, or the share of good answers."""

from pnulearn.report._evaluation import write_evaluation
from pnulearn.report._judging import write_judgment
from pnulearn.report._page import write_report

__all__ = ["write_evaluation", "write_judgment", "write_report"]
