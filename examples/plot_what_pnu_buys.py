"""
What unlabelled rows buy
========================

Breast-cancer data with twelve labels, 70 % of them malignant, and a growing number of unlabelled rows from a
population of which half are malignant. The supervised model knows the prior as well; it only lacks the unlabelled
rows.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import minmax_scale

from pnulearn import PNUClassifier

X, benign = load_breast_cancer(return_X_y=True)
X, malignant = minmax_scale(X), 1 - benign
SIZES = (10, 30, 100, 300)
SEEDS = range(10)

# %%
# One trial: draw labels, unlabelled rows and a test set, each with its own share of malignant tumours.


def draw(rng):
    groups = [rng.permutation(np.flatnonzero(malignant == value)) for value in (1, 0)]
    labeled = np.concatenate([groups[0][:8], groups[1][:4]])
    unlabeled = rng.permutation(np.concatenate([group[8:158] for group in groups]))
    test = np.concatenate([groups[0][158:], groups[1][158 : 158 + len(groups[0]) - 158]])
    return labeled, unlabeled, test


def error(model, rows, labels, test):
    return np.mean(model.fit(X[rows], labels).predict(X[test]) != malignant[test])


supervised, with_unlabeled = [], []
for seed in SEEDS:
    labeled, unlabeled, test = draw(np.random.default_rng(seed))
    options = {"prior": 0.5, "random_state": seed}
    supervised.append(error(PNUClassifier("pn", **options), labeled, malignant[labeled], test))
    with_unlabeled.append([])
    for size in SIZES:
        rows = np.concatenate([labeled, unlabeled[:size]])
        y = np.concatenate([malignant[labeled], np.full(size, np.nan)])
        with_unlabeled[-1].append(error(PNUClassifier(**options), rows, y, test))

# %%
# Mean and standard error over the draws.

fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
mean, noise = np.mean(supervised), np.std(supervised) / np.sqrt(len(supervised))
ax.axhspan(100 * (mean - noise), 100 * (mean + noise), color="tab:gray", alpha=0.25)
ax.axhline(100 * mean, color="tab:gray", label="labelled rows only (PN)")
curve, spread = np.mean(with_unlabeled, axis=0), np.std(with_unlabeled, axis=0) / np.sqrt(len(with_unlabeled))
ax.errorbar(SIZES, 100 * curve, 100 * spread, marker="o", color="tab:orange", label="with unlabelled rows (PNU)")
ax.set(xscale="log", xlabel="unlabelled rows", ylabel="test error in %", ylim=(0, None))
ax.set_xticks(SIZES, map(str, SIZES))
ax.minorticks_off()
ax.set_title("Breast cancer, 12 labels")
ax.legend(frameon=False)
plt.show()
