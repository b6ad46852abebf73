"""
How precisely can a model be evaluated?
=======================================

The variance of the estimated error with unlabelled rows, relative to labelled rows alone, for three populations. With
equal shares and equal numbers of labels unlabelled rows do not help in evaluation; the more unbalanced the classes are,
the more they help.
"""

import matplotlib.pyplot as plt

from pnulearn.plots import VarianceRatioDisplay

fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for prior, color in ((0.5, "tab:gray"), (0.3, "tab:blue"), (0.1, "tab:orange")):
    display = VarianceRatioDisplay.from_counts(prior, n_positive=10, n_negative=10, ax=ax)
    ax.lines[-2].set(color=color, label=f"prior {prior}")
    ax.lines[-1].remove()
ax.legend(frameon=False)
plt.show()
