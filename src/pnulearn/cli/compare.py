"""`pnulearn compare`: the difference in error of two models, with a confidence interval."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pnulearn.cli.console import remark, remarks, show_facts
from pnulearn.cli.options import COLUMNS, File, Json, Label, existing_models, open_table
from pnulearn.tables._options import TableOptions

if TYPE_CHECKING:
    from pnulearn._arrays import AnyArray
    from pnulearn._problem.labels import Labels
    from pnulearn.priors import PriorEstimate
    from pnulearn.tables import Table


def compare(
    file: File,
    label: Label,
    options: Annotated[TableOptions, "prior", *COLUMNS],
    model: Annotated[list[Path], typer.Option("--model", "-m", help="A model file.", callback=existing_models)] = [],  # noqa: B006
    score: Annotated[list[str], typer.Option("--score", "-s", help="A column of scores or labels.")] = [],  # noqa: B006
    threshold: Annotated[float | None, typer.Option(help="Scores above this mean positive.")] = None,
    json: Json = False,
) -> None:
    """Compare two models or columns of scores, row by row.

    The rows must not have been used to fit either model. Name two of --model and --score.
    """
    if len(model) + len(score) != 2:
        raise typer.BadParameter("name two to compare, with --model FILE or --score COLUMN.")
    from pnulearn.tables._evaluation import score_column, table_labels
    from pnulearn.tables._prior import settle_prior

    table = open_table(file, options)
    labels = table_labels(table, label, options.pos_label, options.unlabeled)
    scores = [_model_scores(table, path, labels) for path in model]
    scores += [score_column(table, column, labels.classes, threshold) for column in score]
    belief = settle_prior(options.prior, table, label, labels, [*options.drop, *score], options.kinds)
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


def _facts(names: list[str], labels: Labels, scores: list[AnyArray], prior: PriorEstimate) -> dict[str, Any]:
    from pnulearn.metrics._comparison import compare_scores
    from pnulearn.tables._prior import prior_facts

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
