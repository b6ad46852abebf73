"""Every interval formula of the package: functions of numbers and arrays that know no model, label or table.

| file | what it holds |
|---|---|
| `closed_forms` | Wald, logit, Jeffreys, skewness-corrected and Welch t intervals, MOVER, DeLong and other variances |
| `posterior_grids` | posteriors on a grid: of a class share, and of the two error rates of a decision rule |
| `posterior_draws` | Bayesian bootstrap, Dirichlet draws, percentile intervals, simultaneous bands |
| `confidence_sequences` | confidence sequences, which hold at all sample sizes at once |

Metrics, labelling, inspection, planning and class priors call these functions and keep no formula of their own. Each
one states its name in the literature, a reference and what it assumes; tests/intervals measures how often it covers.
"""
