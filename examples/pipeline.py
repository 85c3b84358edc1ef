"""Writes the program of examples/pipeline.toml: `python examples/pipeline.py`.

A pipeline: each rank takes a block from the rank before, works on it and hands it on. The function is called
once, whatever the number of ranks and of blocks; the engines run what it wrote without Python.
"""

from pathlib import Path

from odonata.programs import Program, Role, program

BLOCKS = 20
BLOCK = "1 MiB"


def stage(role: Role) -> None:
    """What every rank does."""
    with role.repeat(BLOCKS) as block:
        with role.when(role.rank > 0):
            role.phase("take")
            role.recv(role.rank - 1, BLOCK, tag=block)
        role.phase("work")
        role.compute("20 us")
        with role.when(role.rank < role.ranks - 1):
            role.phase("hand_on")
            role.send(role.rank + 1, BLOCK, tag=block)


def pipeline() -> Program:
    """The program."""
    return program(stage)


if __name__ == "__main__":
    pipeline().save(Path(__file__).with_suffix(".program"), ranks=16)
