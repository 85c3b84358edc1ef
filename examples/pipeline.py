"""Writes the program of examples/pipeline.toml: `python examples/pipeline.py`.

Each rank of a pipeline receives a block from the previous rank, works on it and sends it to the next. The
function is called only once, for any number of ranks and blocks. The engines run its output without Python.
"""

from pathlib import Path

from odonata.programs import Program, Role, program

BLOCKS = 20
BLOCK = "1 MiB"


def stage(role: Role) -> None:
    """Describes every rank."""
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
    """Returns the program."""
    return program(stage)


if __name__ == "__main__":
    pipeline().save(Path(__file__).with_suffix(".program"), ranks=16)
