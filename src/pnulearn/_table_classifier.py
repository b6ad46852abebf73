"""TableClassifier: fits a classifier to a raw table, with a verdict and a report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from pnulearn._arrays import AnyArray
from pnulearn._parameters import HEADING, parameters
from pnulearn._problem.alignment import refuse_misaligned
from pnulearn._reader.batches import Batches
from pnulearn._reader.frames import open_data, with_labels
from pnulearn._reader.table import Table
from pnulearn.metrics._scored_rows import read_costs
from pnulearn.tables._evaluation import Evaluation, evaluate_table
from pnulearn.tables._fitting import fit_model
from pnulearn.tables._loading import load_table_model
from pnulearn.tables._model import Predictions, TableModel
from pnulearn.tables._new_rows import NewRows
from pnulearn.tables._notes import collect_notes, note, progress
from pnulearn.tables._options import OPTIONS, TableOptions
from pnulearn.tables._plan import describe_columns
from pnulearn.tables._prior import assumed_sampling, sampling_facts
from pnulearn.tables._verdict import percent, reach_verdict


def _describe(estimator: type) -> type:
    """Join the meanings of the options to the class's own docstring."""
    before, _, after = (estimator.__doc__ or "").partition("    Attributes\n")
    entries = "".join(f"    {one.name} : {one.type}\n        {one.metadata['meaning']}\n" for one in OPTIONS.values())
    heading = "".join(f"    {line}\n" for line in HEADING.splitlines())
    estimator.__doc__ = f"{before}{heading}{entries}\n    Attributes\n{after}"
    return estimator


