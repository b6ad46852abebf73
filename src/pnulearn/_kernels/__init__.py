"""Basis functions, one file per kernel."""
