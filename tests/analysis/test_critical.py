"""Critical paths, by hand."""

from __future__ import annotations

from typing import Any

import handmade
import pyarrow as pa
import pytest

import odonata
from odonata.analysis import critical
from odonata.analysis.task_path import has_tasks
from odonata.store import columns


def packet_table(name: str, content: dict[str, list[Any]]) -> pa.Table:
    return columns.table(name, content, handmade.AXES, engine="packet", partial=True)


@pytest.mark.parametrize(("after", "found"), [([], False), ([0, 1], False), ([1, 0], True), ([2], True)])
def test_calls_are_tasks_if_the_first_comes_after_one(after: list[int], found: bool) -> None:
    """The first task of a rank comes after itself, number 1."""
    assert has_tasks(pa.table({"after": pa.array(after, pa.uint64())})) is found


def test_only_a_message_in_flight_has_links() -> None:
    """Ranks 0 and 1 are on nodes 5 and 7. Packets reach node 7 at 10 and 30 ps, and of another job at 35 ps.

    The packet of 10 ps was there before the second message left.
    """
    ranks = packet_table("ranks", {"job": [0, 0, 1], "rank": [0, 1, 0], "node": [5, 7, 5]})
    packets = packet_table(
        "packets",
        {
            "delivered_ps": [10, 30, 35],
            "source": [5] * 3,
            "destination": [7] * 3,
            "job": [0, 0, 1],
            "links": [[1, 2], [3], [4]],
        },
    )
    pieces = [
        # activity, rank, peer, start, end, and the links
        ("in flight", 1, 0, 0, 12, [1, 2]),
        ("in a call", 1, 0, 0, 12, None),
        ("in flight", 1, 0, 10, 20, None),
        ("in flight", 1, 0, 20, 40, [3]),
        ("in flight", 0, 1, 20, 40, None),
        ("in flight", 1, 0, 0, 9, None),
    ]
    names = ("activity", "rank", "peer", "start_ps", "end_ps")
    path = pa.table({name: [piece[at] for piece in pieces] for at, name in enumerate(names)})
    found = critical.add_links(path, packets, ranks, 0)["links"].to_pylist()
    assert found == [piece[-1] for piece in pieces]


@pytest.mark.parametrize(
    ("number", "window"),
    [
        # First program, twice; then the second, three times; the last iteration ends with its last phase.
        (1, (0, 20)),
        (2, (20, 40)),
        (3, (40, 50)),
        (5, (60, 70)),
        # The next turn of both programs.
        (6, (70, 90)),
        (7, (90, 110)),
        (8, (110, 120)),
        (10, (130, 138)),
        (11, None),
    ],
)
def test_an_iteration_counts_over_programs_and_repetitions(
    number: int, window: tuple[int, int] | None
) -> None:
    """Two programs: two iterations of two phases, then three of one phase; all of it twice."""
    program = '[{ name = "halo-2d", iterations = 2 }, { name = "allreduce", iterations = 3 }]'
    run = run_of_phases([0, 1, 0, 1, 2, 2, 2] * 2, [0, 0, 1], program, repeat=2)
    found = critical.of_iteration(run, 0, number)
    assert found == (None if window is None else critical.Window(0, *window))


def test_what_is_before_the_iterations_is_in_none() -> None:
    run = run_of_phases([1, 0, 2, 0, 2, 1], [0, 0, 0], '{ name = "halo-2d", iterations = 2 }', repeat=1)
    found = [critical.of_iteration(run, 0, number) for number in (1, 2, 3)]
    assert found == [critical.Window(0, 10, 30), critical.Window(0, 30, 48), None]


def run_of_phases(order: list[int], program_of: list[int], program: str, *, repeat: int) -> odonata.Run:
    """One rank with these phases. Each starts 10 ps after the one before and lasts 8 ps."""
    count = len(order)
    phases = {"job": [0] * 3, "rank": [0] * 3, "phase_number": [0, 1, 2], "program": program_of}
    times = {
        "job": [0] * count,
        "rank": [0] * count,
        "number": list(range(count)),
        "phase_number": order,
        "phase": [f"phase {one}" for one in order],
        "start_ps": [10 * at for at in range(count)],
        "end_ps": [10 * at + 8 for at in range(count)],
    }
    tables = {
        **handmade.tables(),
        "phases": packet_table("phases", phases),
        "phase_times": packet_table("phase_times", times),
    }
    resolved = f'[[job]]\nname = "a"\nbackground = false\nrepeat = {repeat}\nprogram = {program}\n'
    return odonata.Run.from_tables(handmade.SUMMARY, tables, experiment="", resolved=resolved)
