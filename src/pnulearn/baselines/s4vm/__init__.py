"""S4VM and its parts."""

from pnulearn.baselines.s4vm.classifier import S4VM

__all__ = ["S4VM"]
