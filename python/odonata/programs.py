"""Rank programs as Python functions. Each function runs once and writes the program text for the engines.

>>> from odonata.programs import Role, program
>>> def ring(role: Role) -> None:
...     with role.repeat(10) as i:
...         role.compute("5 us")
...         role.isend((role.rank + 1) % role.ranks, "64 KiB", tag=i)
...         role.irecv((role.rank - 1) % role.ranks, "64 KiB", tag=i)
...         role.waitall()
...     role.allreduce("8 B")
>>> program(ring).save("ring.program", ranks=16).name
'ring.program'

Use it in a job with `program = { name = "file", path = "ring.program" }`.

`role.rank`, `role.ranks` and the index of a loop are expressions, not numbers. So one line of the function
is one line of the text, for all ranks and rounds. Python's own loops and conditions use Python numbers and
are expanded. `docs/models/programs.md` describes the text form.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

from odonata._core import program_mistake
from odonata.errors import OdonataError

__all__ = ["Expression", "Program", "ProgramError", "Role", "program"]


class ProgramError(OdonataError):
    """A mistake in a function that builds a program; the message starts with its file and line."""


@dataclass(frozen=True, eq=False)
class Expression:
    """A whole number, an amount of data or a duration that depends on the rank or the round."""

    text: str

    def __add__(self, other: Number) -> Expression:
        return _binary(self, "+", other)

    def __radd__(self, other: Number) -> Expression:
        return _binary(other, "+", self)

    def __sub__(self, other: Number) -> Expression:
        return _binary(self, "-", other)

    def __rsub__(self, other: Number) -> Expression:
        return _binary(other, "-", self)

    def __mul__(self, other: Number) -> Expression:
        return _binary(self, "*", other)

    def __rmul__(self, other: Number) -> Expression:
        return _binary(other, "*", self)

    def __floordiv__(self, other: Number) -> Expression:
        return _binary(self, "/", other)

    def __rfloordiv__(self, other: Number) -> Expression:
        return _binary(other, "/", self)

    def __mod__(self, other: Number) -> Expression:
        return _binary(self, "%", other)

    def __rmod__(self, other: Number) -> Expression:
        return _binary(other, "%", self)

    def __neg__(self) -> Expression:
        return _binary(0, "-", self)

    def __eq__(self, other: object) -> Expression:  # type: ignore[override]  # as in NumPy: an expression, not a truth value
        return _binary(self, "==", other)

    def __ne__(self, other: object) -> Expression:  # type: ignore[override]
        return _binary(self, "!=", other)

    def __lt__(self, other: Number) -> Expression:
        return _binary(self, "<", other)

    def __le__(self, other: Number) -> Expression:
        return _binary(self, "<=", other)

    def __gt__(self, other: Number) -> Expression:
        return _binary(self, ">", other)

    def __ge__(self, other: Number) -> Expression:
        return _binary(self, ">=", other)

    def __and__(self, other: Number) -> Expression:
        return _binary(self, "and", other)

    def __or__(self, other: Number) -> Expression:
        return _binary(self, "or", other)

    def __invert__(self) -> Expression:
        return Expression(f"(not {self.text})")

    def __truediv__(self, other: object) -> NoReturn:
        raise _mistake("'/' gives fractions, but programs use whole numbers", "write '//'")

    def __bool__(self) -> NoReturn:
        raise _mistake(
            f"{self.text} differs between ranks, so Python cannot test it",
            "write `with role.when(...):`; join conditions with & and |",
        )

    def __index__(self) -> NoReturn:
        raise _mistake(
            f"{self.text} differs between ranks, so Python cannot use it as a number",
            "write `with role.repeat(...) as i:` instead of `for i in range(...):`",
        )

    def __iter__(self) -> NoReturn:
        raise _mistake(f"{self.text} is a number, not a list", "write `with role.repeat(...) as i:`")

    __hash__ = None  # type: ignore[assignment]  # objects without a truth value cannot be keys of a dict


Number: TypeAlias = int | Expression
Amount: TypeAlias = str | Expression
"""An amount of data or a duration: `"64 KiB"`, `"5 us"`, or `role.rank * role.amount("8 B")`."""

ANY = "any"
"""Wildcard for a peer or a tag."""


@dataclass
class Role:
    """The program of some ranks. Each method is a call and appends a line."""

    rank: Expression = field(default_factory=lambda: Expression("rank"))
    """Number of this rank, from 0."""
    ranks: Expression = field(default_factory=lambda: Expression("ranks"))
    """Number of ranks."""
    _lines: list[tuple[str, str]] = field(default_factory=list)
    """Lines, each with the file and line in Python that wrote it."""
    _depth: int = 0
    _loops: int = 0

    def amount(self, amount: str) -> Expression:
        """An amount of data or a duration for arithmetic, such as `"64 KiB"`."""
        return Expression(f"({_amount(amount)})")

    @contextmanager
    def repeat(self, times: Number) -> Iterator[Expression]:
        """Repeats the lines in its block; yields the number of the round, from 0."""
        self._loops += 1
        variable = f"round{self._loops}"
        self._write(f"repeat {_number(times)} as {variable}:")
        with self._block("repeat"):
            yield Expression(variable)

    @contextmanager
    def when(self, condition: Expression) -> Iterator[None]:
        """Executes the lines in its block on ranks where the condition holds."""
        if not isinstance(condition, Expression):
            raise _mistake(f"{condition!r} is the same for all ranks", "write Python's `if`")
        self._write(f"if {condition.text}:")
        with self._block("when"):
            yield

    @contextmanager
    def otherwise(self) -> Iterator[None]:
        """After `when`: executes the lines in its block where the condition does not hold."""
        self._write("else:")
        with self._block("otherwise"):
            yield

    @contextmanager
    def stream(self, name: str) -> Iterator[None]:
        """Puts the calls of its block on a stream, which runs them one by one next to the other streams."""
        self._write(f"on stream {_name(name)}:")
        with self._block("stream"):
            yield

    def record(self, event: str) -> None:
        """Records an event: the end of the calls of this stream so far."""
        self._write(f"record {_name(event)}")

    def await_event(self, event: str) -> None:
        """Lets the next calls of this stream wait for the last record of an event."""
        self._write(f"await {_name(event)}")

    def compute(self, time: Amount) -> None:
        """Computes for a duration."""
        self._write(f"compute {_amount(time)}")

    def sleep(self, time: Amount) -> None:
        """Sleeps for a duration."""
        self._write(f"sleep {_amount(time)}")

    def wait_until(self, time: Amount) -> None:
        """Sleeps until a simulated time, from the start of the run; nothing if the rank is later."""
        self._write(f"wait until {_amount(time)}")

    def phase(self, name: str) -> None:
        """Starts a phase, a row of the table `phases`."""
        self._write(f"phase {_name(name)}")

    def send(self, to: Number, size: Amount, *, tag: Number = 0, on: str | None = None) -> None:
        """Sends a message and returns when its buffer can be reused."""
        self._message("send", to, size, tag, on, None)

    def isend(
        self, to: Number, size: Amount, *, tag: Number = 0, on: str | None = None, request: str | None = None
    ) -> None:
        """Starts a send. Complete it with the next plain `waitall`, or give a request `"name[index]"`."""
        self._message("isend", to, size, tag, on, request)

    def recv(
        self, source: Number | str, size: Amount, *, tag: Number | str = 0, on: str | None = None
    ) -> None:
        """Receives a message; source and tag may be `"any"`."""
        self._message("recv", source, size, tag, on, None)

    def irecv(
        self,
        source: Number | str,
        size: Amount,
        *,
        tag: Number | str = 0,
        on: str | None = None,
        request: str | None = None,
    ) -> None:
        """Starts a receive; see `isend` for its completion."""
        self._message("irecv", source, size, tag, on, request)

    def waitall(self, name: str | None = None) -> None:
        """Waits for all unnamed requests, or for all requests of a name."""
        self._write("waitall" if name is None else f"waitall {_name(name)}")

    def barrier(self, *, on: str | None = None) -> None:
        """Waits for all ranks."""
        self._write("barrier" + _on(on))

    def bcast(self, size: Amount, *, root: Number = 0, on: str | None = None) -> None:
        """Broadcasts a message from the root."""
        self._collective("bcast", size, root, on)

    def reduce(self, size: Amount, *, root: Number = 0, on: str | None = None) -> None:
        """Combines the messages of all ranks at the root."""
        self._collective("reduce", size, root, on)

    def gather(self, size: Amount, *, root: Number = 0, on: str | None = None) -> None:
        """Collects a block from every rank at the root."""
        self._collective("gather", size, root, on)

    def scatter(self, size: Amount, *, root: Number = 0, on: str | None = None) -> None:
        """Distributes a block to every rank from the root."""
        self._collective("scatter", size, root, on)

    def allreduce(self, size: Amount, *, on: str | None = None) -> None:
        """Combines the messages of all ranks and gives the result to all."""
        self._collective("allreduce", size, None, on)

    def scan(self, size: Amount, *, on: str | None = None) -> None:
        """Gives every rank the combined messages of all ranks up to it."""
        self._collective("scan", size, None, on)

    def reduce_scatter(self, size: Amount, *, on: str | None = None) -> None:
        """Combines blocks and gives one to every rank."""
        self._collective("reduce-scatter", size, None, on)

    def allgather(self, size: Amount, *, on: str | None = None) -> None:
        """Sends a block of every rank to all ranks."""
        self._collective("allgather", size, None, on)

    def alltoall(self, size: Amount, *, on: str | None = None) -> None:
        """Sends a block from every rank to every other."""
        self._collective("alltoall", size, None, on)

    def ibarrier(self, *, on: str | None = None, request: str | None = None) -> None:
        """Starts a barrier; see `isend` for its completion. So do the other nonblocking collectives."""
        self._write("ibarrier" + _on(on) + _as(request))

    def ibcast(
        self, size: Amount, *, root: Number = 0, on: str | None = None, request: str | None = None
    ) -> None:
        """Starts `bcast`."""
        self._collective("ibcast", size, root, on, request)

    def ireduce(
        self, size: Amount, *, root: Number = 0, on: str | None = None, request: str | None = None
    ) -> None:
        """Starts `reduce`."""
        self._collective("ireduce", size, root, on, request)

    def igather(
        self, size: Amount, *, root: Number = 0, on: str | None = None, request: str | None = None
    ) -> None:
        """Starts `gather`."""
        self._collective("igather", size, root, on, request)

    def iscatter(
        self, size: Amount, *, root: Number = 0, on: str | None = None, request: str | None = None
    ) -> None:
        """Starts `scatter`."""
        self._collective("iscatter", size, root, on, request)

    def iallreduce(self, size: Amount, *, on: str | None = None, request: str | None = None) -> None:
        """Starts `allreduce`."""
        self._collective("iallreduce", size, None, on, request)

    def iscan(self, size: Amount, *, on: str | None = None, request: str | None = None) -> None:
        """Starts `scan`."""
        self._collective("iscan", size, None, on, request)

    def ireduce_scatter(self, size: Amount, *, on: str | None = None, request: str | None = None) -> None:
        """Starts `reduce_scatter`."""
        self._collective("ireduce-scatter", size, None, on, request)

    def iallgather(self, size: Amount, *, on: str | None = None, request: str | None = None) -> None:
        """Starts `allgather`."""
        self._collective("iallgather", size, None, on, request)

    def ialltoall(self, size: Amount, *, on: str | None = None, request: str | None = None) -> None:
        """Starts `alltoall`."""
        self._collective("ialltoall", size, None, on, request)

    def split(self, name: str, color: Number, *, key: Number = 0, on: str | None = None) -> None:
        """Splits a communicator; ranks with the same color form a new one with this name."""
        self._write(f"split {_name(name)} color {_number(color)} key {_number(key)}{_on(on)}")

    def create(
        self, name: str, first: Number, count: Number, *, stride: Number = 1, on: str | None = None
    ) -> None:
        """Creates a communicator of the ranks first, first + stride, ..."""
        ranks = f"first {_number(first)} count {_number(count)} stride {_number(stride)}"
        self._write(f"create {_name(name)} {ranks}{_on(on)}")

    def free(self, name: str) -> None:
        """Frees a communicator."""
        self._write(f"free {_name(name)}")

    def line(self, text: str) -> None:
        """Appends any line of the text form, such as `line("waitany ahead")`."""
        if "\n" in text or not text.strip() or text.rstrip().endswith(":"):
            raise _mistake(f"{text!r} is not one call", "write one line without a colon at its end")
        self._write(text.strip())

    def _message(
        self, call: str, peer: object, size: object, tag: object, on: str | None, request: str | None
    ) -> None:
        receives = call.endswith("recv")
        peer = ANY if receives and isinstance(peer, str) and peer == ANY else _number(peer)
        label = ANY if receives and isinstance(tag, str) and tag == ANY else _number(tag)
        self._write(f"{call} {peer} {_amount(size)} tag {label}{_on(on)}{_as(request)}")

    def _collective(
        self, call: str, size: object, root: object, on: str | None, request: str | None = None
    ) -> None:
        at = "" if root is None else f" root {_number(root)}"
        self._write(f"{call} {_amount(size)}{at}{_on(on)}{_as(request)}")

    def _write(self, line: str) -> None:
        self._lines.append(("    " * self._depth + line, _place()))

    @contextmanager
    def _block(self, what: str) -> Iterator[None]:
        start, place = len(self._lines), self._lines[-1][1]
        self._depth += 1
        yield
        self._depth -= 1
        if len(self._lines) == start:
            raise ProgramError(f"{place}: the block of `{what}` is empty; expected calls")


@dataclass(frozen=True)
class Program:
    """The text of a program, and the file and line in Python that wrote each of its lines."""

    lines: tuple[tuple[str, str], ...]

    @property
    def text(self) -> str:
        """The text that `program = { name = "file", ... }` reads."""
        return "".join(f"{line}\n" for line, _ in self.lines)

    def check(self, ranks: int) -> None:
        """Raises `ProgramError` with the line of the function if the program is invalid for `ranks` ranks."""
        mistake = program_mistake(self.text, ranks)
        if mistake is None:
            return
        place, reason = mistake
        number = int(place.split(",")[0].removeprefix("line "))
        written, where = self.lines[min(number, len(self.lines)) - 1]
        raise ProgramError(f"{where}: {reason}", hint=f"{place} of the program: {written.strip()}")

    def save(self, path: str | Path, *, ranks: int) -> Path:
        """Checks the program for a job of `ranks` ranks and writes it."""
        self.check(ranks)
        path = Path(path)
        path.write_text(self.text, encoding="utf-8")
        return path


def program(
    roles: Callable[[Role], object] | Mapping[str, Callable[[Role], object]],
    *,
    requests: Mapping[str, int] | None = None,
) -> Program:
    """Builds a program: one function for all ranks, or one for each role.

    Roles name ranks as in the text form: `{"0": root, "1..7, 9": some, "others": rest}`. Each function is
    called once. `requests` gives names of requests and their numbers.
    """
    here = _place()
    lines = [(f"requests {_name(name)}[{_number(count)}]", here) for name, count in (requests or {}).items()]
    if not isinstance(roles, Mapping):
        lines += _written(roles, here)
    else:
        for name, function in roles.items():
            lines.append((f"role {name}:", here))
            lines += [(f"    {line}", place) for line, place in _written(function, here)]
    return Program(tuple(lines))


def _written(function: Callable[[Role], object], here: str) -> list[tuple[str, str]]:
    if not callable(function):
        raise ProgramError(f"{here}: expected a function of a role, found {function!r}")
    role = Role()
    function(role)
    if not role._lines:
        name = getattr(function, "__name__", "the function")
        raise ProgramError(
            f"{here}: {name} makes no calls", hint='Add a call, such as `role.compute("1 us")`'
        )
    return role._lines


def _binary(left: object, operator: str, right: object) -> Expression:
    return Expression(f"({_number(left)} {operator} {_number(right)})")


def _number(value: object) -> str:
    if isinstance(value, Expression):
        return value.text
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value) if value >= 0 else f"(0 - {-value})"
    if isinstance(value, str):
        raise _mistake(
            f"expected a whole number, found the text {value!r}", "write amounts as role.amount(...)"
        )
    raise _mistake(f"expected a whole number, found {value!r}", "write a division as '//'")


def _amount(value: object) -> str:
    if isinstance(value, Expression):
        return value.text
    if isinstance(value, str) and value.strip():
        return value.strip()
    raise _mistake(f"expected an amount, found {value!r}", "write it with a unit, such as '64 KiB' or '5 us'")


def _name(value: object) -> str:
    if isinstance(value, str) and value.isidentifier():
        return value
    raise _mistake(f"expected a name, found {value!r}", "use letters, digits and '_'")


def _as(request: str | None) -> str:
    return "" if request is None else f" as {request}"


def _on(communicator: object) -> str:
    return "" if communicator is None else f" on {_name(communicator)}"


def _place() -> str:
    """File and line of the caller outside this module."""
    frame: Any = sys._getframe(1)
    own = (__file__, contextmanager.__code__.co_filename)
    while frame.f_back is not None and frame.f_code.co_filename in own:
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


def _mistake(reason: str, hint: str) -> ProgramError:
    return ProgramError(f"{_place()}: {reason}", hint=hint)
