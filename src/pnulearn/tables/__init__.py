"""Tables in files: read into columns, turned into features, written back with predictions.

Names are imported lazily, so that the command line can read its options without importing NumPy.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pnulearn._reader.batches import Batches, read_batches
    from pnulearn._reader.columns import Column
    from pnulearn._reader.errors import TableError
    from pnulearn._reader.in_memory import read_table
    from pnulearn._reader.table import Table
    from pnulearn.tables._evaluation import Evaluation as Evaluation
    from pnulearn.tables._judging import Judgment as Judgment
    from pnulearn.tables._judging import judge_table as judge_table
    from pnulearn.tables._label_column import Targets as Targets
    from pnulearn.tables._label_column import read_targets as read_targets
    from pnulearn.tables._model import TableModel as TableModel
    from pnulearn.tables._monitoring import TableMonitoring as TableMonitoring
    from pnulearn.tables._monitoring import monitor_table as monitor_table
    from pnulearn.tables._plan import ColumnPlan as ColumnPlan
    from pnulearn.tables._plan import learn_plan as learn_plan
    from pnulearn.tables._verdict import Concern as Concern
    from pnulearn.tables._verdict import Verdict as Verdict

_HOMES = {
    "Batches": "pnulearn._reader.batches",
    "Column": "pnulearn._reader.columns",
    "ColumnPlan": "pnulearn.tables._plan",
    "Concern": "pnulearn.tables._verdict",
    "Evaluation": "pnulearn.tables._evaluation",
    "Judgment": "pnulearn.tables._judging",
    "Table": "pnulearn._reader.table",
    "TableError": "pnulearn._reader.errors",
    "TableModel": "pnulearn.tables._model",
    "TableMonitoring": "pnulearn.tables._monitoring",
    "Targets": "pnulearn.tables._label_column",
    "Verdict": "pnulearn.tables._verdict",
    "judge_table": "pnulearn.tables._judging",
    "learn_plan": "pnulearn.tables._plan",
    "monitor_table": "pnulearn.tables._monitoring",
    "read_batches": "pnulearn._reader.batches",
    "read_table": "pnulearn._reader.in_memory",
    "read_targets": "pnulearn.tables._label_column",
}
__all__ = [
    "Batches",
    "Column",
    "ColumnPlan",
    "Concern",
    "Evaluation",
    "Judgment",
    "Table",
    "TableError",
    "TableModel",
    "TableMonitoring",
    "Targets",
    "Verdict",
    "judge_table",
    "learn_plan",
    "monitor_table",
    "read_batches",
    "read_table",
    "read_targets",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'pnulearn.tables' has no attribute {name!r}")
