"""The model from Python: shipped tables, machine files, decisions, mistakes."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import odonata
import odonata.amg as amg
from odonata.amg import (
    boomeramg,
    comparison,
    library,
    machines,
    model,
    node_aware,
    simulate,
    store,
)
from odonata.api import read
from odonata.errors import OdonataError

EOS = amg.load_machine("eos")


STUDY = Path(__file__).parents[2] / "studies" / "amg-on-dragonfly"
TABLE_3 = list(csv.DictReader((STUDY / "table-3.csv").read_text().splitlines()))


@pytest.mark.parametrize(
    "mix", [row for row in TABLE_3 if row["cores"] == "1024"], ids=lambda row: row["mix"]
)
def test_table_3_on_1024_cores(mix: dict[str, str]) -> None:
    # Published: the paper's modelled times, from true hierarchies of 64 million unknowns.
    threads, tasks = int(mix["threads"]), int(mix["tasks"])
    hierarchy = amg.shipped("laplace7", 1024 // threads, mix["points"])
    assert hierarchy.unknowns == 64_000_000
    cycle = model.cycle(hierarchy, EOS, threads=threads, tasks=tasks)
    assert 1e3 * cycle.seconds == pytest.approx(float(mix["modelled_ms"]), rel=0.03)


def test_8192_cores_are_bracketed_and_so_is_the_check() -> None:
    known = {ranks: amg.shipped("laplace7", ranks, "50x50x25") for ranks in (16, 128, 1024)}
    low, high = (model.cycle(h, EOS).seconds for h in model.extrapolate(known[128], known[1024]))
    # Published: 11.7 ms.
    assert low < 11.7e-3 < high
    low, high = (model.cycle(h, EOS).seconds for h in model.extrapolate(known[16], known[128]))
    assert low < model.cycle(known[1024], EOS).seconds < high


def test_terms_sum_to_the_cycle() -> None:
    hierarchy = amg.shipped("laplace7", 512, "30x30x30")
    for name in model.scenarios():
        cycle = model.cycle(hierarchy, EOS, scenario=name)
        for keys in (("level",), ("phase",), ("term",), ("level", "phase", "term")):
            assert sum(cycle.by(*keys).values()) == pytest.approx(cycle.seconds, rel=1e-12)
        assert sum(cycle.level_seconds()) == pytest.approx(cycle.seconds, rel=1e-12)


def test_decision_of_the_known_example() -> None:
    # By hand in crates/amg/src/redistribute.rs: level 4 to 8 ranks, 1.128 to 0.242 ms.
    decision = model.decide(amg.shipped("laplace7", 512, "30x30x30"), EOS)
    assert decision.switch == (4, 8)
    level = decision.levels[4]
    assert level.best is not None
    assert 1e3 * level.noswitch_s == pytest.approx(1.128, abs=5e-4)
    assert 1e3 * level.best.switch_s == pytest.approx(0.242, abs=5e-4)
    assert level.reason == "switch here"
    best = model.alternatives(amg.shipped("laplace7", 512, "30x30x30"), EOS)[0]
    assert best.cycle_s <= min(
        a.cycle_s for a in model.alternatives(amg.shipped("laplace7", 512, "30x30x30"), EOS) if a.level == 4
    )


def test_node_aware_routes_by_hand() -> None:
    # Two nodes of two ranks on one router: no hop beyond the least. Each rank sends 1 value to both ranks of
    # the other node: 32 bytes leave a node, which at 16 GB/s take 2 ns, longer than a rank's 16 at 9.3 GB/s.
    pairs = [(s, d) for s in range(4) for d in range(4) if s // 2 != d // 2]
    sources, destinations = np.array(pairs).T
    exchange = node_aware.Exchange(sources, destinations, np.ones(8, dtype=np.int64))
    nodes = node_aware.block_placement(4, 2)
    alpha, rate = 0.238e-6, 678.56e6
    direct = node_aware.product_seconds(exchange, nodes, EOS, "direct")
    assert direct == pytest.approx(2 * alpha + 2e-9, rel=1e-12)
    # Two steps: one message of 16 bytes over the network, then one of 8 bytes within the node per rank.
    # Penalties: twice the start-ups, and values at a third of the rate; the node's own limit stays.
    slow = node_aware.product_seconds(exchange, nodes, EOS, "direct", (2.0, 9.0, 3.0))
    assert slow == pytest.approx(4 * alpha + 16 * 0.858e-9 / 8 * 3, rel=1e-12)
    two = node_aware.product_seconds(exchange, nodes, EOS, "two-steps")
    assert two == pytest.approx(alpha + 2e-9 + alpha + 8 / rate, rel=1e-12)


def test_machine_file_is_read_back(tmp_path: Path) -> None:
    from odonata.amg import calibrate

    c = EOS.constants
    measured = calibrate.MeasuredConstants(
        c["alpha_s"], c["beta_s_per_value"], c["gamma_s"], c["flop_s"], c["thread_bandwidth"]
    )
    path = tmp_path / "copy.toml"
    path.write_text(calibrate.to_toml("copy", measured, EOS))
    copy = machines.load(str(path))
    assert copy.name == "copy"
    hierarchy = amg.shipped("laplace7", 512, "30x30x30")
    assert model.cycle(hierarchy, copy).seconds == pytest.approx(
        model.cycle(hierarchy, EOS).seconds, rel=1e-6
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("alpha_us", "alpah_us"), "did you mean 'alpha_us'"),
        (("alpha_us = 0.238", "alpha_us = '0.238 us'"), "must be a number"),
        (("beta_ns_per_value = 0.858", "beta_ns_per_value = 0"), "'beta_ns_per_value' must be"),
        (("flop_ns = [1.59, 0.806, 0.545]", "flop_ns = []"), "time per flop"),
        (('kind = "dragonfly"', 'kind = "dragonfy"'), "did you mean 'dragonfly'"),
        (("groups = 2", "rings = 2"), "lacks the key 'groups'"),
        (("1 = 11106.0", "0 = 11106.0"), "thread"),
        (("name =", "name ="), None),
    ],
)
def test_mistakes_in_machine_files_are_named(
    tmp_path: Path, change: tuple[str, str], message: str | None
) -> None:
    text = (Path(machines.__file__).parent / "data" / "machines" / "eos.toml").read_text()
    assert change[0] in text
    path = tmp_path / "mine.toml"
    path.write_text(text.replace(*change))
    if message is None:
        machines.load(str(path))
        return
    with pytest.raises(OdonataError) as caught:
        machines.load(str(path))
    assert message in str(caught.value)
    assert "mine.toml" in str(caught.value)


def test_other_mistakes_are_named() -> None:
    hierarchy = amg.shipped("laplace7", 512, "30x30x30")
    with pytest.raises(OdonataError, match="scenario 'gamma'"):
        model.cycle(hierarchy, EOS, scenario="gamma")
    with pytest.raises(OdonataError, match="tasks x threads"):
        model.cycle(hierarchy, EOS, threads=4, tasks=8)
    with pytest.raises(OdonataError, match="Did you mean eos"):
        machines.load("eso")
    with pytest.raises(OdonataError, match="no table of laplace7 on 77 ranks"):
        amg.shipped("laplace7", 77, "30x30x30")
    with pytest.raises(OdonataError, match="more than hypre's 32-bit"):
        amg.make("laplace7", 8192 * 8, (50, 50, 25))


def test_shipped_tables_say_how_they_were_made() -> None:
    found = store.shipped()
    assert len(found) >= 10
    for hierarchy in found:
        assert hierarchy.source.startswith("hypre 2.26.0")
        assert hierarchy.settings["boomeramg"]["coarsening"] == 10
    # How many messages stay on a node, of all but the largest matrix, which was made without.
    split = [one for one in found if one.settings["problem"] != "elasticity"]
    assert len(split) == len(found) - 1
    for hierarchy in split:
        assert all(0 <= level["messages_on_node"] <= level["messages"] for level in hierarchy.levels)
    assert sum(level["messages_on_node"] for one in split for level in one.levels) > 0


def test_json_of_a_table_is_read_back() -> None:
    hierarchy = amg.shipped("laplace7", 512, "30x30x30")
    again = store.parse(json.loads(store.to_json(hierarchy, {})))
    assert again == hierarchy


def write_pair(folder: Path, values: int) -> tuple[Path, amg.Hierarchy, pa.Table]:
    """Two ranks that send each other `values` values, as a hierarchy directory of one level."""
    level = dict.fromkeys(amg.shipped("laplace7", 64, "30x30x30").levels[0], 0.0)
    level |= {"unknowns": 2.0 * values, "nonzeros_per_row": 3.0, "sends": 1.0, "values_sent": 1.0 * values}
    level |= {"active_ranks": 2.0, "messages": 2.0}
    pair = amg.Hierarchy(2, [level])
    columns = {"level": [0, 0], "operator": [0, 0], "source": [0, 1], "destination": [1, 0]}
    table = pa.table({**columns, "values": [values, values]})
    return store.write(folder / "pair", pair, {"messages": table}, {}, force=True), pair, table


@pytest.mark.parametrize("engine", ["flow", "packet"])
def test_simulated_exchange_by_hand(engine: str, tmp_path: Path) -> None:
    # Two ranks on two nodes of one router: 1000 values in each direction. The NIC moves 16 GB/s, so 8000 B
    # take 0.5 us, and both NICs have a latency of 0.1 us. The packet engine adds its latencies: 16 packets,
    # the last through NIC, router and NIC.
    directory, pair, table = write_pair(tmp_path, 1000)
    text = simulate.experiment("eos", engine, "min", 1)
    found = simulate.simulate(directory, pair, table, EOS, text, per_node=1)
    (exchange,) = found.exchanges
    assert exchange.nic_s == pytest.approx(0.5e-6)
    if engine == "flow":
        assert exchange.simulated_s == pytest.approx(0.7e-6, rel=0.03)
    else:
        assert 0.5e-6 < exchange.simulated_s < 1.2e-6
    assert exchange.bandwidth_s == pytest.approx(1000 * 0.858e-9)
    assert exchange.startup_s == pytest.approx(0.238e-6)
    assert exchange.hops_s == pytest.approx(5 * 0.416e-6)
    assert found.sees_latency == (engine == "packet")
    # The level: 6 C/P s t_0 of work, three start-ups and three exchanges.
    (level,) = found.levels
    assert level.compute_s == pytest.approx(6 * 1000 * 3 * 1.59e-9)
    assert level.seconds == pytest.approx(level.compute_s + 3 * (0.238e-6 + exchange.simulated_s))
    assert level.network_share == pytest.approx(3 * exchange.simulated_s / level.seconds)
    # With another job it never gets faster.
    other = '\n[[job]]\nname = "other"\npattern = "uniform"\nranks = 32\nplacement = "compact"\n'
    shared = simulate.simulate(directory, pair, table, EOS, text + other, per_node=1)
    assert shared.exchanges[0].simulated_s >= exchange.simulated_s * 0.999


def test_overrides_hold_for_the_simulated_exchange(tmp_path: Path) -> None:
    """Half the bandwidth of the NICs, as an override: 8000 B take 1 instead of 0.5 us, plus latency."""
    directory, pair, table = write_pair(tmp_path, 1000)
    text = simulate.experiment("eos", "flow", "min", 1)
    slower = read(text, {"machine.class.terminal.bandwidth": "8 GB/s"})
    (exchange,) = simulate.simulate(directory, pair, table, EOS, slower, per_node=1).exchanges
    assert exchange.simulated_s == pytest.approx(1.2e-6, rel=0.03)


def test_an_experiment_that_simulates_nothing_is_refused(tmp_path: Path) -> None:
    directory, pair, table = write_pair(tmp_path, 10)
    text = simulate.experiment("eos", "model", None, 1)
    with pytest.raises(OdonataError, match="does not simulate"):
        simulate.simulate(directory, pair, table, EOS, text, per_node=1)


def test_variants_are_priced_rank_by_rank() -> None:
    # Shipped: 512 x 30^3, executed at the paper's switch.
    directory = dict(library.directories())["laplace7-512-30x30x30"]
    variants = {
        (variant.switch, variant.node_aware): variant
        for variant in comparison.variants([boomeramg.load_executed(directory)], EOS)
    }
    plain, moved = variants[None, False], variants[(4, 8), False]
    assert plain.ranked_s is not None
    assert moved.ranked_s is not None
    assert plain.formula_s is not None
    # Each rank its own messages, true hops: never more than the largest p over the diameter.
    assert plain.ranked_s < plain.formula_s
    assert moved.ranked_s < plain.ranked_s
    # Node-aware communication takes the cheapest route of each level, one of which is the direct one.
    aware = variants[None, True]
    assert aware.ranked_s is not None
    assert aware.ranked_s <= plain.ranked_s
    assert len(aware.routes) == 7
    assert "three-steps" in aware.routes
    # By hand: p alpha(D) + n beta + calls log2(P) alpha(D) of one phase on one level.
    setup = pa.table(
        {"phase": ["coarsen", "smooth"], "level": [0, 0], "messages": [9, 9], "bytes": [99, 99]}
        | {"messages_max": [3, 100], "bytes_max": [80, 9], "collectives": [2.0, 0.0]}
    )
    alpha = 0.238e-6 + 5 * 0.416e-6
    expected = 3 * alpha + 10 * 0.858e-9 + 2 * 3 * alpha
    assert comparison.setup_seconds(setup, 8, EOS) == pytest.approx(expected)


def test_a_shipped_hierarchy_is_traffic_by_name() -> None:
    # The pattern takes the messages that come with the package, and a level table where nothing is sent.
    job = {"name": "amg", "ranks": 512, "pattern": {"name": "amg", "hierarchy": "laplace7-512-30x30x30"}}
    experiment = {"machine": {"preset": "eos"}, "job": [job], "engine": {"kind": "flow"}}
    run = odonata.run(experiment)
    assert run.jobs["messages"].to_pylist() == [2688]  # level 0, one product
    job["pattern"] = {"name": "amg", "hierarchy": "laplace7-64-50x50x50"}
    job["ranks"] = 64
    with pytest.raises(OdonataError, match="only the model engine can use it"):
        odonata.run(experiment)
    job["pattern"]["hierarchy"] = "laplace7-64-50x50x5"
    with pytest.raises(OdonataError, match="did you mean 'laplace7-64-50x50x50'"):
        odonata.run(experiment)


def test_model_and_decision_take_milliseconds() -> None:
    # 50 ms are promised; the least of several runs, so that a busy machine does not fail the test.
    import time

    hierarchy = amg.shipped("laplace7", 1024, "50x50x25")
    best = 1.0
    for _ in range(5):
        start = time.process_time()
        model.cycle(hierarchy, EOS)
        model.decide(hierarchy, EOS)
        best = min(best, time.process_time() - start)
    assert best < 0.05
