"""Self-contained HTML reports about a model fitted to a table, or about the evaluation of any model's scores."""

from pnulearn.report._evaluation import write_evaluation
from pnulearn.report._page import write_report

__all__ = ["write_evaluation", "write_report"]
