"""Programs as Python functions: their text, what the engines make of it, and mistakes at the user's line."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from running import Command

import odonata
from odonata.programs import ProgramError, Role, program

EXAMPLES = Path(__file__).parents[1] / "examples"


def test_every_call_is_a_line_of_the_text() -> None:
    def all_of_them(role: Role) -> None:
        role.phase("first")
        with role.repeat(3) as i, role.repeat(role.ranks - 1) as k:
            role.compute("5 us")
            role.sleep((role.rank + 1) * role.amount("1 ns"))
            role.wait_until("350 us")
            role.isend((role.rank + 1 + k) % role.ranks, "64 KiB", tag=i)
            role.irecv((role.rank - 1 - k) % role.ranks, (i + 1) * role.amount("64 KiB"), tag="any")
            role.isend((role.rank + 1) % role.ranks, "1 B", tag=9, request="ahead[i0]".replace("i0", "0"))
            role.irecv("any", "1 B", tag=9, request="ahead[1]")
            role.waitall()
            role.waitall("ahead")
            with role.when((role.rank == 0) & ~(i == 1) | (role.rank * 2 >= 99)):
                role.compute("1 us")
            with role.otherwise():
                role.line("compute 2 us")
        role.split("half", role.rank // 2, key=role.ranks - role.rank)
        role.barrier(on="half")
        role.free("half")
        role.create("all", 0, role.ranks)
        role.free("all")
        for call in (role.bcast, role.reduce, role.gather, role.scatter):
            call("8 B", root=1)
        for call in (role.allreduce, role.scan, role.reduce_scatter, role.allgather, role.alltoall):
            call("8 B")
        with role.stream("comm"):
            role.await_event("ready")
            role.compute("1 us")
            role.record("done")
        role.record("ready")
        role.await_event("done")
        role.ibarrier(request="ahead[0]")
        for start in (role.ibcast, role.ireduce, role.igather, role.iscatter):
            start("8 B", root=1)
        for start in (role.iallreduce, role.iscan, role.ireduce_scatter, role.iallgather, role.ialltoall):
            start("8 B")
        role.waitall()
        role.waitall("ahead")

    built = program(all_of_them, requests={"ahead": 2})
    built.check(4)
    assert built.text.startswith(
        "requests ahead[2]\n"
        "phase first\n"
        "repeat 3 as round1:\n"
        "    repeat (ranks - 1) as round2:\n"
        "        compute 5 us\n"
        "        sleep ((rank + 1) * (1 ns))\n"
        "        wait until 350 us\n"
        "        isend (((rank + 1) + round2) % ranks) 64 KiB tag round1\n"
    )
    assert "        if (((rank == 0) and (not (round1 == 1))) or ((rank * 2) >= 99)):\n" in built.text
    streams = (
        "on stream comm:\n    await ready\n    compute 1 us\n    record done\nrecord ready\nawait done\n"
    )
    assert f"\nscan 8 B\nreduce-scatter 8 B\nallgather 8 B\nalltoall 8 B\n{streams}ibarrier" in built.text
    end = "iscan 8 B\nireduce-scatter 8 B\niallgather 8 B\nialltoall 8 B\nwaitall\nwaitall ahead\n"
    assert built.text.endswith(end)


def test_roles_are_functions_of_their_own(odonata_command: Command, tmp_path: Path) -> None:
    def root(role: Role) -> None:
        with role.repeat(role.ranks - 1) as i:
            role.recv(i + 1, "1 kB")

    def leaf(role: Role) -> None:
        role.send(0, "1 kB")

    program({"0": root, "others": leaf}).save(tmp_path / "tree.program", ranks=5)
    (tmp_path / "x.toml").write_text(
        '[machine]\npreset = "dragonfly-1056"\n[[job]]\nranks = 5\nranks_per_node = 1\n'
        'program = { name = "file", path = "tree.program", final_barrier = false }\n'
        '[engine]\nkind = "packet"\nrouting = "min"\n'
    )
    checked = odonata_command("check", "x.toml")
    assert checked.returncode == 0, checked.stderr
    ran = odonata_command("run", "x.toml", "-o", "run", "--json")
    assert ran.returncode == 0, ran.stderr
    assert json.loads((tmp_path / "run" / "summary.json").read_text())["ending"] == "complete"


def test_a_common_start_is_a_simulated_time(odonata_command: Command, tmp_path: Path) -> None:
    """By hand, from 50 us on: rank 0 is ready at 150 us and waits until 350 us, rank 1 goes on at 450 us."""

    def body(role: Role) -> None:
        role.compute(role.amount("100 us") + role.rank * role.amount("300 us"))
        role.wait_until("350 us")

    program(body).save(tmp_path / "start.program", ranks=2)
    (tmp_path / "x.toml").write_text(
        '[machine]\npreset = "dragonfly-1056"\n[[job]]\nranks = 2\nranks_per_node = 1\nstart = "50 us"\n'
        'program = { name = "file", path = "start.program", final_barrier = false }\n'
        '[engine]\nkind = "packet"\nrouting = "min"\n'
    )
    assert odonata_command("run", "x.toml", "-o", "run").returncode == 0
    run = odonata.load(tmp_path / "run")
    ranks = run.table("ranks")
    assert ranks["end_ps"].to_pylist() == [350_000_000, 450_000_000]
    assert ranks["compute_ps"].to_pylist() == [100_000_000, 400_000_000]
    assert ranks["communication_ps"].to_pylist() == [0, 0]
    # From the start of the job to the end of its last rank.
    assert run.jobs["completion_time_s"].to_pylist() == pytest.approx([400e-6])


@pytest.mark.parametrize(
    ("mistake", "reason"),
    [
        (
            lambda role: role.send(role.ranks, "8 B"),
            "the peer, a rank, is 4 for rank 0, expected from 0 to 3",
        ),
        (lambda role: role.send(0, 8), "expected an amount, found 8"),
        (lambda role: role.send("0", "8 B"), "expected a whole number, found the text '0'"),
        (lambda role: role.send(1.5, "8 B"), "expected a whole number, found 1.5"),
        (lambda role: role.compute("5 sheep"), "sheep"),
        (lambda role: [role.barrier() for _ in range(role.ranks)], "Python cannot use it as a number"),
        (lambda role: role.barrier() if role.rank == 0 else None, "Python cannot test it"),
        (lambda role: role.send(role.rank / 2, "8 B"), "'/' gives fractions"),
        (lambda role: role.phase("two words"), "expected a name, found 'two words'"),
        (lambda role: role.barrier(on="half"), "half"),
        (lambda role: role.irecv(0, "8 B"), "no wait for this request"),
        (lambda role: role.line("repeat 3:"), "is not one call"),
        (lambda role: role.when(True).__enter__(), "True is the same for all ranks"),
    ],
)
def test_mistakes_name_the_line_of_the_function(mistake: Callable[[Role], object], reason: str) -> None:
    with pytest.raises(ProgramError) as error:
        program(mistake).check(4)
    line = mistake.__code__.co_firstlineno
    assert str(error.value).startswith(f"{__file__}:{line}: "), error.value
    assert reason in str(error.value)


def test_blocks_without_calls_and_functions_without_calls_are_mistakes() -> None:
    def empty_loop(role: Role) -> None:
        with role.repeat(3):
            pass

    with pytest.raises(
        ProgramError, match=f"{empty_loop.__code__.co_firstlineno + 1}: the block of `repeat` is empty"
    ):
        program(empty_loop)
    with pytest.raises(ProgramError, match="makes no calls"):
        program(str)
    with pytest.raises(ProgramError, match="expected a function of a role"):
        program({"0": 3})  # type: ignore[dict-item]


def test_the_example_is_what_its_function_writes() -> None:
    spec = importlib.util.spec_from_file_location("pipeline", EXAMPLES / "pipeline.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.pipeline().text == (EXAMPLES / "pipeline.program").read_text()
