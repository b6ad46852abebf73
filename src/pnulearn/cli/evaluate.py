"""`pnulearn evaluate`: the error of a model in the population, with an interval, from few labels."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pnulearn.cli.console import progress, remark, remarks, show_facts
from pnulearn.cli.options import (
    STREAM_ABOVE,
    As,
    AtRandom,
    Delimiter,
    Drop,
    Encoding,
    File,
    Json,
    Label,
    Missing,
    NoHeader,
    Overwrite,
    Positive,
    Prior,
    Sampling,
    StreamAbove,
    Unlabeled,
    Weights,
    existing_models,
    open_batches,
    open_table,
    read_kinds,
    read_prior,
    refuse_outputs,
)
from pnulearn.cli.prior import prior_facts, random_prior, settled_prior

if TYPE_CHECKING:
    from pnulearn._arrays import AnyArray
    from pnulearn._problem.labels import Labels
    from pnulearn.metrics._estimate import RiskEstimate
    from pnulearn.priors import PriorEstimate
    from pnulearn.tables import Table
    from pnulearn.tables._classifier import TableModel


def evaluate(
    file: File,
    label: Label,
    model: Annotated[
        Path | None, typer.Option("--model", "-m", help="Judge this model file.", callback=existing_models)
    ] = None,
    score: Annotated[str | None, typer.Option("--score", "-s", help="Judge this column of scores or labels.")] = None,
    helper: Annotated[
        list[str],
        typer.Option("--helper", help="A column with a second model's labels, probabilities or scores. Repeatable."),
    ] = [],  # noqa: B006
    positive: Positive = None,
    unlabeled: Unlabeled = None,
    prior: Prior = "auto",
    at_random: AtRandom = None,
    sampling: Sampling = None,
    weights: Weights = None,
    threshold: Annotated[float | None, typer.Option(help="Scores above this mean positive.")] = None,
    confidence: Annotated[float, typer.Option(help="Confidence of the interval.")] = 0.95,
    costs: Annotated[
        tuple[float, float] | None,
        typer.Option(help="Also say what errors cost per row: of a missed positive and of a false alarm, e.g. 5 1."),
    ] = None,
    report: Annotated[Path | None, typer.Option(help="Write an HTML page about the evaluation here.")] = None,
    overwrite: Overwrite = False,
    kinds: As = [],  # noqa: B006
    drop: Drop = [],  # noqa: B006
    missing: Missing = [],  # noqa: B006
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    no_header: NoHeader = False,
    stream_above: StreamAbove = STREAM_ABOVE,
    json: Json = False,
) -> None:
    """Estimate the error of a model from few labels.

    Of a model file, or of a column of scores from any other tool. The rows must not have been used to fit the model.
    """
    if (model is None) == (score is None):
        raise typer.BadParameter("name either --model FILE or --score COLUMN.")
    refuse_outputs(
        {"--report": (report, "a report")}, overwrite, file=file, **{} if model is None else {"model": model}
    )
    if report is not None and not (find_spec("matplotlib") and find_spec("jinja2")):
        raise ImportError("A report needs more packages: pip install 'pnulearn[report]'")
    theta: Any = read_prior(prior)
    wanted = read_kinds(kinds)
    if model is not None and threshold is not None:
        raise typer.BadParameter("--threshold is for --score COLUMN: a model brings its own.")
    batches = open_batches(file, missing, encoding, delimiter, no_header, stream_above)
    streamed = batches.is_streamed
    head = batches.head() if streamed else open_table(file, missing, encoding, delimiter, no_header)
    from pnulearn.tables._provenance import find_origins, read_weights
    from pnulearn.tables._scores import gather

    fitted = None if model is None else _load(model)
    origins = find_origins(head, label, at_random, weights, drop)
    judged = [*helper, *([score] if score is not None else [])]
    gathered, table, scores = None, head, None
    told = theta is not None or fitted is not None or origins.at_random is not None or sampling == "random"
    estimates = isinstance(theta, str) or not told  # the prior, from rows with all their columns
    if streamed:
        needed = [*judged, *filter(None, (origins.at_random, origins.weights))]
        with progress("Judging all rows", True) as advance:
            gathered = gather(batches, label, needed, fitted, advance, draw=estimates)
        table, scores = gathered.table, gathered.scores
        remarks(gathered.remarks)
    if fitted is not None:
        labels, scores = _model_scores(table, fitted, label, positive, unlabeled, scores)
        theta = fitted.classifier.prior_estimate_ if theta is None else theta
    else:
        labels, scores = _column_scores(table, label, score or "", positive, unlabeled, threshold)
    remarks([origins.remark] if origins.remark else [])
    if origins.at_random is not None:
        counted = random_prior(table, origins.at_random, labels)
        theta = counted if prior == "auto" else theta
    dropped = [*origins.drop, origins.at_random or "", origins.weights or ""]
    left = [] if set(head.names) <= {label, *judged, *dropped} else judged  # only scores could tell the prior then
    theta = _from_labels(theta, labels, sampling)
    if gathered is None or not estimates:
        belief = settled_prior(theta, head, label, labels, [*dropped, *left], wanted)
    else:
        some, known = gathered.sample(labels)
        belief = settled_prior(theta, some.table, label, known, [*dropped, *left], wanted, some.excerpt)
    opinions, weight = _opinions(table, helper, labels), read_weights(table, origins.weights)
    risk, alone = _judge(labels, scores, belief, confidence, weight, opinions)
    if report is not None:
        _write_page(report, file, score or str(model), labels, scores, belief, risk, alone, table, overwrite)
    facts = _facts(labels, belief, risk, alone)
    if costs is not None:
        facts |= _cost_facts(labels, scores, belief, confidence, weight, opinions, costs)
    show_facts(facts, json)


def _load(path: Path) -> TableModel:
    from pnulearn.tables._loading import load_table_model

    return load_table_model(path)


def _from_labels(prior: Any, labels: Labels, sampling: str | None) -> Any:
    """The prior as given; if labels were drawn at random, with what they say of it."""
    if sampling != "random" or isinstance(prior, float | str):
        return prior
    from pnulearn.priors import PriorEstimate
    from pnulearn.priors.given import read_prior as read_belief

    counted = PriorEstimate.of_counts(labels.counts)
    return counted if prior is None else read_belief(prior).combine(counted)


def _opinions(table: Table, columns: list[str], labels: Labels) -> list[AnyArray] | None:
    """What second models say on P, N and U, as log-odds."""
    if not columns:
        return None
    from pnulearn.metrics._second_model import read_opinions, take_opinions
    from pnulearn.tables._scores import opinion_column

    given = {name: opinion_column(table, name, labels.classes) for name in columns}
    return take_opinions(read_opinions(given, labels.classes, len(labels.codes)), labels.groups)


def _model_scores(
    table: Table,
    fitted: TableModel,
    label: str,
    positive: str | None,
    unlabeled: str | None,
    scores: AnyArray | None = None,
) -> tuple[Labels, AnyArray]:
    """Labels and scores of all rows; `scores` if they are known already."""
    from pnulearn.tables._scores import model_labels, refuse_other_positive

    if fitted.record.fingerprint == table.fingerprint:
        remark("The model was fitted to this very file, so the error looks smaller than it is.", kind="warning")
    if scores is None:
        predictions = fitted.predict(table)
        remarks(predictions.remarks)
        scores = predictions.scores
    labels = model_labels(table, fitted, label, unlabeled, remark)
    if positive is not None:
        refuse_other_positive(fitted, positive)
    return labels, scores


def _column_scores(
    table: Table, label: str, score: str, positive: str | None, unlabeled: str | None, threshold: float | None
) -> tuple[Labels, AnyArray]:
    from pnulearn.tables._scores import score_column, table_labels

    labels = table_labels(table, label, positive, unlabeled, remark)
    scores, notes = score_column(table, score, labels.classes, threshold)
    remarks(notes)
    return labels, scores


def _judge(
    labels: Labels,
    scores: AnyArray,
    prior: PriorEstimate,
    confidence: float,
    weight: AnyArray | None = None,
    opinions: list[AnyArray] | None = None,
    costs: tuple[float, float] = (1.0, 1.0),
) -> tuple[RiskEstimate, RiskEstimate | None]:
    """The error rate, and without the helper if there is one."""
    from pnulearn.metrics._risk import estimate_risk
    from pnulearn.metrics._second_model import estimate_with_second_model
    from pnulearn.metrics._variance import loss_samples

    groups = [scores[labels.codes == code] for code in (1, 0, -1)]
    weights = None if weight is None else [weight[labels.codes == code] for code in (1, 0, -1)]
    alone = estimate_risk(groups, prior, confidence=confidence, weights=weights, costs=costs)
    if opinions is None:
        return alone, None
    samples = loss_samples(groups, weights=weights)
    return estimate_with_second_model(alone, samples, opinions, prior, "rate", costs), alone


def _cost_facts(
    labels: Labels,
    scores: AnyArray,
    prior: PriorEstimate,
    confidence: float,
    weight: AnyArray | None,
    opinions: list[AnyArray] | None,
    costs: tuple[float, float],
) -> dict[str, Any]:
    """What errors cost per row of the population."""
    found, _ = _judge(labels, scores, prior, confidence, weight, opinions, costs)
    return {"cost_per_row": found.value, "cost_interval": [found.low, found.high]}


def _facts(labels: Labels, prior: PriorEstimate, risk: RiskEstimate, alone: RiskEstimate | None) -> dict[str, Any]:
    names = [str(name) for name in labels.classes.tolist()]
    n_negative, n_positive = map(int, labels.counts)
    helped: dict[str, Any] = {}
    if alone is not None:
        helped = {"helper": getattr(risk, "helper", 0.0), "interval_without_helper": [alone.low, alone.high]}
    return {
        "error_rate": risk.value,
        "standard_error": risk.stderr,
        "interval": [risk.low, risk.high],
        "confidence": risk.confidence,
        **prior_facts(prior),
        "mix": risk.mix,
        **helped,
        "rows": {names[1]: n_positive, names[0]: n_negative, "unlabelled": labels.n_unlabeled},
    }


def _write_page(
    path: Path,
    source: Any,
    subject: str,
    labels: Labels,
    scores: AnyArray,
    prior: PriorEstimate,
    risk: RiskEstimate,
    alone: RiskEstimate | None,
    table: Table,
    overwrite: bool,
) -> None:
    from pnulearn.report.evaluation import Judged, write_evaluation

    negative, positive = (str(name) for name in labels.classes.tolist())
    column = table.column(subject) if subject in table.names else None
    values = column.values if column is not None and column.is_numeric else None
    probabilities = values if values is not None and values.min() >= 0 and values.max() <= 1 else None
    judged = Judged(str(source), subject, (negative, positive), labels.codes, scores, prior, risk, alone, probabilities)
    write_evaluation(judged, path, overwrite=overwrite)
    remark(f"The page is in {path}.")
