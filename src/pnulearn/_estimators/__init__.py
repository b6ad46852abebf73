"""scikit-learn's contract around what was learnt."""
