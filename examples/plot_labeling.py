"""
Label until the error is known
==============================

Tumours are labelled, first with all rows drawn at random, then with half of them where the model is uncertain. The
band is the confidence sequence of the error, valid at every number of labels; the dots are the true error on all rows.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from pnulearn.labeling import Labeler

X, truth = load_breast_cancer(return_X_y=True)
X = (X - X.mean(axis=0)) / X.std(axis=0)
figure, axes = plt.subplots(1, 2, sharey=True, figsize=(9, 3.5), layout="constrained")
for ax, mixture in zip(axes, ({"random": 1.0}, {"random": 0.5, "margin": 0.5}), strict=True):
    labeler = Labeler(X, classes=["malignant", "benign"], mixture=mixture, refit_every=10, random_state=1)
    true_errors = []
    for _ in range(10):
        for _ in range(10):
            labeler.answer(labeler.classes[truth[labeler.next().row]])
        progress = labeler.estimate()
        wrong = np.mean(progress.model.predict(X) != truth) if progress.model is not None else np.nan
        true_errors.append((progress.n_labels, wrong))
    history = [past for past in labeler.history if past.n_labels >= 10]
    n_labels = [past.n_labels for past in history]
    ax.fill_between(n_labels, [p.error.low for p in history], [p.error.high for p in history], alpha=0.3)
    ax.plot(n_labels, [p.error.value for p in history], label="stated")
    ax.plot(*zip(*true_errors, strict=True), "o", color="0.3", label="true")
    ax.set(xlabel="labels", title=" and ".join(mixture), ylim=(0, 0.6))
axes[0].set_ylabel("error")
axes[0].legend()
plt.show()