@parameters
@_describe
class TableClassifier(ClassifierMixin, TableOptions, BaseEstimator):
    """A classifier for tables with text, dates, categories and missing cells, whose label column is partly empty.

    The command line uses this class. The encoding of the columns as features is learnt from the table and stored with
    the model; small tables are fitted in memory, large files in batches. Tables are data frames of pandas or polars,
    Arrow tables, DuckDB relations, anything else that gives an Arrow stream, paths of files (CSV, Excel, Parquet,
    Feather, JSON lines) and lists of paths. Labels are the name of a column or an array beside the table; missing ones
    mark unlabelled rows.

    Attributes
    ----------
    classes_
        (negative, positive), or all classes in order.
    model_
        The `TableModel`: `model_.classifier` is the `PNUClassifier` or `AutoPNU` behind it.
    verdict_
        How good the model is: `print(model.verdict_)` in sentences, `verdict_.facts()` as numbers.
    risk_
        The expected error with an interval, as of `PNUClassifier`.
    prior_, prior_interval_
        The share of positives in the population and its 90 % interval; of more classes an array.
    columns_
        How each column is used: its kind, number of features, missing cells and treatment. None after `load`.
    remarks_
        Notes about reading the table and fitting.
    fitted_
        The model together with the rows that it was fitted to, or a sample of them; None after `load`.
    feature_names_in_, n_features_in_
        Columns that the model needs.

    See Also
    --------
    PNUClassifier : The same from arrays of features.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> rng = np.random.default_rng(0)
    >>> buys = rng.random(300) < 0.4
    >>> table = pd.DataFrame({"age": rng.normal(40 + 15 * buys, 5), "city": np.where(buys, "Kyoto", "Nara")})
    >>> table["bought"] = pd.Series(np.where(buys, "yes", "no")).where(np.arange(300) < 60)
    >>> model = TableClassifier(sampling="random").fit(table, "bought")
    >>> model.predict(table.head(3)).tolist() == table["bought"].head(3).tolist()
    True
    >>> [column["kind"] for column in model.columns_]
    ['number', 'category', '-']
    """

    def fit(self, X: Any, y: Any, *, command: str = "") -> TableClassifier:
        """Fit to a table.

        Parameters
        ----------
        X : data frame, Arrow table, relation, path or list of paths
            The table.
        y : str or array (rows,)
            The name of the column of labels, or the labels; missing ones mark unlabelled rows.
        command : str
            The command line to print in the report, if the fit was started by one.
        """
        with collect_notes() as notes:
            data, label = self._open(X, y)
            fitted = fit_model(data, label, self._options(), command)
        self._accept(fitted.model)
        self.fitted_: Any = fitted
        self.columns_: list[dict[str, Any]] | None = describe_columns(fitted.table, fitted.model.plan)
        estimate = fitted.model.classifier.prior_estimate_
        assumption = assumed_sampling(fitted.sampling, estimate, fitted.codes)
        self.verdict_ = replace(reach_verdict(fitted.model, fitted.narrow_prior()), assumption=assumption)
        self.remarks_ = notes
        return self

    def predict(self, X: Any, *, threshold: float | None = None, costs: tuple[float, float] | None = None) -> AnyArray:
        """The label of every row.

        Parameters
        ----------
        X : data frame, Arrow table, relation, path or list of paths
            A table with the columns that the model was fitted to.
        threshold : float, optional
            The positive class is predicted above this probability; 0.5 by default.
        costs : (float, float), optional
            Costs of a missed positive and of a false alarm; the threshold is then the one of least expected cost.
        """
        found = self.predictions(X, threshold=threshold, costs=costs)
        return np.concatenate([one.labels for _, one in found])

    def predict_proba(self, X: Any) -> AnyArray:
        """The probability of every class (rows, classes), in the order of `classes_`.

        Parameters
        ----------
        X : data frame, Arrow table, relation, path or list of paths
            A table with the columns that the model was fitted to.
        """
        return np.concatenate([found.probability for _, found in self.predictions(X)])

    def decision_function(self, X: Any) -> AnyArray:
        """Scores of every row, positive for the positive class of two; of more classes a column each.

        Parameters
        ----------
        X : data frame, Arrow table, relation, path or list of paths
            A table with the columns that the model was fitted to.
        """
        return np.concatenate([found.scores for _, found in self.predictions(X)])

    def predictions(self, X: Any, *, threshold: float | None = None, costs: tuple[float, float] | None = None) -> Any:
        """Pairs of a table and its `Predictions`, batch by batch if X is a large file.

        Parameters
        ----------
        X : data frame, Arrow table, relation, path or list of paths
            A table with the columns that the model was fitted to.
        threshold : float, optional
            The positive class is predicted above this probability; 0.5 by default.
        costs : (float, float), optional
            Costs of a missed positive and of a false alarm; the threshold is then the one of least expected cost.
        """
        check_is_fitted(self)
        if costs is not None:
            if threshold is not None:
                raise ValueError("threshold= and costs= both set the threshold: pass one of them.")
            missed, alarm = read_costs(costs)
            threshold = alarm / (missed + alarm)
            positive = self.model_.classes[-1]
            note([f"At these costs {positive!r} is predicted above a probability of {percent(threshold)}."])
        data, seen = self._open(X)[0], set[str]()
        cells: NewRows | None = None
        with progress("Predicting", is_long=isinstance(data, Batches)) as advance:
            for table, share in data if isinstance(data, Batches) else [(data, 1.0)]:
                found: Predictions = self.model_.predict(table, threshold=threshold)
                fresh = [remark for remark in table.remarks if remark not in seen]
                seen.update(fresh)
                note(fresh)
                assert found.cells is not None
                cells = found.cells if cells is None else cells + found.cells
                yield table, found
                advance(share)
        note([] if cells is None else cells.remarks())

    def evaluate(
        self,
        X: Any,
        y: Any,
        *,
        helper: Sequence[str] = (),
        confidence: float = 0.95,
        costs: tuple[float, float] | None = None,
        by: str | None = None,
    ) -> Evaluation:
        """The error rate in the population, with an interval, from rows that were not used to fit.

        Parameters
        ----------
        X : data frame, Arrow table, relation, path or list of paths
            A table with the columns that the model was fitted to.
        y : str or array (rows,)
            The name of the column of labels, or the labels; missing ones mark unlabelled rows.
        helper : sequence of str
            Columns with a second model's labels, probabilities or scores.
        confidence : float
            Confidence of the interval.
        costs : (float, float), optional
            Costs of a missed positive and of a false alarm; the cost per row is then estimated as well.
        by : str, optional
            A column of groups, or of dates to be cut into windows ("date:month"); the error of each is then estimated
            as well.
        """
        check_is_fitted(self)
        data, label = self._open(X, y)
        return evaluate_table(
            data, label, self._options(), model=self.model_, helper=helper, confidence=confidence, costs=costs, by=by
        )

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """1 − the error rate that `evaluate` finds.

        Parameters
        ----------
        X : data frame, Arrow table, relation, path or list of paths
            A table with the columns that the model was fitted to.
        y : str or array (rows,)
            The name of the column of labels, or the labels.
        sample_weight : None
            Not used: name a column with `weights`.
        """
        return 1 - self.evaluate(X, y).error.value

    def report(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write an HTML report about the model and its training data.

        Parameters
        ----------
        path : str or Path
            The file. An existing report is replaced.
        overwrite : bool
            Replace any other existing file, too.
        """
        check_is_fitted(self)
        if self.fitted_ is None:
            raise ValueError("A report shows rows, which a model file does not hold. Fit the model, then report it.")
        from pnulearn.report import write_report

        with progress("Writing the report ...", is_long=False):
            write_report(self.fitted_, path, verdict=self.verdict_, overwrite=overwrite)

    def facts(self) -> dict[str, Any]:
        """The verdict, the model and the prior as plain values, as `pnulearn fit --json` prints them."""
        check_is_fitted(self)
        facts = {"verdict": self.verdict_.facts()} | self.model_.facts()
        if self.fitted_ is not None:
            facts |= sampling_facts(self.fitted_.sampling, self.model_.classifier.prior_estimate_, self.fitted_.codes)
            narrowing = self.fitted_.narrow_prior()
            if narrowing is not None and narrowing.is_costly:
                facts |= {"prior_cost": narrowing.cost, "prior_advice": str(narrowing)}
        return facts

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the model to a file that `load` and the command line read without running code.

        Parameters
        ----------
        path : str or Path
            The file. An existing model file is replaced.
        overwrite : bool
            Replace any other existing file, too.
        """
        check_is_fitted(self)
        self.model_.save(path, overwrite=overwrite)

    @classmethod
    def load(cls, path: str | Path) -> TableClassifier:
        """The model in a file that `save` or `pnulearn fit` wrote, ready to predict and to be evaluated.

        Parameters
        ----------
        path : str or Path
            The file.
        """
        loaded = cls()
        loaded._accept(load_table_model(path))
        loaded.fitted_, loaded.columns_ = None, None
        loaded.verdict_ = reach_verdict(loaded.model_)
        loaded.remarks_ = list(loaded.model_.record.remarks)
        return loaded

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def _accept(self, model: TableModel) -> None:
        self.model_, self.classes_ = model, model.classifier.classes_
        self.risk_ = model.classifier.risk_
        self.prior_, self.prior_interval_ = model.classifier.prior_, model.classifier.prior_interval_
        self.feature_names_in_ = np.array([column.name for column in model.plan.columns], dtype=object)
        self.n_features_in_ = len(self.feature_names_in_)

    def _options(self) -> TableOptions:
        return TableOptions(**{one.name: getattr(self, one.name) for one in fields(TableOptions)})

    def _open(self, X: Any, y: Any = None) -> tuple[Table | Batches, str]:
        """The table and the name of its column of labels."""
        refuse_misaligned(X=X, y=y)
        data = open_data(X, self.reading, self.large)
        if y is None or isinstance(y, str):
            return data, y or ""
        return with_labels(data.whole() if isinstance(data, Batches) else data, y)
