"""Two risks and their difference."""

from __future__ import annotations

from dataclasses import dataclass

from pnulearn._machine.notebook import show_rows
from pnulearn.metrics.estimate import RiskEstimate


@dataclass(frozen=True)
class Comparison:
    """Two risks on the same rows, and their difference (first minus second) judged row by row.

    Judging row by row cancels what the models have in common, so the interval of the difference is narrower than
    the two intervals suggest.

    Parameters
    ----------
    first : RiskEstimate
        Risk of the first model.
    second : RiskEstimate
        Risk of the second model.
    difference : float
        First risk minus second.
    stderr : float
        Standard error.
    low : float
        Lower end of the interval.
    high : float
        Upper end of the interval.
    confidence : float
        Probability that the interval is to hold the truth with.
    """

    first: RiskEstimate
    second: RiskEstimate
    difference: float
    stderr: float
    low: float
    high: float
    confidence: float = 0.95

    @property
    def verdict(self) -> str:
        """ "first" or "second" if the interval of the difference lies on one side of zero, else "undecided"."""
        return "first" if self.high < 0 else "second" if self.low > 0 else "undecided"

    def sentence(self, first: str, second: str) -> str:
        """Who is better in words that are no stronger than the evidence, e.g. "with U", "without".

        Parameters
        ----------
        first : str
            Words for the first model, e.g. "with U".
        second : str
            Words for the second model.
        """
        gap, margin = -100 * self.difference, 50 * (self.high - self.low)
        words = f"The error is {abs(gap):.1f} points {'lower' if gap >= 0 else 'higher'} {first} than {second}"
        chance = "chance alone could explain" if self.verdict == "undecided" else "is more than chance explains"
        return f"{words}, which {chance} ({100 * self.confidence:.0f} % margin {margin:.1f} points)."

    def __str__(self) -> str:
        words = {
            "first": "the first model is better",
            "second": "the second model is better",
            "undecided": "which is better cannot be told from these rows",
        }
        return (
            f"risks {self.first.value:.4f} and {self.second.value:.4f}, difference {self.difference:+.4f} "
            f"[{self.low:+.4f}, {self.high:+.4f}]: {words[self.verdict]}"
        )

    def _repr_html_(self) -> str:
        models = {"first model": self.first, "second model": self.second}
        rows = [(name, f"{one.value:.4f}", f"{one.low:.4f}", f"{one.high:.4f}") for name, one in models.items()]
        rows.append(("difference", f"{self.difference:+.4f}", f"{self.low:+.4f}", f"{self.high:+.4f}"))
        return show_rows(str(self).partition(": ")[2], ("", "risk", "from", "to"), rows)
