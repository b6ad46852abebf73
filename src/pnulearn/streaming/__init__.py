"""Out-of-core and distributed fitting and prediction: one pass, mergeable statistics, the same model."""

from pnulearn._moments import Design, PNUStatistics
from pnulearn._reader.errors import TableError
from pnulearn.streaming._dask import ClusterError, OnCluster
from pnulearn.streaming._design import make_design
from pnulearn.streaming._fit import collect_statistics, fit_files, fit_statistics
from pnulearn.streaming._predict import predict_files

__all__ = [
    "ClusterError",
    "Design",
    "OnCluster",
    "PNUStatistics",
    "TableError",
    "collect_statistics",
    "fit_files",
    "fit_statistics",
    "make_design",
    "predict_files",
]
