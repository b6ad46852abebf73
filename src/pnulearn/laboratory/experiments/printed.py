"""The numbers the paper prints: mean error in percent, boldface (*), standard error."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Printed:
    """One cell of a table of the paper."""

    mean: float
    stderr: float
    bold: bool


# set, labels | PNU | PUNU | ER | LapSVM | SMIR | WellSVM | S4VM
TABLE_1 = """
banana    10 | 30.1* 1.0 | 32.1* 1.1 | 35.8  1.0 | 36.9  1.0 | 37.7  1.1 | 41.8  0.6 | 45.3  1.0
banana    50 | 19.0* 0.6 | 26.4  1.2 | 20.6  0.7 | 21.3  0.7 | 21.1  1.0 | 42.6  0.5 | 38.7  0.9
phoneme   10 | 32.5  0.8 | 33.5  1.0 | 33.4  1.2 | 36.5  1.5 | 36.4  1.2 | 28.4* 0.6 | 33.7  1.4
phoneme   50 | 28.1  0.5 | 32.8  0.9 | 27.8  0.6 | 27.0  0.8 | 28.6  1.0 | 26.8  0.4 | 25.1* 0.2
magic     10 | 31.7* 0.8 | 34.1  0.9 | 34.2  1.1 | 37.9  1.3 | 36.0  1.2 | 30.1* 0.8 | 33.3  0.9
magic     50 | 29.9* 0.8 | 33.4  0.9 | 30.9  0.5 | 31.0  0.9 | 30.8* 0.9 | 28.8* 0.8 | 29.2* 0.4
image     10 | 29.8* 0.9 | 31.7* 0.8 | 33.7  1.1 | 36.6  1.2 | 36.7  1.2 | 34.7  1.1 | 35.9  1.0
image     50 | 20.7* 0.8 | 26.6  1.1 | 20.8* 0.8 | 20.3* 1.0 | 20.9* 0.9 | 27.2  1.0 | 23.2  0.7
susy      10 | 44.6* 0.6 | 45.0* 0.6 | 47.7  0.4 | 48.2  0.4 | 45.1* 0.7 | 48.0  0.3 | 46.8  0.3
susy      50 | 38.9* 0.6 | 41.5  0.6 | 37.9* 0.7 | 43.1  0.6 | 43.9  0.8 | 43.8  0.7 | 42.1  0.4
german    10 | 40.8* 0.9 | 42.4* 0.7 | 43.6  0.9 | 45.9  0.7 | 46.2  0.8 | 42.4* 0.8 | 42.0* 0.7
german    50 | 36.2* 0.8 | 39.0  0.8 | 38.9  0.6 | 40.6  0.6 | 38.4  1.1 | 38.5  1.0 | 34.9* 0.5
waveform  10 | 17.4* 0.6 | 18.0* 0.9 | 18.5  0.6 | 24.9  1.4 | 18.0* 1.0 | 16.7* 0.6 | 20.8  0.8
waveform  50 | 16.3  0.6 | 23.7  1.2 | 14.2* 0.4 | 18.1  0.8 | 15.4* 0.6 | 15.5  0.5 | 15.3  0.3
ijcnn1    10 | 43.6  0.6 | 40.3* 1.0 | 49.7  0.1 | 49.2  0.3 | 44.0  1.0 | 45.9  0.7 | 49.3  0.8
ijcnn1    50 | 34.5* 0.8 | 37.1  0.9 | 35.5* 0.8 | 33.4* 1.1 | 49.4  0.3 | 46.2  0.8 | 48.6  0.4
g50c      10 | 11.4  0.6 | 12.5  0.6 | 23.3  2.3 | 39.8  1.6 | 21.9  1.3 | 6.6* 0.4 | 27.0  1.4
g50c      50 | 12.5  1.1 | 10.1  0.6 | 8.7  0.4 | 22.5  1.5 | 10.6  0.6 | 7.4* 0.4 | 12.1  0.5
covtype   10 | 46.2* 0.4 | 46.0* 0.4 | 46.0* 0.5 | 47.1  0.5 | 47.9  0.5 | 46.9* 0.6 | 46.4* 0.4
covtype   50 | 41.3* 0.5 | 42.3  0.5 | 41.0* 0.4 | 41.5* 0.5 | 46.2  0.8 | 43.6  0.6 | 40.8* 0.4
spambase  10 | 27.2  0.9 | 28.1  1.1 | 31.8  1.4 | 39.7  1.4 | 30.9  1.3 | 23.8* 0.8 | 36.1  1.5
spambase  50 | 23.4  1.0 | 26.6  1.0 | 22.1  0.7 | 28.5  1.3 | 20.9  0.5 | 19.1* 0.4 | 24.5  0.9
splice    10 | 38.3* 0.8 | 39.3* 0.8 | 43.9  0.8 | 47.9  0.5 | 41.6  0.7 | 42.0  1.0 | 42.4  0.6
splice    50 | 30.6* 0.8 | 34.7  0.9 | 30.9* 0.8 | 38.8  1.0 | 30.6* 0.9 | 40.9  0.8 | 35.9  0.7
phishing  10 | 24.2* 1.2 | 25.8* 1.0 | 27.3* 1.6 | 37.2  1.6 | 27.6  1.6 | 27.5  1.4 | 31.7  1.3
phishing  50 | 15.8* 0.6 | 18.3  0.8 | 15.4* 0.5 | 21.1  1.3 | 14.7* 0.8 | 17.2  0.7 | 16.7  0.8
a9a       10 | 31.4* 0.9 | 31.3* 1.0 | 34.3  1.2 | 41.0  1.1 | 37.3  1.3 | 33.1* 1.2 | 34.3  1.2
a9a       50 | 27.9  0.6 | 29.9  0.8 | 28.6  0.7 | 33.3  1.0 | 26.9* 0.7 | 28.9  0.8 | 26.2* 0.4
coil2     10 | 38.7* 0.8 | 40.1* 0.8 | 42.8  0.7 | 43.9  0.8 | 43.2  0.8 | 39.1* 0.9 | 44.0  0.8
coil2     50 | 23.2* 0.6 | 30.5  0.9 | 23.6* 0.9 | 22.8* 0.9 | 25.1  0.9 | 22.6* 0.8 | 25.4  0.8
w8a       10 | 35.9* 0.9 | 33.6* 1.0 | 41.6  1.0 | 46.6  0.8 | 39.4  0.9 | 42.1  0.8 | 43.0  0.8
w8a       50 | 28.1* 0.7 | 27.6* 0.6 | 27.0* 0.9 | 38.7  0.8 | 28.0* 0.9 | 33.7  0.8 | 35.2  1.0
"""
TABLE_1_METHODS = ("pnu", "punu", "er", "lapsvm", "smir", "wellsvm", "s4vm")
TABLE_1_TRIALS = 50

# task, unlabelled rows, prior, its estimate | PNU | ER | LapSVM | SMIR | WellSVM
TABLE_2 = """
arts       1000 0.50 0.49 | 27.4* 1.3 | 26.6* 0.5 | 26.1* 0.7 | 40.1  3.9 | 27.5* 0.5
arts       5000 0.50 0.50 | 24.8* 0.6 | 26.1  0.5 | 26.1  0.4 | 30.1  1.6 | N/A
arts      10000 0.50 0.52 | 25.6* 0.7 | 25.4* 0.5 | 25.5* 0.6 | N/A | N/A
deserts    1000 0.73 0.67 | 13.0* 0.5 | 15.3  0.6 | 16.7  0.8 | 17.2  0.8 | 18.2  0.7
deserts    5000 0.73 0.67 | 13.4* 0.4 | 13.3* 0.5 | 16.6  0.6 | 24.4  0.6 | N/A
deserts   10000 0.73 0.68 | 13.3* 0.5 | 13.7* 0.6 | 16.8  0.8 | N/A | N/A
fields     1000 0.65 0.57 | 22.4* 1.0 | 26.2  1.0 | 26.6  1.3 | 28.2  1.1 | 26.6  0.8
fields     5000 0.65 0.57 | 20.6* 0.5 | 22.6  0.6 | 24.7  0.8 | 29.6  1.2 | N/A
fields    10000 0.65 0.57 | 21.6* 0.6 | 22.5* 0.6 | 25.0  0.9 | N/A | N/A
stadiums   1000 0.50 0.50 | 11.4* 0.4 | 11.5* 0.5 | 12.5  0.5 | 17.4* 3.6 | 11.7* 0.4
stadiums   5000 0.50 0.50 | 11.0* 0.5 | 10.9* 0.3 | 11.1* 0.3 | 13.4  0.7 | N/A
stadiums  10000 0.50 0.51 | 10.7* 0.3 | 10.9* 0.3 | 11.2* 0.2 | N/A | N/A
platforms  1000 0.27 0.33 | 21.8* 0.5 | 23.9  0.6 | 24.1  0.5 | 30.1  2.3 | 26.2  0.8
platforms  5000 0.27 0.34 | 23.3* 0.8 | 24.4* 0.7 | 24.9* 0.7 | 26.6  0.3 | N/A
platforms 10000 0.27 0.34 | 21.4* 0.5 | 24.3  0.6 | 24.8  0.5 | N/A | N/A
temples    1000 0.55 0.51 | 43.9* 0.7 | 43.9* 0.6 | 43.4* 0.6 | 50.7  1.6 | 44.3* 0.5
temples    5000 0.55 0.54 | 43.4* 0.9 | 43.0* 0.6 | 43.1* 1.0 | 43.6* 0.7 | N/A
temples   10000 0.55 0.50 | 45.2* 0.8 | 44.4* 0.8 | 44.2* 0.7 | N/A | N/A
"""
TABLE_2_METHODS = ("pnu", "er", "lapsvm", "smir", "wellsvm")


def table_1() -> dict[tuple[str, int, str], Printed]:
    """Cells by (set, number of labels, method).

    >>> table_1()["banana", 10, "pnu"]
    Printed(mean=30.1, stderr=1.0, bold=True)
    """
    return {
        (name, int(size), method): cell
        for (name, size), cells in _lines(TABLE_1)
        for method, cell in zip(TABLE_1_METHODS, cells, strict=True)
        if cell
    }


def table_2() -> dict[tuple[str, int, str], Printed]:
    """Cells by (task, number of unlabelled rows, method)."""
    return {
        (name, int(size), method): cell
        for (name, size, _, _), cells in _lines(TABLE_2)
        for method, cell in zip(TABLE_2_METHODS, cells, strict=True)
        if cell
    }


def table_2_priors() -> dict[tuple[str, int], tuple[float, float]]:
    """The prior and the mean of its estimates by (task, number of unlabelled rows)."""
    return {(name, int(size)): (float(prior), float(found)) for (name, size, prior, found), _ in _lines(TABLE_2)}


def _lines(table: str) -> list[tuple[list[str], list[Printed | None]]]:
    parts = ([part.split() for part in line.split("|")] for line in table.strip().splitlines())
    return [(head, [_cell(cell) for cell in cells]) for head, *cells in parts]


def _cell(words: list[str]) -> Printed | None:
    """None where the paper has no number because the method took more than two hours."""
    if len(words) == 1:
        return None
    return Printed(float(words[0].rstrip("*")), float(words[1]), words[0].endswith("*"))
