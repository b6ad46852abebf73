"""Tables in files: read into columns, turned into features, written back with predictions."""

from pnulearn._tables.batches import Batches, read_batches
from pnulearn._tables.columns import Column
from pnulearn._tables.errors import TableError
from pnulearn._tables.reading import read_table
from pnulearn._tables.table import Table
from pnulearn.tables._label_column import Targets, read_targets
from pnulearn.tables._plan import ColumnPlan, learn_plan

__all__ = [
    "Batches",
    "Column",
    "ColumnPlan",
    "Table",
    "TableError",
    "Targets",
    "learn_plan",
    "read_batches",
    "read_table",
    "read_targets",
]
