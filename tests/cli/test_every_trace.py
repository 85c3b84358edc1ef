"""Every shared trace and file of several jobs runs to its end on 1,056 nodes, with three routings.

Takes about 15 minutes, most of them for the 386 GB of gpt3, twice with three routings.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest
from test_traces import ROUTINGS, experiment

import odonata
from odonata import _core
from odonata.errors import OdonataError
from odonata.importers import from_codes, from_ember, from_tracer

# In packets of 512 B, the 386 GB of gpt3 are 753 million packets: 40 minutes for each routing.
LARGE_PACKETS = {"packet": "64 KiB", "input_buffer": "1 MiB", "output_buffer": "1 MiB"}
LARGE = {"gpt3.txt", "vgg16.txt", "workload.0.et", "smpi_replay.txt", "mixed.txt"}

TRACES = {"astra-sim": 5, "chakra": 16, "dumpi": 4, "goal": 33, "liballprof": 1, "otf2": 1, "simgrid": 20}
"""Traces by format. A DUMPI set counts twice: by its .meta file and by its files."""

EMBER = "ember/sst-elements/src/sst/elements/ember"
CODES = "codes/codes/tests/conf/union-milc-jacobi-workload"


def every_trace(folder: Path) -> dict[Path, str]:
    """The first file of each trace, and its format. Files that differ in a number alone are of one trace."""
    found: dict[str, tuple[Path, str]] = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        name = re.sub(r"([-.])\d+(\.\w+)$", r"\1N\2", str(path))
        if name not in found:
            try:
                found[name] = path, _core.trace(path)["format"]
            except OdonataError:
                continue
    return dict(found.values())


def test_each_shared_file_is_a_trace_or_refused(shared_data: Path) -> None:
    assert Counter(every_trace(shared_data / "traces").values()) == TRACES


@pytest.mark.long
@pytest.mark.parametrize("routing", ROUTINGS)
def test_every_shared_trace_runs(shared_data: Path, routing: str) -> None:
    for path, format_name in every_trace(shared_data / "traces").items():
        packets = LARGE_PACKETS if path.name in LARGE else {}
        engine = {"kind": "packet", "routing": routing, **packets}
        ranks = 16 if format_name == "astra-sim" else "trace"
        # SimGrid counts operations of a processor, a training step operations of an accelerator.
        rate = 1e9 if format_name == "simgrid" else 1e14
        run = odonata.run(experiment(path, engine, ranks, flops_per_s=rate))
        assert run.summary["ending"] == "complete", path
        (job,) = run.jobs.to_pylist()
        assert run.table("ranks").to_pandas()["received_bytes"].sum() == job["bytes"], path


@pytest.mark.long
@pytest.mark.parametrize("routing", ROUTINGS)
def test_every_shared_file_of_several_jobs_runs(shared_data: Path, routing: str) -> None:
    folder = shared_data / "traces"
    machine = "dragonfly-1056"
    found = [
        from_ember(folder / EMBER / name, machine=machine) for name in ("test/loadfile", "tests/qos.load")
    ]
    found += [
        from_codes(
            folder / CODES / "jacobi_MILC.workload.conf",
            alloc=folder / CODES / "rand_node0-1d-72-jacobi_MILC.alloc.conf",
            machine=machine,
        ),
        from_tracer(folder / "tracer/TraceR/examples/jacobi2d-bigsim/tracer_config", machine=machine),
    ]
    for jobs in found:
        text = re.sub(r'kind = "\w+"', f'kind = "packet"\nrouting = "{routing}"', jobs.text)
        assert odonata.run(text).summary["ending"] == "complete", jobs.notes
