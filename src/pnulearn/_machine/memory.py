"""How much memory there is."""

from __future__ import annotations

import os


def physical_memory() -> int:
    """Bytes of memory of this machine, or a guess."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") if hasattr(os, "sysconf") else 2**34
