"""Templates of the pages, filled in. All values but the figures are escaped."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pnulearn._extras import import_extra


def render_page(
    template: str, figures: Mapping[str, str], filters: Mapping[str, Callable[[Any], Any]] | None = None, **values: Any
) -> str:
    """The page as text, from figures as SVG and the other variables of its template."""
    with import_extra("report", "A report"):
        from jinja2 import Environment, PackageLoader, StrictUndefined
        from markupsafe import Markup
    environment = Environment(
        loader=PackageLoader("pnulearn.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= filters or {}
    drawn = {name: Markup(svg) for name, svg in figures.items()}
    return environment.get_template(template).render(figures=drawn, **values)
