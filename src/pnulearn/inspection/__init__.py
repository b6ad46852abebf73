"""Which columns any fitted classifier rests on, and how, told from few labels and many unlabelled rows."""

from pnulearn.inspection._effects import Effect, column_effect
from pnulearn.inspection._importance import ColumnImportance, column_importance

__all__ = ["ColumnImportance", "Effect", "column_effect", "column_importance"]
