"""HTML report about the share of good answers and the quality of judge models."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from pnulearn._extras import import_extra
from pnulearn._files.outputs import REPORT, Output, check_outputs
from pnulearn._files.writing import write_atomically
from pnulearn.report._render import render_page
from pnulearn.tables._judging import Judgment

MEANINGS = {
    "sensitivity": "share of good answers that the judge calls good",
    "specificity": "share of bad answers that the judge calls bad",
    "precision": "share of good answers among those that it calls good",
    "agreement": "share of answers on which judge and human agree",
    "kappa": "agreement beyond chance: 0 for a judge that guesses, 1 for a perfect one",
    "bias": "share that it calls good minus share of good answers; above 0 it is too generous",
}


def write_judgment(found: Judgment, path: str | Path, *, overwrite: bool = False) -> None:
    """Write an HTML page. An existing file is kept until the new one is complete.

    Parameters
    ----------
    found : Judgment
        Result of `judge_table`.
    path : str or Path
        The file. An existing report is replaced.
    overwrite : bool
        Replace any other existing file, too.
    """
    check_outputs(Output(path, REPORT), overwrite=overwrite)
    page = render_judgment(found).encode()
    write_atomically(path, lambda file: file.write(page))


def render_judgment(found: Judgment) -> str:
    """The page as text. All values are escaped by the template."""
    with import_extra("report", "A report"):
        figures = _figures(found)
    tables = {"groups": found.rows(), "judges": found.judge_rows(), "rows": list(found.to_look_at)}
    return render_page("judgment.html", figures, found=found, tables=tables, meanings=MEANINGS)


def _figures(found: Judgment) -> dict[str, str]:
    from pnulearn.report._figures import as_svg, draw_estimates, group_picture

    scale, words = (
        (1.0, f"mean of {found.human}") if found.is_mean else (100.0, f"share of {found.positive}, in percent")
    )
    estimates = {"with the judges": found.estimate} | ({"labels alone": found.alone} if found.alone else {})
    draw = partial(draw_estimates, estimates, ["with the judges"], words, scale)
    pictures = {"share": as_svg("share", draw, (5.6, 0.9 + 0.34 * len(estimates)), "With and without the judges")}
    return pictures if found.groups is None else pictures | {"groups": group_picture(found.groups, words, scale)}
