"""Coverage of the post-stratified interval of a share, from counts drawn directly, 20,000 times per cell.

    python benchmarks/share_counts.py

Two verdicts, labels at random, 2,000 rows. The formula is written here a second time, for arrays. `chosen on` are the
cells on which the variance of a stratum was chosen, `confirmed on` are others. `pseudo-rows of .5` is Jeffreys' prior
of every stratum, `pnu_share` has Beta(.4, .4). `narrower` takes the narrower of the intervals with the judge and with
labels alone, which covers less and was not built.
"""

from __future__ import annotations

from itertools import product

import numpy as np
from scipy.special import betaincinv

N_ROWS, DRAWS = 2000, 20_000
CHOSEN = {
    "labels": (50, 100, 300),
    "shares": (0.5, 0.7, 0.9, 0.97),
    "judges": ((0.6, 0.6), (0.8, 0.8), (0.9, 0.9), (0.95, 0.95), (0.98, 0.98), (0.95, 0.5), (0.2, 0.2), (0.1, 0.99)),
}
CONFIRMED = {
    "labels": (40, 75, 150, 500),
    "shares": (0.2, 0.4, 0.6, 0.8, 0.95),
    "judges": ((0.85, 0.7), (0.7, 0.95), (0.97, 0.9), (0.55, 0.5), (0.99, 0.3)),
}
Array = np.ndarray


def main() -> None:
    print("| cells | interval | cover, least | cover, mean | cells 93 to 97 % | width, mean | widest against labels |")
    print("|---|---|---|---|---|---|---|")
    for name, cells in (("chosen on", CHOSEN), ("confirmed on", CONFIRMED)):
        rng, found = np.random.default_rng(5), {}
        for n, share, (sensitivity, specificity) in product(*cells.values()):
            for method, (low, high) in intervals(rng, n, share, sensitivity, specificity).items():
                held = np.mean((low <= share) & (share <= high))
                found.setdefault(method, []).append((held, np.mean(high - low)))
        alone = np.array(found["labels alone"])[:, 1]
        for method, rows in found.items():
            cover, width = np.array(rows).T
            inside = np.mean((cover >= 0.93) & (cover <= 0.97))
            print(
                f"| {name} ({len(cover)}) | {method} | {cover.min():.3f} | {cover.mean():.3f} | {inside:.0%} "
                f"| {width.mean():.4f} | {np.max(width / alone):.3f} |"
            )


def intervals(
    rng: np.random.Generator, n: int, share: float, sensitivity: float, specificity: float
) -> dict[str, tuple[Array, Array]]:
    cells = [
        (1 - share) * specificity,
        share * (1 - sensitivity),
        (1 - share) * (1 - specificity),
        share * sensitivity,
    ]
    counts = rng.multinomial(n, cells, DRAWS).T
    positive, labeled = counts[[1, 3]], counts[[0, 2]] + counts[[1, 3]]
    called = labeled[1] + rng.binomial(N_ROWS - n, cells[2] + cells[3], DRAWS)
    size = np.array([N_ROWS - called, called]) / N_ROWS
    alone = jeffreys(positive.sum(axis=0), n)
    full, less, fewer = (stratified(positive, labeled, size, a, extra) for a, extra in ((0.5, 1), (0.5, 0), (0.4, 0)))
    use = less[1] - less[0] <= alone[1] - alone[0]
    return {
        "labels alone": alone,
        "posterior variance": full,
        "one row less, pseudo-rows of .5": less,
        "one row less, pseudo-rows of .4 (pnu_share)": fewer,
        "narrower": (np.where(use, less[0], alone[0]), np.where(use, less[1], alone[1])),
    }


def jeffreys(positive: Array, n: int) -> tuple[Array, Array]:
    low, high = (betaincinv(positive + 0.5, n - positive + 0.5, level) for level in (0.025, 0.975))
    return np.where(positive == 0, 0.0, low), np.where(positive == n, 1.0, high)


def stratified(positive: Array, labeled: Array, size: Array, a: float, extra: int) -> tuple[Array, Array]:
    p = (positive + a) / (labeled + 2 * a)
    mean = (size * p).sum(axis=0)
    between = (size * p**2).sum(axis=0) - mean**2
    variance = (size**2 * p * (1 - p) / (labeled + 2 * a + extra)).sum(axis=0) + between / N_ROWS
    rows = mean * (1 - mean) / variance - 1
    return betaincinv(mean * rows, (1 - mean) * rows, 0.025), betaincinv(mean * rows, (1 - mean) * rows, 0.975)


if __name__ == "__main__":
    main()
