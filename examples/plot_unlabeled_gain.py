"""
What unlabelled rows gain
=========================

Handwritten digits: even or odd? Thirteen labels, ten of them even, from a population in which three of ten digits are
even. The supervised model is given that share; only the unlabelled rows are missing.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from pnulearn import PNUClassifier

X, digit = load_digits(return_X_y=True)
X, even = X / 16, (digit % 2 == 0).astype(int)
PRIOR, N_EVEN, N_ODD = 0.3, 10, 3
SIZES = (20, 60, 200)
SEEDS = range(8)

# %%
# One trial: draw labels, unlabelled rows and a test set. The error is weighted to the population's share of even ones.


def draw(rng, n_unlabeled):
    evens, odds = (rng.permutation(np.flatnonzero(even == value)) for value in (1, 0))
    labeled = np.concatenate([evens[:N_EVEN], odds[:N_ODD]])
    n_even = round(PRIOR * n_unlabeled)
    ends = N_EVEN + n_even, N_ODD + n_unlabeled - n_even
    unlabeled = np.concatenate([evens[N_EVEN : ends[0]], odds[N_ODD : ends[1]]])
    return labeled, unlabeled, (evens[ends[0] :], odds[ends[1] :])


def error(model, test):
    missed, alarms = model.predict(X[test[0]]) == 0, model.predict(X[test[1]]) == 1
    return 100 * (PRIOR * missed.mean() + (1 - PRIOR) * alarms.mean())


supervised, with_unlabeled = [], []
for seed in SEEDS:
    options = {"prior": PRIOR, "cv": 3, "random_state": seed}
    for size in SIZES:
        labeled, unlabeled, test = draw(np.random.default_rng(seed), size)
        rows = np.concatenate([labeled, unlabeled])
        y = np.concatenate([even[labeled], np.full(size, np.nan)])
        with_unlabeled.append(error(PNUClassifier(**options).fit(X[rows], y), test))
    supervised.append(error(PNUClassifier("pn", **options).fit(X[labeled], even[labeled]), test))

# %%
# Mean and standard error over the draws.

with_unlabeled = np.reshape(with_unlabeled, (len(SEEDS), len(SIZES)))
fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
mean, noise = np.mean(supervised), np.std(supervised, ddof=1) / np.sqrt(len(SEEDS))
ax.axhspan(mean - noise, mean + noise, color="tab:gray", alpha=0.25)
ax.axhline(mean, color="tab:gray", label="labelled rows only (PN)")
spread = with_unlabeled.std(axis=0, ddof=1) / np.sqrt(len(SEEDS))
ax.errorbar(
    SIZES, with_unlabeled.mean(axis=0), spread, marker="o", color="tab:orange", label="with unlabelled rows (PNU)"
)
ax.set(xscale="log", xlabel="unlabelled rows", ylabel="test error in %", ylim=(0, None))
ax.set_xticks(SIZES, map(str, SIZES))
ax.minorticks_off()
ax.set_title("Even or odd? 13 labels")
ax.legend(frameon=False)
plt.show()
