"""Leakage: columns that alone predict the label almost perfectly."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.tree import DecisionTreeClassifier

from pnulearn._arrays import AnyArray
from pnulearn.metrics._curves import count_beaten
from pnulearn.tables._plan import ColumnPlan

FEWEST = 10  # labelled rows of either class
TOO_GOOD = 0.98


def find_leaks(plan: ColumnPlan, X: AnyArray, codes: AnyArray) -> dict[str, float]:
    """Columns that alone separate the classes, with their AUC; codes are −1 for unlabelled rows."""
    labeled = codes >= 0
    y = codes[labeled]
    counts = np.unique(y, return_counts=True)[1]
    if len(counts) < 2 or counts.min() < FEWEST:
        return {}
    ends = np.cumsum([len(column.feature_names) for column in plan.columns])[:-1]
    parts = zip(plan.columns, np.split(X[labeled], ends, axis=1), strict=True)
    areas = {column.name: separation(part, y) for column, part in parts}
    return {name: area for name, area in areas.items() if area > TOO_GOOD}


def separation(part: AnyArray, y: AnyArray) -> float:
    """Area under the ROC curve of one column: cross-validated, or of its values if it has one feature.

    With more than two classes this is the mean one-vs-rest area, so that one well separated class is not reported.
    """
    two = len(np.unique(y)) == 2
    if two and part.shape[1] == 1:
        area = float(count_beaten(part[y == 1, 0], part[y == 0, 0]).mean())
        return max(area, 1 - area)
    tree = DecisionTreeClassifier(max_leaf_nodes=8, min_samples_leaf=3, random_state=0)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    shares = cross_val_predict(tree, part, y, cv=folds, method="predict_proba")
    return float(roc_auc_score(y, shares[:, 1]) if two else roc_auc_score(y, shares, multi_class="ovr"))
