"""
How precisely can a model be judged?
====================================

The variance of the estimated error with unlabelled rows, relative to labelled rows alone, for three populations. With
equal shares and equal numbers of labels the unlabelled rows cannot help to judge; the further the classes are from
balance, the more they do.
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
