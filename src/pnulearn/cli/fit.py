"""`pnulearn fit`: from a table with a half-empty label column to a model and a report."""

from __future__ import annotations

import shlex
import sys
from enum import StrEnum
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pnulearn.cli.console import how_verbose, is_verbose, progress, remark, remarks, show_facts, waiting
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
    MostCategories,
    NoHeader,
    Overwrite,
    Positive,
    Prior,
    Sampling,
    Settings,
    StreamAbove,
    Unlabeled,
    Weights,
    open_batches,
    open_table,
    read_drawn,
    read_kinds,
    read_prior,
    read_settings,
    refuse_outputs,
)
from pnulearn.cli.prior import count_classes, drawn_facts
from pnulearn.cli.screen import learnt_from, show_verdict

if TYPE_CHECKING:
    from pnulearn.priors.narrowing import Narrowing
    from pnulearn.tables._classifier import Fitted

MOST_LEFT_OUT = 3  # that are told one by one


class Risk(StrEnum):
    pnu = "pnu"
    punu = "punu"
    pn = "pn"
    pu = "pu"
    nu = "nu"


# The names of losses and kernels stand here too, since --help must not wait for NumPy; a test compares the registries.
class Loss(StrEnum):
    squared = "squared"
    logistic = "logistic"
    double_hinge = "double_hinge"
    hyperbolic = "hyperbolic"
    ramp = "ramp"
    sigmoid = "sigmoid"
    hinge = "hinge"


class Kernel(StrEnum):
    rbf = "rbf"
    linear = "linear"
    laplace = "laplace"
    polynomial = "polynomial"


class Learner(StrEnum):
    pnu = "pnu"
    forest = "forest"
    boosting = "boosting"
    logistic = "logistic"
    svm = "svm"
    auto = "auto"


class Scaling(StrEnum):
    standard = "standard"
    minmax = "minmax"
    none = "none"


def fit(
    file: File,
    label: Label,
    positive: Positive = None,
    unlabeled: Unlabeled = None,
    prior: Prior = "auto",
    sampling: Sampling = None,
    at_random: AtRandom = None,
    weights: Weights = None,
    model: Annotated[Path | None, typer.Option("--model", "-m", help="Write the model here.")] = None,
    report: Annotated[Path | None, typer.Option("--report", "-r", help="Write an HTML report here.")] = None,
    overwrite: Overwrite = False,
    kinds: As = [],  # noqa: B006 (typer wants a list)
    drop: Drop = [],  # noqa: B006
    most_categories: MostCategories = 50,
    learner: Annotated[
        Learner, typer.Option(help="What learns. auto averages all of them by how they do on rows held out.")
    ] = Learner.pnu,
    risk: Annotated[Risk, typer.Option(help="Which samples the risk combines.")] = Risk.pnu,
    loss: Annotated[
        Loss, typer.Option(help="What a mistake costs. All but squared take longer; hinge needs --risk pn.")
    ] = Loss.squared,
    kernel: Annotated[
        Kernel, typer.Option(help="rbf puts Gaussians around rows, linear is a linear model.")
    ] = Kernel.rbf,
    scale: Annotated[Scaling, typer.Option(help="Scaling of numeric columns.")] = Scaling.standard,
    folds: Annotated[
        int | None,
        typer.Option(min=2, help="Folds of the cross-validation; otherwise rows are left out one by one, or in five."),
    ] = None,
    most_unlabeled: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Learn from at most so many unlabelled rows, chosen at random; by default 10000 in memory, all in "
            "batches.",
        ),
    ] = None,
    jobs: Annotated[int, typer.Option(help="Threads; -1 for all cores.")] = 1,
    seed: Annotated[int, typer.Option(help="Seed of everything random.")] = 0,
    settings: Settings = [],  # noqa: B006
    missing: Missing = [],  # noqa: B006
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    no_header: NoHeader = False,
    stream_above: StreamAbove = STREAM_ABOVE,
    json: Json = False,
) -> None:
    """Fit a classifier to FILE, whose label column is partly empty."""
    theta, wanted, further = read_prior(prior), read_kinds(kinds), read_settings(settings)
    given = {"--risk": risk != Risk.pnu, "--loss": loss != Loss.squared, "--kernel": kernel != Kernel.rbf}
    _refuse_idle(learner, given | {"--set": bool(further)})
    drawn = read_drawn(sampling, at_random)
    refuse_outputs({"--model": (model, "a model"), "--report": (report, "a report")}, overwrite, file=file)
    if report is not None and not (find_spec("matplotlib") and find_spec("jinja2")):
        raise ImportError("A report needs more packages: pip install 'pnulearn[report]'")
    batches = open_batches(file, missing, encoding, delimiter, no_header, stream_above)
    streamed = batches.is_streamed
    head = batches.head() if streamed else open_table(file, missing, encoding, delimiter, no_header)
    from pnulearn.tables._classifier import MOST_UNLABELED, fit_table
    from pnulearn.tables._large import fit_batches
    from pnulearn.tables._provenance import find_origins
    from pnulearn.tables._verdict import reach_verdict

    origins = find_origins(head, label, at_random, weights, drop, said=drawn is not None)
    at_random, drop, drawn = origins.at_random, origins.drop, read_drawn(drawn, origins.at_random)
    remarks([origins.remark] if origins.remark else [])
    options = {
        "positive": positive,
        "unlabeled": unlabeled,
        "drop": tuple(drop),
        "at_random": at_random,
        "kinds": wanted,
        "most_categories": most_categories,
        "scaling": scale.value,
        "command": shlex.join(["pnulearn", *sys.argv[1:]]),
        "seed": seed,
        "risk": risk.value,
        "loss": loss.value,
        "kernel": kernel.value,
        "prior": theta,
        "sampling": drawn or "by_class",
        **({} if folds is None else {"cv": folds}),
        "n_jobs": jobs,
        "verbose": how_verbose(),
        **further,
    }
    needs_memory = _needs_memory(learner, loss, origins.weights, most_unlabeled, further)
    if streamed and not needs_memory:
        fitted = fit_batches(batches, label, watch=lambda message: progress(message, True), **options)
        told: list[str] = []
    else:
        if streamed:
            remark(f"All of {batches.source} is read into memory, since {needs_memory}.")
            head = open_table(file, missing, encoding, delimiter, no_header)
        told = head.remarks
        with waiting(f"Learning from {head.n_rows} rows ..."):
            most = MOST_UNLABELED if most_unlabeled is None else most_unlabeled
            fitted = fit_table(
                head, label, weights=origins.weights, most_unlabeled=most, learner=learner.value, **options
            )
    remarks(note for note in fitted.model.record.remarks if note not in told)
    said = (label, at_random, origins.weights, *drop)
    left_out = [item for item in fitted.model.plan.left_out.items() if item[0] not in said]
    _tell_left_out(dict(left_out))
    _write(fitted, model, report, overwrite)
    narrowing = fitted.narrow_prior()
    verdict = reach_verdict(fitted.model, narrowing)
    facts = _facts(fitted, drawn, narrowing)
    if json:
        written = {"model": None if model is None else str(model), "report": None if report is None else str(report)}
        show_facts({"verdict": verdict.facts()} | facts | written, json)
    else:
        show_verdict(verdict, learnt_from(fitted.model), *(f"Written: {path}" for path in (model, report) if path))
        if is_verbose():
            show_facts(facts, json)
    if model is None:
        remark("The model was not saved: pass --model FILE to keep it.")


