"""Benchmark data by name: generated, bundled with scikit-learn, from a folder of files, or from OpenML."""

from pnulearn.laboratory.datasets.catalogue import DataSet, DataSetMissing, find, listing, load_data, register

__all__ = ["DataSet", "DataSetMissing", "find", "listing", "load_data", "register"]
