"""What a run says of its state: steady, saturated, draining, cut short."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from packet_files import experiment, job
from running import Command


def run(
    command: Command, folder: Path, load: float, warm_up: int = 20, drain: int = 100, traffic: str = ""
) -> tuple[dict[str, Any], str, str]:
    text = experiment(
        job("adv", "adversarial"),
        load=load,
        warm_up=f"{warm_up} us",
        measure="30 us",
        traffic=traffic,
        engine=f'drain = "{drain} us"\nrouting = "min"\n',
    )
    (folder / "x.toml").write_text(text)
    result = command("run", "x.toml", "-o", "run", "--force")
    assert result.returncode == 0, result.stderr
    summary = json.loads((folder / "run" / "summary.json").read_text())
    return summary, result.stdout, result.stderr


def test_a_steady_run_has_nothing_to_warn_of(odonata_command: Command, tmp_path: Path) -> None:
    summary, printed, complained = run(odonata_command, tmp_path, 0.08)
    assert complained == ""
    assert "all measured packets were delivered" in printed
    assert ", steady" in printed
    assert "100 % minimal, 0.0 % non-minimal, virtual channels used: 0, 1 of 2" in printed
    convergence = summary["convergence"]
    assert (convergence["converged"], convergence["balanced"]) == (True, True)
    assert "first against the second half" in convergence["decided_by"]
    packet = summary["packet"]
    assert (packet["warm_up_ps"], packet["measure_ps"], packet["drain_ps"]) == (20e6, 30e6, 100e6)
    assert packet["minimal_share"] == 1
    # Minimal paths between groups have at most two local hops and a global one.
    assert packet["virtual_channels_used"] == [0, 1]


def test_the_pods_of_a_tree_are_no_intermediate_groups(odonata_command: Command, tmp_path: Path) -> None:
    """Up and down a tree is the minimal path, although it crosses the group of the core."""
    tree = '[machine]\ntopology = "fat-tree"\nk = 4\n'
    jobs = '[[job]]\nname = "a"\npattern = "uniform"\nranks = 16\nranks_per_node = 1\n'
    (tmp_path / "x.toml").write_text(f'{tree}{jobs}[engine]\nkind = "packet"\n')
    result = odonata_command("run", "x.toml", "-o", "run")
    assert result.returncode == 0, result.stderr
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert summary["packet"]["minimal_share"] == 1
    assert "100 % minimal, 0.0 % non-minimal, virtual channels used: 0 of 1" in result.stdout


def test_a_saturated_run_says_so(odonata_command: Command, tmp_path: Path) -> None:
    """All 8 nodes of a group share one cable: 1/8 of their bandwidth."""
    summary, printed, complained = run(odonata_command, tmp_path, 0.4, drain=5)
    assert "the network is saturated: job 'adv' delivered 0.12" in complained
    assert "of 0.400" in complained
    assert "NOT STEADY" in printed
    assert summary["convergence"]["balanced"] is False
    assert summary["convergence"]["converged"] is False
    assert "nan" not in (printed + complained).lower()


def test_paced_sources_stall_and_are_reported(odonata_command: Command, tmp_path: Path) -> None:
    """They queue nothing, but the load is below the requested load."""
    paced = 'injection = "paced"'
    summary, printed, complained = run(odonata_command, tmp_path, 0.4, traffic=paced)
    assert "the network is saturated: job 'adv' delivered 0.12" in complained
    assert "sources stalled and offered less" in complained
    assert "queue up" not in complained
    assert "NOT STEADY" in printed
    assert (summary["convergence"]["balanced"], summary["convergence"]["converged"]) == (False, False)
    summary, printed, complained = run(odonata_command, tmp_path, 0.08, traffic=paced)
    assert complained == ""
    assert ", steady" in printed


def test_only_paced_sources_have_a_buffer(odonata_command: Command, tmp_path: Path) -> None:
    text = experiment(job("adv", "adversarial"), load=0.1, traffic="buffer = 3")
    (tmp_path / "x.toml").write_text(text)
    result = odonata_command("run", "x.toml")
    assert result.returncode == 2
    assert "buffer" in result.stderr
    assert 'requires injection = "paced"' in result.stderr


def test_sources_that_drain_are_noticed(odonata_command: Command, tmp_path: Path) -> None:
    """Twenty microseconds at load 0.4 leave queues that load 0.05 meets."""
    steps = 'step_times = ["20 us"], step_loads = [0.05]'
    summary, _, complained = run(odonata_command, tmp_path, 0.4, warm_up=21, traffic=steps)
    assert "sources drain queues from before the measurement: job 'adv' delivered 0.12" in complained
    assert summary["convergence"]["converged"] is False


def test_a_load_that_changes_within_the_measurement_is_not_asked_for_balance(
    odonata_command: Command, tmp_path: Path
) -> None:
    steps = 'step_times = ["40 us"], step_loads = [0.01]'
    summary, _, complained = run(odonata_command, tmp_path, 0.1, traffic=steps)
    assert summary["convergence"]["balanced"] is True
    assert "saturated" not in complained
    assert "no steady state" in complained, "but the halves differ"


@pytest.mark.parametrize(("drain", "ending"), [(0, "drain-limit"), (100, "complete")])
def test_the_drain_is_kept(odonata_command: Command, tmp_path: Path, drain: int, ending: str) -> None:
    """Without a drain, the packets in flight at the end of the measurement are reported."""
    summary, printed, complained = run(odonata_command, tmp_path, 0.08, drain=drain)
    assert summary["ending"] == ending
    if drain == 0:
        assert "DRAIN-LIMIT at 50 us" in printed
        assert "measured packets in flight" in complained
        assert summary["packet"]["end_ps"] == 50e6
    else:
        assert summary["packet"]["end_ps"] < 60e6
