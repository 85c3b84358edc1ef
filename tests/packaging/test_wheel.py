"""What is installed from the wheel shows runs without Node and without the source tree."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import handmade
import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
STATIC = "odonata/viewer/static/"
GZIPPED_MAX = 300 * 1024
"""Largest size of the page when it is sent to the browser."""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel's content, unpacked."""
    if not (ROOT / "python" / STATIC / "viewer.js").exists():
        pytest.skip("the viewer's page is not built: make viewer")
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    if not list(target.glob("release/lib_core.*")):
        pytest.skip("nothing is compiled here that a wheel could be packed of: make build")
    out = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "maturin", "build", "--release", "--quiet", "--out", out],
        cwd=ROOT,
        check=True,
        capture_output=True,
        timeout=600,
    )
    (wheel,) = out.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(out / "site")
    return out / "site"


def test_the_page_is_in_the_wheel_as_it_was_built(installed: Path) -> None:
    built = {path.name: path.read_bytes() for path in (ROOT / "python" / STATIC).iterdir()}
    packed = {path.name: path.read_bytes() for path in (installed / STATIC).iterdir()}
    assert packed == built
    assert {"index.html", "viewer.js", "viewer.css"} <= packed.keys()


def test_the_page_is_small(installed: Path) -> None:
    sizes = {path.name: len(gzip.compress(path.read_bytes())) for path in (installed / STATIC).iterdir()}
    assert sum(sizes.values()) < GZIPPED_MAX, sizes


def test_examples_and_studies_are_in_the_wheel(installed: Path) -> None:
    """Links to folders of the repository; the wheel has their files."""
    listed = subprocess.run(
        ["git", "ls-files", "examples", "studies"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if listed.returncode:
        pytest.skip("no git repository")
    for name in listed.stdout.splitlines():
        assert (installed / "odonata/shipped" / name).read_bytes() == (ROOT / name).read_bytes(), name


def test_it_needs_no_node(installed: Path, tmp_path: Path) -> None:
    handmade.run().save(tmp_path / "run")
    (tmp_path / "bin").mkdir()
    command = [sys.executable, "-m", "odonata", "view", tmp_path / "run", "--html", tmp_path / "page.html"]
    environment = {**os.environ, "PYTHONPATH": str(installed), "PATH": str(tmp_path / "bin")}
    result = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    where = "import odonata.viewer; print(odonata.viewer.__file__)"
    found = subprocess.run(
        [sys.executable, "-c", where],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert found.stdout.startswith(str(installed)), "the wheel and not the source tree is tested"
    page = (tmp_path / "page.html").read_text()
    assert (installed / STATIC / "viewer.css").read_text() in page
