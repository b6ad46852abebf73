"""What every way of learning shares: the candidates, how they are weighed, and what is concluded from it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._basis.basis import Basis
from pnulearn._basis.kernels import KERNELS
from pnulearn._basis.views import GIVEN
from pnulearn._learning.doubt import doubt_prior
from pnulearn._learning.judging import FOR_ONE_ROW, count_held_out, judge_model
from pnulearn._learning.learnt import Learnt
from pnulearn._learning.search import Model
from pnulearn._learning.selection import SearchTable, average_weights, best_candidate
from pnulearn._learning.settings import Settings
from pnulearn._learning.tally import Tally
from pnulearn._problem.samples import Samples
from pnulearn._solvers.candidates import Mixes
from pnulearn.priors.estimate import PriorEstimate


@dataclass(frozen=True, eq=False)
class Contest:
    """The candidates of a fit, bandwidth × mix × alpha, and what is settled before any of them is tried."""

    settings: Settings
    classes: AnyArray
    prior: PriorEstimate
    basis: Basis
    mixes: Mixes

    @property
    def shape(self) -> tuple[int, int, int]:
        return len(self.basis.bandwidths), len(self.mixes), len(self.settings.alphas)

    @property
    def n_candidates(self) -> int:
        return int(np.prod(self.shape))

    def tabulate(self, tallies: Sequence[Tally]) -> SearchTable:
        """Validation results and weights, from a tally per bandwidth, or none if nothing could be held out.

        Where errors were not counted (NaN), the squared loss stands in for them.
        """
        zero_one = squared = np.zeros(self.shape)
        n_labels = 0.0
        if tallies:
            zero_one = np.stack([tally.zero_one(self.prior.shares) for tally in tallies])
            squared = np.stack([tally.squared(self.prior.shares) for tally in tallies])
            n_labels = tallies[0].effective_labels(self.prior.shares)
        weight = self._weigh(squared if np.isnan(zero_one).any() else zero_one, squared, n_labels)
        values = {"bandwidth": self.basis.bandwidths, "mix": self.mixes.values, "alpha": self.settings.alphas}
        return SearchTable(values, zero_one, squared, weight, self.basis.representations)

    def conclude(
        self, search: SearchTable, model: Model, validated: Samples, feature_names: AnyArray | None = None
    ) -> Learnt:
        """What was learnt: the model, the candidate with most weight, and the risk on the `validated` rows."""
        bandwidth, mix, alpha = search.best
        scores = model.validation_scores
        if not all(np.isfinite(part).all() for part in (model.coef, model.intercept, search.weight)):
            raise self._unsolvable()
        judging = scores if model.judging_scores is None else model.judging_scores
        function = self.basis.name_learnt(model.used, model.coef, model.intercept)
        return Learnt(
            classes=self.classes,
            prior=self.prior.value,
            prior_interval=self.prior.interval,
            prior_estimate=self.prior,
            risk_used=self.mixes.risk,
            search=search,
            bandwidth=float(search.bandwidths[bandwidth]),
            mix=float(search.mixes[mix]),
            alpha=float(search.alphas[alpha]),
            columns=GIVEN if search.columns is None else search.columns[bandwidth],
            risk=judge_model(
                validated,
                judging,
                self._final_scores(function),
                self.prior,
                model.tossed,
                allowance=FOR_ONE_ROW if model.lacks_one else 1.0,
            ),
            decisions=count_held_out(validated, judging),
            prior_doubt=self._doubt(validated, judging),
            n_features_in=validated.X.shape[1],
            feature_names_in=feature_names,
            validation_scores=scores[0] if len(self.classes) == 2 else scores.T,
            judging_scores=judging[0] if len(self.classes) == 2 else judging.T,
            function=function,
        )

    @contextmanager
    def solving(self) -> Iterator[None]:
        """Matrices that cannot be inverted are a matter of penalties and scales, and are said to be so."""
        try:
            yield
        except np.linalg.LinAlgError as error:
            raise self._unsolvable() from error

    def _unsolvable(self) -> ValueError:
        alphas, bandwidths = self.settings.alphas, self.basis.bandwidths
        found = f"alpha from {alphas.min():g} to {alphas.max():g}"
        if self.basis.has_bandwidth:
            found += f", bandwidth from {bandwidths.min():g} to {bandwidths.max():g}"
        return ValueError(
            f"The fit did not give finite numbers ({found}). Pass a greater alpha, e.g. alpha=1e-5, bring the columns "
            "of X to a common scale, e.g. with sklearn.preprocessing.StandardScaler, and leave out extreme bandwidths "
            "and sample weights."
        )

    def _final_scores(self, function: dict[str, AnyArray]) -> Callable[[AnyArray], AnyArray]:
        """Scores (K, n) of rows by the model as it will be used."""
        kernel, learnt = KERNELS[self.settings.kernel], SimpleNamespace(**function)
        return lambda X: kernel.scores(learnt, X).T

    def _doubt(self, validated: Samples, scores: AnyArray) -> str | None:
        """What speaks against a prior that was given."""
        if not self.prior.is_known or len(self.classes) > 2:
            return None
        return doubt_prior(validated, scores[0], float(self.prior))

    def _weigh(self, zero_one: AnyArray, squared: AnyArray, n_labels: float) -> AnyArray:
        if self.settings.selection == "average":
            return average_weights(zero_one, squared, n_labels, shares=self.mixes.shares)
        order = {"alphas": self.settings.alphas, "mixes": self.mixes.values}
        return best_candidate(zero_one, squared, n_labels, tie_break=self.settings.tie_break, **order)
