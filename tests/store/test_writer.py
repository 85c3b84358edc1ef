"""A run directory is there whole or not at all, and nothing of the user's is ever lost."""

import errno
import subprocess
import sys
import textwrap
from pathlib import Path

import handmade
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import odonata
from odonata.errors import NotARunError, StoreError
from odonata.store import columns
from odonata.store.writer import RunWriter, write_run


def write(target: Path, *, force: bool = False, seed: int = 1) -> None:
    write_run(
        target,
        summary={**handmade.SUMMARY, "seed": seed},
        tables=handmade.tables(),
        experiment="# by hand\n",
        resolved="seed = 1\n",
        force=force,
    )


def entries(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    write(tmp_path / "deep" / "run")
    run = odonata.load(tmp_path / "deep" / "run")
    assert run.summary == handmade.SUMMARY
    assert run.experiment == "# by hand\n"
    assert run.resolved == "seed = 1\n"
    for name, table in handmade.tables().items():
        assert run.table(name).equals(table), name
    assert entries(tmp_path / "deep") == ["run"]


def test_the_same_run_gives_the_same_bytes(tmp_path: Path) -> None:
    write(tmp_path / "one")
    write(tmp_path / "two")
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes(), path.name


def test_a_run_is_replaced_only_on_request(tmp_path: Path) -> None:
    write(tmp_path / "run", seed=1)
    with pytest.raises(StoreError, match="already holds a run"):
        write(tmp_path / "run", seed=2)
    assert odonata.load(tmp_path / "run").summary["seed"] == 1
    write(tmp_path / "run", seed=2, force=True)
    assert odonata.load(tmp_path / "run").summary["seed"] == 2
    assert entries(tmp_path) == ["run"]


@pytest.mark.parametrize("force", [False, True])
def test_a_foreign_directory_is_left_as_it_is(tmp_path: Path, force: bool) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "thesis.tex").write_text("years of work")
    with pytest.raises(StoreError, match="not a run directory, so it is not replaced"):
        write(home, force=force)
    assert (home / "thesis.tex").read_text() == "years of work"
    assert entries(tmp_path) == ["home"]


def test_an_empty_directory_is_free(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    write(tmp_path / "run")
    odonata.load(tmp_path / "run")


def test_an_existing_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("")
    with pytest.raises(StoreError, match="is not a directory"):
        write(tmp_path / "run", force=True)
    with pytest.raises(StoreError, match="is not a directory"):
        write(tmp_path / "run" / "below")


def test_what_the_system_refuses_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(pq, "write_table", full)
    with pytest.raises(StoreError, match=r"cannot write .*: No space left on device"):
        handmade.run().save(tmp_path / "run")
    assert list(tmp_path.iterdir()) == []


def test_leaving_without_commit_leaves_nothing(tmp_path: Path) -> None:
    writer = RunWriter(tmp_path / "run")
    with writer:
        writer.write_table("links", handmade.tables()["links"])
        assert len(entries(tmp_path)) == 1
    assert entries(tmp_path) == []


def test_a_summary_that_is_no_json_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="JSON compliant"), RunWriter(tmp_path / "run") as writer:
        writer.commit({"residual": float("nan")})
    assert entries(tmp_path) == []


KILLED = """
    import sys, handmade
    from pathlib import Path
    from odonata.store.writer import RunWriter
    with RunWriter(Path(sys.argv[1])) as writer:
        for name, table in handmade.tables().items():
            writer.write_table(name, table)
        print("written", flush=True)
        sys.stdin.read()
        writer.commit(handmade.SUMMARY)
"""


@pytest.mark.parametrize("gently", [True, False])
def test_a_killed_writer_leaves_nothing_that_loads(tmp_path: Path, gently: bool) -> None:
    """Killed when all tables are on the disk: with SIGKILL even the hidden directory does not load."""
    target = tmp_path / "run"
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(KILLED), target],
        env={"PYTHONPATH": str(Path(handmade.__file__).parent)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"written\n"
        if gently:
            process.send_signal(2)
        else:
            process.kill()
    assert not target.exists()
    for left in tmp_path.iterdir():
        with pytest.raises(NotARunError, match="not a run directory"):
            odonata.load(left)
    if gently:
        assert entries(tmp_path) == []


def test_tables_of_an_engine_are_stored_as_they_are(tmp_path: Path) -> None:
    extra = pa.table({"bin": pa.array([1, 2], pa.int16()), "label": ["x", "y"]})
    handmade.run(histogram=extra).save(tmp_path / "run")
    run = odonata.load(tmp_path / "run")
    assert run.table_names[-1] == "histogram"
    assert run.table("histogram").equals(extra)


def test_a_run_that_lacks_something_is_refused(tmp_path: Path) -> None:
    tables = handmade.tables()
    without = {**tables, "links": tables["links"].drop_columns(["bytes"])}
    with pytest.raises(ValueError, match="table links: it has no column bytes"):
        write_run(tmp_path / "run", summary=handmade.SUMMARY, tables=without, experiment="", resolved="")
    del tables["placement"]
    with pytest.raises(ValueError, match="the run has no table placement"):
        write_run(tmp_path / "run", summary=handmade.SUMMARY, tables=tables, experiment="", resolved="")
    assert entries(tmp_path) == []


def test_columns_take_the_types_of_the_format() -> None:
    codes = (np.array([1, 0], np.int32), ["global", "local"])
    given = {name: np.array([0, 1]) for name in handmade.LINKS if not name.startswith(("source_", "target_"))}
    table = columns.table("links", {**given, "class": codes})
    assert table["link"].type == pa.uint32()
    assert table["bytes"].type == pa.float64()
    assert table["class"].to_pylist() == ["local", "global"]
    assert pa.types.is_dictionary(table["class"].type)


def test_a_column_that_does_not_fit_is_refused() -> None:
    given = {**handmade.PLACEMENT, "node": [-1, 0, 0, 0]}
    with pytest.raises(ValueError, match=r"placement\.node does not fit uint32"):
        columns.table("placement", given)


def test_wide_numpy_columns_are_not_copied() -> None:
    node = np.arange(4, dtype=np.uint32)
    table = columns.table("placement", {**handmade.PLACEMENT, "node": node})
    assert table["node"].chunk(0).buffers()[1].address == node.ctypes.data
