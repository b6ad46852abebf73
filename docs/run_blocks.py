"""Run the code of the documentation: ```python blocks of a page in one namespace, ```sh blocks in the same folder.

What the blocks print goes to docs/_build/outputs.json, from where the site shows it below each block. A ```text block
right below one of them must be what it prints. All numbers of a paragraph with <!-- numbers: printed --> must be among
those that the page prints, with <!-- numbers: results/NAME.md --> among those of that page. A page with the comment
<!-- needs: PACKAGE --> is left out, with a word, where that package is not installed.

python docs/run_blocks.py [PAGE ...]
"""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import warnings
from contextlib import redirect_stdout
from importlib.util import find_spec
from pathlib import Path

DOCS = Path(__file__).resolve().parent
OUTPUTS = DOCS / "_build" / "outputs.json"
BLOCK = re.compile(r"^```(python|sh)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TEXT = re.compile(r"\s*^```text\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
TIME = re.compile(r"\bin \d+(\.\d+)? s\b")
CHECKED = re.compile(r"<!-- numbers: (\S+) -->")
NEEDS = re.compile(r"<!-- needs: (\w+) -->")


def run_page(page: Path) -> list[str]:
    """Run all blocks of a page in a folder of its own and return what each of them printed."""
    namespace: dict[str, object] = {"__name__": "__main__"}
    text = page.read_text(encoding="utf-8")
    printed = []
    home = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for block in BLOCK.finditer(text):
                line = text.count("\n", 0, block.start()) + 2
                language, code = block.groups()
                with redirect_stdout(io.StringIO()) as output:
                    if language == "sh":
                        print(_run_shell(code, f"{page}:{line}"), end="")
                    else:
                        exec(compile("\n" * (line - 1) + code, str(page), "exec"), namespace)
                printed.append(output.getvalue())
        finally:
            os.chdir(home)
    return printed


def with_outputs(text: str, printed: list[str]) -> str:
    """The page with what its blocks printed below each of them."""
    remaining = iter(printed)

    def shown(block: re.Match[str]) -> str:
        output = next(remaining, "").rstrip()
        if not output or TEXT.match(text, block.end()):  # the page shows it itself
            return block[0]
        return f"{block[0]}\n\n```{{code-block}} text\n:class: output\n\n{output}\n```"

    return BLOCK.sub(shown, text)


def refuse_stale(page: Path, text: str, printed: list[str]) -> None:
    """Stop if the page shows other outputs or other numbers than its blocks printed."""
    for block, output in zip(BLOCK.finditer(text), printed, strict=True):
        shown = TEXT.match(text, block.end())
        if shown and _lines(shown[1]) != _lines(output):
            line = text.count("\n", 0, shown.start(1)) + 1
            sys.exit(f"{page}:{line}: the page shows another output than the block above it prints, which is\n{output}")
    for paragraph in text.split("\n\n"):
        for source in CHECKED.findall(paragraph):
            known = "\n".join(printed) if source == "printed" else (DOCS.parent / source).read_text(encoding="utf-8")
            unknown = sorted(set(NUMBER.findall(CHECKED.sub("", paragraph))) - set(NUMBER.findall(known)))
            if unknown:
                sys.exit(f"{page}: {source} has no {', '.join(unknown)}, but the page says\n{paragraph}")


def _lines(text: str) -> list[str]:
    """Lines without blanks at their ends and without how long something took."""
    return [TIME.sub("in ... s", line.rstrip()) for line in text.rstrip().splitlines()]


def _run_shell(code: str, place: str) -> str:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    done = subprocess.run(
        ["sh", "-e", "-c", code], env=os.environ | {"PATH": path}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{place}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def main(arguments: list[str]) -> None:
    warnings.simplefilter("error")
    import matplotlib

    matplotlib.use("Agg")
    skipped = {"_build", "auto_examples", "generated"}
    pages = [Path(name).resolve() for name in arguments] or [
        DOCS.parent / "README.md",
        *(page for page in sorted(DOCS.rglob("*.md")) if not skipped & set(page.relative_to(DOCS).parts)),
    ]
    outputs = {}
    for page in pages:
        needs = NEEDS.search(page.read_text(encoding="utf-8"))
        if needs and not find_spec(needs[1]):
            print(f"{page.name}: left out, its blocks need the package {needs[1]}", flush=True)
            continue
        start = time.perf_counter()
        printed = run_page(page)
        refuse_stale(page, page.read_text(encoding="utf-8"), printed)
        if printed:
            print(f"{page.name}: {len(printed)} blocks in {time.perf_counter() - start:.1f} s", flush=True)
            outputs[os.path.relpath(page.with_suffix(""), DOCS).replace(os.sep, "/")] = printed
    OUTPUTS.parent.mkdir(exist_ok=True)
    OUTPUTS.write_text(json.dumps(outputs), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
