"""Fixtures that several folders of tests use; `handmade` is importable because this file is here."""

from __future__ import annotations

import os
import signal
import subprocess
import sysconfig
from collections.abc import Iterator
from pathlib import Path

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


@pytest.fixture(scope="session")
def command() -> Path:
    """The installed `odonata`."""
    return Path(sysconfig.get_path("scripts")) / "odonata"


@pytest.fixture(scope="session")
def command_server() -> Iterator[CommandServer]:
    """Starts commands for `odonata_command`."""
    yield COMMANDS
    COMMANDS.close()


@pytest.fixture
def odonata_command(
    command: Path, command_server: CommandServer, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> Command:
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
        code = command_server.call(words, cwd, env, folder)
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
