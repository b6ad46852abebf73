"""Formulas as MathML, which browsers set without a script: the site needs no network and no MathJax."""

from docutils import nodes
from latex2mathml.converter import convert


def setup(app):
    app.add_html_math_renderer("mathml", (show_inline, None), (show_block, None))
    return {"parallel_read_safe": True}


def show_inline(writer, node):
    writer.body.append(convert(node.astext()))
    raise nodes.SkipNode


def show_block(writer, node):
    writer.body.append(f'<div class="math">{convert(node.astext(), display="block")}</div>')
    raise nodes.SkipNode
