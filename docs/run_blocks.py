"""Run the code of the documentation: ```python blocks of a page in one namespace, ```sh blocks in the same folder.

python docs/run_blocks.py [PAGE ...]
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

DOCS = Path(__file__).parent
BLOCK = re.compile(r"^```(python|sh)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def run_page(page: Path) -> int:
    """Run all blocks of a page in a folder of its own and return how many there were."""
    namespace: dict[str, object] = {"__name__": "__main__"}
    text = page.read_text(encoding="utf-8")
    blocks = list(BLOCK.finditer(text))
    home = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for block in blocks:
                line = text.count("\n", 0, block.start()) + 2
                language, code = block.groups()
                if language == "sh":
                    _run_shell(code, f"{page}:{line}")
                else:
                    exec(compile("\n" * (line - 1) + code, str(page), "exec"), namespace)
        finally:
            os.chdir(home)
    return len(blocks)


def _run_shell(code: str, place: str) -> None:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    done = subprocess.run(
        ["sh", "-e", "-c", code], env=os.environ | {"PATH": path}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{place}: exit code {done.returncode}\n{done.stdout}{done.stderr}")


def main(arguments: list[str]) -> None:
    warnings.simplefilter("error")
    import matplotlib

    matplotlib.use("Agg")
    skipped = {"_build", "auto_examples", "generated"}
    pages = [Path(name).resolve() for name in arguments] or [
        page for page in sorted(DOCS.rglob("*.md")) if not skipped & set(page.relative_to(DOCS).parts)
    ]
    for page in pages:
        start = time.perf_counter()
        count = run_page(page)
        if count:
            print(f"{page.name}: {count} blocks in {time.perf_counter() - start:.1f} s", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
