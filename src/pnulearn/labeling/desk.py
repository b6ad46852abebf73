"""Who has which row before them: nobody is asked what somebody else is being asked."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE = 900.0  # seconds after which a row that somebody was shown is given to whoever asks
COMES_BACK = 10  # answers after which a skipped row is shown again


class Desk:
    """Draws that wait for an answer, by number.

    Parameters
    ----------
    clock : function
        The time in seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._free: list[int] = []
        self._held: dict[int, tuple[str, float]] = {}
        self._skipped: dict[int, int] = {}

    @property
    def n_waiting(self) -> int:
        """Rows that were skipped, or that nobody looks at any more."""
        return len(self._free) + len(self._skipped)

    def holder(self, number: int) -> str | None:
        """Who is looking at a draw.

        Parameters
        ----------
        number : int
            The draw.
        """
        return self._held.get(number, (None, 0.0))[0]

    def hand_out(self, who: str, n_answers: int, nothing_else: bool = False) -> int | None:
        """The draw that somebody should see now, or None if a new one is to be made.

        Parameters
        ----------
        who : str
            Who asks.
        n_answers : int
            Answers so far, which say when skipped rows come back.
        nothing_else : bool
            Whether no other rows are left; then skipped rows come back at once.
        """
        own = [number for number, (holder, _) in self._held.items() if holder == who]
        now = self._clock()
        late = [number for number, (_, since) in self._held.items() if now - since > PATIENCE]
        due = [number for number, until in self._skipped.items() if nothing_else or until <= n_answers]
        number = next(iter([*own, *self._free, *due, *late]), None)
        if number is not None:
            self.hold(number, who)
        return number

    def hold(self, number: int, who: str) -> None:
        """Somebody is looking at this draw.

        Parameters
        ----------
        number : int
            The draw.
        who : str
            Who looks at it.
        """
        self.clear(number)
        self._held[number] = (who, self._clock())

    def release(self, number: int) -> None:
        """Nobody is looking at this draw; the next one who asks will.

        Parameters
        ----------
        number : int
            The draw.
        """
        self.clear(number)
        self._free.append(number)

    def skip(self, number: int, n_answers: int) -> None:
        """Put a draw off.

        Parameters
        ----------
        number : int
            The draw.
        n_answers : int
            Answers so far.
        """
        self.clear(number)
        self._skipped[number] = n_answers + COMES_BACK

    def clear(self, number: int) -> None:
        """Take a draw off the desk.

        Parameters
        ----------
        number : int
            The draw.
        """
        self._held.pop(number, None)
        self._skipped.pop(number, None)
        if number in self._free:
            self._free.remove(number)
