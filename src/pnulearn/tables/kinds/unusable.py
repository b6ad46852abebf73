"""What a kind says of a column that it cannot learn from."""

from __future__ import annotations


class Unusable(Exception):
    """The reason why a column is left out."""
