"""The command as a whole: its help, its exit codes, and what it imports."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import handmade
import pytest
from click.testing import CliRunner
from running import Command

from odonata.cli import COMMANDS, main
from odonata.cli.group import Group
from odonata.errors import OdonataError

EXAMPLE = Path(__file__).parents[2] / "examples" / "wd1-edison.toml"

SLOW = {"numpy", "pandas", "pyarrow", "matplotlib", "rich"}
"""Modules that no help may load."""


def test_help_imports_nothing_that_is_slow() -> None:
    """Start-up time is what it imports; the help of no command must wait for pandas."""
    code = "import sys; from odonata.cli import COMMANDS, main\nfor name in [None, *COMMANDS]:\n"
    code += "    main([name, '--help'] if name else ['--help'], standalone_mode=False)\nprint(*sys.modules)"
    printed = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert "Experiments:" in printed
    assert not set(printed.splitlines()[-1].split()) & SLOW


def test_a_check_imports_no_tables() -> None:
    """It reads one file and prints text, so that it needs neither Arrow nor NumPy."""
    code = "import sys; from odonata.cli import main; main(['check', sys.argv[1]], standalone_mode=False)"
    code += "; print(*sys.modules)"
    printed = subprocess.run(
        [sys.executable, "-c", code, EXAMPLE], check=True, capture_output=True, text=True
    ).stdout
    assert "is valid" in printed
    assert set(printed.splitlines()[-1].split()) & SLOW == {"rich"}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_there_and_begins_as_the_overview_does(name: str) -> None:
    command = main.get_command(click.Context(main), name)
    assert command is not None
    assert command.help is not None
    assert command.help.split()[0] == COMMANDS[name].summary.split()[0]
    assert CliRunner().invoke(main, [name, "--help"]).exit_code == 0


def _paths(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The command and all its subcommands as words."""
    yield path
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            inside = command.get_command(context, name)
            assert inside is not None
            yield from _paths(inside, (*path, name))


def test_every_subcommand_has_help() -> None:
    paths = list(_paths(main))
    assert ("amg", "model") in paths
    for path in paths:
        result = CliRunner().invoke(main, [*path, "--help"])
        assert result.exit_code == 0, (path, result.output)
        assert result.output.startswith(" ".join(["Usage:", "main", *path])), path


def test_an_unknown_command_names_the_nearest(odonata_command: Command) -> None:
    result = odonata_command("shwo")
    assert result.returncode == 2
    assert "unknown command 'shwo'. Did you mean show?" in result.stderr


def test_an_unknown_option_is_an_error(odonata_command: Command) -> None:
    result = odonata_command("show", "--colour", "run")
    assert result.returncode == 2
    assert "No such option" in result.stderr


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (
            "sweep x.toml --dry-run",
            "without running, --estimate estimates the time.",
        ),
        ("run x.toml --dryrun", "'odonata check FILE' checks without running, and estimates the memory."),
        ("run x.toml --seed=3", "Set the key: --set engine.seed=2"),
        ("plot run --out x.png", "Did you mean --output?"),
        ("check x.toml --verbose", "Did you mean --details?"),
        ("validate x.toml", "Did you mean check?"),
        ("simulate x.toml", "Did you mean run?"),
        ("examples --dry-run", "No such option '--dry-run'."),
    ],
)
def test_options_and_commands_of_other_programs_lead_to_ours(words: str, hint: str) -> None:
    result = CliRunner().invoke(main, words.split())
    assert result.exit_code == 2
    assert result.output.rstrip().endswith(hint)


@click.command()
@click.argument("kind")
def failing(kind: str) -> None:
    """Fails as given."""
    if kind == "mistake":
        raise OdonataError("the frobnicator is missing", hint="Add one.")
    if kind == "interrupt":
        raise KeyboardInterrupt
    if kind == "defect":
        raise ZeroDivisionError("division by zero")


@pytest.fixture
def with_failing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(main, "get_command", lambda _ctx, _name: failing)


@pytest.mark.parametrize(
    ("kind", "code", "text"),
    [
        ("mistake", 2, "error: the frobnicator is missing\n  Add one.\n"),
        ("interrupt", 130, "interrupted\n"),
        ("defect", 1, "internal error: ZeroDivisionError: division by zero\nThis is a defect of Odonata"),
    ],
)
@pytest.mark.usefixtures("with_failing")
def test_exit_codes(kind: str, code: int, text: str) -> None:
    result = CliRunner().invoke(main, ["show", kind])
    assert result.exit_code == code
    assert result.stderr.startswith(text)
    assert "Traceback" not in result.output


@pytest.mark.usefixtures("with_failing")
def test_a_defect_shows_its_traceback_on_request() -> None:
    result = CliRunner(env={"ODONATA_DEBUG": "1"}).invoke(main, ["show", "defect"])
    assert isinstance(result.exception, ZeroDivisionError)


def test_a_reader_that_has_enough_is_no_error(command: object, tmp_path: object) -> None:
    """`odonata show DIR | head -1`: the pipe is closed while there is more to write."""
    run = handmade.run().save(f"{tmp_path}/run")
    script = f"{command} show {run.path} | head -c 1; echo ${{PIPESTATUS[0]}}"
    result = subprocess.run(["bash", "-c", script], capture_output=True, text=True)
    assert result.stderr == ""
    assert result.stdout.endswith("0\n")


def test_json_is_all_there_is_on_the_standard_output(odonata_command: Command, tmp_path: object) -> None:
    handmade.run().save(f"{tmp_path}/run")
    result = odonata_command("show", "run", "--json", "-n", 1)
    shown = json.loads(result.stdout)
    assert shown["machine"] == handmade.SUMMARY["machine"]
    assert [row["name"] for row in shown["hottest"]] == ["g0r1>g0r0:green.0"]


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (PermissionError(13, "Permission denied", "a/b"), "error: a/b: Permission denied"),
        (OSError(28, "No space left on device"), "error: No space left on device"),
        (MemoryError(), "error: not enough memory"),
    ],
)
def test_what_the_system_refuses_is_no_defect(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: Exception, words: str
) -> None:
    def refuse(*_: object) -> None:
        raise error

    monkeypatch.setattr(click.Group, "invoke", refuse)
    monkeypatch.setattr("signal.signal", lambda *_: None)
    with pytest.raises(SystemExit) as ended:
        Group("odonata", commands_by_name={}).invoke(click.Context(click.Command("odonata")))
    said = capsys.readouterr().err
    assert (ended.value.code, "defect" in said) == (2, False)
    assert words in said
