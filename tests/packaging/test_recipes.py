"""The recipes of other packagers ask for what `pyproject.toml` asks for, in the version that it has."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))
import set_version

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[2]
PACKAGING = ROOT / "packaging"
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def lower_bounds(requirements: list[str]) -> dict[str, str]:
    """The least version of each package in the words of pip, such as `click>=8.1`."""
    found = [re.match(r"([\w-]+)>=([\w.]+)", requirement) for requirement in requirements]
    assert all(found), requirements
    return {match[1]: match[2] for match in found if match}


def spack_calls(name: str) -> list[ast.Call]:
    tree = ast.parse((PACKAGING / "spack/package.py").read_text())
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return [call for call in calls if isinstance(call.func, ast.Name) and call.func.id == name]


def spack_bounds(variant: str | None) -> dict[str, str]:
    """Packages of Python that are needed always, or with a variant: of the blocks that say so."""
    tree = ast.parse((PACKAGING / "spack/package.py").read_text())
    found = {}
    for block in (node for node in ast.walk(tree) if isinstance(node, ast.With)):
        said = ast.unparse(block.items[0])
        if (f"when='+{variant}'" in said) if variant else ("when=" not in said):
            specs = [ast.literal_eval(call.value.args[0]) for call in block.body]  # type: ignore[attr-defined]
            matches = [re.fullmatch(r"py-([\w-]+)@([\w.]+):", spec) for spec in specs]
            found.update({match[1]: match[2] for match in matches if match})
    return found


def test_spack_needs_what_pip_does() -> None:
    assert spack_bounds(None) == lower_bounds(PROJECT["dependencies"])
    variants = [ast.literal_eval(call.args[0]) for call in spack_calls("variant")]
    assert variants == ["amg", "cluster", "optimize"]
    for variant in variants:
        assert spack_bounds(variant) == lower_bounds(PROJECT["optional-dependencies"][variant]), variant


def test_conda_needs_what_pip_does() -> None:
    recipe = yaml.safe_load((PACKAGING / "conda/recipe.yaml").read_text())
    run = [
        word.replace(" ", "").replace("matplotlib-base", "matplotlib")
        for word in recipe["requirements"]["run"]
    ]
    assert run.pop(0) == f"python{PROJECT['requires-python']}"
    assert lower_bounds(run) == lower_bounds(PROJECT["dependencies"])
    scripts = [f"{name} = {target}" for name, target in PROJECT["scripts"].items()]
    assert recipe["build"]["python"]["entry_points"] == scripts


def test_versions_agree() -> None:
    """`Cargo.toml` is the home; `scripts/set_version.py` writes the others."""
    version = PROJECT["version"]
    assert {(file, found) for file, found in set_version.versions() if found != version} == set()
    recipe = yaml.safe_load((PACKAGING / "conda/recipe.yaml").read_text())
    assert recipe["context"]["version"] == version
    assert [ast.literal_eval(call.args[0]) for call in spack_calls("version")] == [version]


def test_a_new_version_replaces_the_number_only() -> None:
    for file, pattern in set_version.PLACES:
        text = (ROOT / file).read_text()
        again = set_version.replaced(
            set_version.replaced(text, pattern, "9.8.7"), pattern, PROJECT["version"]
        )
        assert again == text, file
        assert "9.8.7" in set_version.replaced(text, pattern, "9.8.7"), file


def test_spack_builds_with_the_rust_that_is_promised() -> None:
    rust = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["rust-version"]
    specs = [ast.literal_eval(call.args[0]) for call in spack_calls("depends_on")]
    assert f"rust@{rust}:" in specs


@pytest.mark.parametrize("name", ["test", "release"])
def test_workflows_call_what_is_here(name: str) -> None:
    """Each `make` of a workflow is a target, each script a file."""
    workflow = yaml.safe_load((ROOT / f".github/workflows/{name}.yml").read_text())
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    commands = [step["run"] for job in workflow["jobs"].values() for step in job["steps"] if "run" in step]
    assert commands
    for command in commands:
        for target in re.findall(r"\bmake ([\w-]+)", command):
            assert target in targets
        for script in re.findall(r"\b((?:scripts|\.ci)/[\w-]+)", command):
            assert (ROOT / script).is_file()
    if name == "release":
        tried = workflow["jobs"]["try"]["strategy"]["matrix"]["python"]
        assert f">={tried[0]}" == PROJECT["requires-python"]


@pytest.mark.skipif(not shutil.which("dpkg-parsechangelog"), reason="dpkg-dev is not here")
def test_debian_reads_the_changelog() -> None:
    asked = ["dpkg-parsechangelog", "-l", str(PACKAGING / "debian/changelog"), "-S", "Version"]
    said = subprocess.run(asked, check=True, capture_output=True, text=True).stdout
    assert said.strip() == PROJECT["version"]
