"""The laboratory: every table and figure of the paper, run trial by trial, resumed, drawn and compared."""

from pnulearn.laboratory.experiments.methods import Method, register_method
from pnulearn.laboratory.experiments.reproduce import EXPERIMENTS, reproduce

__all__ = ["EXPERIMENTS", "Method", "register_method", "reproduce"]
