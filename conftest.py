"""Modules whose doctests need an extra that `make test` does not install are left out where it is missing."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("torch") else ["src/pnulearn/torch"]
