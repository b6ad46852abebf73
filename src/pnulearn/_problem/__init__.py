"""What is given: rows, labels, weights, folds."""
