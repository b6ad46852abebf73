"""`pnulearn advise`: what theory promises before anything is fitted."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from pnulearn.cli.console import show_facts
from pnulearn.cli.options import (
    Delimiter,
    Drop,
    Encoding,
    Json,
    Missing,
    NoHeader,
    Positive,
    Prior,
    Unlabeled,
    chosen_prior,
    open_table,
)
from pnulearn.cli.prior import prior_from_columns


def advise(
    file: Annotated[str | None, typer.Argument(metavar="[FILE]", help="Table to count rows in, or - .")] = None,
    label: Annotated[str | None, typer.Option("--label", "-l", help="Column with the labels of FILE.")] = None,
    positives: Annotated[int | None, typer.Option(min=1, help="Number of positive rows, without FILE.")] = None,
    negatives: Annotated[int | None, typer.Option(min=1, help="Number of negative rows, without FILE.")] = None,
    unlabelled: Annotated[int | None, typer.Option(min=1, help="Number of unlabelled rows, without FILE.")] = None,
    errors: Annotated[float, typer.Option(min=0.001, max=0.5, help="Error rate you expect on either class.")] = 0.2,
    positive: Positive = None,
    unlabeled: Unlabeled = None,
    prior: Prior = "auto",
    drop: Drop = [],  # noqa: B006
    missing: Missing = [],  # noqa: B006
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    no_header: NoHeader = False,
    json: Json = False,
) -> None:
    """Say whether unlabelled rows will help, and what to label next.

    From a table (FILE and --label), or from numbers (--positives, --negatives, --unlabelled and --prior).
    """
    theta = chosen_prior(prior)
    if file is None:
        if positives is None or negatives is None or unlabelled is None or not isinstance(theta, float):
            raise typer.BadParameter("name FILE and --label, or --positives, --negatives, --unlabelled and --prior.")
        show_facts(facts(theta, positives, negatives, unlabelled, errors), json)
        return
    if label is None:
        raise typer.BadParameter("name the label column of FILE with --label.")
    from pnulearn.tables.scores import table_labels

    table = open_table(file, missing, encoding, delimiter, no_header)
    labels = table_labels(table, label, positive, unlabeled)
    if not isinstance(theta, float):
        theta = prior_from_columns(table, label, labels, drop, theta)
    n_negative, n_positive = map(int, labels.counts)
    if not (n_positive and n_negative and labels.n_unlabeled):
        raise ValueError("Advice needs positive, negative and unlabelled rows; with one class missing use PU or NU.")
    show_facts(facts(theta, n_positive, n_negative, labels.n_unlabeled, errors), json)


def facts(prior: float, n_positive: int, n_negative: int, n_unlabeled: int, errors: float) -> dict[str, Any]:
    """The bounds' comparison of PU and NU with PN, and what U does to the variance of the estimated error."""
    from pnulearn.theory import Psi, nu_against_pn, pu_against_pn, unlabeled_enough

    sizes = n_positive, n_negative, n_unlabeled
    psi = Psi.of_rates(errors, errors, prior=prior, sizes=sizes)
    alpha = {"pu": pu_against_pn(prior, *sizes), "nu": nu_against_pn(prior, *sizes)}
    better = [name.upper() for name, value in alpha.items() if value < 1]
    scarce = "negative" if psi.negative > psi.positive else "positive"
    return {
        "rows": {"positive": n_positive, "negative": n_negative, "unlabelled": n_unlabeled},
        "prior": prior,
        "pu_against_pn": alpha["pu"],
        "nu_against_pn": alpha["nu"],
        "best_mix": psi.best_mix,
        "variance_ratio": psi.ratio(psi.best_mix),
        "unlabelled_rows_for_most_of_it": round(unlabeled_enough(psi, n_unlabeled)),
        "label_next": scarce,
        "advice": (
            f"Use PNU. The bounds favour {' and '.join(better) or 'PN'}; at the best mix the variance of the estimated "
            f"error is {psi.ratio(psi.best_mix):.0%} of that without unlabelled rows. Label more {scarce} rows."
        ),
    }
