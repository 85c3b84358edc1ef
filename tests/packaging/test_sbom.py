"""The bill of materials names what is in a wheel, and nothing of the machine that made it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("sbom") / "bill.json")


def write(out: Path) -> Path:
    environment = {**os.environ, "SOURCE_DATE_EPOCH": "1700000000"}
    subprocess.run([sys.executable, ROOT / "scripts/sbom", out], env=environment, check=True)
    return out


@pytest.fixture(scope="module")
def bill(written: Path) -> dict[str, Any]:
    return json.loads(written.read_text())


def test_the_same_bytes_again(written: Path, tmp_path: Path) -> None:
    assert write(tmp_path / "again.json").read_bytes() == written.read_bytes()
    assert str(ROOT) not in written.read_text()


def test_versions_match_the_lock_files(bill: dict[str, Any]) -> None:
    locked = re.findall(r'^name = "(.*)"\nversion = "(.*)"$', (ROOT / "Cargo.lock").read_text(), re.MULTILINE)
    packages = json.loads((ROOT / "viewer/package-lock.json").read_text())["packages"]
    shipped = {
        (path.rpartition("node_modules/")[2], package["version"])
        for path, package in packages.items()
        if path and not package.get("dev")
    }
    found = {"cargo": set(), "npm": set()}
    for component in bill["components"]:
        kind = re.match(r"pkg:(\w+)/", component["purl"])[1]  # type: ignore[index]
        found[kind].add((component["name"], component["version"]))
        assert component["licenses"]
    assert found["npm"] == shipped
    assert found["cargo"] <= set(locked)
    names = {name for name, _ in found["cargo"]}
    assert {"odonata-packet", "odonata-flow", "pyo3", "rayon", "toml"} <= names
    # What only builds or tests is not in it.
    assert not names & {"proptest", "serde_derive", "pyo3-build-config", "syn"}


def test_it_is_valid_and_joined_up(written: Path, bill: dict[str, Any]) -> None:
    """By the schema of CycloneDX, and every component is reached from the whole."""
    error = JsonStrictValidator(SchemaVersion.V1_6).validate_str(written.read_text())
    assert error is None, error
    below = {entry["ref"]: entry.get("dependsOn", []) for entry in bill["dependencies"]}
    reached = [bill["metadata"]["component"]["bom-ref"]]
    for ref in reached:
        reached += [other for other in below[ref] if other not in reached]
    assert set(reached) == {component["bom-ref"] for component in bill["components"]} | {reached[0]}
