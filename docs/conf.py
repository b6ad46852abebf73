"""Sphinx configuration. `make docs` runs every code block and every gallery example, and tolerates no warning."""

import json
import sys
from importlib.metadata import version as installed_version
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
from run_blocks import OUTPUTS, with_outputs  # noqa: E402

project = "pnulearn"
author = "The pnulearn developers"
copyright = "2026, The pnulearn developers"
version = release = installed_version("pnulearn")

extensions = [
    "mathml",
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_gallery.gen_gallery",
]
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}
templates_path = ["_templates"]
exclude_patterns = ["_build", "auto_examples/*.ipynb", "auto_examples/*.py.md5", "**/README.md"]

myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

autosummary_generate = True
# PyTorch takes gigabytes: without it, the API page of pnulearn.torch is written from its source all the same.
autodoc_mock_imports = [] if find_spec("torch") else ["torch"]
autodoc_member_order = "bysource"
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

sphinx_gallery_conf = {
    "examples_dirs": str(HERE.parent / "examples"),
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"/plot_",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "remove_config_comments": True,
    "min_reported_time": 1000,
}

html_math_renderer = "mathml"
html_theme = "pydata_sphinx_theme"
html_title = "pnulearn"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_theme_options = {
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "show_toc_level": 2,
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
    "navbar_end": ["theme-switcher"],
    "footer_start": ["copyright"],
    "footer_end": [],
}
html_context = {"default_mode": "auto"}
html_show_sourcelink = False
html_sidebars = {page: [] for page in ("index", "install", "tutorial", "choose")}  # they have no section to list


def setup(app):
    """Show below each block of a page what it printed when `make docs` ran it."""
    outputs = json.loads(OUTPUTS.read_text(encoding="utf-8")) if OUTPUTS.is_file() else {}

    def show_outputs(app, name, source):
        if name in outputs:
            source[0] = with_outputs(source[0], outputs[name])

    app.connect("source-read", show_outputs)
    app.connect("autodoc-skip-member", skip_inherited)


def skip_inherited(app, kind, name, member, skip, options):
    """Leave out what scikit-learn and Python bring along."""
    owner = getattr(member, "fget", member)
    return skip or not (getattr(owner, "__module__", None) or "").startswith("pnulearn")
