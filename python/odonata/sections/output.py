"""The section `output` of an experiment.

Written from the declared keys: see `tests/section_types.py`.
"""

from __future__ import annotations

from typing import TypedDict


class Output(TypedDict, total=False):
    """Keys of the section `output`.

    Records of the run directory. A table that is switched off has its columns, but no rows.
    """

    link_jobs: bool
    """Record of the traffic of each job on each link. Default: true."""
    placement: bool
    """Record of the node of each rank. Default: true."""
    communication: bool
    """Record of the communication matrix of each job. Default: true."""
