"""
Boundaries with and without unlabelled rows
===========================================

Two moons, ten labels, three quarters of them from one moon. The unlabelled rows show where the boundary should be.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from pnulearn import PNUClassifier
from pnulearn.plots import BoundaryDisplay

X, truth = make_moons(410, noise=0.25, random_state=1)
rng = np.random.default_rng(1)
labeled = np.concatenate([rng.permutation(np.flatnonzero(truth == k))[:n] for k, n in ((1, 7), (0, 3))])
y = np.full(len(X), np.nan)
y[labeled] = truth[labeled]

models = {
    "labelled rows only (PN)": PNUClassifier("pn", prior=0.5, random_state=0).fit(X[labeled], truth[labeled]),
    "with unlabelled rows (PNU)": PNUClassifier(prior=0.5, random_state=0).fit(X, y),
}
fig, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained", sharey=True)
for ax, (name, model) in zip(axes, models.items(), strict=True):
    BoundaryDisplay.from_estimator(model, X, y, ax=ax)
    hidden = np.isnan(y)
    ax.set_title(f"{name}: {np.mean(model.predict(X[hidden]) != truth[hidden]):.1%} wrong")
plt.show()
