"""`pnulearn compare`: which of two models is better, and whether that is more than chance."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pnulearn.cli.console import remark, remarks, show_facts
from pnulearn.cli.options import (
    As,
    Delimiter,
    Drop,
    Encoding,
    File,
    Json,
    Label,
    Missing,
    NoHeader,
    Positive,
    Prior,
    Unlabeled,
    existing_models,
    open_table,
    read_kinds,
    read_prior,
)
from pnulearn.cli.prior import prior_facts, settled_prior

if TYPE_CHECKING:
    from pnulearn._arrays import AnyArray
    from pnulearn._problem.labels import Labels
    from pnulearn.priors import PriorEstimate
    from pnulearn.tables import Table


def compare(
    file: File,
    label: Label,
    model: Annotated[list[Path], typer.Option("--model", "-m", help="A model file.", callback=existing_models)] = [],  # noqa: B006
    score: Annotated[list[str], typer.Option("--score", "-s", help="A column of scores or labels.")] = [],  # noqa: B006
    positive: Positive = None,
    unlabeled: Unlabeled = None,
    prior: Prior = "auto",
    threshold: Annotated[float | None, typer.Option(help="Scores above this mean positive.")] = None,
    kinds: As = [],  # noqa: B006
    drop: Drop = [],  # noqa: B006
    missing: Missing = [],  # noqa: B006
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    no_header: NoHeader = False,
    json: Json = False,
) -> None:
    """Compare two models or columns of scores, row by row.

    The rows must not have been used to fit either model. Name two of --model and --score.
    """
    if len(model) + len(score) != 2:
        raise typer.BadParameter("name two to compare, with --model FILE or --score COLUMN.")
    theta, wanted = read_prior(prior), read_kinds(kinds)
    table = open_table(file, missing, encoding, delimiter, no_header)
    from pnulearn.tables._scores import table_labels

    labels = table_labels(table, label, positive, unlabeled, remark)
    scores = [_model_scores(table, path, labels) for path in model]
    scores += [_column_scores(table, column, labels, threshold) for column in score]
    belief = settled_prior(theta, table, label, labels, [*drop, *score], wanted)
    show_facts(_facts([*map(str, model), *score], labels, scores, belief), json)


def _model_scores(table: Table, path: Path, labels: Labels) -> AnyArray:
    from pnulearn.tables._loading import load_table_model

    fitted = load_table_model(path)
    if fitted.record.fingerprint == table.fingerprint:
        remark(f"{path} was fitted to this very file, so its error looks smaller than it is.", kind="warning")
    predictions = fitted.predict(table)
    remarks(predictions.remarks)
    same = fitted.classifier.classes_.tolist() == labels.classes.tolist()
    if not same and fitted.classifier.classes_.tolist() != labels.classes[::-1].tolist():
        raise ValueError(f"{path} tells {' from '.join(fitted.classes)}, not the labels in this column.")
    return predictions.scores if same else -predictions.scores


def _column_scores(table: Table, column: str, labels: Labels, threshold: float | None) -> AnyArray:
    from pnulearn.tables._scores import score_column

    scores, notes = score_column(table, column, labels.classes, threshold)
    remarks(notes)
    return scores


def _facts(names: list[str], labels: Labels, scores: list[AnyArray], prior: PriorEstimate) -> dict[str, Any]:
    from pnulearn.metrics._comparison import compare_scores

    groups = [[values[labels.codes == code] for code in (1, 0, -1)] for values in scores]
    found = compare_scores(groups[0], groups[1], prior)
    first, second = names if names[0] != names[1] else (f"{names[0]} (first)", f"{names[1]} (second)")
    return {
        first: {"error": found.first.value, "from": found.first.low, "to": found.first.high},
        second: {"error": found.second.value, "from": found.second.low, "to": found.second.high},
        "difference": found.difference,
        "standard_error": found.stderr,
        "interval": [found.low, found.high],
        **prior_facts(prior),
        "verdict": found.sentence(f"with {first}", f"with {second}"),
    }
