"""`pnulearn reproduce`, `datasets` and `demo`: the laboratory from the command line."""

from __future__ import annotations


def demo() -> None:
    """Show on data that comes along what unlabelled rows buy."""
    from pnulearn.demo import run

    run()
