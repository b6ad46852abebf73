"""Columns that give the label away: too good to be known before it."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.tree import DecisionTreeClassifier

from pnulearn._arrays import AnyArray
from pnulearn.tables.plan import ColumnPlan

FEWEST = 10  # labelled rows of either class
TOO_GOOD = 0.98


def name_giveaways(plan: ColumnPlan, X: AnyArray, codes: AnyArray) -> list[str]:
    """Remarks on columns that alone separate two classes; codes are 1, 0 and −1 for P, N and U."""
    labeled = codes >= 0
    y = codes[labeled]
    if set(np.unique(y)) != {0, 1} or np.bincount(y).min() < FEWEST:
        return []
    remarks, place = [], 0
    for column in plan.columns:
        width = len(column.feature_names)
        area = separation(X[labeled, place : place + width], y)
        place += width
        if area > TOO_GOOD:
            remarks.append(
                f"Column {column.name!r} alone tells the labelled rows apart (AUC {area:.2f} on {len(y)} rows). If it "
                f"is filled in after the label is known, the model is worthless: pass --drop {column.name!r}."
            )
    return remarks


def separation(part: AnyArray, y: AnyArray) -> float:
    """Area under the ROC curve of one column: of its values as they are, or out of fold if it has several features."""
    if part.shape[1] == 1:
        area = roc_auc_score(y, part[:, 0])
        return float(max(area, 1 - area))
    tree = DecisionTreeClassifier(max_leaf_nodes=8, min_samples_leaf=3, random_state=0)
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    return float(roc_auc_score(y, cross_val_predict(tree, part, y, cv=folds, method="predict_proba")[:, 1]))
