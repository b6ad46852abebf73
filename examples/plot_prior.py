"""
The share of positives among unlabelled rows
============================================

Half of the labelled rows are positive, for every share among the unlabelled ones. Energy distance estimates that share
from the rows; bars are 90 % intervals.
"""

import matplotlib.pyplot as plt
import numpy as np

from pnulearn.priors import energy_prior

rng = np.random.default_rng(0)
shares = np.linspace(0.1, 0.9, 9)
estimates = []
for share in shares:
    positive = np.concatenate([np.repeat([1, 0], 25), rng.random(400) < share]).astype(int)
    X = rng.normal(size=(450, 5)) + positive[:, None]
    codes = np.concatenate([positive[:50], np.full(400, -1)])
    estimates.append(energy_prior(X, codes, random_state=0))

value, low, high = (np.array([getattr(e, name) for e in estimates]) for name in ("value", "low", "high"))
fig, ax = plt.subplots(figsize=(5, 4.5), layout="constrained")
ax.plot([0, 1], [0, 1], color="tab:gray", linestyle=":")
ax.errorbar(shares, value, [value - low, high - value], fmt="o", color="tab:orange", capsize=3)
ax.set(xlabel="true share", ylabel="estimate", xlim=(0, 1), ylim=(0, 1))
plt.show()
