"""Names that the command line repeats are those of the registries."""

import pytest

from pnulearn._basis.kernels import KERNELS
from pnulearn._estimators.auto import LEARNERS
from pnulearn._learning.settings import CHOICES
from pnulearn.cli.fit import Kernel, Learner, Loss, Risk, Sampling
from pnulearn.cli.options import Drawn
from pnulearn.losses import LOSSES

TRAINABLE = [name for name, loss in LOSSES.items() if loss.trainable]


@pytest.mark.parametrize(
    ("offered", "known"),
    [
        (Loss, TRAINABLE),
        (Kernel, KERNELS),
        (Risk, CHOICES["risk"]),
        (Sampling, CHOICES["sampling"]),
        (Learner, [*LEARNERS, "auto"]),
    ],
    ids=["loss", "kernel", "risk", "sampling", "learner"],
)
def test_the_command_line_offers_what_the_registry_holds(offered, known):
    assert sorted(choice.value for choice in offered) == sorted(known)


def test_both_answers_to_how_labels_were_drawn_are_kinds_of_sampling():
    assert sorted(answer.sampling for answer in Drawn) == sorted(CHOICES["sampling"])
