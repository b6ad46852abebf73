"""Neural networks (extra `torch`): the risks as a loss, batches that hold P, N and U, and an estimator of both."""

from pnulearn._machine.extras import import_extra

with import_extra("torch", "pnulearn.torch"):
    import torch as _torch  # noqa: F401

from pnulearn.torch.batches import PNUBatchSampler
from pnulearn.torch.codes import label_codes
from pnulearn.torch.loss import PNULoss, margin_loss
from pnulearn.torch.network import PNUNetClassifier

__all__ = ["PNUBatchSampler", "PNULoss", "PNUNetClassifier", "label_codes", "margin_loss"]
