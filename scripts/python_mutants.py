"""Mutants of the Python package: another operator, number, branch, statement or result in a function."""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = tuple(
    f"odonata.{name}"
    for name in ("analysis", "explanation", "importers", "plot", "store", "studies", "sweeps")
)

COMPARISONS = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
ARITHMETIC = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
}
LOOKS = {
    "alpha",
    "fontsize",
    "linewidth",
    "linewidths",
    "lw",
    "markersize",
    "ms",
    "pad",
    "s",
    "shrink",
    "zorder",
}
SIZED = {"new_picture", "subplots_adjust"}
"""Arguments and calls that say how a figure looks; no number in them is wrong."""
NAMES = {"min": "max", "max": "min", "any": "all", "all": "any"}


@dataclass(frozen=True)
class Mutant:
    """What it does, where, and the text of the file with it."""

    what: str
    file: str
    function: str
    text: str


def python_mutants(package: str) -> dict[str, Mutant]:
    """Every mutant of a package. Where one function has several that read alike, they are numbered."""
    found: dict[str, Mutant] = {}
    alike: Counter[str] = Counter()
    for path in sorted((ROOT / "python" / package.replace(".", "/")).rglob("*.py")):
        for mutant in mutants_in(path):
            alike[mutant.what] += 1
            number = alike[mutant.what]
            found[mutant.what if number == 1 else f"{mutant.what} (no. {number})"] = mutant
    return found


def mutants_in(path: Path) -> Iterator[Mutant]:
    text = path.read_text()
    data = text.encode()
    starts = [0]
    for line in data.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    file = str(path.relative_to(ROOT / "python"))
    for function, name in functions(ast.parse(text)):
        for node in nodes(function, sizes_in(function)):
            assert isinstance(node, (ast.expr, ast.stmt))
            start = starts[node.lineno - 1] + node.col_offset
            end = starts[(node.end_lineno or 0) - 1] + (node.end_col_offset or 0)
            for new in changed(node):
                words = f"({ast.unparse(new)})" if isinstance(new, ast.expr) else ast.unparse(new)
                what = f"python/{file}: replace {short(node)} with {short(new)} in {name}"
                mutated = (data[:start] + words.encode() + data[end:]).decode()
                yield Mutant(what, file, function.name, mutated)


def functions(tree: ast.AST, prefix: str = "") -> Iterator[tuple[ast.FunctionDef, str]]:
    """The functions and methods of a module; one within another counts to the outer."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef):
            yield from functions(node, f"{prefix}{node.name}.")
        elif isinstance(node, ast.FunctionDef):
            yield node, prefix + node.name
        elif isinstance(node, ast.stmt):
            yield from functions(node, prefix)


def nodes(node: ast.AST, sizes: frozenset[str] = frozenset()) -> Iterator[ast.AST]:
    """What may be changed in a function: no annotations, decorators or errors, nor how a figure looks."""
    if isinstance(node, ast.keyword) and node.arg in LOOKS:
        return
    if is_sized(node) or (isinstance(node, ast.Assign) and sizes.issuperset(names_in(node.targets))):
        return
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "type_comment"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, (ast.JoinedStr, ast.Raise, ast.Assert)) or not isinstance(child, ast.AST):
                continue
            if isinstance(child, (ast.expr, ast.stmt)):
                yield child
            yield from nodes(child, sizes)


def is_sized(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in SIZED


def sizes_in(function: ast.FunctionDef) -> frozenset[str]:
    """The variables that are read in calls of `SIZED` alone."""
    calls = [node for node in ast.walk(function) if is_sized(node)]
    sized = Counter(names_in(calls, ast.Load))
    read = Counter(names_in([function], ast.Load))
    return frozenset(name for name, count in sized.items() if count == read[name])


def names_in(nodes: Iterable[ast.AST], use: type[ast.expr_context] = ast.expr_context) -> list[str]:
    every = (each for node in nodes for each in ast.walk(node))
    return [each.id for each in every if isinstance(each, ast.Name) and isinstance(each.ctx, use)]


def changed(node: ast.AST) -> Iterator[ast.AST]:
    """What may stand there instead."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARISONS:
        yield with_field(node, ops=[COMPARISONS[type(node.ops[0])](), *node.ops[1:]])
    elif isinstance(node, ast.BinOp) and type(node.op) in ARITHMETIC and not is_text(node):
        yield with_field(node, op=ARITHMETIC[type(node.op)]())
    elif isinstance(node, ast.AugAssign) and type(node.op) in ARITHMETIC:
        yield with_field(node, op=ARITHMETIC[type(node.op)]())
        yield ast.Pass()
    elif isinstance(node, ast.BoolOp):
        yield with_field(node, op=ast.Or() if isinstance(node.op, ast.And) else ast.And())
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.USub)):
        yield node.operand
    elif isinstance(node, ast.Constant) and isinstance(node.value, bool):
        yield ast.Constant(not node.value)
    elif isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        yield ast.Constant(node.value + 1)
    elif isinstance(node, ast.IfExp):
        yield with_field(node, body=node.orelse, orelse=node.body)
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in NAMES:
        yield with_field(node, func=ast.Name(NAMES[node.func.id]))
    elif isinstance(node, ast.Expr) and not isinstance(node.value, (ast.Constant, ast.Yield, ast.YieldFrom)):
        yield ast.Pass()
    elif isinstance(node, ast.Return) and node.value is not None and not is_none(node.value):
        yield ast.Return(ast.Constant(None))
    elif isinstance(node, (ast.Continue, ast.Break)):
        yield ast.Pass()


def with_field(node: ast.AST, **fields: object) -> ast.AST:
    new = copy.copy(node)
    for name, value in fields.items():
        setattr(new, name, value)
    return new


def is_text(node: ast.BinOp) -> bool:
    return any(
        isinstance(side, ast.JoinedStr) or (isinstance(side, ast.Constant) and isinstance(side.value, str))
        for side in (node.left, node.right)
    )


def is_none(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def short(node: ast.AST) -> str:
    words = " ".join(ast.unparse(node).split())
    return words if len(words) <= 60 else f"{words[:57]}..."
