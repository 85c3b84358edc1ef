"""The help of every command starts with an imperative verb and has short sentences of our words."""

from __future__ import annotations

from collections.abc import Iterator

import click
import pytest
from words import imperative, prose, rules

from odonata.cli import COMMANDS, main


def commands(command: click.Command, name: str) -> Iterator[tuple[str, click.Command]]:
    yield name, command
    if isinstance(command, click.Group):
        context = click.Context(command, info_name=name)
        for inner in command.list_commands(context):
            found = command.get_command(context, inner)
            assert found is not None
            yield from commands(found, f"{name} {inner}")


ALL = dict(commands(main, "odonata"))


def test_commands_are_found() -> None:
    assert {"odonata run", "odonata study run", "odonata amg simulate"} <= ALL.keys()


@pytest.mark.parametrize("name", [name for name in ALL if name != "odonata"])
def test_help_starts_with_an_imperative_verb(name: str) -> None:
    for text in {ALL[name].help or "", ALL[name].get_short_help_str(200)}:
        assert imperative.problem(text) is None, text


@pytest.mark.parametrize("name", COMMANDS)
def test_a_line_of_the_overview_starts_with_an_imperative_verb(name: str) -> None:
    assert imperative.problem(COMMANDS[name].summary) is None


@pytest.mark.parametrize("name", ALL)
def test_help_is_plain(name: str) -> None:
    options = [getattr(parameter, "help", None) or "" for parameter in ALL[name].params]
    report = rules.Report(name)
    for text in [ALL[name].help or "", *options]:
        for block in prose.blocks(text):
            rules.check_words(report, block)
            if block.measured:
                rules.check_sentences(report, block)
    rules.check_average(report)
    assert not report.findings, "\n".join(map(str, report.findings))
