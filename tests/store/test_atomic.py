"""What is replaced is the old or the new, and what killed processes left is removed."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from pathlib import Path

import handmade
import pytest

import odonata
from odonata.errors import StoreError
from odonata.store import atomic, writer
from odonata.store.writer import write_run

LEFT = """
import os, sys
from pathlib import Path
from odonata.store.atomic import temporary_path
for name in sys.argv[1:]:
    path = temporary_path(Path(name))
    path.mkdir() if "." not in Path(name).name else path.write_text("half")
print(os.getpid())
"""


def left_by_another(*targets: Path) -> None:
    """What a process that is no more has left."""
    subprocess.run([sys.executable, "-c", LEFT, *targets], check=True, stdout=subprocess.DEVNULL)


def names(directory: Path) -> set[str]:
    return {path.name for path in directory.iterdir()}


def write(target: Path, *, force: bool = False) -> None:
    write_run(
        target,
        summary=handmade.SUMMARY,
        tables=handmade.tables(),
        experiment="",
        resolved="",
        force=force,
    )


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    target = tmp_path / "page.html"
    target.write_text("old")
    with atomic.atomic_file(target) as path:
        assert path.suffix == ".html", "writers of figures look at it"
        path.write_text("new")
        assert target.read_text() == "old"
    assert (target.read_text(), names(tmp_path)) == ("new", {"page.html"})


def test_after_an_error_the_file_is_as_it_was(tmp_path: Path) -> None:
    target = tmp_path / "page.html"
    target.write_text("old")
    with contextlib.suppress(RuntimeError), atomic.atomic_file(target) as path:
        path.write_text("half")
        raise RuntimeError
    with (
        pytest.raises(StoreError, match=r"cannot write .*page\.html: No such file"),
        atomic.atomic_file(target),
    ):
        pass
    assert (target.read_text(), names(tmp_path)) == ("old", {"page.html"})


def test_what_killed_processes_left_is_removed_at_the_next_run(tmp_path: Path) -> None:
    left_by_another(tmp_path / "run", tmp_path / "other", tmp_path / "page.html")
    mine = atomic.temporary_path(tmp_path / "running")
    mine.mkdir()
    foreign = tmp_path / ".run.writing-elsewhere-1-01234567"
    foreign.mkdir()
    (tmp_path / ".run.writing-notes").write_text("by hand")
    assert len(names(tmp_path)) == 6
    write(tmp_path / "run")
    assert names(tmp_path) == {"run", mine.name, foreign.name, ".run.writing-notes"}


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no /proc here")
def test_what_a_killed_process_left_is_removed_before_its_parent_asks(tmp_path: Path) -> None:
    """Its number stays taken until then: a zombie, which can be sent signals."""
    with subprocess.Popen(
        [sys.executable, "-c", LEFT, tmp_path / "run"], stdout=subprocess.DEVNULL
    ) as process:
        # Waits for the end, but leaves the exit code.
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        os.kill(process.pid, 0)
        assert names(tmp_path) != set()
        write(tmp_path / "other")
        assert names(tmp_path) == {"other"}


def test_what_a_process_of_another_user_writes_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Signals to a process of another user are refused, which also says that it lives."""
    left_by_another(tmp_path / "run")
    (unfinished,) = names(tmp_path)

    def kill(_process: int, _signal: int) -> None:
        raise PermissionError(1, "Operation not permitted")

    with monkeypatch.context() as patched:
        patched.setattr(os, "kill", kill)
        write(tmp_path / "other")
    assert names(tmp_path) == {"other", unfinished}
    write(tmp_path / "third")
    assert names(tmp_path) == {"other", "third"}


@pytest.mark.parametrize("exchanges", [True, False])
def test_a_run_is_replaced_where_the_system_exchanges_and_where_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exchanges: bool
) -> None:
    write(tmp_path / "run")
    (tmp_path / "run" / "notes.txt").write_text("of the old run")
    if not exchanges:
        monkeypatch.setattr(writer, "exchange", lambda *_: False)
    write(tmp_path / "run", force=True)
    assert names(tmp_path) == {"run"}
    assert not (tmp_path / "run" / "notes.txt").exists()
    odonata.load(tmp_path / "run")


@pytest.mark.skipif(sys.platform != "linux", reason="renameat2 is a call of Linux")
def test_at_no_moment_is_there_no_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where paths are exchanged, what is at the target is never moved away."""
    write(tmp_path / "run")
    (one := tmp_path / "one").mkdir()
    if not atomic.exchange(one, tmp_path / "run"):
        pytest.skip("this file system cannot exchange")
    assert atomic.exchange(one, tmp_path / "run")
    moved = []
    monkeypatch.setattr(Path, "rename", lambda *paths: moved.append(paths))
    write(tmp_path / "run", force=True)
    assert moved == []


def test_what_cannot_be_exchanged_is_an_error_of_the_system(tmp_path: Path) -> None:
    with pytest.raises(OSError, match=os.strerror(2)):
        atomic.exchange(tmp_path / "nothing", tmp_path / "nowhere")
