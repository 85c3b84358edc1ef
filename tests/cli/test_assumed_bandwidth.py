"""Cables without bandwidth get the default with a warning; given bandwidths cause no warning."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from running import Command

import odonata

BARE = "src,dst,class\na,b,local\nb,c,global\nc,a,local\n"
GIVEN = "src,dst,class,bandwidth\na,b,local,25 GB/s\nb,c,global,25 GB/s\nc,a,local,25 GB/s\n"


def warnings_of(file: Path, text: str, **machine: Any) -> list[str]:
    file.write_text(text)
    found: list[str] = odonata.machine({"file": str(file), **machine}).metrics["warnings"]
    return found


def test_the_default_is_said_with_its_classes_until_somebody_gives_one(tmp_path: Path) -> None:
    file = tmp_path / "hall.csv"
    local = {"class": {"local": {"bandwidth": "10 GB/s"}}}
    (warnings,) = warnings_of(file, BARE)
    assert warnings.startswith(
        "hall.csv gives no bandwidth: its cables (local, global) are taken to have 25 GB/s each"
    )
    (rest,) = warnings_of(file, BARE, **local)
    assert "its global cables are taken to have 25 GB/s each" in rest
    (rest,) = warnings_of(file, BARE, edit=["global.bandwidth=5 GB/s"])
    assert "its local cables" in rest
    assert warnings_of(file, BARE, format="edge-list", bandwidth="25 GB/s") == []
    assert warnings_of(file, BARE, **local, edit=["global.bandwidth=5 GB/s"]) == []
    assert warnings_of(file, GIVEN) == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("booksim", "router 0 node 0 router 1 5\nrouter 1 node 1\n"),
        (
            "slurm",
            "SwitchName=s0 Nodes=n[0-1]\nSwitchName=s1 Nodes=n[2-3]\nSwitchName=s2 Switches=s[0-1]\n",
        ),
    ],
)
def test_formats_that_cannot_say_it(tmp_path: Path, name: str, text: str) -> None:
    assert len(warnings_of(tmp_path / "file", text, format=name)) == 1


def test_commands_print_it(tmp_path: Path, odonata_command: Command) -> None:
    (tmp_path / "hall.csv").write_text(BARE)
    printed = odonata_command("machine", "hall.csv")
    assert printed.stderr.startswith("warning: hall.csv gives no bandwidth"), printed.stderr
    as_json = json.loads(odonata_command("machine", "hall.csv", "--json").stdout)
    assert len(as_json["warnings"]) == 1
    edited = odonata_command("machine", "dragonfly", "-e-1 global")
    assert "the edits remove all" in edited.stderr
    experiment = {
        "machine": {"file": str(tmp_path / "hall.csv")},
        "job": [{"name": "a", "ranks": 3, "pattern": "all-to-all"}],
        "engine": {"kind": "flow"},
    }
    assert "gives no bandwidth" in odonata.run(experiment).summary["warnings"][0]
