"""A slice of the soak with fixed seeds, and the cases that once failed."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path

import pytest
from soak import Worker, soak, write
from soak_cases import Case, case

from odonata import _core

SLICE = 150
"""Cases of the slice: about 10 s of processor time. `make soak` runs more."""


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    worker = Worker()
    yield worker
    worker.close()


@pytest.mark.slow
def test_a_slice_of_the_soak(tmp_path: Path) -> None:
    """Seeds from 0 on: every run passes the checks or is refused with an error."""
    tally = soak(map(case, range(SLICE)), math.inf, tmp_path)
    assert not tally.failures
    assert tally.counts["ok"] > 0, tally.refusals


def test_what_a_worker_reports(worker: Worker, tmp_path: Path) -> None:
    """A crash, a hang and a refusal are distinguished; after each the next case runs."""
    assert worker.outcome(write(Case(0, "[machine]\n"), tmp_path / "refused"))[0] == "refused"
    ring = '[machine]\ntopology = "torus"\ndims = [3]\n[[job]]\npattern = "tornado"\nranks = 3\n'
    engine = '[engine]\nkind = "packet"\nrecord_packets = true\nrecord_paths = true\n'
    fine = write(Case(1, ring + engine), tmp_path / "fine")
    assert worker.outcome(fine) == ("ok", "")
    assert worker.outcome(fine, seconds=0)[1].startswith("hangs")
    assert worker.outcome(fine) == ("ok", "")
    # Without the paths of its packets a run cannot be checked.
    status, why = worker.outcome(
        write(Case(2, ring + engine.replace("record_paths = true\n", "")), tmp_path / "bare")
    )
    assert (status, "Error" in why) == ("failed", True), why
    assert worker._process is not None
    worker._process.kill()
    worker._process.wait()
    assert "ended with -9" in worker.outcome(fine)[1]
    assert worker.outcome(fine) == ("ok", "")


def test_the_cases_of_an_earlier_soak_run_or_are_refused(
    shared_data: Path, worker: Worker, tmp_path: Path
) -> None:
    """They panicked, took all memory, or their bytes over hops differed from the flow engine."""
    path = shared_data / "soak-failures.jsonl"
    if not path.is_file():
        pytest.skip(f"{path.name} is not in the shared data")
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(rows) == 26
    failed = {}
    for row in rows:
        text = row["toml"].replace('file="e.csv"', 'file="cables.csv"')
        one = Case(row["seed"], _core.Experiment(text, "case.toml").upgraded().text, row["cables_csv"])
        status, why = worker.outcome(write(one, tmp_path / str(one.seed)))
        if status == "failed":
            failed[one.seed] = why
    assert not failed
