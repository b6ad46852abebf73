"""How far every candidate of the shared grid is from a solve of its own, on the paper's grid.

6 bandwidths x 21 mixes x 8 alphas, PNU and PUNU, with and without intercept, 50 labelled and 240 unlabelled rows (a
training fold) with 350 Gaussian centres. Prints the largest difference of two decision functions on the rows, and the
same divided by the larger of 1 and the decision function. Real data from the folder PNULEARN_DATA, else generated.
"""

from __future__ import annotations

import os

os.environ.update(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")  # before NumPy starts its threads

import numpy as np
from real_sets import partly_labeled, real_or_gaussian_set
from scipy.spatial.distance import pdist

from pnulearn._kernels.gaussian import BANDWIDTH_FACTORS, gaussian, squared_distances
from pnulearn._solvers.candidates import ALPHAS, Mixes, Training
from pnulearn._solvers.ridge import squared_candidates

N_ROWS = 290


def separate_solve(training: Training, share: float, tilt: float, alpha: float) -> np.ndarray:
    """Scores on the training rows from the normal equations of one candidate, an intercept as a column of ones."""
    Z = training.table
    if training.intercept:
        Z = np.column_stack([Z, np.ones(len(Z))])
    theta = training.prior[::-1]
    P, N, U = (Z[training.codes == code] for code in (1, 0, -1))
    means = [group.mean(axis=0) for group in (P, N, U)]
    A = (1 - share) * sum(t * group.T @ group / len(group) for t, group in zip(theta, (P, N), strict=True))
    A += share * U.T @ U / len(U) + 4 * alpha * np.eye(len(A))
    if training.intercept:
        A[-1, -1] -= 4 * alpha
    positive, negative = theta[0] * means[0], theta[1] * means[1]
    return Z @ np.linalg.solve(A, positive - negative + tilt * (positive + negative - means[2]))


def worst(training: Training) -> tuple[float, float]:
    """The largest difference over all candidates, plain and relative."""
    shared, mixes = squared_candidates(training).scores(training.table)[0], training.mixes
    plain = relative = 0.0
    for (c, j), _ in np.ndenumerate(shared[..., 0]):
        alone = separate_solve(training, mixes.shares[c], mixes.tilts[c], training.alphas[j])
        difference = float(np.abs(shared[c, j] - alone).max())
        plain = max(plain, difference)
        relative = max(relative, difference / max(1.0, float(np.abs(alone).max())))
    return plain, relative


def main() -> None:
    for name, dimension in (("banana", 2), ("german", 20)):
        X, y = partly_labeled(*real_or_gaussian_set(name, dimension))
        codes = np.array([0, -1, 1])[y[:N_ROWS] + 1]
        distances, unit = squared_distances(X, X)[:N_ROWS], float(np.median(pdist(X)))
        population, prior = np.flatnonzero(codes < 0), np.array([0.5, 0.5])
        for risk in ("pnu", "punu"):
            for intercept in (False, True):
                results = []
                for factor in BANDWIDTH_FACTORS:
                    features = gaussian(distances, factor * unit)
                    mixes = Mixes.of(risk, None)
                    training = Training(features, codes, np.ones(N_ROWS), population, prior, mixes, ALPHAS, intercept)
                    results.append(worst(training))
                plain, relative = np.max(results, axis=0)
                words = "with intercept" if intercept else "without"
                print(f"{name:8}{risk:6}{words:16}{plain:9.1e}{relative:9.1e}", flush=True)


if __name__ == "__main__":
    main()
