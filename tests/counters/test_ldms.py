"""Counters of Aries that LDMS stored: differences of samples, tiles together, routers once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from odonata import counters
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
