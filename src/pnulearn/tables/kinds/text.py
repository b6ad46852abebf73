"""Columns of free text."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer

from pnulearn._arrays import AnyArray
from pnulearn._tables.columns import Column
from pnulearn._tables.table import Table
from pnulearn.tables.kinds.unusable import Unusable

MOST_WORDS = 5_000
N_TOPICS = 20
MOST_ROWS = 20_000  # that the words and topics are learnt from
OPTIONS = {"sublinear_tf": True, "strip_accents": "unicode"}


@dataclass(frozen=True, eq=False)
class TextColumn:
    """TF-IDF of the words, projected on the directions in which the texts of all rows vary most."""

    name: str
    words: tuple[str, ...]
    idf: AnyArray
    components: AnyArray
    center: AnyArray
    size: float

    @property
    def feature_names(self) -> list[str]:
        return [f"{self.name} topic {k + 1}" for k in range(len(self.components))]

    @property
    def fate(self) -> str:
        return f"text: {len(self.words)} words in {len(self.components)} topics"

    @classmethod
    def fit(cls, column: Column, scaling: str) -> TextColumn:
        """Topics keep their sizes relative to each other; the first has variance 1."""
        texts = _texts(column)
        chosen = np.random.default_rng(0).permutation(len(texts))[:MOST_ROWS]
        learner = TfidfVectorizer(max_features=MOST_WORDS, min_df=min(2, len(texts)), max_df=0.9, **OPTIONS)
        try:
            weights = learner.fit_transform([texts[row] for row in np.sort(chosen)])
        except ValueError:
            raise Unusable("free text without words that some rows share and others lack") from None
        n_topics = min(N_TOPICS, weights.shape[1] - 1)
        if n_topics < 1:
            raise Unusable("free text with a single word that repeats")
        components = TruncatedSVD(n_topics, random_state=0).fit(weights).components_
        scores = weights @ components.T
        size = float(scores.std(axis=0).max()) or 1.0
        words = tuple(learner.get_feature_names_out().tolist())
        return cls(column.name, words, learner.idf_, components, scores.mean(axis=0), size)

    def transform(self, table: Table) -> tuple[AnyArray, list[str]]:
        reader = TfidfVectorizer(vocabulary=list(self.words), **OPTIONS)
        reader.idf_ = self.idf
        weights = reader.transform(_texts(table.column(self.name, "text")))
        return (weights @ self.components.T - self.center) / self.size, []


def _texts(column: Column) -> list[str]:
    return [text or "" for text in column.values]
