"""Minimisers, one idea per file."""
