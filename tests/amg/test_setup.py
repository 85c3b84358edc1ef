"""The model of the set-up: its messages are the recorded ones, kernel by kernel."""

from __future__ import annotations

import functools
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from running import Command

from odonata import amg
from odonata.amg import (
    advice,
    boomeramg,
    model,
    objective,
    ranked,
    record,
    setup,
    setup_fit,
    setup_simulation,
    store,
)
from odonata.amg.boomeramg import BuildResult
from odonata.amg.hierarchy import Hierarchy
from odonata.amg.machines import Ends
from odonata.amg.problems import make
from odonata.errors import OdonataError

EOS = amg.load_machine("eos")
RANKS = 27
ALPHA, GAMMA, VALUE, MATCHING = 0.238e-6, 0.416e-6, 0.858e-9, 96.46e-9
L = 5 * GAMMA


@pytest.fixture(scope="module")
def built(amg_program: Path) -> BuildResult:
    """A small hierarchy with its record."""
    assert amg_program.exists()
    return boomeramg.build(make("laplace7", RANKS, (6, 6, 6)), recorded=True)


@pytest.fixture(scope="module")
def directory(built: BuildResult, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return boomeramg.save(built, tmp_path_factory.mktemp("setup") / "h")


def test_messages_are_the_recorded_ones(built: BuildResult, directory: Path) -> None:
    # Oracle: vmpi's record, summed by kernel and level.
    found = setup.load(directory)
    modelled = {(one.level, one.kernel): one for one in setup.price(found, setup.Pricing(EOS, per_node=16))}
    frame = built.tables["recorded_messages"].to_pandas()
    frame["phase"] = frame["phase"].astype(str)
    counted = frame[frame["phase"].isin(record.KERNELS)].groupby(["level", "phase"])
    for key, row in counted[["messages", "bytes"]].sum().iterrows():
        assert (modelled[key].messages, modelled[key].bytes) == (row["messages"], row["bytes"]), key
    sent = {key for key, one in modelled.items() if one.messages}
    assert sent == {(int(level), kernel) for level, kernel in counted.groups}


def test_exchanges_follow_from_the_packages(built: BuildResult, directory: Path) -> None:
    """Oracle: hypre's communication packages, which the level table counts.

    PMIS sends its measures to the owners and back, and marks the points of the first selection; each of its R
    rounds is three exchanges and an Allreduce. Extended+i sends markers and rows six times. The product
    gets rows of P by the package of A and returns rows of P^T A P by the package of P, three messages each:
    sizes, columns, values. A tree has P - 1 messages.
    """
    found = setup.load(directory)
    coarse = range(1, len(built.hierarchy.levels) - 1)
    assert len(coarse) >= 2
    for level in coarse:
        row = built.hierarchy.levels[level]
        counts = {
            kernel: [len(e.sources) for e in found.exchanges if (e.level, e.kernel) == (level, kernel)]
            for kernel in setup.ORDER
        }
        assert counts["strength"] == []
        assert set(counts["coarsen"]) == {row["messages"]}
        rounds = len(counts["coarsen"]) // 3 - 1
        [called] = [c.calls for c in found.collectives if (c.level, c.kernel) == (level, "coarsen")]
        assert (len(counts["coarsen"]) % 3, called) == (0, rounds + 2)
        assert counts["weights"][:6] == [row["messages"]] * 6
        assert counts["galerkin"] == [row["messages"]] * 3 + [row["interpolation_messages"]] * 3
        # Each package needs two lists of ranks; the end of each is reported up and down a tree.
        trees = [e for e in found.exchanges if e.level == level and e.is_tree and len(e.sources) == RANKS - 1]
        assert len(trees) >= 8
        assert len(trees) % 4 == 0


def by_hand(account: str, *, work: dict[tuple[int, str], float] | None = None) -> float:
    """Rank 0 sends 80 bytes to ranks 1 and 2 of other nodes; one Allreduce of 4 ranks; a tree of 4 ranks."""
    hierarchy = Hierarchy(4, [{"unknowns": 8.0, "active_ranks": 4.0, "nonzeros_per_row": 3.0}] * 2)
    names = ("phase", "level", "step", "source", "destination", "messages", "bytes")
    rows = [
        ("coarsen", 0, 1, 0, 1, 1, 80),
        ("coarsen", 0, 1, 0, 2, 1, 80),
        *(("packages", 0, 2, rank, 0, 1, 0) for rank in (1, 2, 3)),
    ]
    messages = pa.Table.from_pylist([dict(zip(names, row, strict=True)) for row in rows])
    calls = pa.Table.from_pylist(
        [{"phase": "coarsen", "level": 0, "call": "MPI_Allreduce", "ranks": 4, "calls": 4, "bytes": 16}]
    )
    spent = [{"phase": k, "level": at, "mean_s": s, "max_s": s} for (at, k), s in (work or {}).items()]
    table = pa.Table.from_pylist(spent) if spent else None
    found = setup.from_tables(hierarchy, messages, calls, table)
    return setup.seconds(setup.price(found, setup.Pricing(EOS, account, 1, 2.0)))


def test_set_up_by_hand() -> None:
    """Equations of docs/models/amg-setup.md, with log2(4) = 2."""
    distance = ALPHA + L
    # Rank 0 sends p = 2 messages of n = 20 values in all.
    paper = 2 * distance + 20 * VALUE + 2 * distance + 2 * distance
    assert by_hand("paper") == pytest.approx(paper)
    ends = (
        (2 / 2 * ALPHA + L + 20 * VALUE) + 2 * (ALPHA + MATCHING + L) + 2 * (1.5 * ALPHA + 2 * MATCHING + L)
    )
    assert by_hand("ranked") == pytest.approx(ends)
    assert by_hand("ranked", work={(0, "coarsen"): 1e-3}) == pytest.approx(ends + 2e-3)


def test_mistakes_have_a_reason(tmp_path: Path) -> None:
    with pytest.raises(OdonataError, match="unknown account 'rank'"):
        setup.Pricing(EOS, "rank")
    old = pa.table({"phase": ["coarsen"], "level": [0], "source": [0], "destination": [1], "messages": [1]})
    with pytest.raises(OdonataError, match="recorded by an older version"):
        setup.from_tables(Hierarchy(2, []), old, old)
    with pytest.raises(OdonataError, match="has no messages of the set-up"):
        setup.load(tmp_path)


def test_a_switch_of_nothing_changes_nothing(directory: Path) -> None:
    # Invariant: as many groups as active ranks only add the gathering, and messages of a pair merge.
    found = setup.load(directory)
    pricing = setup.Pricing(EOS, per_node=16)
    before = setup.seconds(setup.price(found, pricing))
    after = setup.predicted_s(found, pricing, len(found.hierarchy.levels) - 1, RANKS)
    assert before <= after <= 1.05 * before


def test_objectives_weigh_set_up_and_solve(directory: Path) -> None:
    found = setup.load(directory)
    messages = store.read_table(directory, "messages")
    adviser = advice.Adviser(found.hierarchy, EOS, ranked.RankModel(found.hierarchy, messages, EOS))
    for account in setup.ACCOUNTS:
        pricing = setup.Pricing(EOS, account, 16, 1.0)
        compared = objective.compare(adviser, found, pricing)
        decided = {name: compared.decision(name, 20) for name in objective.OBJECTIVES}
        before = decided["both"].before
        assert before.total_s == pytest.approx(before.setup_s + 20 * before.cycle_s)
        assert decided["setup"].before.total_s == before.setup_s
        assert decided["solve"].before.total_s == pytest.approx(20 * before.cycle_s)
        for one in decided.values():
            totals = [choice.total_s for choice in one.choices]
            assert totals == sorted(totals)
            assert one.best is None or one.best.total_s <= 0.95 * one.before.total_s
        # Levels above the switch keep their price.
        for switch, setup_s in compared.switches[:3]:
            assert setup_s == pytest.approx(setup.predicted_s(found, pricing, switch.level, switch.groups))
        # As many switches as the cycle alone has.
        assert len(decided["both"].choices) == len(model.alternatives(found.hierarchy, EOS))


def test_decisions_of_the_study(study_tables: dict[str, pd.DataFrame]) -> None:
    # Each objective sums its terms, is at its best for its own switch, and gains 5 % or is left alone.
    table = study_tables["decisions"]
    kernels = study_tables["kernels"]
    problems = table.groupby(["problem", "ranks"])
    assert set(problems.groups) <= set(kernels.groupby(["problem", "ranks"]).groups)
    assert {name for name, ranks in problems.groups if ranks == 64} == set(kernels["problem"])
    for key, rows in problems:
        found = rows.set_index("objective")
        assert list(found.index) == list(objective.OBJECTIVES), key
        for name, (setups, cycles) in {"solve": (0, 20), "setup": (1, 0), "both": (1, 20)}.items():
            totals = setups * found["set_up_ms"] + cycles * found["cycle_ms"]
            row = found.loc[name]
            assert row["after_ms"] == pytest.approx(totals[name], abs=2e-3), key
            assert row["after_ms"] <= totals.min() + 2e-3, key
            assert row["after_ms"] <= 0.95 * row["before_ms"] or row["groups"] == 0, key
        before = found["before_ms"]
        assert before["both"] == pytest.approx(before["solve"] + before["setup"], abs=1e-3), key


@pytest.fixture
def study_tables() -> dict[str, pd.DataFrame]:
    """The study's set-ups, as kept in its folder."""
    folder = Path(__file__).parents[2] / "studies" / "amg-on-dragonfly"
    names = {"kernels": "set-up.csv", "decisions": "set-up-decisions.csv"}
    return {name: pd.read_csv(folder / file) for name, file in names.items()}


@pytest.mark.slow
@pytest.mark.usefixtures("amg_program")
def test_simulated_messages_and_levels(tmp_path: Path, study_tables: dict[str, pd.DataFrame]) -> None:
    # Differential: the packet engine against the model, level by level.
    built = boomeramg.build(make("laplace7", 64, (10, 10, 10)), recorded=True)
    directory = boomeramg.save(built, tmp_path / "h")
    simulated = setup_simulation.simulate(directory, setup.load(directory), EOS, preset="eos", per_node=16)
    assert np.mean([abs(one.off) <= 0.15 for one in simulated.levels]) >= 0.8, simulated.levels
    # The same model without a simulation.
    priced = setup_simulation.price_as_simulated(setup.load(directory), EOS, preset="eos", per_node=16)
    assert {(one.level, one.kernel): one.communication_s for one in priced} == simulated.modelled
    # The counts and the switch for the solve, which no measured time decides, equal the kept ones.
    kept = study_tables["kernels"].query("problem == 'laplace7' and ranks == 64")
    assert kept["messages"].tolist() == [one.messages for one in priced]
    adviser = advice.Adviser(
        built.hierarchy, EOS, ranked.RankModel(built.hierarchy, built.tables["messages"], EOS)
    )
    decided = study_tables["decisions"].query("problem == 'laplace7' and ranks == 64").iloc[0]
    assert (decided["level"], decided["groups"]) == adviser.advice("ranked").switch
    assert set(simulated.modelled) >= set(simulated.kernels)


@pytest.mark.slow
@pytest.mark.usefixtures("amg_program")
def test_a_predicted_switch_is_the_executed_one(tmp_path: Path) -> None:
    # Differential: communication after a switch, predicted from the first record and recorded again.
    problem, switch = make("laplace7", 64, (10, 10, 10)), (2, 8)
    builds = [boomeramg.build(problem, recorded=True, redistribute=moved) for moved in (None, switch)]
    plain, moved = (setup.load(boomeramg.save(b, tmp_path / str(i))) for i, b in enumerate(builds))
    for account in setup.ACCOUNTS:
        pricing = setup.Pricing(EOS, account, 16)
        executed = setup.seconds(setup.price(moved, pricing))
        assert setup.predicted_s(plain, pricing, *switch) == pytest.approx(executed, rel=0.05)


def test_fit_finds_the_costs(directory: Path) -> None:
    # Oracle: set-ups priced with known costs, of one hierarchy on nodes of different sizes.
    found = setup.load(directory)
    machine = replace(EOS, ends=Ends(1.0, ALPHA, 0.0, MATCHING))
    runs = []
    for per_node, scale in ((1, 1.0), (4, 0.5), (16, 2.0), (27, 4.0)):
        scaled = replace(found, work={key: scale * s for key, s in found.work.items()})
        seconds = setup.seconds(setup.price(scaled, setup.Pricing(machine, per_node=per_node, factor=3.0)))
        runs.append(setup_fit.MeasuredSetUp(str(per_node), scaled, seconds, per_node))
    fitted = setup_fit.fit(runs, EOS)
    assert fitted.factor == pytest.approx(3.0, rel=0.05)
    assert fitted.matching_s == pytest.approx(MATCHING, rel=0.05)
    with pytest.raises(OdonataError, match="2 measured set-ups"):
        setup_fit.fit(runs[:2], EOS)


def test_commands(odonata_command: Command, directory: Path, tmp_path: Path) -> None:
    amg_command = functools.partial(odonata_command, "amg", cwd=tmp_path)
    result = amg_command("simulate", directory, "--setup", "--tasks", 4, "--json")
    assert result.returncode == 0, result.stderr
    kernels = json.loads(result.stdout)["kernels"]
    assert {one["kernel"] for one in kernels} == set(record.KERNELS)
    assert "communicates for" in amg_command("simulate", directory, "--setup", "--tasks", 4).stdout
    refused = amg_command("simulate", directory, "--setup", "--engine", "flow")
    assert refused.returncode == 2
    assert "needs the packet engine" in refused.stderr
    times = "hierarchy,tasks,setup_ms\n" + "".join(
        f"{directory},{t},{s}\n" for t, s in ((1, 9), (4, 8), (16, 7))
    )
    (tmp_path / "setups.csv").write_text(times)
    result = amg_command("fit", "setups.csv", "--json")
    assert result.returncode == 0, result.stderr
    assert len(json.loads(result.stdout)["set_ups"]) == 3
    result = amg_command("redistribute", directory, "--objective", "both", "--iterations", 5, "--json")
    assert result.returncode == 0, result.stderr
    assert json.loads(result.stdout)["iterations"] == 5
    assert (
        "Redistribution for the set-up"
        in amg_command("redistribute", directory, "--objective", "setup").stdout
    )
    assert "--objective both" in amg_command("redistribute", directory).stdout
    assert amg_command("redistribute", "--problem", "laplace7", "--objective", "both").returncode == 2
