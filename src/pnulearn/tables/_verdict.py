"""The verdict on a model: one sentence, the concerns with their remedies, and the main figures.

`pnulearn fit`, `pnulearn info` and the head of the report show the same `Verdict`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Literal

from pnulearn._arrays import AnyArray
from pnulearn._intervals.posterior_grids import ContradictedPrior
from pnulearn.metrics._estimate import Estimate
from pnulearn.metrics._rates import Quality, judge_decisions
from pnulearn.priors._combined import BOUND
from pnulearn.priors._estimate import PriorEstimate
from pnulearn.priors._resolve import from_one_class
from pnulearn.priors._sensitivity import Narrowing
from pnulearn.tables._model import TableModel

Kind = Literal["useful", "use_with_care", "not_known", "do_not_use"]
HARDLY_ANY = 0.1  # of the expected number of positive predictions
HARDLY_KNOWN = 0.3  # width of the interval of the prior
WIDE = 0.2  # width of the interval of the error
NOT_KNOWN = 0.4  # the same, above which nothing is known; above `WIDE` if the error of the larger class is inside
EVEN, SURE = 0.5, 0.95
WIDER = 1.5  # factor of the deviation of an estimated prior, at the ends of whose interval a useful model is better
AT_ENDS = 0.8  # chance that it is better there
N_RANDOM = 15
CHECK_PRIOR = "Check the prior, pass a range such as prior=(0.1, 0.3), or leave it out."
NONE = "–"  # in place of a number that does not exist
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
    kind : str
        "useful", "use_with_care", "not_known" or "do_not_use".
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
    assumption : str
        What was assumed of the sampling of labels, if it was not given.
    """

    kind: Kind
    headline: str
    concerns: tuple[Concern, ...]
    quality: Quality | None
    classes: tuple[str, ...]
    prior: PriorEstimate
    assumption: str = ""

    @property
    def advice(self) -> str:
        """The remedy of the first concern, if there is one."""
        return self.concerns[0].remedy if self.concerns else ""

    @property
    def details(self) -> list[str]:
        """What follows the headline: the advice, then the other concerns; every remedy is there once."""
        lines = [self.advice] if self.advice else []
        for place, concern in enumerate(self.concerns[1:], 1):
            is_new = concern.remedy not in (earlier.remedy for earlier in self.concerns[:place])
            lines.append(str(concern) if is_new else concern.what)
        return lines

    def __str__(self) -> str:
        return "\n".join(filter(None, (self.assumption, self.headline, *self.details)))

    @property
    def measures(self) -> list[Measure]:
        """Error, baseline, precision, recall, lift and prior as text, most important first."""
        return [] if self.quality is None else list(_measures(self.quality, self.classes, self.prior))

    def facts(self) -> dict[str, Any]:
        """The verdict as plain values, for programs."""
        concerns = [{"name": c.name, "what": c.what, "do": c.remedy, "grave": c.grave} for c in self.concerns]
        return {
            "kind": self.kind,
            "headline": self.headline,
            "advice": self.advice or None,
            "concerns": concerns,
            "assumption": self.assumption or None,
        } | self._numbers()

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
                name: self._figure(name, values, 1)
                if two
                else {one: self._figure(name, values, code) for code, one in enumerate(self.classes)}
                for name, values in by_class.items()
            },
            "called": dict(zip(self.classes, found.called, strict=True)),
        }

    def _figure(self, name: str, values: tuple[Estimate, ...], code: int) -> dict[str, float] | None:
        """None for the precision of a class that is never predicted."""
        assert self.quality is not None
        return _plain(values[code]) if self.quality.called[code] or name == "recall" else None


def reach_verdict(model: TableModel, narrowing: Narrowing | None = None) -> Verdict:
    """The verdict on a model fitted to a table.

    Parameters
    ----------
    model : TableModel
        The model.
    narrowing : Narrowing, optional
        Expected narrowing of the prior's interval by labels drawn at random, from `Fitted.narrow_prior`.
    """
    classifier, record = model.classifier, model.record
    return judge_held_out(
        getattr(classifier, "decisions_", None),  # models of older versions did not store them
        classifier.prior_estimate_,
        classifier.risk_,
        tuple(model.classes),
        n_labels=sum(record.counts.values()),
        doubt=classifier.prior_doubt_,
        giveaways=record.giveaways,
        narrowing=narrowing,
    )


