"""The installed package is the one that this repository describes."""

import re
import subprocess
import sys
import sysconfig
from importlib import metadata, resources
from pathlib import Path

import pytest

import odonata
from odonata import _core

ROOT = Path(__file__).parents[2]

ALL_CAN_INSTALL = ("amg", "cluster", "notebook", "optimize", "polars", "query")
"""The extras without an MPI or MFEM, which come with the machine or not at all."""


def workspace_version() -> str:
    """The version that all crates inherit; read without a TOML parser, which Python 3.10 lacks."""
    section = (ROOT / "Cargo.toml").read_text().split("[workspace.package]")[1]
    found = re.search(r'^version = "(.+)"$', section, re.MULTILINE)
    assert found
    return found[1]


def test_the_version_is_the_same_everywhere() -> None:
    version = workspace_version()
    assert _core.version() == version, "the compiled module is older than Cargo.toml"
    assert odonata.__version__ == version
    assert metadata.version("odonata") == version, "pyproject.toml and Cargo.toml disagree"


def test_contributors_have_what_the_extras_ask_for() -> None:
    """A package that the group `dev` lacks is missed on a new machine only, by the tests of the extra."""
    pyproject = pytest.importorskip("tomllib").loads((ROOT / "pyproject.toml").read_text())
    needed = {
        package
        for extra in ALL_CAN_INSTALL
        for package in pyproject["project"]["optional-dependencies"][extra]
    }
    assert needed <= set(pyproject["dependency-groups"]["dev"])


def test_the_command_is_installed_and_says_its_version() -> None:
    command = Path(sysconfig.get_path("scripts")) / "odonata"
    shown = subprocess.run([command, "--version"], check=True, capture_output=True, text=True).stdout
    assert shown == f"odonata, version {workspace_version()}\n"


def test_the_compiled_module_serves_every_supported_python() -> None:
    """The stable ABI: one file for Python 3.10 and all later ones."""
    assert _core.__file__ is not None
    assert Path(_core.__file__).name == "_core.abi3.so"


def test_type_checkers_see_the_types() -> None:
    assert resources.files("odonata").joinpath("py.typed").is_file()


@pytest.mark.slow
def test_the_stub_describes_the_compiled_module() -> None:
    """mypy's stubtest imports the module and compares every signature with the stubs."""
    result = subprocess.run(
        [sys.executable, "-m", "mypy.stubtest", "odonata._core", "--mypy-config-file", "pyproject.toml"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stdout + result.stderr
