"""Tests in another order: `PNULEARN_ORDER=SEED` shuffles modules, and the tests within each (`make test-random`)."""

from __future__ import annotations

import random
from collections import defaultdict
from typing import Any


def shuffled(items: list[Any], seed: str) -> list[Any]:
    """Modules stay in one piece, so that what they share is made once."""
    rng, modules = random.Random(seed), defaultdict(list)
    for item in items:
        modules[item.nodeid.partition("::")[0]].append(item)
    names = sorted(modules)
    rng.shuffle(names)
    for name in names:
        rng.shuffle(modules[name])
    return [item for name in names for item in modules[name]]
