"""Atomic writing of files, and reading of model files without executing code."""
