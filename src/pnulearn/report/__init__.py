"""One self-contained HTML page about a model fitted to a table."""

from pnulearn.report.page import write_report

__all__ = ["write_report"]
