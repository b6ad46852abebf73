"""Names that the command line repeats are those of the registries."""

from typing import get_args

import pytest
import typer

from pnulearn._estimators.auto import LEARNERS
from pnulearn._kernels.registry import KERNELS
from pnulearn._learning.settings import CHOICES
from pnulearn._problem.samples import Sampling
from pnulearn.cli.fit import _read_answer
from pnulearn.cli.options import SAMPLING, read_sampling
from pnulearn.losses import LOSSES
from pnulearn.tables._options import Kernel, Learner, Loss, Risk

TRAINABLE = [name for name, loss in LOSSES.items() if loss.trainable]


@pytest.mark.parametrize(
    ("offered", "known"),
    [
        (Loss, TRAINABLE),
        (Kernel, KERNELS),
        (Risk, CHOICES["risk"]),
        (Learner, [*set(LEARNERS) - {"bagging"}, "auto"]),
    ],
    ids=["loss", "kernel", "risk", "learner"],
)
def test_the_command_line_offers_what_the_registry_holds(offered, known):
    assert sorted(get_args(offered)) == sorted(known)


def test_words_of_sampling_are_those_of_the_library():
    assert set(map(read_sampling, SAMPLING)) == set(get_args(Sampling))


@pytest.mark.parametrize(
    ("answer", "sampling"),
    [("y", "random"), ("Yes", "random"), ("random", "random"), ("n", "by_class"), ("no", "by_class"), ("", "")],
)
def test_the_question_of_fit_takes_yes_and_no(answer, sampling):
    assert _read_answer(answer) == sampling
    with pytest.raises(typer.BadParameter):
        _read_answer("perhaps")
