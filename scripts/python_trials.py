"""Tries mutants of the Python package on the tests that run their functions, quickest first.

Nothing is compiled, so there are no switches. A mutant is one file of a copy of the package, which comes
first on the path of the tests and of every process that they start. `reach/sitecustomize.py` notes which
functions a test file runs, in a run without mutants.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from python_mutants import Mutant

ROOT = Path(__file__).resolve().parents[1]
OUTPUT = ROOT / "target" / "mutants" / "python"
PACKAGE = OUTPUT / "package"

UNRELATED = ("tests/docs", "tests/language", "tests/packaging", "tests/structure")
"""Tests of texts and of the tree, not of what the package computes."""

TESTS_S = 60
"""A function that nearly all tests run is tried on those that take so much processor time together."""
ALONE_LIMIT_S = 900
"""A test file that takes longer without a mutant, its calls noted, tries none."""
HANGS_AFTER, HANGS_AFTER_S = 10, 120
"""A mutant hangs after so many times the processor time of its tests without it, and so many seconds more."""
NO_TESTS = 5
"""The exit code of pytest if a file has only long tests."""


def environment(**more: str) -> dict[str, str]:
    path = os.pathsep.join([str(PACKAGE), str(ROOT / "scripts" / "reach")])
    shared = os.environ.get("ODONATA_SHARED", str(ROOT.parent / "shared"))
    return {**os.environ, "PYTHONPATH": path, "ODONATA_SHARED": shared, **more}


def pytest(files: list[str], limit_s: float, **more: str) -> int | None:
    """The exit code of the tests, up to the first that fails; None if they took too long."""
    words = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", *files]
    run = subprocess.Popen(
        words,
        cwd=ROOT,
        env=environment(**more),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        return run.wait(limit_s)
    except subprocess.TimeoutExpired:
        return None
    finally:
        end(run)


def cpu_s() -> float:
    """Processor time of all processes that have ended: a busy machine takes more wall-clock time."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def end(run: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(run.pid, signal.SIGKILL)
    run.wait()


def copy_package() -> None:
    """Copies the package; the folders that it links to as well."""
    shutil.rmtree(PACKAGE, ignore_errors=True)
    shutil.copytree(ROOT / "python", PACKAGE, ignore=shutil.ignore_patterns("__pycache__"))


class Reach:
    """Which functions each test file runs. It is found once, and again for a file that has changed since."""

    def __init__(self, tests: Sequence[Path]) -> None:
        self.seconds: dict[str, float] = {}
        self.functions: dict[str, set[str]] = {}
        self._trials = 0
        for path in tests:
            for file in sorted(path.rglob("test_*.py")) if path.is_dir() else [path]:
                self._read(file)

    def _read(self, path: Path) -> None:
        test = str(path.resolve().relative_to(ROOT))
        if test.startswith(UNRELATED):
            return
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        record = OUTPUT / "reach" / f"{digest}.json"
        if not record.exists():
            with tempfile.TemporaryDirectory() as folder:
                before = cpu_s()
                code = pytest([test], ALONE_LIMIT_S, REACH=folder)
                seconds = cpu_s() - before
                ran = {line for out in Path(folder).iterdir() for line in out.read_text().splitlines()}
            record.parent.mkdir(parents=True, exist_ok=True)
            record.write_text(json.dumps({"code": code, "seconds": seconds, "functions": sorted(ran)}))
            print(f"  {test}: {seconds:.0f} s", flush=True)
        known = json.loads(record.read_text())
        if known["code"] == 0:
            self.seconds[test], self.functions[test] = known["seconds"], set(known["functions"])
        elif known["code"] != NO_TESTS:
            print(f"  {test} fails without a mutant, or takes too long: left out")

    def _chosen(self, mutant: Mutant) -> list[str]:
        """The test files that run a mutant's function: first those named as its module, then the quickest."""
        place, module = f"{mutant.file}:{mutant.function}", Path(mutant.file)

        def order(test: str) -> tuple[bool, bool, float]:
            path = Path(test)
            return module.stem not in path.stem, module.parent.name != path.parent.name, self.seconds[test]

        chosen: list[str] = []
        taken_s = 0.0
        for test in sorted((test for test, ran in self.functions.items() if place in ran), key=order):
            taken_s += self.seconds[test]
            if chosen and taken_s > TESTS_S:
                break
            chosen.append(test)
        return chosen

    def trial(self, mutant: Mutant) -> str:
        """The fate of a mutant: `caught`, `timeout`, `missed` or `unreached`."""
        tests = self._chosen(mutant)
        if not tests:
            return "unreached"
        limit_s = HANGS_AFTER * sum(self.seconds[test] for test in tests) + HANGS_AFTER_S
        path = PACKAGE / mutant.file
        text, times = path.read_bytes(), path.stat()
        self._trials += 1
        try:
            path.write_text(mutant.text)
            # Python compiles a file again only if its time in seconds, or its size, has changed.
            os.utime(path, (times.st_atime, times.st_mtime + self._trials))
            code = pytest(tests, limit_s)
        finally:
            path.write_bytes(text)
            os.utime(path, (times.st_atime, times.st_mtime))
        return "timeout" if code is None else "missed" if code == 0 else "caught"
