"""Columns of many categories: cities, zip codes, article numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.feature_extraction import FeatureHasher

from pnulearn._arrays import AnyArray
from pnulearn._tables.columns import Column
from pnulearn._tables.table import Table
from pnulearn.tables.kinds.category import encode_levels, frequent_levels

N_OWN = 30  # the most frequent categories, which have a feature of their own
N_SHARED = 16


@dataclass(frozen=True)
class CodesColumn:
    """One 0/1 feature for each of the most frequent categories; all others share a few ±1 features by hashing.

    Labels play no part, so nothing leaks. A code that the model has not met has a place among the shared features.
    """

    name: str
    own: tuple[str, ...]
    n_shared: int = N_SHARED

    @property
    def feature_names(self) -> list[str]:
        return [f"{self.name}={code}" for code in self.own] + [f"{self.name} #{k + 1}" for k in range(self.n_shared)]

    @property
    def fate(self) -> str:
        return f"many categories: the {len(self.own)} most frequent one feature each, the others share {self.n_shared}"

    @classmethod
    def fit(cls, column: Column, scaling: str) -> CodesColumn:
        frequent, _ = frequent_levels(column)
        return cls(column.name, tuple(frequent[:N_OWN]))

    def transform(self, table: Table) -> tuple[AnyArray, list[str]]:
        column = table.column(self.name, "text")
        own = set(self.own)
        others = ([] if level in own else [level] for level in column.levels)
        hashed = FeatureHasher(self.n_shared, input_type="string").transform(others).toarray() if column.levels else []
        shared = np.vstack([np.reshape(hashed, (-1, self.n_shared)), np.zeros(self.n_shared)])[column.data]
        return np.hstack([encode_levels(column, self.own, False), shared]), []
