"""Minimisers of the regularised risks, one method per file."""
