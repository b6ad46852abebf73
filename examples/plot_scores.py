"""
Scores of the three groups
==========================

Rows are scored by models that were trained without them. If the labelled rows are representative of their classes, the
scores of the unlabelled rows are a mixture of the two, in the proportion of the class prior.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import minmax_scale

from pnulearn import PNUClassifier
from pnulearn.plots import PriorDisplay, ScoreDisplay

X, benign = load_breast_cancer(return_X_y=True)
y = np.where(benign == 1, "benign", "malignant").astype(object)
y[np.random.default_rng(0).permutation(len(y))[60:]] = None
model = PNUClassifier(pos_label="malignant", random_state=0).fit(minmax_scale(X), y)

fig, (top, bottom) = plt.subplots(2, 1, figsize=(7, 5.5), height_ratios=(3, 1), layout="constrained")
ScoreDisplay.from_predictions(y, model.validation_scores_, pos_label="malignant", ax=top)
PriorDisplay.from_estimator(model, y, ax=bottom)
plt.show()
