"""All interval formulas of the package, as functions of numbers and arrays; no models, labels or tables.

| file | what it holds |
|---|---|
| `score_tests` | inverted score tests: error, cost, precision, recall, F1, lift and gain of a decision rule |
| `auc_tests` | an inverted test of the AUC |
| `closed_forms` | Wald, Jeffreys, skewness-corrected and Welch t intervals, MOVER, DeLong and other variances |
| `posterior_grids` | posteriors on a grid: of a class share, and of the two error rates of a decision rule |
| `posterior_draws` | Bayesian bootstrap, Dirichlet draws, percentile intervals, simultaneous bands |
| `confidence_sequences` | confidence sequences, which are valid at all sample sizes simultaneously |

Metrics, labelling, inspection, planning and class priors call these functions and contain no interval formulas. Each
function states its name in the literature, a reference and its assumptions; tests/intervals measures the coverage.
"""