def _needs_memory(
    learner: Learner, loss: Loss, weights: str | None, most_unlabeled: int | None, further: dict[str, Any]
) -> str:
    """Why the rows cannot be learnt from in one pass; empty if they can."""
    if learner is not Learner.pnu:
        return f"--learner {learner.value} needs all rows at once"
    if further.get("columns", "given") != "given":
        return f"--set columns={further['columns']} needs all rows at once"
    if loss is not Loss.squared:
        return f"--loss {loss.value} needs all rows at once"
    if weights is not None:
        return "one pass cannot weigh rows"
    if further.get("centers") == "all":
        return "--set centers=all needs all rows at once"
    return "" if most_unlabeled is None else "--most-unlabeled asks for some of the rows"


def _refuse_idle(learner: Learner, given: dict[str, bool]) -> None:
    """Options that only PNU has a use for."""
    idle = [name for name, is_given in given.items() if is_given]
    if idle and learner not in (Learner.pnu, Learner.auto):
        raise typer.BadParameter(f"{idle[0]} is for --learner pnu or auto; {learner} has no such thing.")


def _tell_left_out(left_out: dict[str, str]) -> None:
    """Each column with its reason; many in one line unless --verbose asks for more."""
    if len(left_out) <= MOST_LEFT_OUT or is_verbose():
        remarks(f"Column {name!r} is left out: {reason}." for name, reason in left_out.items())
    else:
        remark(f"{len(left_out)} columns are left out, {', '.join(left_out)}: `pnulearn columns` says why.")


def _write(fitted: Any, model: Path | None, report: Path | None, overwrite: bool) -> None:
    if model is not None:
        fitted.model.save(model, overwrite=overwrite)
    if report is not None:
        from pnulearn.report import write_report

        with waiting("Writing the report ..."):
            write_report(fitted, report, overwrite=overwrite)


def _facts(fitted: Fitted, drawn: str | None, narrowing: Narrowing | None) -> dict[str, Any]:
    from pnulearn.cli.info import describe

    estimate = fitted.model.classifier.prior_estimate_
    facts = describe(fitted.model) | drawn_facts(drawn, estimate, count_classes(fitted.codes))
    if narrowing is not None and narrowing.is_costly:
        facts |= {"prior_cost": narrowing.cost, "prior_advice": str(narrowing)}
    return facts