def judge_held_out(
    decisions: AnyArray | None,
    prior: PriorEstimate,
    risk: Estimate | None,
    classes: tuple[str, ...],
    *,
    n_labels: int,
    doubt: str | None = None,
    giveaways: Mapping[str, float] = MappingProxyType({}),
    narrowing: Narrowing | None = None,
) -> Verdict:
    """The verdict on counts of held-out decisions, (classes + 1, classes), a class prior and an estimated error."""
    quality, concerns = None, []
    try:
        quality = None if decisions is None else judge_decisions(decisions, prior, risk)
    except ContradictedPrior as error:
        concerns.append(Concern("prior_contradicted", str(error), CHECK_PRIOR, grave=True))
    if doubt:
        concerns.append(Concern("prior_doubted", doubt, "A range such as prior=(0.1, 0.3) is possible, too."))
    concerns += leakage_concerns(giveaways)
    if quality is not None and decisions is not None:
        quality = _with_one_prior(quality, prior)
        concerns += _concerns(quality, classes, prior, narrowing, n_labels, decisions)
    concerns.sort(key=lambda concern: not concern.grave)
    kind = _kind(quality, concerns)
    return Verdict(kind, _headline(kind, quality, classes, prior, concerns), tuple(concerns), quality, classes, prior)


def _with_one_prior(quality: Quality, prior: PriorEstimate) -> Quality:
    """The error of the larger class under the prior that is shown, which need not be the mean of its distribution."""
    if prior.mass is None:
        return quality
    always = float(1 - prior.shares[quality.larger])
    gain = replace(quality.gain, value=always - quality.error.value)
    return replace(quality, yardstick=replace(quality.yardstick, value=always), gain=gain)


def _kind(quality: Quality | None, concerns: list[Concern]) -> Kind:
    if concerns and concerns[0].grave:
        return "do_not_use"
    if quality is None:
        return "not_known"
    width = quality.error.high - quality.error.low
    if width > NOT_KNOWN or (width > WIDE and quality.error.high >= quality.yardstick.value):
        return "not_known"
    return "use_with_care" if concerns else "useful"


def _headline(
    kind: Kind, quality: Quality | None, classes: tuple[str, ...], prior: PriorEstimate, concerns: list[Concern]
) -> str:
    if kind == "do_not_use":
        return f"Do not rely on this model yet: {_lower(concerns[0].what)}"
    if quality is None:
        return "The error of this model is unknown: no held-out predictions are available. Evaluate it on new rows."
    always = f"always answering {classes[quality.larger]!r} errs on {_with_range(quality.yardstick)}."
    if kind == "not_known":
        ends = f"{percent(quality.error.low)} to {percent(quality.error.high)}"
        return (
            f"Not known: it errs on {ends} of new rows with {100 * quality.error.confidence:.0f} % confidence; {always}"
        )
    error = f"it errs on about {percent(quality.error.value)} of new rows ({_span(quality.error)})"
    if prior.mass is not None:
        error += f", if {percent(prior.low)} to {percent(prior.high)} of all rows are {classes[1]!r}"
    error += "." if concerns and concerns[0].name == "no_better" else f"; {always}"  # which that concern says, too
    return f"Use with care, {error} {concerns[0].what}" if kind == "use_with_care" else f"Useful: {error}"


def _concerns(
    quality: Quality,
    classes: tuple[str, ...],
    prior: PriorEstimate,
    narrowing: Narrowing | None,
    n_labels: int,
    decisions: AnyArray,
) -> Iterator[Concern]:
    shares = prior.shares
    prior_remedy = _prior_remedy(classes, prior, narrowing)
    more_labels = f"Label more rows (now {n_labels}), or add informative columns."
    for place, (name, called, share) in enumerate(zip(classes, quality.called, shares, strict=True)):
        if called < HARDLY_ANY * share:
            expected = f"about {percent(share)}"
            if prior.mass is not None and prior.high - prior.low > HARDLY_KNOWN:
                ends = sorted(abs(1 - place - end) for end in (prior.low, prior.high))
                expected = " to ".join(map(percent, ends))
            what = f"It predicts {name!r} for {percent(called)} of the rows, but {expected} are expected."
            yield Concern("hardly_any", what, more_labels if prior.is_known else prior_remedy, grave=True)
    always = f"always answering {classes[quality.larger]!r}"
    remedy = more_labels if prior.is_known else prior_remedy
    if quality.chance_better < SURE:
        unlikely = quality.chance_better < EVEN or quality.gain.value <= 0
        what = (
            f"It is {'probably' if unlikely else 'perhaps'} no better than {always}, which errs on "
            f"{_with_range(quality.yardstick)}: the chance that it is better is {_chance(quality.chance_better)}."
        )
        yield Concern("no_better", what, remedy, grave=unlikely)
    elif prior.mass is not None:
        worst, chance, larger = _worst_prior(decisions, prior)
        if chance < AT_ENDS:
            what = (
                f"It is perhaps no better than always answering {classes[larger]!r} if {percent(worst)} of all rows "
                f"are {classes[1]!r} instead of "
                f"{percent(float(prior.value))}: the chance that it is better is then {_chance(chance)}."
            )
            yield Concern("depends_on_prior", what, remedy)
    if from_one_class(prior) and prior.method != BOUND and 0 in decisions[:2].sum(axis=1):
        name = classes[int(decisions[0].sum() == 0)]
        what = (
            f"Only {name!r} rows are labelled. If some of the other rows look just like them, fewer than "
            f"{percent(float(prior.value if name == classes[1] else 1 - prior.value))} of all rows are {name!r}."
        )
        yield Concern("prior_is_bound", what, 'Pass prior="bound" to allow for this.')
    if prior.mass is not None and prior.high - prior.low > HARDLY_KNOWN:
        what = (
            f"The share of {classes[1]!r} is uncertain ({percent(prior.low)} to {percent(prior.high)}), and all "
            "figures depend on it."
        )
        yield Concern("prior_hardly_known", what, prior_remedy)
    if quality.error.high - quality.error.low > WIDE:
        what = f"The interval of its error is wide: {_span(quality.error)}."
        yield Concern("wide_interval", what, "Four times as many labels, drawn at random, would halve it.")


