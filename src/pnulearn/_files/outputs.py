"""What may be written where: decided in one place, before any work is done."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pnulearn._files.kinds import EMPTY, recognise


@dataclass(frozen=True)
class Output:
    """A file to be written: what it will hold ("model", "report", ...), and how the user named it ("--model")."""

    path: str | os.PathLike[str]
    kind: str
    name: str = "The output"
    flag: str = "overwrite=True"

    @property
    def words(self) -> str:
        return f"{self.name} {str(self.path)!r}"


def check_outputs(
    *outputs: Output, inputs: Mapping[str, str | os.PathLike[str] | None] | None = None, overwrite: bool = False
) -> None:
    """Refuse outputs that would destroy an input, each other, or a file of another kind, and what is no plain file.

    `inputs` maps the names by which the user knows them to paths; None and "-" stand for no file.
    """
    taken = {name: path for name, path in (inputs or {}).items() if path is not None and str(path) != "-"}
    for output in outputs:
        refuse_unwritable(output)
        for name, path in taken.items():
            if _is_same(output.path, path):
                raise ValueError(f"{output.words} is also {name}. Choose another name for one of them.")
        taken[output.name] = output.path
    for output in outputs:
        refuse_other_kind(output, overwrite)


def refuse_other_kind(output: Output, overwrite: bool = False) -> None:
    """A file is replaced by one of its own kind; for anything else the user has to say so."""
    path = Path(output.path)
    if overwrite or not path.exists():
        return
    there = recognise(path)
    if there not in (output.kind, EMPTY):
        raise FileExistsError(
            f"{output.words} exists and holds {there}, not {output.kind}. Choose another name, or pass {output.flag} "
            "to replace it."
        )


def refuse_unwritable(output: Output) -> None:
    """A missing folder, a folder, a device, a pipe, a circle of links, or a file that is write-protected."""
    real = Path(os.path.realpath(output.path))
    if real.is_symlink():
        raise OSError(f"{output.words} is a link that leads back to itself. Choose another name.")
    if not real.parent.is_dir():
        raise FileNotFoundError(f"{output.words}: there is no folder {str(real.parent)!r} to write it into.")
    if not real.exists():
        return
    mode = real.stat().st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(f"{output.words} is a folder. Name a file in it.")
    if not stat.S_ISREG(mode):
        raise OSError(f"{output.words} is a device, a pipe or a socket, not a plain file. Choose another name.")
    if not os.access(real, os.W_OK):
        raise PermissionError(f"{output.words} is write-protected. Choose another name, or allow writing.")


def _is_same(one: str | os.PathLike[str], other: str | os.PathLike[str]) -> bool:
    if os.path.exists(one) and os.path.exists(other):
        return os.path.samefile(one, other)
    return os.path.normcase(os.path.realpath(one)) == os.path.normcase(os.path.realpath(other))
