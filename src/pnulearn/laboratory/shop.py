"""The table of the tutorial and the demo: customers of a shop as somebody exported them, most of them never asked.

1,500 customers, of whom 100 drawn at random were phoned and said whether they would renew. The truth about all others
is known here and nowhere in the table. `python -m pnulearn.laboratory.shop` writes both files anew.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn.laboratory.messy import MessyTable

N_CUSTOMERS, N_PHONED, SEED = 1_500, 100, 0
HAPPY = ["great", "fast", "thanks", "love", "friendly", "helpful", "easy", "recommend", "quick", "lovely"]
CROSS = ["late", "broken", "refund", "waiting", "rude", "cancel", "wrong", "missing", "slow", "complaint"]
PLAIN = [
    "the",
    "order",
    "delivery",
    "my",
    "account",
    "again",
    "with",
    "your",
    "shop",
    "it",
    "was",
    "and",
    "very",
    "for",
    "this",
    "box",
    "address",
]
CITIES = ("Leeds", "York", "Hull", "Bath", "Derby", "Exeter", "Lincoln", "Oxford", "Preston", "Ripon", "Truro", "Wells")


def make_shop(n: int, rng: np.random.Generator) -> MessyTable:
    """Spend with a currency sign, discounts in percent, dates by day and month, cities, messages, gaps."""
    mood, spend = rng.random(n), rng.lognormal(4.5, 0.8, n)
    months, newsletter = rng.integers(0, 48, n), rng.random(n) < 0.45
    logit = 6 * (mood - 0.5) + 1.2 * (np.log(spend) - 4.5) + newsletter - months / 16 + 0.6
    truth = rng.random(n) < 1 / (1 + np.exp(-3 * logit))
    last = np.datetime64("2026-06-30") - (30.4 * months + rng.integers(0, 30, n)).astype(int)
    gap = rng.random(n) < 0.1
    cells = {
        "customer": [f"C-{number:05d}" for number in rng.permutation(n)],
        "spent": ["" if g else f"£{value:,.2f}" for value, g in zip(spend, gap, strict=True)],
        "discount": [f"{value:.0f} %" for value in rng.choice([0, 5, 10, 15, 20], n)],
        "last order": [f"{str(day)[8:]}/{str(day)[5:7]}/{str(day)[:4]}" for day in last],
        "city": rng.choice(CITIES, n, p=_falling(len(CITIES))).tolist(),
        "newsletter": ["yes" if value else "no" for value in newsletter],
        "last message": [_message(rng, value) for value in mood],
    }
    clean = {"spent": np.where(gap, np.nan, spend), "months": months.astype(float), "newsletter": newsletter}
    return MessyTable(clean | {"mood": mood}, cells, truth, "renews", ("no", "yes"))


def _falling(n: int) -> AnyArray:
    weight = 1 / np.arange(1, n + 1)
    return weight / weight.sum()


def _message(rng: np.random.Generator, mood: float) -> str:
    told = [str(rng.choice(HAPPY if rng.random() < mood else CROSS)) for _ in range(rng.integers(5, 11))]
    return " ".join(rng.permutation(told + rng.choice(PLAIN, rng.integers(4, 12)).tolist()).tolist())


def shop_table() -> Path:
    """The table that ships with the package: a CSV file whose column "renews" is mostly empty."""
    return Path(str(files("pnulearn.laboratory") / "tables" / "shop.csv"))


def shop_truth() -> AnyArray:
    """Whether each customer of the table would renew: what nobody who fits it may see."""
    text = (shop_table().parent / "shop-truth.txt").read_text(encoding="utf-8")
    return np.array([line == "yes" for line in text.split()])


def write_shop(folder: Path) -> None:
    """Both files, the same whenever they are written."""
    rng = np.random.default_rng(SEED)
    table = make_shop(N_CUSTOMERS, rng)
    table.write(folder / "shop.csv", rng.permutation(N_CUSTOMERS)[:N_PHONED])
    words = ["yes" if value else "no" for value in table.truth]
    (folder / "shop-truth.txt").write_text("\n".join(words) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write_shop(shop_table().parent)
