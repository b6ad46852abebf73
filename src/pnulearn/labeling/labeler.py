"""The loop: draw a row with a known probability, hear its label, learn, and say how good that is."""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from pnulearn._arrays import AnyArray
from pnulearn._numbers import read_count
from pnulearn._problem.inputs import read_features, refuse_no_classifier
from pnulearn._problem.labels import UNLABELED, decode_labels, is_missing
from pnulearn.labeling.draws import DONT_KNOW, RANDOM, Draw, Sample
from pnulearn.labeling.interview import Interview
from pnulearn.labeling.journal import Journal
from pnulearn.labeling.judging import as_prior, judge_errors, judge_prior
from pnulearn.labeling.learner import Learner, Opinion, default_model
from pnulearn.labeling.standing import Goal, Standing, forecast
from pnulearn.labeling.strategies import LEAST_RANDOM, Strategy, read_mixture
from pnulearn.labeling.urn import Urn
from pnulearn.priors.given import read_share

# Power of the weights in training. One makes the training risk unbiased and noisy, nought ignores how rows were chosen;
# one half had the lowest error on the sets that it was chosen on (results/labeling-loop.md).
TEMPER = 0.5


class Labeler:
    """Chooses rows to label, learns from the answers and says how well it knows the error.

    Every row is drawn with a known probability, part at random and part where the model learns most; training and
    judging weigh rows by these probabilities, so that intervals hold although rows were not chosen at random.

    Parameters
    ----------
    X : array or sparse matrix (rows, columns)
        Features of all rows.
    y : array (rows,), optional
        Labels that are there already, missing for all other rows. They are learnt from, and say nothing about error and
        shares unless `labels="random"`.
    classes : sequence, optional
        The classes, of two the negative one first; needed unless y shows them all.
    model : classifier, optional
        What learns: a `PNUClassifier` or any of scikit-learn's; by default a `PNUClassifier` with few centres.
    mixture : mapping, str or function, optional
        Shares of strategies by name ("random", "margin", "risk_change", "diversity") or function
        (model, X, state) -> probabilities. The default is half "random" and half "margin".
    n_random : int
        So many rows are drawn at random before the mixture begins: a model of a few rows misleads more than it helps.
    goal : float or Goal
        The half-width of the error's interval that is wished for.
    confidence : float
        Of all intervals.
    labels : str
        "random" if the labels in y were drawn at random, "chosen" if not or not known.
    journal : str or Path, optional
        The file that keeps draws and answers. If it exists, the labelling goes on where it was.
    about : dict, optional
        What the journal says about the rows; a journal that says anything else is refused.
    refit_every : int, optional
        Answers between two fits: by default one, and a tenth of all when there are more. 0 leaves fitting to `refresh`.
    random_state : int
        Seed of draws, folds and centres.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> X, truth = make_blobs(300, centers=2, random_state=0)
    >>> labeler = Labeler(X, classes=["red", "blue"], refit_every=10)
    >>> for _ in range(30):
    ...     draw = labeler.next()
    ...     labeler.answer(["red", "blue"][truth[draw.row]])
    >>> standing = labeler.estimate()
    >>> standing.error.low <= 0.05 <= standing.error.high
    True
    """

    def __init__(
        self,
        X: Any,
        y: ArrayLike | None = None,
        *,
        classes: Sequence[Hashable] | None = None,
        model: Any = None,
        mixture: Mapping[str | Strategy, float] | str | Strategy | None = None,
        n_random: int = 20,
        goal: float | Goal = 0.05,
        confidence: float = 0.95,
        labels: str = "chosen",
        journal: str | os.PathLike[str] | None = None,
        about: Mapping[str, Any] | None = None,
        refit_every: int | None = None,
        random_state: int = 0,
    ) -> None:
        self.X = read_features(BaseEstimator(), X, reset=True)
        self.n_rows = int(self.X.shape[0])
        self.classes, self.given = _read_given(y, classes, self.n_rows)
        self.mixture = read_mixture(mixture)
        self.goal = _read_goal(goal)
        self.confidence = read_share(confidence, "confidence")
        self.refit_every = None if refit_every is None else read_count("refit_every", refit_every, 0)
        self.seed = read_count("random_state", random_state, 0)
        if model is not None:
            refuse_no_classifier(model, "model")
        self.history: list[Standing] = []
        self._learner = Learner(self.X, len(self.classes), model or default_model(self.seed), self.seed)
        self._urn = Urn(self.X, self.given == UNLABELED, self.mixture, self.seed, read_count("n_random", n_random, 0))
        self._interview = Interview(self._urn, self.classes)
        self._opinion = Opinion(None, None, np.zeros(0, dtype=int))
        self._n_fitted = -1
        if labels == "random":
            self._take_as_drawn()
        elif labels != "chosen":
            raise ValueError(f"labels={labels!r}: were they drawn at random ('random') or not ('chosen')?")
        if journal is not None:
            self._open(journal, dict(about or {}))

    # ---- asking and answering

    def next(self, who: str = "") -> Draw | None:
        """The row to label now; the same again until it is answered. None when no row is left.

        Parameters
        ----------
        who : str
            Who asks. Nobody is asked what another one is being asked.
        """
        if self.refit_every != 0 and self._is_stale():
            self.refresh()
        return self._interview.next(who)

    def answer(self, label: Hashable, draw: Draw | int | None = None, who: str = "") -> None:
        """Enter the label of a row; when this returns, it is on disk.

        Parameters
        ----------
        label : object
            One of the classes.
        draw : Draw or int, optional
            The draw or its number; by default what `next` last returned to `who`.
        who : str
            Who answers.
        """
        self._interview.answer(label, draw, who)

    def dont_know(self, draw: Draw | int | None = None, who: str = "") -> None:
        """Nobody can tell the label of a row; it is not asked again, and intervals are about rows that can be told.

        Parameters
        ----------
        draw : Draw or int, optional
            The draw or its number; by default what `next` last returned to `who`.
        who : str
            Who answers.
        """
        self._interview.dont_know(draw, who)

    def skip(self, draw: Draw | int | None = None, who: str = "") -> None:
        """Put a row off; it comes back after ten other answers.

        Parameters
        ----------
        draw : Draw or int, optional
            The draw or its number; by default what `next` last returned to `who`.
        who : str
            Who skips it.
        """
        self._interview.skip(draw, who)

    def undo(self, who: str | None = None) -> Draw | None:
        """Take the last answer back and return its draw, which is asked again; None if there is none.

        Parameters
        ----------
        who : str, optional
            Take back the last answer of this person; by default the last of all.
        """
        return self._interview.undo(who)

    # ---- learning and judging

    def refresh(self) -> Standing:
        """Learn from all labels so far and judge; safe to call from another thread while rows are answered."""
        with self._interview.lock:
            sample, n_answers, left = self._interview.book.sample(), self._interview.n_answers, self._urn.left.copy()
            asked = np.array([draw.row for draw in self._interview.book.draws], dtype=int)
        before = np.flatnonzero(self.given != UNLABELED)
        before = before[~np.isin(before, sample.rows)]
        shares = judge_prior(sample, len(self.classes), self.confidence) if self.is_judging else []
        rows = np.concatenate([sample.rows, before])
        codes = np.concatenate([sample.codes, self.given[before]])
        of_drawn = np.maximum(sample.training_weight, 0) ** TEMPER if self.is_judging else np.ones(len(sample))
        weight = np.concatenate([of_drawn, np.ones(len(before))])
        prior = as_prior(shares) if shares else None
        opinion = self._learner.learn(rows, codes, weight, prior, is_judged=self.is_judging)
        every = np.full(self.n_rows, UNLABELED)
        every[rows] = codes
        chances = self._urn.weigh(opinion, every, left, np.concatenate([asked, before]), len(self.classes))
        standing = self._judge(sample, opinion, shares, codes, int(left.sum()))
        with self._interview.lock:
            self._opinion, self._n_fitted = opinion, n_answers
            self._urn.put(opinion, chances)
            self._remember(standing)
        return standing

    def estimate(self) -> Standing:
        """What is known after the labels so far."""
        if not self.history or (self.refit_every != 0 and self._n_fitted != self._interview.n_answers):
            return self.refresh()
        return self.history[-1]

    def aim(self, goal: float | Goal) -> None:
        """Wish for another width; what was said before stays true.

        Parameters
        ----------
        goal : float or Goal
            The half-width of the error's interval, or of more.
        """
        self.goal = _read_goal(goal)
        if self.history:
            self.history[-1] = self._aimed(self.history[-1])

    def mix(self, mixture: Mapping[str | Strategy, float] | str | Strategy) -> None:
        """Draw with another mixture from now on; rows drawn before keep the probabilities they had.

        Parameters
        ----------
        mixture : mapping, str or function
            As for a new `Labeler`. At least a tenth of the rows has to stay random if anything is to be known.
        """
        parts = read_mixture(mixture)
        if self.is_judging and parts.get(RANDOM, (None, 0.0))[1] < LEAST_RANDOM:
            raise ValueError(
                f"At least {LEAST_RANDOM:.0%} of the rows has to be drawn at random, or nothing can be said about "
                f"error and shares; got {dict(mixture) if isinstance(mixture, Mapping) else mixture}."
            )
        with self._interview.lock:
            self.mixture = self._urn.mixture = parts
            self._n_fitted = -1

    @property
    def is_stale(self) -> bool:
        """Whether there are answers that were not learnt from yet."""
        return self._n_fitted != self._interview.n_answers

    @property
    def n_waiting(self) -> int:
        """Rows that were skipped, or shown and left."""
        return self._interview.n_waiting

    @property
    def is_judging(self) -> bool:
        """Whether enough rows are drawn at random to say anything about error and shares."""
        return self.mixture.get(RANDOM, (None, 0.0))[1] >= LEAST_RANDOM

    @property
    def shares(self) -> dict[str, float]:
        """The mixture: with what share every strategy chooses rows."""
        return {name: share for name, (_, share) in self.mixture.items()}

    @property
    def model(self) -> Any:
        """The model learnt last; None before two classes are known by two rows each."""
        return self._opinion.model

    @property
    def n_left(self) -> int:
        """Rows that were neither labelled nor asked."""
        return int(self._urn.left.sum())

    @property
    def n_answers(self) -> int:
        """Answers so far, "don't know" included."""
        return self._interview.n_answers

    @property
    def answers(self) -> list[tuple[Draw, int]]:
        """All draws that were answered, with the class, or −2 for "don't know"."""
        return self._interview.answered

    @property
    def draws(self) -> list[Draw]:
        """All draws so far."""
        return list(self._interview.book.draws)

    @property
    def counts(self) -> dict[Hashable, int]:
        """Labels of every class, those from before included."""
        codes = self.codes
        return {name: int(np.sum(codes == code)) for code, name in enumerate(self.classes)}

    @property
    def n_unknown(self) -> int:
        """Rows whose label nobody could tell."""
        return self._interview.book.codes.count(DONT_KNOW)

    @property
    def codes(self) -> AnyArray:
        """The class of every row, −1 where it is not known."""
        with self._interview.lock:
            codes, sample = self.given.copy(), self._interview.book.sample()
        codes[sample.rows] = sample.codes
        return codes

    @property
    def sample(self) -> Sample:
        """The rows that were drawn and have a label, in the order of their draws."""
        with self._interview.lock:
            return self._interview.book.sample()

    def close(self) -> None:
        """Let go of the journal."""
        self._interview.close()

    # ---- inside

    def _is_stale(self) -> bool:
        n = self._interview.n_answers
        every = self.refit_every if self.refit_every is not None else max(1, n // 10)
        return self._n_fitted < 0 or abs(n - self._n_fitted) >= max(every, 1)

    def _judge(self, sample: Sample, opinion: Opinion, shares: list[Any], codes: AnyArray, n_left: int) -> Standing:
        counts = np.bincount(codes, minlength=len(self.classes)).tolist()
        known = dict(zip(self.classes, counts, strict=True))
        if not shares:
            return Standing(len(sample), known, None, {}, self.confidence, self.goal, model=opinion.model)
        wrong = opinion.held_out[: len(sample)] != sample.codes
        error = judge_errors(sample, wrong, self.confidence)
        prior = dict(zip(self.classes, shares, strict=True))
        estimate = as_prior(shares)
        return self._aimed(
            Standing(
                len(sample),
                known,
                error,
                prior,
                self.confidence,
                self.goal,
                n_left=n_left,
                model=opinion.model,
                prior_estimate=estimate,
            )
        )

    def _aimed(self, standing: Standing) -> Standing:
        more, later = forecast(standing, self.goal)
        return replace(standing, goal=self.goal, n_more=more, after_ten=later)

    def _remember(self, standing: Standing) -> None:
        self.history = [past for past in self.history if past.n_labels < standing.n_labels] + [standing]
        if standing.error is not None and standing.n_labels:
            self._interview.remember(standing.n_labels, standing.error)

    def _take_as_drawn(self) -> None:
        """Labels from before as draws at random, in an order that does not hang on them."""
        rows = np.random.default_rng([self.seed, 2**31]).permutation(np.flatnonzero(self.given != UNLABELED))
        for number, row in enumerate(rows):
            n_left = self.n_rows - number
            self._interview.book.add(Draw(number, int(row), 1 / n_left, n_left), int(self.given[row]))

    def replay(self, events: Sequence[Mapping[str, Any]], source: str = "the journal") -> None:
        """Go through the events of a journal after its first line, as `read_journal` returns them.

        Parameters
        ----------
        events : sequence of mappings
            What happened.
        source : str
            Where it is written, for messages.
        """
        for n_labels, error in self._interview.replay(events, source).items():
            past = Standing(n_labels, {}, error, {}, self.confidence, self.goal)
            self.history = [one for one in self.history if one.n_labels < n_labels] + [past]

    def _open(self, path: str | os.PathLike[str], about: dict[str, Any]) -> None:
        names = [name.item() if isinstance(name, np.generic) else name for name in self.classes]
        n_given = len(self._interview.book.draws)
        journal = Journal(path, {"n_rows": self.n_rows, "classes": names, "n_given": n_given, **about})
        try:
            self.replay(journal.events[1:], journal.path.name)
        except BaseException:
            journal.close()
            raise
        self._interview.journal = journal


def _read_given(
    y: ArrayLike | None, classes: Sequence[Hashable] | None, n_rows: int
) -> tuple[list[Hashable], AnyArray]:
    """Class names and the codes of labels that are there already."""
    if classes is not None and len(set(classes)) < max(2, len(classes)):
        raise ValueError(f"Two different classes or more are needed, got {list(classes)}.")
    if y is None or all(is_missing(value) for value in np.asarray(y, dtype=object).ravel()):
        if classes is None:
            raise ValueError("Without any label nobody knows the classes: pass classes=['no', 'yes'], say.")
        return list(classes), np.full(n_rows, UNLABELED)
    labels = decode_labels(y, classes=None if classes is None else np.array(list(classes)))
    if len(labels.codes) != n_rows:
        raise ValueError(f"X has {n_rows} rows and y {len(labels.codes)}: they must be as many.")
    return labels.classes.tolist(), labels.codes


def _read_goal(goal: float | Goal) -> Goal:
    if isinstance(goal, Goal):
        goal.refuse_impossible()
        return goal
    return Goal(error=read_share(goal, "goal"))
