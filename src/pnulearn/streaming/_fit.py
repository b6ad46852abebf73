"""Fitting from data that do not fit in memory."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from numpy.typing import ArrayLike

from pnulearn._estimators.classifier import PNUClassifier, accept
from pnulearn._learning.from_moments import Recount, learn_from_moments
from pnulearn._learning.moment_search import Fits
from pnulearn._learning.settings import Settings
from pnulearn._moments import Design, PNUStatistics, RowSample
from pnulearn._numbers import read_number
from pnulearn.streaming._dask import OnCluster, is_collection, number_rows, open_for_cluster
from pnulearn.streaming._design import plan_design
from pnulearn.streaming._passes import SECONDS_BETWEEN, as_checkpoint, collect, count_errors, plan_of
from pnulearn.streaming._sources import PART_ROWS, Source, open_source
from pnulearn.streaming._threads import InThreads, Runner

# From statistics to a fitted classifier.


def fit_statistics(
    estimator: PNUClassifier,
    statistics: PNUStatistics,
    *,
    sample: RowSample | None = None,
    recount: Recount | None = None,
) -> PNUClassifier:
    """Fit a PNUClassifier from statistics of the rows.

    Candidates are compared by the squared-loss PNU risk, and also by the zero-one risk if `recount` is given. The
    validation risk and its standard error are computed from the `sample` of rows, if it is given.

    Parameters
    ----------
    estimator : PNUClassifier
        The classifier.
    statistics : PNUStatistics
        Statistics of all rows.
    sample : RowSample, optional
        Rows for the validation risk.
    recount : callable, optional
        A second pass that counts the errors of all candidates.
    """
    settings = Settings.of(estimator.get_params(deep=False), statistics.design.seed)
    return accept(estimator, learn_from_moments(settings, statistics, sample, recount))


# From data of any size to a fitted classifier.


def fit_files(
    estimator: PNUClassifier,
    data: Any,
    *,
    target: str | None = None,
    columns: Sequence[str] | None = None,
    classes: ArrayLike | None = None,
    dtype: str = "float32",
    second_pass: bool = False,
    n_jobs: int | None = None,
    client: Any = None,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_seconds: float = SECONDS_BETWEEN,
    part_rows: int = PART_ROWS,
) -> PNUClassifier:
    """Fit a PNUClassifier in one pass over data of any size, model selection included, and return it.

    Before the pass, the labels are read to determine the classes, and a sample of rows to choose centres.

    Parameters
    ----------
    estimator
        a `PNUClassifier` with loss="squared"; it is fitted in place.
    data
        a path, folder or pattern of Parquet or CSV files, or several; a pair (X, y) of arrays or memory maps; a data
        frame; an iterator of pairs (X, y) or data frames; a Dask data frame, or a pair of Dask arrays.
    target
        the column of labels; missing values and `estimator.unlabeled` mark unlabelled rows.
    columns
        the feature columns; by default all others.
    classes
        all labels that occur; if given, the labels are not read before the pass.
    dtype
        precision of the features; sums are always float64.
    second_pass
        also count the errors of every candidate, for the same model selection as in memory.
    n_jobs
        threads, 2 by default. The result does not depend on it.
    client
        a `dask.distributed.Client` to run on, or an `OnCluster` with another timeout; the result is bitwise the same.
    checkpoint
        a file from which an interrupted run resumes, with bitwise the same result; written every `checkpoint_seconds`.
    checkpoint_seconds : float
        Seconds between two checkpoints.
    part_rows
        number of rows that a thread or worker processes at a time.

    Examples
    --------
    >>> import numpy as np
    >>> from pnulearn import PNUClassifier
    >>> rng = np.random.default_rng(0)
    >>> y = rng.choice([0.0, 1.0, np.nan], p=[0.01, 0.01, 0.98], size=20_000)
    >>> side = np.where(np.isnan(y), rng.random(20_000) < 0.3, y)
    >>> X = rng.normal(size=(20_000, 2)) + 2 * side[:, None]
    >>> model = fit_files(PNUClassifier(centers=50, random_state=0), (X, y))
    >>> bool(abs(model.prior_ - 0.3) < 0.05), bool(model.score(X, side) > 0.9)
    (True, True)
    """
    settings = Settings.of(estimator.get_params(deep=False))
    settings.refuse_beyond_one_pass()
    read_number("checkpoint_seconds", checkpoint_seconds, 0)
    source, run = _open(data, target, columns, part_rows, n_jobs, client)
    if second_pass and source.is_one_shot:
        raise ValueError("An iterator of batches can be read only once, so there is no second pass. Use files.")
    saved = as_checkpoint(checkpoint, plan_of(source, estimator, classes, dtype), source, checkpoint_seconds)
    if saved is not None and saved.design is not None:
        settings = replace(settings, seed=saved.design.seed)
    design, sample, source = plan_design(settings, source, classes, dtype, run)
    statistics = collect(source, design, run, saved, settings.verbose)

    def recount(fits: list[Fits]) -> list[Fits]:
        return count_errors(source, design, fits, settings.sampling, run)

    return accept(estimator, learn_from_moments(settings, statistics, sample, recount if second_pass else None))


def collect_statistics(
    data: Any,
    design: Design,
    *,
    target: str | None = None,
    n_jobs: int | None = None,
    client: Any = None,
    checkpoint: str | os.PathLike[str] | None = None,
    part_rows: int = PART_ROWS,
) -> PNUStatistics:
    """The statistics of data of any size under a given design, in one pass.

    Parameters
    ----------
    data : path, paths, pair (X, y), data frame or Dask collection
        As in `fit_files`.
    design : Design
        The design, which must be the same for all statistics that are added.
    target : str, optional
        The column of labels.
    n_jobs : int or None
        Threads; the result does not depend on it.
    client : dask.distributed.Client, optional
        Where to run; by default threads of this process.
    checkpoint : path, optional
        A file from which an interrupted run resumes.
    part_rows : int
        Number of rows to process at a time.
    """
    source, run = _open(data, target, design.columns, part_rows, n_jobs, client)
    saved = as_checkpoint(checkpoint, plan_of(source, design.fingerprint), source)
    return collect(number_rows(source, run), design, run, saved)


def _open(
    data: Any,
    target: str | None,
    columns: Sequence[str] | None,
    part_rows: int,
    n_jobs: int | None,
    client: Any,
) -> tuple[Source, Runner]:
    if client is None and not is_collection(data):
        return open_source(data, target, columns, part_rows), InThreads(n_jobs)
    run = client if isinstance(client, OnCluster) else OnCluster(client)
    return open_for_cluster(data, target, columns, part_rows), run
