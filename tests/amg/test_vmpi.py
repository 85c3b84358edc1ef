"""Programs as they are on virtual ranks: compiled by vmpicc, run by vmpirun, recorded, traced, replayed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import odonata
from odonata.amg import record

Command = Callable[..., subprocess.CompletedProcess[str]]
VMPI = Path(__file__).parents[2] / "vmpi"

HALO = r"""
#include <mpi.h>
#include <stdlib.h>

int main(void)
{
    int rank, ranks;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    double *out = calloc(2000, sizeof(double)), *in = calloc(2000, sizeof(double)), sum, norm = 0;
    for (int step = 0; step < 3; step++) {
        MPI_Request request[4];
        int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
        MPI_Irecv(in, 1000, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &request[0]);
        MPI_Irecv(in + 1000, 1000, MPI_DOUBLE, right, 2, MPI_COMM_WORLD, &request[1]);
        MPI_Isend(out, 1000, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &request[2]);
        MPI_Isend(out + 1000, 1000, MPI_DOUBLE, left, 2, MPI_COMM_WORLD, &request[3]);
        MPI_Waitall(4, request, MPI_STATUSES_IGNORE);
        for (int i = 0; i < 200000; i++)
            norm += 1e-9 * (i % 7);
        MPI_Allreduce(&norm, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return sum > 0 ? 0 : 1;
}
"""
RANKS, STEPS, FACE = 16, 3, 8000


@pytest.fixture
def halo(amg_program: Path, tmp_path: Path) -> Path:  # noqa: ARG001 - where that is, a compiler and mpi.h are
    subprocess.run(["make", "--silent", "-C", str(VMPI), "library"], check=True)
    (tmp_path / "halo.c").write_text(HALO)
    subprocess.run([str(VMPI / "bin" / "vmpicc"), "-O1", "-o", "halo", "halo.c"], cwd=tmp_path, check=True)
    return tmp_path / "halo"


def vmpirun(folder: Path, *words: object) -> None:
    subprocess.run([str(VMPI / "bin" / "vmpirun"), *map(str, words)], cwd=folder, check=True)


def test_the_record_has_every_message(halo: Path) -> None:
    vmpirun(halo.parent, "-n", RANKS, "-record", "r.bin", "halo")
    table = record.read(halo.parent / "r.bin")
    assert sum(table["messages"].to_pylist()) == 2 * RANKS * STEPS
    assert sum(table["bytes"].to_pylist()) == 2 * RANKS * STEPS * FACE


def test_the_trace_is_replayed_on_a_machine(halo: Path, odonata_command: Command) -> None:
    """The trace has the program's calls, the recorded bytes and the measured computation."""
    vmpirun(halo.parent, "-n", RANKS, "-record", "r.bin", "-trace", "halo.trace", "halo")
    lines = [line.split() for line in (halo.parent / "halo.trace").read_text().splitlines()]
    mine = [line[1] for line in lines if line[0] == "5"]
    step = ["irecv", "irecv", "isend", "isend", "wait", "wait", "wait", "wait", "allreduce"]
    assert [action for action in mine if action != "compute"] == ["init", *STEPS * step, "finalize"]
    computed = [sum(int(w[2]) for w in lines if w[:2] == [str(r), "compute"]) for r in range(RANKS)]
    assert min(computed) > STEPS * 20_000, "the loop takes longer than 0.1 ns a turn"
    (halo.parent / "x.toml").write_text(
        '[machine]\ntopology = "dragonfly"\np = 2\na = 4\nh = 2\ng = 9\n[[job]]\nname = "halo"\n'
        f'ranks = {RANKS}\nprogram = {{ name = "trace", path = "halo.trace" }}\n'
        '[engine]\nkind = "packet"\nrouting = "min"\n'
    )
    result = odonata_command("run", "x.toml", "-o", "run", cwd=halo.parent)
    assert result.returncode == 0, result.stderr
    run = odonata.load(halo.parent / "run")
    found = {row["rank"]: row for row in run.table("ranks").to_pylist()}
    for rank in range(RANKS):
        # In traces a time between calls has nanoseconds.
        assert found[rank]["compute_ps"] == 1000 * computed[rank]
    sent = record.read(halo.parent / "r.bin")
    # The faces with their protocol, and what an allreduce of 8 bytes takes, which is little in comparison.
    faces = sum(sent["bytes"].to_pylist())
    assert faces < run.jobs["bytes"][0].as_py() < 1.1 * faces


def test_a_trace_file_is_written_and_holds_the_calls(halo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    for name in ("halo.trace", "halo.odt"):
        vmpirun(halo.parent, "-n", RANKS, "-trace", name, "halo")
    assert (halo.parent / "halo.odt").read_bytes().startswith(b"ODOTRACE")
    assert not (halo.parent / "halo.odt.text").exists()
    found = []
    for name in ("halo.trace", "halo.odt"):
        show = ["odonata", "trace", "show", "--json", str(halo.parent / name)]
        shown = json.loads(subprocess.run(show, check=True, capture_output=True).stdout)
        found.append(
            {key: shown[key] for key in ("ranks", "messages", "bytes", "messages_by_pair", "collectives")}
        )
    assert found[0] == found[1]
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    refused = [str(VMPI / "bin" / "vmpirun"), "-n", "2", "-trace", "x.odt", "halo"]
    result = subprocess.run(refused, cwd=halo.parent, capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert "needs the command odonata" in result.stderr


ROWS = r"""
#include <mpi.h>

static int rank; /* private to each rank */

int main(void)
{
    MPI_Comm row;
    double sum = 1, all = 0, gathered[10], blocks[4] = {0};
    int counts[4] = {1, 2, 3, 4}, places[4] = {0, 1, 3, 6}, place;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank / 4, -rank, &row);
    MPI_Comm_rank(row, &place);
    for (int step = 0; step < 3; step++) {
        if (place == 0)
            MPI_Send(blocks, 4, MPI_DOUBLE, 3, 7, row);
        if (place == 3)
            MPI_Recv(blocks, 4, MPI_DOUBLE, 0, 7, row, MPI_STATUS_IGNORE);
        MPI_Allgatherv(blocks, place + 1, MPI_DOUBLE, gathered, counts, places, MPI_DOUBLE, row);
        MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, row);
    }
    MPI_Comm_free(&row);
    MPI_Finalize();
    return all == 4 ? 0 : 1;
}
"""


def test_communicators_of_the_program_are_replayed(halo: Path, odonata_command: Command) -> None:
    """Rows of four: the last of each in the world is its first, and sends to the first in the world."""
    folder = halo.parent
    (folder / "rows.c").write_text(ROWS)
    subprocess.run([str(VMPI / "bin" / "vmpicc"), "-o", "rows", "rows.c"], cwd=folder, check=True)
    vmpirun(folder, "-n", 8, "-trace", "rows.trace", "rows")
    for engine in ("packet", "flow"):
        kept = "record_messages = true\n" if engine == "packet" else ""
        (folder / "x.toml").write_text(
            '[machine]\ntopology = "dragonfly"\np = 2\na = 4\nh = 2\ng = 9\n[[job]]\nname = "rows"\n'
            'ranks = 8\nprogram = { name = "trace", path = "rows.trace", final_barrier = false }\n'
            f'[engine]\nkind = "{engine}"\nrouting = "min"\n{kept}'
        )
        result = odonata_command("run", "x.toml", "-o", engine, cwd=folder)
        assert result.returncode == 0, result.stderr
    messages = odonata.load(folder / "packet").table("messages").to_pylist()
    plain = [(m["source"], m["destination"], m["bytes"]) for m in messages if not m["collective"]]
    assert sorted(plain) == [(3, 0, 32)] * 3 + [(7, 4, 32)] * 3
    # Collectives stay among their four ranks, but for the split itself, which is one of all.
    assert {m["communicator"] for m in messages if m["source"] // 4 != m["destination"] // 4} == {0}
    assert any(m["collective"] and m["communicator"] > 0 for m in messages)
    carried = odonata.load(folder / "flow").jobs["bytes"][0].as_py()
    assert carried == sum(m["bytes"] for m in messages), "both engines carry the same messages"


def test_ranks_of_different_communicators_are_replayed(halo: Path, odonata_command: Command) -> None:
    """Splits leave out nobody, all, or some: who was left out before is in the next one with the others."""
    folder = halo.parent
    source = VMPI / "tests" / "apps" / "blocks.c"
    subprocess.run([str(VMPI / "bin" / "vmpicc"), "-o", "blocks", str(source), "-lm"], cwd=folder, check=True)
    vmpirun(folder, "-n", 8, "-trace", "blocks.trace", "blocks")
    splits = [line for line in (folder / "blocks.trace").read_text().splitlines() if "comm_split" in line]
    assert {line.split()[3] for line in splits} == {"0", "6", "8"}
    for engine in ("packet", "flow"):
        (folder / "x.toml").write_text(
            '[machine]\ntopology = "dragonfly"\np = 2\na = 4\nh = 2\ng = 9\n[[job]]\nname = "blocks"\n'
            'ranks = 8\nprogram = { name = "trace", path = "blocks.trace" }\n'
            f'[engine]\nkind = "{engine}"\nrouting = "min"\n'
        )
        result = odonata_command("run", "x.toml", "-o", engine, cwd=folder)
        assert result.returncode == 0, result.stderr
