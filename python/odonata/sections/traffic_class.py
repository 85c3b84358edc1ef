"""The section `traffic_class` of an experiment.

Written from the declared keys: see `tests/section_types.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypedDict


class TrafficClass(TypedDict, total=False):
    """Keys of the section `traffic_class`.

    A traffic class of the packet engine: its own virtual channels and buffers, and a share of every
    link. The section is repeated for each class. Without it, all traffic is in one class. Other
    engines ignore classes.
    """

    name: str
    """Unique name, for the key `traffic_class` of jobs."""
    preset: Literal["best-effort", "bulk-data", "low-latency", "dedicated-access"]
    """Source of the other keys that are not given: classes with the names of Slingshot's. HPE does not
    publish their priorities and shares, so these values are assumed. The defaults in this table are
    the values of `best-effort`. Default: "best-effort".
    """
    priority: int
    """Each link serves the class of the highest priority first. Default: 0."""
    minimum_share: Literal["rest"] | float
    """Share of each link that classes of the same priority leave to this class while it has packets.
    Default: "rest".
    """
    maximum_share: float
    """Maximum share of each link. Default: 1.0."""
    burst: str
    """With a maximum share below 1: bytes that the class may send in excess of its share at once.
    Default: "4 KiB".
    """
    ordered: bool
    """Whether packets between two nodes follow each other on one path, so that they stay in order.
    Routing then decides per flow instead of per packet. Default: false.
    """
    flow_gap: str
    """`ordered`: time without a packet after which the next one may take another path. Slingshot's is a
    few microseconds. Default: "4 us".
    """
    control: Mapping[str, Any]
    """Congestion control of its packets, with the keys of `[engine.control]`."""
