"""Input of a fit: rows, labels, weights and folds."""
