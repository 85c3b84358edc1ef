"""Reads the assignments of an SST script, which is a Python program, without running it.

Read are statements in their order: names, attributes and `sst.merlin._params["key"]` with plain values
(numbers, texts, lists, dictionaries, arithmetic, f-strings), objects that a call of a class makes, and calls
of their methods. Loops and conditions on unknown values are left out and named.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from odonata.errors import OdonataError
from odonata.files import read_text

LARGEST = 1 << 53
"""Largest number of an expression; a script must not fill the memory."""


@dataclass
class ScriptObject:
    """An object of the script: the class that makes it, its attributes, and the calls of its methods."""

    kind: str
    line: int
    args: Sequence[Any] = ()
    values: dict[str, tuple[Any, int]] = field(default_factory=dict)
    """Value and line of each attribute; of nested attributes by their path, such as `nic.packetSize`."""
    calls: list[tuple[str, Sequence[Any], int]] = field(default_factory=list)
    """Name, arguments and line of each call of a method."""


@dataclass(frozen=True)
class Unknown:
    """A value that only a run of the script has."""

    text: str


@dataclass
class Script:
    """What a script makes and sets."""

    path: Path
    made: list[ScriptObject] = field(default_factory=list)
    """Objects in the order in which they are made."""
    parameters: dict[str, tuple[Any, int]] = field(default_factory=dict)
    """The old style: `sst.merlin._params["key"] = value`."""
    notes: list[str] = field(default_factory=list)
    calls: list[tuple[str, Sequence[Any], int]] = field(default_factory=list)
    """Calls of functions and of class methods, such as `PlatformDefinition.setCurrentPlatform`."""

    def of(self, kinds: Mapping[str, Any] | Sequence[str]) -> list[ScriptObject]:
        """Objects of some classes."""
        return [made for made in self.made if made.kind in kinds]


Sizes = Callable[[Script, ScriptObject | None], int | None]
"""The number of nodes of a topology so far, or of the one of the system; None if it is not known."""


def read(path: Path, sizes: Sizes) -> Script:
    """What a script makes and sets.

    Args:
        path: The script.
        sizes: The value of `getNumNodes()`.

    Raises:
        OdonataError: The file is no Python program.
    """
    text = read_text(path, "a Python script of SST")
    try:
        tree = ast.parse(text)
    except SyntaxError as error:
        raise OdonataError(f"{path}, line {error.lineno or 1}: no Python program: {error.msg}") from None
    except (ValueError, RecursionError, MemoryError):
        raise OdonataError(f"{path} is no Python program that can be read") from None
    script = Script(path)
    try:
        _Walk(script, sizes).block(tree.body)
    except RecursionError:
        raise OdonataError(f"{path}: an expression is nested too deeply") from None
    return script


_BINARY: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
}
_COMPARED: Mapping[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "int": int,
    "float": float,
    "str": str,
    "round": round,
    "len": len,
    "min": min,
    "max": max,
    "abs": abs,
}


class _Walk:
    def __init__(self, script: Script, sizes: Sizes) -> None:
        self._script, self._sizes = script, sizes
        self._names: dict[str, Any] = {"__name__": "__main__"}
        self._functions: dict[str, ast.FunctionDef] = {}

    def block(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            self._statement(statement)

    def _statement(self, statement: ast.stmt) -> None:
        match statement:
            case ast.Assign(targets=targets, value=value):
                found = self._value(value)
                for target in targets:
                    self._assign(target, found)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._assign(target, self._value(value))
            case ast.AugAssign(target=ast.Name(id=name) as target, op=op, value=value):
                before = self._names.get(name, Unknown(name))
                self._assign(target, self._combined(op, before, self._value(value), ast.unparse(statement)))
            case ast.Expr(value=ast.Call(func=ast.Name(id=name), args=[], keywords=[])) if (
                name in self._functions
            ):
                # Each function runs once, so that one that calls itself ends.
                self.block(self._functions.pop(name).body)
            case ast.Expr(value=value):
                self._value(value)
            case ast.FunctionDef(name=name):
                self._functions[name] = statement
            case ast.If(test=test, body=body, orelse=orelse):
                met = self._value(test)
                if isinstance(met, Unknown):
                    self._leave(statement, "a condition")
                else:
                    self.block(body if met else orelse)
            case ast.For() | ast.While():
                self._leave(statement, "a loop")
            case ast.Try(body=body) | ast.With(body=body):
                self.block(body)
            case _:
                pass

    def _leave(self, statement: ast.stmt, what: str) -> None:
        """Leaves out a statement; what it sets is unknown afterwards."""
        self._script.notes.append(f"not read: {what} in line {statement.lineno}")
        self._forget(statement)

    def _forget(self, node: ast.AST) -> None:
        for each in ast.walk(node):
            if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
                self._names[each.id] = Unknown(each.id)

    def _assign(self, target: ast.expr, value: Any) -> None:
        match target:
            case ast.Name(id=name):
                self._names[name] = value
            case ast.Attribute():
                owner, path = self._owner(target)
                if owner is not None:
                    owner.values[path] = (value, target.lineno)
            case ast.Subscript(value=ast.Attribute(attr="_params"), slice=key):
                name = self._value(key)
                if isinstance(name, str):
                    self._script.parameters[name] = (value, target.lineno)
            case ast.Subscript(value=ast.Name(id=name), slice=key) if isinstance(self._names.get(name), dict):
                index = self._value(key)
                if isinstance(index, str | int):
                    self._names[name][index] = value
            case ast.Tuple(elts=targets) if isinstance(value, list | tuple) and len(value) == len(targets):
                for each, item in zip(targets, value, strict=True):
                    self._assign(each, item)
            case _:
                self._forget(target)

    def _owner(self, target: ast.expr) -> tuple[ScriptObject | None, str]:
        """The object of an attribute, and the path of the attribute in it."""
        parts: list[str] = []
        while isinstance(target, ast.Attribute):
            parts.append(target.attr)
            target = target.value
        found = self._names.get(target.id) if isinstance(target, ast.Name) else None
        while (
            isinstance(found, ScriptObject)
            and len(parts) > 1
            and isinstance(held := found.values.get(parts[-1], (0,))[0], ScriptObject)
        ):
            found = held
            parts.pop()
        return (found if isinstance(found, ScriptObject) else None), ".".join(reversed(parts))

    def _value(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name):
                return self._names.get(name, Unknown(name))
            case ast.List(elts=items):
                return [self._value(item) for item in items]
            case ast.Tuple(elts=items):
                return tuple(self._value(item) for item in items)
            case ast.Dict(keys=keys, values=values):
                pairs = [
                    (self._value(k), self._value(v))
                    for k, v in zip(keys, values, strict=True)
                    if k is not None
                ]
                return {key: value for key, value in pairs if isinstance(key, str | int | float)}
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return self._combined(ast.Sub(), 0, self._value(operand), ast.unparse(node))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                value = self._value(operand)
                return value if isinstance(value, Unknown) else not value
            case ast.BinOp(left=left, op=op, right=right):
                return self._combined(op, self._value(left), self._value(right), ast.unparse(node))
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _COMPARED:
                return self._computed(_COMPARED[type(op)], [self._value(left), self._value(right)], node)
            case ast.JoinedStr(values=parts):
                return self._text(parts, node)
            case ast.Attribute(attr=attribute):
                owner, path = self._owner(node)
                return (
                    Unknown(ast.unparse(node))
                    if owner is None
                    else owner.values.get(path, (Unknown(attribute), 0))[0]
                )
            case ast.Subscript(value=container, slice=index):
                return self._computed(operator.getitem, [self._value(container), self._value(index)], node)
            case ast.Call():
                return self._call(node)
        return Unknown(ast.unparse(node))

    def _text(self, parts: Sequence[ast.expr], node: ast.expr) -> Any:
        found = []
        for part in parts:
            plain = (
                isinstance(part, ast.FormattedValue) and part.format_spec is None and part.conversion == -1
            )
            value = (
                self._value(part.value)
                if plain and isinstance(part, ast.FormattedValue)
                else self._value(part)
            )
            if isinstance(value, Unknown | ScriptObject):
                return Unknown(ast.unparse(node))
            found.append(str(value))
        return "".join(found)

    def _combined(self, op: ast.operator, left: Any, right: Any, text: str) -> Any:
        sides = (left, right)
        if type(op) not in _BINARY or any(isinstance(side, Unknown | ScriptObject | dict) for side in sides):
            return Unknown(text)
        if isinstance(op, ast.Mult) and not all(isinstance(side, int | float) for side in sides):
            return Unknown(text)
        # `"%99999999d"` is as large as it says.
        if isinstance(op, ast.Mod) and isinstance(left, str) and any(map(str.isdigit, left)):
            return Unknown(text)
        try:
            found = _BINARY[type(op)](left, right)
        except (TypeError, ValueError, ArithmeticError):
            return Unknown(text)
        return Unknown(text) if isinstance(found, int | float) and not abs(found) < LARGEST else found

    def _computed(self, function: Callable[..., Any], arguments: Sequence[Any], node: ast.expr) -> Any:
        if any(isinstance(argument, Unknown | ScriptObject) for argument in arguments):
            return Unknown(ast.unparse(node))
        try:
            return function(*arguments)
        except (TypeError, ValueError, ArithmeticError, LookupError):
            return Unknown(ast.unparse(node))

    def _call(self, node: ast.Call) -> Any:
        arguments = [self._value(argument) for argument in node.args]
        keywords = {word.arg: (self._value(word.value), node.lineno) for word in node.keywords if word.arg}
        match node.func:
            case ast.Name(id=name) if name in _FUNCTIONS and not keywords:
                return self._computed(_FUNCTIONS[name], arguments, node)
            case ast.Attribute(attr="update", value=ast.Attribute(attr="_params")) if arguments:
                given = arguments[0] if isinstance(arguments[0], dict) else {}
                self._script.parameters.update(
                    {str(key): (value, node.lineno) for key, value in given.items()}
                )
                return None
            case ast.Attribute(attr="getNumNodes", value=ast.Attribute(attr="topology")):
                size = self._sizes(self._script, None)
                return Unknown(ast.unparse(node)) if size is None else size
            case ast.Attribute(attr="compose"):
                return self._make("PlatformDefinition", node, arguments, keywords)
            case ast.Attribute(attr=method, value=ast.expr() as owner) if isinstance(
                self._value(owner), ScriptObject
            ):
                return self._method(self._value(owner), method, arguments, node)
            case ast.Name(id=name) | ast.Attribute(attr=name):
                if isinstance(node.func, ast.Attribute) or not _is_class(name):
                    self._script.calls.append((ast.unparse(node.func), arguments, node.lineno))
                if not _is_class(name):
                    return Unknown(ast.unparse(node))
                return self._make(name, node, arguments, keywords)
        return Unknown(ast.unparse(node))

    def _make(
        self, kind: str, node: ast.Call, arguments: Sequence[Any], keywords: dict[str, tuple[Any, int]]
    ) -> ScriptObject:
        found = ScriptObject(kind, node.lineno, arguments, keywords)
        self._script.made.append(found)
        return found

    def _method(self, owner: ScriptObject, method: str, arguments: Sequence[Any], node: ast.Call) -> Any:
        owner.calls.append((method, arguments, node.lineno))
        if method == "getNumNodes":
            size = self._sizes(self._script, owner)
            return Unknown(ast.unparse(node)) if size is None else size
        if method == "getSize" and len(owner.args) > 1:
            return owner.args[1]
        return Unknown(ast.unparse(node))


def _is_class(name: str) -> bool:
    return name.startswith("topo") or name == "hr_router" or name[:1].isupper()
