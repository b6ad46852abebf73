"""
Evaluate an LLM's answers with 40 labels
========================================

A language model has sorted 1,400 pictures of digits into "even" and "odd" (here a random forest takes its place), and
its error rate is not known. Forty answers are checked by hand, twenty of either class. A second model has predictions
for every picture.
"""

# %%
# The answers to evaluate, the second model's predictions, and forty labels. The other labels are used at the end only.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from pnulearn import pnu_risk
from pnulearn.metrics import pnu_precision, pnu_recall, pnu_roc_curve

X, digit = load_digits(return_X_y=True)
even = (digit % 2 == 0).astype(float)
rng = np.random.default_rng(0)
order = rng.permutation(len(X))
first, second, judged = order[:100], order[100:400], order[400:]
answers = RandomForestClassifier(100, random_state=0).fit(X[first], even[first]).predict_proba(X[judged])[:, 1]
opinion = LogisticRegression(max_iter=2000).fit(X[second] / 16, even[second]).predict_proba(X[judged] / 16)[:, 1]

truth = even[judged]
checked = np.concatenate([rng.choice(np.flatnonzero(truth == k), 20, replace=False) for k in (1, 0)])
y = np.full(len(truth), np.nan)
y[checked] = truth[checked]

# %%
# Labels alone, with the unlabelled answers, and with the second model. This draw of forty rows is unlucky, one of the
# 5 % in which a 95 % interval misses: it contains far more errors than usual. Unlabelled rows alone do not help where
# classes are equally large and equally hard; the second model corrects the estimate.

share = 0.5  # as many even as odd digits
estimates = {
    "40 labels alone": pnu_risk(y, answers, prior=share, threshold=0.5, mix=0),
    "and 1,357 unlabelled answers": pnu_risk(y, answers, prior=share, threshold=0.5),
    "and a second model": pnu_risk(y, answers, prior=share, threshold=0.5, helper=opinion),
}
for name, estimate in estimates.items():
    print(f"{name:30} {estimate}")
error = np.mean((answers > 0.5) != truth)
print(f"{'truth':30} {error:.4f}")

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
for place, estimate in enumerate(estimates.values()):
    left.plot([estimate.low, estimate.high], [place, place], linewidth=3)
    left.plot(estimate.value, place, "o", color="black")
left.axvline(error, color="0.5", linestyle="--", label="truth")
left.set(yticks=range(3), yticklabels=list(estimates), xlabel="error rate of the answers", xlim=(0, None))
left.invert_yaxis()
left.legend()
pnu_roc_curve(y, answers, prior=share).plot(right)
right.set(xlabel="false positive rate", ylabel="true positive rate")

# %%
# Of the answers "even", how many are right, and how many of the even digits are found?

print("precision", pnu_precision(y, answers, prior=share, threshold=0.5))
print("recall   ", pnu_recall(y, answers, prior=share, threshold=0.5))
plt.show()
