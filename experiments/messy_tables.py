"""Four messy tables with known truth, which `pnulearn fit` must read with no option but --label.

Each function draws clean values first, on which the truth depends, and then formats them as in a file from practice.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

_WORDS = (
    "how can i change my address please thanks question about the manual where do i find settings nice tool",
    "refund cancel broken again unacceptable waiting manager complaint never works lawyer money back angry",
    "hello i have the a printer account order since today with your service and it is when we use this",
)
CALM, UPSET, COMMON = (words.split() for words in _WORDS)


@dataclass(frozen=True, eq=False)
class MessyTable:
    """Clean values by column, the same as they stand in the file, and the truth about every row."""

    clean: dict[str, Any]
    cells: dict[str, list[str]]
    truth: np.ndarray
    label: str
    words: tuple[str, str]
    delimiter: str = ","
    encoding: str = "utf-8"

    def write(self, path: str | Path, labeled: np.ndarray) -> None:
        """The file, with labels in some of the rows."""
        known = np.isin(np.arange(len(self.truth)), labeled)
        labels = [self.words[t] if k else "" for t, k in zip(self.truth.astype(int), known, strict=True)]
        with open(path, "w", newline="", encoding=self.encoding) as file:
            writer = csv.writer(file, delimiter=self.delimiter)
            writer.writerow([*self.cells, self.label])
            writer.writerows(zip(*self.cells.values(), labels, strict=True))


def make_customers(n: int, rng: np.random.Generator) -> MessyTable:
    """Customers in a German Excel export: decimal commas, €, %, dd.mm.yyyy, Ja/Nein, 80 cities, Windows-1252."""
    income, discount = rng.lognormal(10.3, 0.6, n), rng.uniform(0, 30, n)
    city, member = rng.zipf(1.4, n) % 80, rng.random(n) < 0.4
    days, gap = rng.integers(0, 1500, n), rng.random(n) < 0.15
    logit = (
        1.6 * (np.log(income) - 10.3) / 0.6 + 1.2 * member - days / 700 + np.where(city % 3 == 0, 1.2, -0.3) + gap - 1
    )
    truth = rng.random(n) < 1 / (1 + np.exp(-2 * logit))
    since = np.datetime64("2026-06-30") - days
    income_cells = ["" if g else _german(f"{v:,.2f}") + " €" for v, g in zip(income, gap, strict=True)]
    clean = {
        "Einkommen": np.where(gap, np.nan, income),
        "Rabatt": discount,
        "Stadt": city.astype(str),
        "Stammkunde": member,
    }
    cells = {
        "Kundennummer": [f"K{v:06d}" for v in rng.permutation(n)],
        "Einkommen": income_cells,
        "Rabatt": [_german(f"{v:.1f}") + " %" for v in discount],
        "Stadt": [f"Straßdorf {v}" for v in city],
        "PLZ": [f"{v:05d}" for v in 1000 + 37 * city],
        "Stammkunde": ["Ja" if v else "Nein" for v in member],
        "Kunde seit": [f"{str(d)[8:]}.{str(d)[5:7]}.{str(d)[:4]}" for d in since],
    }
    return MessyTable(clean | {"Tage": days.astype(float)}, cells, truth, "Gekauft", ("Nein", "Ja"), ";", "cp1252")


def make_tickets(n: int, rng: np.random.Generator) -> MessyTable:
    """Support tickets: what matters stands in the text."""
    truth = rng.random(n) < 0.3
    heat = np.clip(rng.beta(2, 2, n) * 0.5 + 0.35 * truth, 0, 1)
    texts = [_ticket(rng, h) for h in heat]
    minutes, channel = rng.lognormal(3 + 0.5 * truth, 1, n), rng.choice(["mail", "phone", "web form"], n)
    cells = {
        "ticket": [f"#{10_000 + v}" for v in rng.permutation(n)],
        "channel": [word.upper() if k else word for word, k in zip(channel, rng.random(n) < 0.01, strict=True)],
        "minutes open": [f"{v:,.0f}" for v in minutes],
        "message": texts,
        "language": ["en"] * n,
    }
    clean = {"channel": channel, "minutes open": minutes, "message": texts}
    return MessyTable(clean, cells, truth, "churned", ("no", "YES"))


def make_sensors(n: int, rng: np.random.Generator) -> MessyTable:
    """A sensor log: times of day matter, gaps and spikes are everywhere."""
    minute = np.sort(rng.integers(0, 400 * 1440, n))
    hour = minute % 1440 / 60
    truth = rng.random(n) < 0.35
    hour = np.where(truth & (rng.random(n) < 0.7), rng.uniform(0, 6, n), hour)
    moment = np.datetime64("2025-01-01T00:00") + (minute // 1440 * 1440 + (hour * 60).astype(int))
    vibration, temperature = rng.lognormal(0.8 * truth, 0.7, n), rng.normal(60 + 6 * truth, 6, n)
    gap = rng.random(n) < 0.1
    temperature[rng.random(n) < 0.003] = 9999.0
    cells = {
        "row": [str(v) for v in range(1, n + 1)],
        "timestamp": [str(v).replace("T", " ") for v in moment],
        "vibration": [f"{v:.4f}" for v in vibration],
        "vibration copy": [f"{v:.4f}" for v in vibration],
        "temperature": ["NaN" if g else f"{v:.1f} °C" for v, g in zip(temperature, gap, strict=True)],
        "state": rng.choice(["on", "off"], n).tolist(),
        "firmware": ["1.0.2"] * n,
    }
    clean = {"vibration": vibration, "temperature": np.where(gap, np.nan, temperature), "hour": hour}
    return MessyTable(clean, cells, truth, "fault", ("false", "true"), "\t")


def make_survey(n: int, rng: np.random.Generator) -> MessyTable:
    """A survey: categories of every size, answers on scales, much left blank."""
    truth = rng.random(n) < 0.45
    job = (rng.zipf(1.3, n) + 3 * truth * (rng.random(n) < 0.5).astype(int)) % 120
    answers = {f"q{k}": np.clip(np.round(rng.normal(3 + 0.5 * truth * (k % 2), 1.1)), 1, 5) for k in range(1, 9)}
    blank = {name: rng.random(n) < 0.08 for name in answers}
    party = np.where(rng.random(n) < 0.3 + 0.3 * truth, "A", rng.choice(list("BCDEFGH"), n))
    age = rng.normal(45 - 8 * truth, 14).clip(18, 90).round()
    cells = {
        "respondent_id": [str(v) for v in 100_000 + rng.permutation(n)],
        "job": [f"job {v}" for v in job],
        "party": party.tolist(),
        "age": [f"{v:.0f}" for v in age],
        **{name: ["" if b else f"{v:.0f}" for v, b in zip(a, blank[name], strict=True)] for name, a in answers.items()},
    }
    clean = {"job": job.astype(str), "party": party, "age": age}
    clean |= {name: np.where(blank[name], np.nan, answer) for name, answer in answers.items()}
    return MessyTable(clean, cells, truth, "renews", ("n", "y"))


MAKERS: dict[str, Callable[[int, np.random.Generator], MessyTable]] = {
    "customers": make_customers,
    "tickets": make_tickets,
    "sensors": make_sensors,
    "survey": make_survey,
}


def _german(number: str) -> str:
    """
    >>> _german("59,684.21")
    '59.684,21'
    """
    return number.translate(str.maketrans(",.", ".,"))


def _ticket(rng: np.random.Generator, heat: float) -> str:
    told = [str(rng.choice(UPSET if rng.random() < heat else CALM)) for _ in range(rng.integers(4, 12))]
    words = told + rng.choice(COMMON, rng.integers(6, 20)).tolist()
    return " ".join(rng.permutation(words).tolist())