def _worst_prior(decisions: AnyArray, prior: PriorEstimate) -> tuple[float, float, int]:
    """The prior of a wide interval at which a model is least likely to be better than the class that is larger there.

    Also the chance that it is better, and the code of that class.

    An estimate from unlabelled rows may be off by more than it says; a range that was given, or labels drawn at random,
    are taken as they are. Priors under which the decisions are impossible are left out.
    """
    is_sure = RANDOM in prior.method or prior.method.startswith("between")
    found = []
    for end in (prior if is_sure else prior.widened(WIDER)).within(SURE):
        for part in (1.0, 0.5, 0.25):  # of the way to this end
            share = float(prior.value + part * (end - prior.value))
            with suppress(ContradictedPrior):
                quality = judge_decisions(decisions, PriorEstimate.known(share))
                found += [] if quality is None else [(quality.chance_better, share, quality.larger)]
                break
    chance, share, larger = min(found, default=(0.0, float(prior.value), int(prior.value > 0.5)))
    return share, chance, larger


def _prior_remedy(classes: tuple[str, ...], prior: PriorEstimate, narrowing: Narrowing | None) -> str:
    ways = ["pass a range such as prior=(0.1, 0.3) if you know the share roughly"] if len(classes) == 2 else []
    if RANDOM not in prior.method and not from_one_class(prior):
        ways.append('pass sampling="random" if the labelled rows were drawn at random')
    n_labels, after = N_RANDOM, ""
    if narrowing is not None:
        n_labels, (low, high) = narrowing.n_labels, narrowing.interval_after
        after = f", which would narrow it to a range of about {100 * (high - low):.0f} points"
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
        is_called = quality.called[code] > 0
        meaning = f"of the rows predicted as {name!r} are correct" if is_called else f"no row is predicted as {name!r}"
        precision = _share_measure(f"precision{of}", quality.precision[code], meaning)
        yield precision if is_called else replace(precision, value=NONE, interval="")
        yield _share_measure(f"recall{of}", quality.recall[code], f"of all {name!r} rows are predicted as such")
        lift = quality.lift[code]
        meaning = f"times as many {name!r} as among rows drawn at random"
        values = (f"{lift.value:.1f}", f"{lift.low:.1f} to {lift.high:.1f}") if is_called else (NONE, "")
        yield Measure(f"lift{of}", *values, meaning)
    if len(classes) == 2:
        interval = "given" if prior.is_known else f"{percent(prior.low)} to {percent(prior.high)}"
        yield Measure("prior", percent(float(prior.value)), interval, f"of all rows are {classes[1]!r}")


def _share_measure(name: str, found: Estimate, meaning: str) -> Measure:
    certain = found.low == found.high
    interval = "" if certain else f"{percent(found.low)} to {percent(found.high)}"
    return Measure(name, percent(found.value), interval, meaning)


def _with_range(found: Estimate) -> str:
    """A share with its interval, if it has one."""
    ends = percent(found.low), percent(found.high)
    return percent(found.value) + (f" ({ends[0]} to {ends[1]})" if ends[0] != ends[1] else "")


def _chance(chance: float) -> str:
    """A probability below `SURE` in percent, rounded down, so that it never looks like one that is enough.

    >>> _chance(0.9499), _chance(0.5)
    ('94.9 %', '50 %')
    """
    return f"{math.floor(1000 * chance) / 10:g} %"


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
