"""Neural networks (extra `torch`): PNU risks as losses, batches of P, N and U, and a classifier that uses both."""

from pnulearn._extras import import_extra

with import_extra("torch", "pnulearn.torch"):
    import torch as _torch  # noqa: F401

from pnulearn.torch._loss import PNULoss, label_codes, margin_loss
from pnulearn.torch._network import PNUNetClassifier
from pnulearn.torch._training import PNUBatchSampler

__all__ = ["PNUBatchSampler", "PNULoss", "PNUNetClassifier", "label_codes", "margin_loss"]
