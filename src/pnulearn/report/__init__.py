"""One self-contained HTML page about a model that was fitted to a table, or about scores that were judged."""

from pnulearn.report._evaluation import write_evaluation
from pnulearn.report._page import write_report

__all__ = ["write_evaluation", "write_report"]
