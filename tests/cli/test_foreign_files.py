"""A file of another simulator where an experiment belongs: one error, with the command that imports it."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from running import Command

from odonata.foreign_files import import_for


@pytest.mark.parametrize(
    ("text", "program", "command"),
    [
        ("// a torus\ntopology = torus;\nk = 8;\n", "BookSim", "booksim"),
        ("/* first */\nConfiguration\n{\n random_seed: 1,\n}\n", "CAMINOS", "caminos"),
        ("#!/usr/bin/env python\nimport os\n\nif True:\n    import sst\n", "SST", "sst"),
        ("from sst.merlin.base import *\n", "SST", "sst"),
        ('<?xml version="1.0"?>\n<!DOCTYPE platform>\n<platform version="4.1"/>\n', "SimGrid", "simgrid"),
    ],
)
def test_the_error_names_program_and_command(
    text: str, program: str, command: str, odonata_command: Command, tmp_path: Path
) -> None:
    (tmp_path / "given.cfg").write_text(text)
    done = odonata_command("check", "given.cfg", cwd=tmp_path)
    assert done.returncode == 2
    assert f"given.cfg is a file of {program}, not an experiment file" in done.stderr
    assert f"odonata import {command} given.cfg -o given.toml" in done.stderr
    assert done.stderr.count("error:") == 1


@pytest.mark.parametrize(
    "text", ['[machine]\npreset = "eos"\n', "# import sst\nnote = 'a; b'\n", "", "a = 1\n"]
)
def test_experiments_and_other_texts_are_not_taken_for_one(text: str) -> None:
    assert import_for(text) is None


@pytest.mark.parametrize("part", ["\n", "/*", "//\n", "import x\n", "<?>", "a"])
def test_long_texts_take_no_time(part: str) -> None:
    begun = time.process_time()
    import_for(part * 5_000_000)
    assert time.process_time() - begun < 2
