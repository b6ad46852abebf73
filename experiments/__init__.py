"""The tables and figures of the paper, their data sets and methods, and messy tables with known truth.

Run from the root of the repository: `python -m experiments --help`. None of this is part of the installed package.
"""
