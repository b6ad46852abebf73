"""Tables in files: read into columns, turned into features, written back with predictions."""

from pnulearn.tables.cells import Column, Table
from pnulearn.tables.files import read_table
from pnulearn.tables.plan import ColumnPlan, learn_plan
from pnulearn.tables.targets import Targets, read_targets

__all__ = ["Column", "ColumnPlan", "Table", "Targets", "learn_plan", "read_table", "read_targets"]
