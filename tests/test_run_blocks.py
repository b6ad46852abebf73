"""The documentation runs its own code and shows what it printed."""

import importlib.util
import json
from pathlib import Path

import pytest

PAGE = """# A page

```python
x = 2
```

```python
print("x is", x)
```

```sh
echo from the shell > note.txt; cat note.txt
```

```console
$ not run
```
"""


@pytest.fixture
def blocks(tmp_path, monkeypatch):
    place = Path(__file__).parents[1] / "docs" / "run_blocks.py"
    spec = importlib.util.spec_from_file_location("run_blocks", place)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "DOCS", tmp_path)
    monkeypatch.setattr(module, "OUTPUTS", tmp_path / "_build" / "outputs.json")
    monkeypatch.chdir(tmp_path)
    return module


def write(folder, text):
    page = folder / "page.md"
    page.write_text(text, encoding="utf-8")
    return str(page)


def test_blocks_share_names_and_their_output_is_shown_below_them(blocks, tmp_path):
    blocks.main([write(tmp_path, PAGE)])
    printed = json.loads(blocks.OUTPUTS.read_text())["page"]
    assert printed == ["", "x is 2\n", "from the shell\n"]
    shown = blocks.with_outputs(PAGE, printed)
    assert 'print("x is", x)\n```\n\n```{code-block} text\n:class: output\n\nx is 2\n```' in shown
    assert shown.count(":class: output") == 2


def test_a_block_that_fails_stops_the_build(blocks, tmp_path):
    with pytest.raises(NameError, match="unknown"):
        blocks.main([write(tmp_path, "```python\nunknown\n```\n")])
    with pytest.raises(SystemExit, match=r"page\.md:2: exit code 3"):
        blocks.main([write(tmp_path, "```sh\nexit 3\n```\n")])


def test_a_page_whose_package_is_missing_is_left_out_with_a_word(blocks, tmp_path, capsys):
    blocks.main([write(tmp_path, "<!-- needs: no_such_package -->\n```python\n1 / 0\n```\n")])
    assert "page.md: left out, its blocks need the package no_such_package" in capsys.readouterr().out


def test_a_stale_output_or_number_stops_the_build(blocks, tmp_path, monkeypatch):
    page = "```python\nprint('error', 0.25, '12 %')\n```\n\n```text\n{}\n```\n\nThe error of {} is small.{}\n"
    good = page.format("error 0.25 12 %", 0.25, " <!-- numbers: printed -->")
    blocks.main([write(tmp_path, good)])
    printed = json.loads(blocks.OUTPUTS.read_text())["page"]
    assert blocks.with_outputs(good, printed) == good  # it is shown once
    with pytest.raises(SystemExit, match=r"page\.md:6: the page shows another output .*\nerror 0\.25 12 %"):
        blocks.main([write(tmp_path, page.format("error 0.26 12 %", 0.25, " <!-- numbers: printed -->"))])
    with pytest.raises(SystemExit, match=r"printed has no 0\.3, but the page says\nThe error of 0\.3 is small"):
        blocks.main([write(tmp_path, page.format("error 0.25 12 %", 0.3, " <!-- numbers: printed -->"))])
    blocks.main([write(tmp_path, page.format("error 0.25 12 %", 0.3, ""))])
    (tmp_path / "results.md").write_text("an error of 0.3")
    monkeypatch.setattr(blocks, "DOCS", tmp_path / "docs")
    blocks.main([write(tmp_path, "0.3 <!-- numbers: results.md -->\n\n0.4")])
    with pytest.raises(SystemExit, match=r"results\.md has no 0\.4"):
        blocks.main([write(tmp_path, "0.4 <!-- numbers: results.md -->\n\n0.3")])
    blocks.main([write(tmp_path, "```sh\necho done in 0.7 s\n```\n\n```text\ndone in 12.1 s\n```\n")])
