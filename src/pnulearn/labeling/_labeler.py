"""The labelling loop: draw a row with a known probability, record its label, refit, and estimate the error."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from pnulearn._arrays import AnyArray
from pnulearn._numbers import read_count, read_number
from pnulearn._problem.alignment import refuse_misaligned
from pnulearn._problem.inputs import read_features, refuse_no_classifier
from pnulearn._problem.labels import UNLABELED
from pnulearn._problem.samples import Sampling, read_sampling
from pnulearn.labeling._draws import DONT_KNOW, RANDOM, Draw, Sample, as_draws, read_given
from pnulearn.labeling._estimates import AnswerErrors, Goal, LabelingProgress, as_prior, judge_error, judge_prior
from pnulearn.labeling._journal import Journal
from pnulearn.labeling._learner import CurrentModel, Learner, TrainingSet, default_model, first_rows
from pnulearn.labeling._pool import Pool
from pnulearn.labeling._session import Session
from pnulearn.labeling._strategies import LEAST_RANDOM, Strategy, read_mixture
from pnulearn.priors._resolve import read_share


class Labeler:
    """Chooses rows to label, fits a model to the answers and estimates its error with a confidence interval.

    Every row is drawn with a known sampling probability: some rows uniformly, others where a label helps the model
    most. Training and evaluation weight rows by these probabilities, so the intervals are valid for the population.

    Parameters
    ----------
    X : array or sparse matrix (rows, columns)
        Features of all rows.
    y : array (rows,), optional
        Existing labels, missing for all other rows. They are used for training, and for estimating the error and the
        class shares only if `sampling="random"`.
    classes : sequence, optional
        The classes, of two the negative one first; needed unless y shows them all.
    model : classifier, optional
        A `PNUClassifier` or any scikit-learn classifier; by default a `PNUClassifier` with few centres.
    mixture : mapping, str or function, optional
        Shares of strategies by name ("random", "margin", "risk_change", "diversity") or function
        (model, X, state) -> probabilities. The default is half "random" and half "margin".
    n_random : int, optional
        Number of rows drawn at random before the mixture is used: by default 20 for a `PNUClassifier`, whose margins
        are unreliable until the prior is roughly known, and 5 for models that use labelled rows only.
    goal : float or Goal
        Target half-width of the error's confidence interval.
    confidence : float
        Of all intervals.
    sampling : str
        "random" if the labels in y were drawn at random, "by_class" if not or not known.
    journal : str or Path, optional
        The file that stores draws and answers. If it exists, labelling resumes from it.
    about : dict, optional
        Description of the rows, stored in the journal; a journal with another description is refused.
    refit_every : int, optional
        Answers between two fits: by default one, and a tenth of all when there are more. 0 leaves fitting to `refresh`.
    repeat : float
        Share of the answers that are asked for a second time, such as 0.1, when they are ten answers old. Rows with two
        different answers show how often answers are wrong; the intervals allow for that.
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
    >>> progress = labeler.estimate()
    >>> progress.error.low <= 0.05 <= progress.error.high
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
        n_random: int | None = None,
        goal: float | Goal = 0.05,
        confidence: float = 0.95,
        sampling: Sampling = "by_class",
        journal: str | os.PathLike[str] | None = None,
        about: Mapping[str, Any] | None = None,
        refit_every: int | None = None,
        repeat: float = 0.0,
        random_state: int = 0,
    ) -> None:
        refuse_misaligned(X=X, y=y)
        self.X = read_features(BaseEstimator(), X, reset=True)
        self.n_rows = int(self.X.shape[0])
        self.classes, self.given = read_given(y, classes, self.n_rows)
        self.mixture = read_mixture(mixture)
        self.goal = Goal.of(goal)
        self.confidence = read_share(confidence, "confidence")
        self.refit_every = None if refit_every is None else read_count("refit_every", refit_every, 0)
        self.seed = read_count("random_state", random_state, 0)
        if model is not None:
            refuse_no_classifier(model, "model")
        self.history: list[LabelingProgress] = []
        model = model or default_model(self.seed)
        n_random = first_rows(model) if n_random is None else read_count("n_random", n_random, 0)
        self._learner = Learner(self.X, len(self.classes), model, self.seed)
        self._pool = Pool(self.X, self.given == UNLABELED, self.mixture, self.seed, n_random)
        self._session = Session(self._pool, self.classes, read_number("repeat", repeat, 0, 1))
        self._current_model = CurrentModel()
        self._n_fitted = -1
        if read_sampling(sampling) == "random":
            for draw, code in as_draws(self.given, self.seed):
                self._session.answer_log.add(draw, code)
        if journal is not None:
            self._open(journal, dict(about or {}))

    # ---- asking and answering

    def next(self, who: str = "") -> Draw | None:
        """The row to label now; the same again until it is answered. None when no row is left.

        Parameters
        ----------
        who : str
            Identifies the annotator. Two annotators are never shown the same row at once.
        """
        if self.refit_every != 0 and self._is_due():
            self.refresh()
        return self._session.next(who)

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
        self._session.answer(label, draw, who)

    def dont_know(self, draw: Draw | int | None = None, who: str = "") -> None:
        """Record that the label of a row cannot be determined. It is not drawn again, and the intervals exclude it.

        Parameters
        ----------
        draw : Draw or int, optional
            The draw or its number; by default what `next` last returned to `who`.
        who : str
            Who answers.
        """
        self._session.dont_know(draw, who)

    def skip(self, draw: Draw | int | None = None, who: str = "") -> None:
        """Put a row off; it comes back after ten other answers, and until then the intervals allow for any label.

        Parameters
        ----------
        draw : Draw or int, optional
            The draw or its number; by default what `next` last returned to `who`.
        who : str
            Who skips it.
        """
        self._session.skip(draw, who)

    def undo(self, who: str | None = None, draw: Draw | int | None = None) -> Draw | None:
        """Take the last answer back and return its draw, which is asked again; None if there is none.

        Parameters
        ----------
        who : str, optional
            Take back the last answer of this person; by default the last of all.
        draw : Draw or int, optional
            Take back the answer to this draw instead, whoever gave it.
        """
        return self._session.undo(who, draw.number if isinstance(draw, Draw) else draw)

    def describe_rows(self, describe: Callable[[int], dict[str, Any]]) -> None:
        """Write more about every drawn row into the journal, by which it can be found again in another table.

        Parameters
        ----------
        describe : function
            The row's number -> plain values by name.
        """
        self._session.describe = describe

    # ---- fitting and estimating

    def refresh(self) -> LabelingProgress:
        """Refit to all labels and estimate the error; safe to call from another thread while rows are answered."""
        with self._session.lock:
            n_answers, left, repeated = self._session.n_answers, self._pool.left.copy(), self._session.repeated
            drawn = self._session.answer_log.sample(self._session.open_draws)
            asked = np.array([draw.row for draw in self._session.answer_log.draws], dtype=int)
            is_judging = self.is_judging
        sample = drawn[drawn.is_known]
        training_set, n_classes = TrainingSet.of(sample, self.given, is_weighted=is_judging), len(self.classes)
        counts = dict(zip(self.classes, np.bincount(training_set.codes, minlength=n_classes).tolist(), strict=True))
        progress = LabelingProgress(len(sample), counts, None, {}, self.confidence, self.goal, int(left.sum()))
        trust = 1.0
        if is_judging:
            held = self._learner.hold_out(training_set, as_prior(judge_prior(sample, n_classes, self.confidence)))
            shares = judge_prior(drawn, n_classes, self.confidence, held)
            error = judge_error(drawn, held.spread(drawn.is_known).classes != drawn.codes, self.confidence)
            wrong = AnswerErrors.of(repeated, n_classes, self.confidence)
            if wrong is not None:
                error = wrong.correct(error, len(sample), self.confidence)
                shares = [wrong.correct(share, len(sample), self.confidence, is_class=True) for share in shares]
            progress = replace(progress, n_open=len(drawn) - len(sample), answer_errors=wrong)
            progress = progress.knowing(error, dict(zip(self.classes, shares, strict=True)), as_prior(shares))
            trust = held.trust
        current_model = self._learner.learn(training_set, progress.prior_estimate, trust)
        codes = self.given.copy()
        codes[training_set.rows] = training_set.codes
        asked = np.concatenate([asked, np.flatnonzero(self.given != UNLABELED)])
        chances = self._pool.weigh(current_model, codes, left, asked, n_classes)
        progress = replace(progress, model=current_model.model)
        with self._session.lock:
            self._current_model, self._n_fitted = current_model, n_answers
            self._pool.put(chances)
            self._remember(progress)
        return progress

    def estimate(self) -> LabelingProgress:
        """Current estimates of error and class shares, with confidence intervals."""
        if not self.history or (self.refit_every != 0 and self._n_fitted != self._session.n_answers):
            return self.refresh()
        return self.history[-1]

    def aim(self, goal: float | Goal) -> None:
        """Change the target width; earlier intervals remain valid.

        Parameters
        ----------
        goal : float or Goal
            The half-width of the error's interval, or of more.
        """
        self.goal = Goal.of(goal)
        if self.history:
            self.history[-1] = self.history[-1].aimed(self.goal)

    def mix(self, mixture: Mapping[str | Strategy, float] | str | Strategy) -> None:
        """Draw with another mixture from now on; rows drawn before keep the probabilities they had.

        Parameters
        ----------
        mixture : mapping, str or function
            As for a new `Labeler`. At least a tenth of the rows must be drawn at random to estimate the error.
        """
        parts = read_mixture(mixture)
        if self.is_judging and parts.get(RANDOM, (None, 0.0))[1] < LEAST_RANDOM:
            raise ValueError(
                f"At least {LEAST_RANDOM:.0%} of the rows must be drawn at random to estimate the error and the class "
                f"shares; got {dict(mixture) if isinstance(mixture, Mapping) else mixture}."
            )
        with self._session.lock:
            self.mixture = self._pool.mixture = parts
            self._n_fitted = -1

    @property
    def is_stale(self) -> bool:
        """Whether there are answers that the model has not been fitted to."""
        return self._n_fitted != self._session.n_answers

    @property
    def n_seen(self) -> int:
        """Answers that the latest estimates take into account."""
        return max(self._n_fitted, 0)

    @property
    def n_waiting(self) -> int:
        """Rows that were skipped, or shown and left."""
        return self._session.n_waiting

    @property
    def is_judging(self) -> bool:
        """Whether enough rows are drawn at random to estimate the error and the class shares."""
        return self.mixture.get(RANDOM, (None, 0.0))[1] >= LEAST_RANDOM

    @property
    def shares(self) -> dict[str, float]:
        """The mixture: the proportion of rows that each strategy chooses."""
        return {name: share for name, (_, share) in self.mixture.items()}

    @property
    def model(self) -> Any:
        """The latest fitted model; None until two classes have two labelled rows each."""
        return self._current_model.model

    @property
    def n_left(self) -> int:
        """Rows that were neither labelled nor asked."""
        return int(self._pool.left.sum())

    @property
    def n_answers(self) -> int:
        """Answers so far, "don't know" included."""
        return self._session.n_answers

    @property
    def answers(self) -> list[tuple[Draw, int]]:
        """All draws that were answered, with the class, or −2 for "don't know"."""
        return self._session.answered

    @property
    def draws(self) -> list[Draw]:
        """All draws so far."""
        return list(self._session.answer_log.draws)

    @property
    def counts(self) -> dict[Hashable, int]:
        """Labels of every class, those from before included."""
        codes = self.codes
        return {name: int(np.sum(codes == code)) for code, name in enumerate(self.classes)}

    @property
    def n_unknown(self) -> int:
        """Number of rows answered "don't know"."""
        return self._session.answer_log.codes.count(DONT_KNOW)

    @property
    def codes(self) -> AnyArray:
        """The class of every row, −1 where it is not known."""
        with self._session.lock:
            codes, sample = self.given.copy(), self._session.answer_log.sample()
        codes[sample.rows] = sample.codes
        return codes

    @property
    def sample(self) -> Sample:
        """The rows that were drawn and have a label, in the order of their draws."""
        with self._session.lock:
            return self._session.answer_log.sample()

    def close(self) -> None:
        """Close the journal."""
        self._session.close()

    def check_journal(self) -> None:
        """Raise `JournalError` if the journal was moved, deleted, replaced or changed by another program."""
        self._session.check_journal()

    # ---- inside

    def _is_due(self) -> bool:
        """Whether enough new answers have arrived to refit."""
        n = self._session.n_answers
        every = self.refit_every if self.refit_every is not None else max(1, n // 10)
        return self._n_fitted < 0 or abs(n - self._n_fitted) >= max(every, 1)

    def _remember(self, progress: LabelingProgress) -> None:
        self.history = [past for past in self.history if past.n_labels < progress.n_labels] + [progress]
        if progress.error is not None and progress.n_labels:
            self._session.remember(progress.n_labels, progress.error)

    def replay(self, events: Sequence[Mapping[str, Any]], source: str = "the journal") -> None:
        """Go through the events of a journal after its first line, as `read_journal` returns them.

        Parameters
        ----------
        events : sequence of mappings
            What happened.
        source : str
            Where it is written, for messages.
        """
        for n_labels, error in self._session.replay(events, source).items():
            past = LabelingProgress(n_labels, {}, error, {}, self.confidence, self.goal)
            self.history = [one for one in self.history if one.n_labels < n_labels] + [past]

    def _open(self, path: str | os.PathLike[str], about: dict[str, Any]) -> None:
        names = [name.item() if isinstance(name, np.generic) else name for name in self.classes]
        n_given = len(self._session.answer_log.draws)
        journal = Journal(path, {"n_rows": self.n_rows, "classes": names, "n_given": n_given, **about})
        try:
            self.replay(journal.events[1:], journal.path.name)
        except BaseException:
            journal.close()
            raise
        self._session.journal = journal
