"""A report about a table whose every name is hostile."""

import numpy as np
import pytest

from pnulearn import TableClassifier
from pnulearn.report._findings import investigate

SCRIPT = "<script>alert('column')</script>"
LABEL = '<img src=x onerror="alert(1)">'
POSITIVE = "<b>yes</b>&amp;"


def write_hostile(path, n_unlabeled=200):
    rng = np.random.default_rng(0)
    n = 40 + n_unlabeled
    y = rng.random(n) < 0.4
    lines = [f'{SCRIPT},{"größe €"},<i>kind</i>,"{LABEL.replace(chr(34), chr(34) * 2)}"']
    for i in range(n):
        label = (POSITIVE if y[i] else "no") if i < 40 else ""
        lines.append(
            f"{rng.normal(2 * y[i]):.3f},{rng.normal():.3f},{'<u>a</u>' if rng.random() < 0.5 else 'b'},{label}"
        )
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def hostile(tmp_path_factory):
    path = write_hostile(tmp_path_factory.mktemp("report") / "<em>table.csv")
    return TableClassifier(pos_label=POSITIVE, cv=3).fit(path, LABEL, command=f"pnulearn fit '{path.name}'").fitted_


@pytest.fixture(scope="session")
def findings(hostile):
    return investigate(hostile)
