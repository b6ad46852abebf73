"""Every place of a module where one small change can be made, and the module after it."""

from __future__ import annotations

import ast

OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.Pow: ast.Mult,
}
COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
}
NAMES = {"min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum", "any": "all", "all": "any"}


def places(source: str) -> list[tuple[int, int, str, str]]:
    """Number, line, columns and words of every change; annotations and errors that are raised are left alone."""
    tree = ast.parse(source)
    apart = [part for part in ast.walk(tree) if isinstance(part, ast.Raise | ast.AnnAssign | ast.arg)]
    inside = {id(child) for part in apart for child in ast.walk(getattr(part, "annotation", None) or part)}
    found = [(number, node, _changed(node)) for number, node in enumerate(ast.walk(tree)) if id(node) not in inside]
    return [
        (number, node.lineno, f"{node.col_offset}-{node.end_col_offset}", words)
        for number, node, words in found
        if words is not None
    ]


def mutate(source: str, number: int) -> str:
    """The source with that change made."""
    tree = ast.parse(source)
    _change(next(node for place, node in enumerate(ast.walk(tree)) if place == number))
    return ast.unparse(tree)


def _changed(node: ast.AST) -> str | None:
    """The change in words, if there is one to make."""
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        return f"{type(node.op).__name__} to {OPERATORS[type(node.op)].__name__}"
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in COMPARISONS:
        return f"{type(node.ops[0]).__name__} to {COMPARISONS[type(node.ops[0])].__name__}"
    if isinstance(node, ast.BoolOp):
        return "and to or" if isinstance(node.op, ast.And) else "or to and"
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return "minus left out"
    if isinstance(node, ast.Attribute | ast.Name) and _name(node) in NAMES:
        return f"{_name(node)} to {NAMES[_name(node)]}"
    return None


def _name(node: ast.Attribute | ast.Name) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id


def _change(node: ast.AST) -> None:
    if isinstance(node, ast.BinOp):
        node.op = OPERATORS[type(node.op)]()
    elif isinstance(node, ast.Compare):
        node.ops = [COMPARISONS[type(node.ops[0])]()]
    elif isinstance(node, ast.BoolOp):
        node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    elif isinstance(node, ast.UnaryOp):
        node.op = ast.UAdd()
    elif isinstance(node, ast.Attribute):
        node.attr = NAMES[node.attr]
    elif isinstance(node, ast.Name):
        node.id = NAMES[node.id]
