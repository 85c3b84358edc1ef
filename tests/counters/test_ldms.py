"""Counters of Aries that LDMS stored: differences of samples, tiles together, routers once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from odonata import counters
from odonata.counters import ldms
from odonata.errors import OdonataError

HEAD = (
    "#Time,Time_usec,ProducerName,component_id,job_id,app_id,aries_rtr_id,"
    "AR_RTR_0_0_INQ_PRF_INCOMING_FLIT_VC0,AR_RTR_5_7_INQ_PRF_INCOMING_FLIT_VC0,AR_NIC_RSPMON_NPT_EVENT_CNTR_NL_FLITS"
)
ROWS = [
    "1446022116.1,153343,nid1,1,0,0,c0-0c0s0a0,100,1000,7",
    "1446022116.2,153344,nid2,2,0,0,c0-0c0s0a0,100,1000,50",
    "1446022116.1,153345,nid5,5,0,0,c0-0c0s1a0,5,0,1",
    "1446022117.1,153343,nid1,1,0,0,c0-0c0s0a0,130,1500,9",
    "1446022117.2,153344,nid2,2,0,0,c0-0c0s0a0,130,1500,80",
    # nid5 restarted: 40 more, then 3 from zero.
    "1446022117.1,153345,nid5,5,0,0,c0-0c0s1a0,45,0,2",
    "1446022118.1,153345,nid5,5,0,0,c0-0c0s1a0,3,0,2",
]


def table(tmp_path: Path, rows: list[str], head: str = HEAD) -> Path:
    path = tmp_path / "aries.csv"
    path.write_text("\n".join([head, *rows]) + "\n")
    return path


def test_differences_of_tiles_and_producers(tmp_path: Path) -> None:
    """Tiles of a router that two nodes report count once; the NICs of both count."""
    found = counters.read_columns(table(tmp_path, ROWS))
    assert {name: sorted(values) for name, values in found.items()} == {
        "AR_RTR_INQ_PRF_INCOMING_FLIT_VC0": [0, 30, 43, 500],
        "AR_NIC_RSPMON_NPT_EVENT_CNTR_NL_FLITS": [1, 2, 30],
    }


def test_order_of_rows_and_repeated_heads_do_not_matter(tmp_path: Path) -> None:
    """Times distinguish the samples."""
    first = counters.read_counters(table(tmp_path, ROWS))
    again = counters.read_counters(table(tmp_path, [*ROWS[::-1], HEAD]))
    for name, values in first.items():
        np.testing.assert_array_equal(np.sort(values), np.sort(again[name]))


@pytest.mark.parametrize(
    ("rows", "head", "said"),
    [
        (ROWS[:3], HEAD, "line 2: only one sample of nid1"),
        ([*ROWS, "1446022118.1,1,nid1"], HEAD, "line 9: 3 values; expected 10"),
        (
            [ROWS[0], ROWS[3].replace("130", "many")],
            HEAD,
            "line 3: AR_RTR_0_0_INQ_PRF_INCOMING_FLIT_VC0 is 'many'",
        ),
        (ROWS, "sg,sr,sc,flits", "line 1: 'sg,sr,sc,flits'; expected '---'"),
        ([], HEAD, "has no samples"),
    ],
)
def test_mistakes_have_a_line(rows: list[str], head: str, said: str, tmp_path: Path) -> None:
    """What was found, and what was expected there."""
    with pytest.raises(OdonataError, match=said.replace("(", "\\(")):
        counters.read_columns(table(tmp_path, rows, head))


def test_a_counter_that_falls_has_wrapped_or_restarted(tmp_path: Path) -> None:
    """By hand: 2^48 - 6 then 3 are 9 in a second; 1000 then 3 would be 2^48 - 997, so it restarted."""
    rows = ["1,1,nid1,1,0,0,c0-0c0s0a0,281474976710650,1000,7", "2,1,nid1,1,0,0,c0-0c0s0a0,3,3,7"]
    (growth,) = ldms.read_growth(table(tmp_path, rows))
    assert list(growth.grown.values()) == [9, 3, 0]
    assert (growth.restarts, growth.seconds) == (1, 1.0)


def test_the_producer_with_the_longest_time_counts_for_its_router(tmp_path: Path) -> None:
    """nid2 saw the router for 3 s, nid1 for 1 s: 60 flits, and the NICs of both."""
    rows = [f"{t},1,nid1,1,0,0,c0-0c0s0a0,{v},0,{v}" for t, v in ((1, 0), (2, 20))]
    rows += [f"{t},1,nid2,2,0,0,c0-0c0s0a0,{v},0,1" for t, v in ((1, 0), (4, 60))]
    found = counters.read_counters(table(tmp_path, rows))
    assert list(found["AR_RTR_INQ_PRF_INCOMING_FLIT_VC0"]) == [60, 0]
    assert list(found["AR_NIC_RSPMON_NPT_EVENT_CNTR_NL_FLITS"]) == [20, 0]
