"""All interval formulas of the package, as functions of numbers and arrays; no models, labels or tables.

| file | what it holds |
|---|---|
| `closed_forms` | Wald, logit, Jeffreys, skewness-corrected and Welch t intervals, MOVER, DeLong and other variances |
| `posterior_grids` | posteriors on a grid: of a class share, and of the two error rates of a decision rule |
| `posterior_draws` | Bayesian bootstrap, Dirichlet draws, percentile intervals, simultaneous bands |
| `confidence_sequences` | confidence sequences, which are valid at all sample sizes simultaneously |

Metrics, labelling, inspection, planning and class priors call these functions and contain no interval formulas. Each
function states its name in the literature, a reference and its assumptions; tests/intervals measures the coverage.
"""
