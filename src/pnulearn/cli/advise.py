"""`pnulearn advise`: the expected benefit of unlabelled rows and of more labels, before anything is fitted."""

from __future__ import annotations

from math import isfinite
from typing import Annotated, Any

import typer

from pnulearn.cli.console import in_percent, show_facts, show_lines
from pnulearn.cli.options import COLUMNS, Json, existing_tables, open_table
from pnulearn.tables._options import TableOptions


def advise(
    options: Annotated[TableOptions, "prior", "sampling", *COLUMNS],
    file: Annotated[
        str | None, typer.Argument(metavar="[FILE]", help="Table to count rows in, or - .", callback=existing_tables)
    ] = None,
    label: Annotated[str | None, typer.Option("--label", "-l", help="Column with the labels of FILE.")] = None,
    n_positive: Annotated[int | None, typer.Option(min=0, help="Number of positive rows, without FILE.")] = None,
    n_negative: Annotated[int | None, typer.Option(min=0, help="Number of negative rows, without FILE.")] = None,
    n_unlabeled: Annotated[int | None, typer.Option(min=0, help="Number of unlabelled rows, without FILE.")] = None,
    errors: Annotated[float | None, typer.Option(min=0.001, max=0.5, help="Error rate on either class.")] = None,
    width: Annotated[
        float | None,
        typer.Option(min=0.001, max=0.999, help="Target width of the 95 % interval of the error: how many labels?"),
    ] = None,
    json: Json = False,
) -> None:
    """Say whether unlabelled rows will help, what to label next and how many labels a target precision takes.

    From a table (FILE and --label), or from numbers (--n-positive, --n-negative, --n-unlabeled and --prior).
    """
    theta, sampling = options.prior, options.sampling
    if file is None:
        if n_positive is None or n_negative is None or n_unlabeled is None or not isinstance(theta, float | tuple):
            raise typer.BadParameter("name FILE and --label, or --n-positive, --n-negative, --n-unlabeled and --prior.")
        _show(facts(theta, n_positive, n_negative, n_unlabeled, errors, width, sampling), json)
        return
    if label is None:
        raise typer.BadParameter("name the label column of FILE with --label.")
    from pnulearn.tables._evaluation import table_labels
    from pnulearn.tables._prior import check_table_labels, settle_prior

    table = open_table(file, options)
    labels = table_labels(table, label, options.pos_label, options.unlabeled)
    counted = labels.counts if sampling == "random" else None
    belief = settle_prior(theta, table, label, labels, options.drop, options.kinds, counted=counted)
    found_negative, found_positive = map(int, labels.counts)
    sizes = found_positive, found_negative, labels.n_unlabeled
    found = facts(belief, *sizes, errors, width, sampling)
    scar = check_table_labels(table, label, labels, options)
    if scar is not None:
        found |= {"scar_p_value": scar.p_value, "advice": f"{found['advice']}\n{scar}"}
    _show(found, json)


RATIOS = {  # of variances, by what they are called for people
    "pu_against_pn": "variance with PU, in percent of PN",
    "nu_against_pn": "variance with NU, in percent of PN",
    "variance_ratio": "variance at the best mix, in percent of labels alone",
}


def _show(found: dict[str, Any], json: bool) -> None:
    """All numbers for machines; for people the advice first, and shares in percent."""
    if json:
        show_facts(found, json)
        return
    lines = str(found["advice"]).splitlines()
    first = next((line for line in lines if line.startswith("Recommended risk")), lines[0])
    show_lines(first, [line for line in lines if line != first])
    print()
    shown = {RATIOS.get(name, name): value for name, value in in_percent(found).items() if name != "advice"}
    for name in RATIOS.values():
        shown[name] = None if shown.get(name) is None else f"{100 * shown[name]:.0f} %"
    show_facts(shown, json)


def facts(
    prior: Any,
    n_positive: int,
    n_negative: int,
    n_unlabeled: int,
    errors: float | None,
    width: float | None = None,
    sampling: Any = None,
) -> dict[str, Any]:
    """The advice as numbers and in words."""
    from pnulearn.advice import advise as advice_for_sizes
    from pnulearn.priors._resolve import read_prior as read_belief
    from pnulearn.tables._prior import prior_facts

    belief = read_belief(prior)
    rates = None if errors is None else (errors, errors)
    sizes = n_positive, n_negative, n_unlabeled
    advice = advice_for_sizes(*sizes, belief, error_rates=rates, width=width, sampling=sampling or "by_class")
    needed = advice.needed
    return {
        "rows": {"positive": n_positive, "negative": n_negative, "unlabelled": n_unlabeled},
        **prior_facts(belief),
        "most_promising": advice.best,
        "pu_against_pn": advice.pu_against_pn,
        "nu_against_pn": advice.nu_against_pn,
        "best_mix": advice.mix,
        "variance_ratio": advice.variance_ratio,
        "unlabelled_rows_for_most_of_it": round(advice.unlabeled_enough) if isfinite(advice.unlabeled_enough) else None,
        "label_next": advice.label_next,
        **({} if needed is None else {"labels_needed": {"positive": needed.n_positive, "negative": needed.n_negative}}),
        "advice": str(advice),
    }
