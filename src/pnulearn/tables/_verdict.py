"""The verdict on a model: one sentence, the concerns with their remedies, and the main figures.

`pnulearn fit`, `pnulearn info` and the head of the report show the same `Verdict`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pnulearn._estimators.classifier import PNUClassifier
from pnulearn._intervals.posterior_grids import ContradictedPrior
from pnulearn.metrics._estimate import Estimate
from pnulearn.metrics._rates import Quality, judge_decisions
from pnulearn.priors._estimate import PriorEstimate
from pnulearn.priors._sensitivity import Narrowing
from pnulearn.tables._model import TableModel

HARDLY_ANY = 0.1  # of the expected number of positive predictions
HARDLY_KNOWN = 0.3  # width of the interval of the prior
WIDE = 0.2  # width of the interval of the error
EVEN, SURE = 0.5, 0.95
N_RANDOM = 15
CHECK_PRIOR = "Check the prior, pass a range such as prior=(0.1, 0.3), or leave it out."
RANDOM = "drawn at random"  # the method of a prior that was estimated from label counts


@dataclass(frozen=True)
class Concern:
    """A reason not to trust a model.

    Parameters
    ----------
    name : str
        Identifier, for programs.
    what : str
        The problem, in one sentence.
    remedy : str
        What to do about it, in one sentence.
    grave : bool
        Whether the model should not be used until it is resolved.
    """

    name: str
    what: str
    remedy: str
    grave: bool = False

    def __str__(self) -> str:
        return f"{self.what} {self.remedy}"


@dataclass(frozen=True)
class Measure:
    """One number of a verdict as text: its name, its value with an interval, and its meaning."""

    name: str
    value: str
    interval: str
    meaning: str


@dataclass(frozen=True)
class Verdict:
    """The quality of a model, as text and numbers.

    Parameters
    ----------
    headline : str
        The summary in one sentence.
    concerns : tuple of Concern
        Reasons not to trust the model, the most severe first; the headline contains the first.
    quality : Quality or None
        Error, precision, recall and lift with intervals; None without held-out predictions.
    classes : tuple of str
        Names of the classes; of two, the second is positive.
    prior : PriorEstimate
        The class prior and its uncertainty.
    """

    headline: str
    concerns: tuple[Concern, ...]
    quality: Quality | None
    classes: tuple[str, ...]
    prior: PriorEstimate

    @property
    def advice(self) -> str:
        """The remedy of the first concern, if there is one."""
        return self.concerns[0].remedy if self.concerns else ""

    @property
    def measures(self) -> list[Measure]:
        """Error, baseline, precision, recall, lift and prior as text, most important first."""
        return [] if self.quality is None else list(_measures(self.quality, self.classes, self.prior))

    def facts(self) -> dict[str, Any]:
        """The verdict as plain values, for programs."""
        concerns = [{"name": c.name, "what": c.what, "do": c.remedy, "grave": c.grave} for c in self.concerns]
        return {"headline": self.headline, "advice": self.advice or None, "concerns": concerns} | self._numbers()

    def _numbers(self) -> dict[str, Any]:
        found = self.quality
        if found is None:
            return {}
        by_class = {"precision": found.precision, "recall": found.recall, "lift": found.lift}
        two = len(self.classes) == 2
        return {
            "error": _plain(found.error),
            "always_the_larger_class": {"answer": self.classes[found.larger], **_plain(found.yardstick)},
            "gain": _plain(found.gain),
            "chance_better": found.chance_better,
            **{
                name: _plain(values[1]) if two else dict(zip(self.classes, map(_plain, values), strict=True))
                for name, values in by_class.items()
            },
            "called": dict(zip(self.classes, found.called, strict=True)),
        }


def reach_verdict(model: TableModel, narrowing: Narrowing | None = None) -> Verdict:
    """The verdict on a model fitted to a table.

    Parameters
    ----------
    model : TableModel
        The model.
    narrowing : Narrowing, optional
        Expected narrowing of the prior's interval by labels drawn at random, from `Fitted.narrow_prior`.
    """
    classes, prior = tuple(model.classes), model.classifier.prior_estimate_
    quality, concerns = None, []
    try:
        quality = _quality(model.classifier)
    except ContradictedPrior as error:
        concerns.append(Concern("prior_contradicted", str(error), CHECK_PRIOR, grave=True))
    if model.classifier.prior_doubt_:
        concerns.append(Concern("prior_doubted", model.classifier.prior_doubt_, CHECK_PRIOR))
    concerns += leakage_concerns(model.record.giveaways)
    if quality is not None:
        n_labels = sum(model.record.counts.values())
        concerns += _concerns(quality, classes, prior, narrowing, n_labels)
    concerns.sort(key=lambda concern: not concern.grave)
    return Verdict(_headline(quality, classes, concerns), tuple(concerns), quality, classes, prior)


def _quality(classifier: PNUClassifier) -> Quality | None:
    """Quality from held-out predictions; None for models of older versions, which did not store them."""
    table = getattr(classifier, "decisions_", None)
    return None if table is None else judge_decisions(table, classifier.prior_estimate_, classifier.risk_)


def _headline(quality: Quality | None, classes: tuple[str, ...], concerns: list[Concern]) -> str:
    if concerns and concerns[0].grave:
        return f"Do not rely on this model yet: {_lower(concerns[0].what)}"
    if quality is None:
        return "The error of this model is unknown: no held-out predictions are available. Evaluate it on new rows."
    error = (
        f"it errs on about {percent(quality.error.value)} of new rows ({_span(quality.error)}); always answering "
        f"{classes[quality.larger]!r} errs on {percent(quality.yardstick.value)}."
    )
    return f"Use with care, {error} {concerns[0].what}" if concerns else f"Useful: {error}"


def _concerns(
    quality: Quality, classes: tuple[str, ...], prior: PriorEstimate, narrowing: Narrowing | None, n_labels: int
) -> Iterator[Concern]:
    shares = np.array([1 - prior.mean, prior.mean]) if len(classes) == 2 else prior.shares
    prior_remedy = _prior_remedy(classes, prior, narrowing)
    more_labels = f"Label more rows (now {n_labels}), or add informative columns."
    for name, called, share in zip(classes, quality.called, shares, strict=True):
        if called < HARDLY_ANY * share:
            what = f"It predicts {name!r} for {percent(called)} of the rows, but about {percent(share)} are expected."
            yield Concern("hardly_any", what, more_labels if prior.is_known else prior_remedy, grave=True)
    always = f"always answering {classes[quality.larger]!r}"
    remedy = more_labels if prior.is_known else prior_remedy
    if quality.chance_better < SURE:
        unlikely = quality.chance_better < EVEN or quality.gain.value <= 0
        what = (
            f"It is {'probably' if unlikely else 'perhaps'} no better than {always}, which errs on "
            f"{percent(quality.yardstick.value)}: the chance that it is better is {percent(quality.chance_better)}."
        )
        yield Concern("no_better", what, remedy, grave=unlikely)
    if prior.mass is not None and prior.high - prior.low > HARDLY_KNOWN:
        what = (
            f"The share of {classes[1]!r} is uncertain ({percent(prior.low)} to {percent(prior.high)}), and all "
            "figures depend on it."
        )
        yield Concern("prior_hardly_known", what, prior_remedy)
    if quality.error.high - quality.error.low > WIDE:
        what = f"The interval of its error is wide: {_span(quality.error)}."
        yield Concern("wide_interval", what, "Four times as many labels, drawn at random, would halve it.")


def _prior_remedy(classes: tuple[str, ...], prior: PriorEstimate, narrowing: Narrowing | None) -> str:
    ways = ["pass a range such as prior=(0.1, 0.3) if you know the share roughly"] if len(classes) == 2 else []
    if RANDOM not in prior.method:
        ways.append('pass sampling="random" if the labelled rows were drawn at random')
    n_labels, after = N_RANDOM, ""
    if narrowing is not None:
        n_labels, ends = narrowing.n_labels, map(percent, narrowing.interval_after)
        after = f", which would narrow it to about {' to '.join(ends)}"
    label = f'label {n_labels} rows drawn at random{after} (mark them in a column and pass at_random="COLUMN")'
    return _upper(f"{', or '.join([*ways, label])}.")


def leakage_concerns(giveaways: Mapping[str, float]) -> Iterator[Concern]:
    """Concerns about columns that leak the label."""
    for name, area in giveaways.items():
        what = f"Column {name!r} alone separates the labelled rows (AUC {area:.2f})."
        remedy = f"If it is filled in after the label is known, the model is worthless: pass drop=[{name!r}]."
        yield Concern("giveaway", what, remedy)


def _measures(quality: Quality, classes: tuple[str, ...], prior: PriorEstimate) -> Iterator[Measure]:
    always = f"always answering {classes[quality.larger]!r}"
    yield _share_measure("error", quality.error, "of new rows are misclassified")
    yield _share_measure("yardstick", quality.yardstick, f"would be, {always}")
    for code in range(1, 2) if len(classes) == 2 else range(len(classes)):
        name, of = classes[code], "" if len(classes) == 2 else f" {classes[code]}"
        yield _share_measure(
            f"precision{of}", quality.precision[code], f"of the rows predicted as {name!r} are correct"
        )
        yield _share_measure(f"recall{of}", quality.recall[code], f"of all {name!r} rows are predicted as such")
        lift = quality.lift[code]
        meaning = f"times as many {name!r} as among rows drawn at random"
        yield Measure(f"lift{of}", f"{lift.value:.1f}", f"{lift.low:.1f} to {lift.high:.1f}", meaning)
    if len(classes) == 2:
        interval = "given" if prior.is_known else f"{percent(prior.low)} to {percent(prior.high)}"
        yield Measure("prior", percent(float(prior.mean)), interval, f"of all rows are {classes[1]!r}")


def _share_measure(name: str, found: Estimate, meaning: str) -> Measure:
    certain = found.low == found.high
    interval = "" if certain else f"{percent(found.low)} to {percent(found.high)}"
    return Measure(name, percent(found.value), interval, meaning)


def _span(found: Estimate) -> str:
    return f"{percent(found.low)} to {percent(found.high)} with {100 * found.confidence:.0f} % confidence"


def percent(share: float) -> str:
    """A share in percent with few digits.

    >>> percent(0.1234), percent(0.0123), percent(0.00021), percent(1.0), percent(0.0)
    ('12 %', '1.2 %', '0.02 %', '100 %', '0 %')
    """
    value = 100 * min(max(share, 0.0), 1.0)
    digits = 0 if value >= 9.95 or value == 0 else 1 if value >= 0.095 else 2
    return f"{value:.{digits}f} %"


def _upper(sentence: str) -> str:
    return sentence[0].upper() + sentence[1:]


def _lower(sentence: str) -> str:
    return sentence[0].lower() + sentence[1:]


def _plain(found: Estimate) -> dict[str, float]:
    return {"value": found.value, "low": found.low, "high": found.high}
