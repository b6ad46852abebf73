"""
Results of the search
=====================

Every combination of bandwidth, mix and alpha is fitted and validated; the model averages all candidates, weighted by
their validation risk.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

from pnulearn import PNUClassifier
from pnulearn.plots import BandwidthDisplay, RiskSurfaceDisplay

X, kind = load_wine(return_X_y=True)
y = np.where(kind == 0, "Barolo", "other").astype(object)
y[np.random.default_rng(0).permutation(len(y))[20:]] = None
model = PNUClassifier(pos_label="Barolo", random_state=0).fit(scale(X), y)

fig, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
RiskSurfaceDisplay.from_estimator(model, loss="squared", ax=left)
BandwidthDisplay.from_estimator(model, ax=right)
plt.show()
