"""Fitting and predicting beyond memory and beyond one machine: one pass, mergeable statistics, the same model."""

from pnulearn._moments import Design, PNUStatistics
from pnulearn._tables.errors import TableError
from pnulearn.streaming.cluster import ClusterError, OnCluster
from pnulearn.streaming.fit import collect_statistics, fit_files
from pnulearn.streaming.learn import fit_statistics
from pnulearn.streaming.planning import make_design
from pnulearn.streaming.predict import predict_files

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
