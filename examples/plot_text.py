"""
Text: sparse rows that are never made dense
===========================================

Which paragraphs of documentation are about statistics and learning? Documents are the docstrings of SciPy and of
scikit-learn, as installed here; TF-IDF gives a sparse matrix with far more columns than rows. Thirty
paragraphs are labelled, ten of them from scikit-learn. In the population its share is known, 60 %.
"""

import importlib
import inspect

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

from pnulearn import PNUClassifier

MODULES = {
    1: ("cluster", "decomposition", "ensemble", "linear_model", "metrics", "naive_bayes", "neighbors", "svm", "tree"),
    0: ("fft", "integrate", "interpolate", "linalg", "ndimage", "optimize", "signal", "sparse", "spatial", "special"),
}


def paragraphs(package, modules):
    """Paragraphs of thirty words or more in the docstrings of public names, without the package's own name."""
    found = set()
    for module in modules:
        for _, item in inspect.getmembers(importlib.import_module(f"{package}.{module}")):
            text = inspect.getdoc(item) or "" if callable(item) else ""
            found |= {part for part in text.split("\n\n") if len(part.split()) >= 30}
    return sorted(part.replace("sklearn", "").replace("scipy", "") for part in found)


texts = {1: paragraphs("sklearn", MODULES[1]), 0: paragraphs("scipy", MODULES[0])}
rng = np.random.default_rng(0)
size = min(len(texts[1]) // 6, len(texts[0]) // 4, 150)
chosen = {k: rng.permutation(len(texts[k]))[: n * size] for k, n in ((1, 6), (0, 4))}
documents = [texts[k][i] for k in (1, 0) for i in chosen[k]]
truth = np.repeat([1, 0], [6 * size, 4 * size])
X = TfidfVectorizer(sublinear_tf=True, min_df=2).fit_transform(documents)
print(f"{X.shape[0]} paragraphs, {X.shape[1]} words, {X.nnz / np.prod(X.shape):.2%} of cells filled")

# %%
# Thirty labels, drawn four times. Every fit searches 21 mixes and eight penalties.

errors = {"LogisticRegression": [], "the same, balanced": [], "PNUClassifier": []}
for _ in range(4):
    labeled = np.concatenate([rng.permutation(np.flatnonzero(truth == k))[:n] for k, n in ((1, 10), (0, 20))])
    hidden = np.setdiff1d(np.arange(len(truth)), labeled)
    y = np.full(len(truth), np.nan)
    y[labeled] = truth[labeled]
    models = (
        LogisticRegression(C=100).fit(X[labeled], truth[labeled]),
        LogisticRegression(C=100, class_weight="balanced").fit(X[labeled], truth[labeled]),
        PNUClassifier(kernel="linear", prior=0.6, random_state=0).fit(X, y),
    )
    for name, model in zip(errors, models, strict=True):
        errors[name].append(np.mean(model.predict(X[hidden]) != truth[hidden]))

fig, ax = plt.subplots(figsize=(7, 3), layout="constrained")
ax.boxplot(list(errors.values()), orientation="horizontal", tick_labels=list(errors))
ax.set_xlabel("error on unlabelled paragraphs")
print({name: f"{np.mean(values):.1%}" for name, values in errors.items()})
plt.show()
