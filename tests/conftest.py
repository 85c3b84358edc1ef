"""Fixtures that several folders of tests use; `handmade` is importable because this file is here."""

from __future__ import annotations

import os
import signal
import subprocess
import sysconfig
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest
from command_server import TIMEOUT_S, CommandServer
from hypothesis import settings
from running import Command

# A shell that starts the tests in the background makes them, and all that they start, ignore Ctrl-C. What is
# started takes over what is ignored, but not a handler.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Examples are not timed: the machine may be busy.
settings.register_profile("odonata", deadline=None)
settings.load_profile("odonata")

ROOT = Path(__file__).parents[1]


COMMANDS = CommandServer()

QUICK_CPU_S = 1.5
"""A test of `make quick` may take this much processor time. Longer ones are marked `slow`."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """With --quick, slow tests are left out, and one without the mark is named."""
    parser.addoption("--quick", action="store_true", help="leave out slow tests")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out slow tests."""
    if config.getoption("quick"):
        slow = [item for item in items if item.get_closest_marker("slow")]
        config.hook.pytest_deselected(items=slow)
        items[:] = [item for item in items if item not in slow]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None]:
    """Notes the processor time of the fixtures that a test is the first to use."""
    return (yield from _timed(item, "setup_cpu_s"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    """Notes the processor time of a test, its commands included."""
    return (yield from _timed(item, "cpu_s"))


def _timed(item: pytest.Item, name: str) -> Generator[None]:
    before = _cpu_s()
    yield
    item.user_properties.append((name, _cpu_s() - before))


def _cpu_s() -> float:
    own = os.times()
    children = own.children_user + own.children_system
    return own.user + own.system + children + COMMANDS.cpu_s


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Names the tests that should be marked."""
    if not config.getoption("quick"):
        return
    for report in terminalreporter.getreports("passed"):
        taken = dict(report.user_properties)
        fixtures_s, test_s = taken.get("setup_cpu_s", 0.0), taken.get("cpu_s", 0.0)
        if report.when == "call" and fixtures_s + test_s > QUICK_CPU_S:
            words = f"took {test_s:.1f} s and its fixtures {fixtures_s:.1f} s; mark it with pytest.mark.slow"
            terminalreporter.line(f"{report.nodeid} {words}")


@pytest.fixture(scope="session")
def command() -> Path:
    """The installed `odonata`."""
    return Path(sysconfig.get_path("scripts")) / "odonata"


def pytest_sessionfinish() -> None:
    """Ends the server of commands."""
    COMMANDS.close()


@pytest.fixture
def odonata_command(command: Path, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Command:
    """Runs `odonata` with arguments in an empty directory, as a user would."""

    def call(
        *arguments: object, cwd: Path = tmp_path, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        words = [str(command), *map(str, arguments)]
        env = {**os.environ, "NO_COLOR": "1", **environment}
        if any(name.startswith("PYTHON") for name in environment):
            # Python reads its variables when it starts.
            return subprocess.run(words, cwd=cwd, env=env, capture_output=True, text=True, timeout=TIMEOUT_S)
        folder = tmp_path_factory.mktemp("output")
        code = COMMANDS.call(words, cwd, env, folder)
        out, err = ((folder / name).read_text() for name in ("out", "err"))
        return subprocess.CompletedProcess(words, code, out, err)

    return call


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Measured and published data, no part of the repository; tests that need it are skipped without."""
    directory = Path(os.environ.get("ODONATA_SHARED", ROOT.parent / "shared")) / "data"
    if not directory.is_dir():
        pytest.skip("the shared data is not here; set ODONATA_SHARED")
    return directory
