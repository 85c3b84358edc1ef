"""The group of all commands: imports a command when it is used and maps failures to exit codes.

Exit codes: 0 success, 1 defect of the program, 2 mistake of the user, 3 run not complete, 75 checkpoint,
130 interrupted, 143 terminated. `docs/reference/exit-codes.md` has them for users.
"""

from __future__ import annotations

import os
import re
import signal
import sys
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from keyword import iskeyword
from types import FrameType
from typing import Any, NoReturn

import click

from odonata.cli.outcome import exit_code, set_exit_code
from odonata.command_signals import release_interrupts
from odonata.errors import InternalError, OdonataError, nearest

DEBUG = "ODONATA_DEBUG"
"""Environment variable. If it is set, a defect shows its traceback."""

_AS_JSON = "odonata.as_json"
"""Key in the context's `meta`: whether the command prints JSON."""


@dataclass(frozen=True)
class Entry:
    """A line of the help text."""

    section: str
    summary: str


class Subgroup(click.Group):
    """Commands known by name and summary, one module of `package` each, imported when it is used."""

    def __init__(
        self,
        *args: Any,
        package: str = "odonata.cli.commands",
        commands_by_name: Mapping[str, Entry | str],
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self._package = package
        self._entries = {
            name: Entry("Commands", entry) if isinstance(entry, str) else entry
            for name, entry in commands_by_name.items()
        }

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Names in the order of the help text."""
        return list(self._entries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Imports a command. If its name is a Python keyword, its module has a trailing `_`."""
        if cmd_name not in self._entries:
            return None
        name = cmd_name.replace("-", "_") + "_" * iskeyword(cmd_name)
        command: click.Command = import_module(f"{self._package}.{name}").command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Resolves as click does; an unknown name gets the nearest one as a hint."""
        check_name(ctx, args[0], self._entries)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Writes the commands by section without importing them."""
        sections: dict[str, list[tuple[str, str]]] = {}
        for name, entry in self._entries.items():
            sections.setdefault(entry.section, []).append((name, entry.summary))
        # Columns of several sections are aligned.
        widest = max(map(len, self._entries)) if len(sections) > 1 else 0
        for section, rows in sections.items():
            with formatter.section(section):
                formatter.write_dl([(name.ljust(widest), summary) for name, summary in rows])


class Group(Subgroup):
    """All commands."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Runs the command as click does, also if its caller has closed a standard stream."""
        _open_closed_streams()
        _replace_unknown_characters()
        try:
            return super().main(*args, **kwargs)
        except BrokenPipeError:
            # Only click itself prints here: that the arguments are wrong.
            _discard_output()
            sys.exit(2)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parses as click does and records `--json`, so that refused arguments are reported as JSON, too."""
        ctx.meta[_AS_JSON] = "--json" in args
        if os.environ.get("NO_COLOR"):
            ctx.color = False  # click itself looks only for a terminal
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Runs the command and exits with the code of its outcome."""
        release_interrupts()
        signal.signal(signal.SIGTERM, _terminated)
        warnings.showwarning = _show_warning
        try:
            return self._invoke(ctx)
        except BrokenPipeError:
            # The reader, such as `head`, has ended. The outcome of the command is the same.
            _discard_output()
            sys.exit(exit_code(ctx))

    def _invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            _report_interrupt()
        except BrokenPipeError:
            raise
        except click.BadParameter as error:
            raise _with_nearest(error) from None
        except click.NoSuchOption as error:
            raise _with_ours(error) from None
        except (click.ClickException, click.exceptions.Exit, click.Abort):
            raise
        except UnicodeEncodeError as error:
            if not _is_undecoded(error):
                _report_defect(error)
            raise click.UsageError(
                "an argument has characters that are not valid in the encoding of this terminal; "
                "set a UTF-8 locale, such as LC_ALL=C.UTF-8"
            ) from None
        except OdonataError as error:
            from odonata.cli.output.terminal import print_error, print_error_as_json

            set_exit_code(2)
            print_error(error)
            if ctx.meta.get(_AS_JSON):
                print_error_as_json(error)
            sys.exit(2)
        except (OSError, MemoryError) as error:
            _report_refusal(error)
        except Exception as error:
            _report_defect(error)


def _discard_output() -> None:
    """Sends further output to nowhere. Otherwise Python reports an error when it closes the streams."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        os.dup2(nowhere, stream.fileno())


def _open_closed_streams() -> None:
    """Opens the standard streams that the caller has closed, to nowhere.

    Otherwise the next file that is opened, such as a table, would become standard output.
    """
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            opened = os.open(os.devnull, os.O_RDWR)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
            setattr(sys, name, open(number, "r" if number == 0 else "w", closefd=False))  # noqa: SIM115


def _replace_unknown_characters() -> None:
    """Lets a terminal that lacks a character, such as an arrow in Latin-1, show `?` instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        # A caller may have replaced the stream by another object.
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None and "utf" not in (stream.encoding or "utf").lower():
            reconfigure(errors="replace")


def _is_undecoded(error: UnicodeEncodeError) -> bool:
    """Whether the text has bytes of the command line that Python could not decode (PEP 383)."""
    return any("\udc80" <= letter <= "\udcff" for letter in error.object)


_WRONG_CHOICE = re.compile(r"'(.+)' is not one of ")


def _with_nearest(error: click.BadParameter) -> click.BadParameter:
    """The error of an option with a list of values, with the nearest of them."""
    kind = None if error.param is None else error.param.type
    found = _WRONG_CHOICE.match(error.message)
    if not isinstance(kind, click.Choice) or found is None:
        return error
    hint = nearest(found[1], [str(choice) for choice in kind.choices], "")
    message = f"{error.message.rstrip('.')}. {hint}".rstrip()
    return click.BadParameter(message, ctx=error.ctx, param=error.param)


_OPTIONS_OF_OTHERS = {
    ("--dry-run", "--dryrun", "--check", "--validate", "--no-run"): {
        "--estimate": "'odonata check FILE' checks without running, --estimate estimates the time.",
        "experiment": "'odonata check FILE' checks without running, and estimates the memory.",
    },
    ("--seed",): {"--set": "Set the key: --set engine.seed=2"},
    ("--out", "--outdir", "--output-dir"): {"--output": "Did you mean --output?"},
    ("--verbose", "-v", "--all"): {"--details": "Did you mean --details?"},
}
"""Options of other programs, with a hint for commands that have the option or the argument before it."""


def _with_ours(error: click.NoSuchOption) -> click.NoSuchOption | click.UsageError:
    """The error of an option of other programs, with a hint for ours."""
    ours = set() if error.ctx is None else {name for p in error.ctx.command.params for name in p.opts}
    for names, hints in _OPTIONS_OF_OTHERS.items():
        hint = next((hint for option, hint in hints.items() if option in ours), None)
        if error.option_name in names and hint is not None:
            return click.UsageError(f"No such option '{error.option_name}'. {hint}", error.ctx)
    return error


_COMMANDS_OF_OTHERS = {"validate": "check", "lint": "check", "dry-run": "check", "simulate": "run"}


def check_name(ctx: click.Context, name: str, known: Iterable[str]) -> None:
    """Fails with the nearest name if the command is unknown."""
    if name not in known and not name.startswith("-"):
        ours = _COMMANDS_OF_OTHERS.get(name, "")
        hint = nearest(name, known, f"See: {ctx.command_path} --help")
        ctx.fail(f"unknown command {name!r}. {f'Did you mean {ours}?' if ours in known else hint}")


def _show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    """Prints a warning of the package in the style of the commands."""
    from odonata.cli.output.terminal import print_warnings

    print_warnings([str(message)])


def _terminated(_signal: int, _frame: FrameType | None) -> NoReturn:
    """Exits by an exception, so that unfinished output is cleaned up."""
    sys.exit(128 + signal.SIGTERM)


def _report_refusal(error: OSError | MemoryError) -> NoReturn:
    """Reports a refusal of the system, such as a full disk or missing permission. It is no defect."""
    from odonata.cli.output.terminal import print_error

    if os.environ.get(DEBUG):
        raise error
    if isinstance(error, MemoryError):
        mistake = OdonataError("not enough memory", hint="Reduce the experiment, or raise the memory limit.")
    else:
        names = [
            os.fspath(name)
            for name in (error.filename, error.filename2)
            if isinstance(name, str | os.PathLike)
        ]
        where = f"{' and '.join(map(str, names))}: " if names else ""
        mistake = OdonataError(f"{where}{error.strerror or error}")
    set_exit_code(2)
    print_error(mistake)
    sys.exit(2)


def _report_interrupt() -> NoReturn:
    set_exit_code(128 + signal.SIGINT)
    click.echo("interrupted", err=True)
    sys.exit(128 + signal.SIGINT)


def _report_defect(error: Exception) -> NoReturn:
    # An import that Ctrl-C stops may fail with another error.
    reason: BaseException | None = error
    while reason is not None:
        if isinstance(reason, KeyboardInterrupt):
            _report_interrupt()
        reason = reason.__cause__ or reason.__context__
    if os.environ.get(DEBUG):
        raise error
    set_exit_code(1)
    if isinstance(error, InternalError):
        click.echo(f"internal error: {error}", err=True)
    else:
        click.echo(f"internal error: {type(error).__name__}: {error}", err=True)
        click.echo("This is a defect of Odonata. Please report it with the experiment file.", err=True)
    click.echo(f"Run the same command with {DEBUG}=1 and add its output to the report.", err=True)
    sys.exit(1)
