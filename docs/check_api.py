"""Every name in api.rst and each of its methods describes itself and its parameters; `make docs` checks it."""

import inspect
import re
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from numpydoc.validate import validate

# No docstring; undocumented, unknown or undescribed parameters; a description set as a type's name.
CHECKS = {"GL08", "PR01", "PR02", "PR07", "PR10"}


def main() -> None:
    found = [complaint for name in documented_names() for complaint in complaints(name)]
    if found:
        sys.exit("\n".join(found))


def documented_names() -> Iterator[str]:
    """Names as api.rst lists them, and the public methods of classes that have a docstring of their own or should."""
    module = "pnulearn"
    for line in (Path(__file__).parent / "api.rst").read_text(encoding="utf-8").splitlines():
        module = line.split("::")[1].strip() if line.startswith(".. currentmodule::") else module
        entry = re.fullmatch(r"   ([\w.]+)", line)
        if entry is None or (module == "pnulearn.torch" and not has_torch()):
            continue
        name = f"{module}.{entry[1]}"
        yield name
        yield from (f"{name}.{method}" for method in own_methods(find(name)))


def own_methods(thing: object) -> Iterator[str]:
    """Public methods that this package defines; one that overrides a documented one may leave the words to it."""
    for name, member in inspect.getmembers(thing, callable) if inspect.isclass(thing) else ():
        ours = (getattr(member, "__module__", None) or "").startswith("pnulearn")
        if ours and not name.startswith("_") and (member.__doc__ or not inspect.getdoc(member)):
            yield name


def complaints(name: str) -> Iterator[str]:
    for code, message in validate(name)["errors"]:
        if code in CHECKS:
            yield f"{name}: {code} {message}"


def find(name: str) -> object:
    module, _, rest = name.rpartition(".")
    try:
        return import_module(name)
    except ImportError:
        return getattr(find(module), rest)


def has_torch() -> bool:
    try:
        import_module("torch")
    except ImportError:
        return False
    return True


if __name__ == "__main__":
    main()
