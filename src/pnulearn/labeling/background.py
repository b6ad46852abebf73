"""Learning beside the person: a thread that fits again whenever there are new answers."""

from __future__ import annotations

import traceback
from threading import Event, Thread

from pnulearn.labeling.labeler import Labeler


class Refresher:
    """Keeps a labeler's model and estimates up to date in a thread of its own.

    Parameters
    ----------
    labeler : Labeler
        With `refit_every=0`, so that nobody who labels waits for a fit.
    """

    def __init__(self, labeler: Labeler) -> None:
        self.labeler = labeler
        self.trouble = ""
        self._wanted, self._stopped = Event(), Event()
        self._thread = Thread(target=self._run, daemon=True, name="pnulearn-labeling")
        self.is_busy = False

    def start(self) -> None:
        """Begin, with what is known already."""
        self._wanted.set()
        self._thread.start()

    def wake(self) -> None:
        """There is something new."""
        self._wanted.set()

    def stop(self) -> None:
        """Wait until the fit under way is done, and end."""
        self._stopped.set()
        self._wanted.set()
        self._thread.join()

    def _run(self) -> None:
        while self._wanted.wait() and not self._stopped.is_set():
            self._wanted.clear()
            self.is_busy = True
            try:
                self.labeler.refresh()
                self.trouble = ""
            except Exception as error:  # labelling goes on, and the page says what is wrong
                self.trouble = f"{type(error).__name__}: {error}"
                traceback.print_exc()
            self.is_busy = False
