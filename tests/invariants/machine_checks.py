"""What the tables of hardware and workload must hold, from the rules of the machine and the files."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
from checking import Tables, check, close, same, sorted_by
from column_runs import (
    COLORS,
    CROWD,
    GLOBAL,
    GLOBAL_PS,
    ITERATIONS,
    LOCAL,
    LOCAL_PS,
    PER_NODE,
    RANKS,
    TERMINAL,
    messages,
)
from machine_runs import RAILS
from run_files import GROUPS, NODES, ROUTERS


@check("closed", "open", "broken", "priced", "without network")
def routers_form_a_dragonfly(run: Tables) -> None:
    """Groups of four, numbered one after the other and named by both numbers."""
    routers = run["routers"]
    same(routers["router"], range(GROUPS * ROUTERS))
    same(routers["group"], routers["router"] // ROUTERS)
    same(routers["router_in_group"], routers["router"] % ROUTERS)
    same(routers["name"], [f"g{r // ROUTERS}r{r % ROUTERS}" for r in routers["router"]])


@check("closed", "broken", "priced", "without network")
def routers_and_nodes_work_but_for_those_that_failed(run: Tables) -> None:
    failed = {"g8r3"} if run.summary["engine"] == "flow" else set()
    names = run["routers"]["name"]
    same(run["routers"]["up"], [name not in failed for name in names])
    same(run["nodes"]["up"], [names[router] not in failed for router in run["nodes"]["router"]])


@check("closed", "open", "broken", "priced", "without network")
def links_join_routers_of_a_group_and_groups(run: Tables) -> None:
    """All routers of a group, each pair by a cable; each two groups by one, each router two of these."""
    links, group = run["links"], run["routers"]["group"]
    same(links["link"], range(len(links)))
    for end in ("source", "target"):
        same(links[f"{end}_group"], group[links[end]])
        same(links[f"{end}_router_in_group"], links[end] % ROUTERS)
    inside = links["source_group"] == links["target_group"]
    same(links["class"], np.where(inside, "local", "global"))
    pairs = Counter(zip(links["source"], links["target"], strict=True))
    assert set(pairs.values()) == {1}
    failed = {"local": 2 * (ROUTERS - 1) + 2, "global": 4} if run.summary["engine"] == "flow" else {}
    counts = links["class"].value_counts()
    assert counts["local"] == GROUPS * ROUTERS * (ROUTERS - 1) - failed.get("local", 0)
    assert counts["global"] == GROUPS * ROUTERS * 2 - failed.get("global", 0)
    if not failed:
        between = Counter(zip(links["source_group"][~inside], links["target_group"][~inside], strict=True))
        assert set(between.values()) == {1}
        assert len(between) == GROUPS * (GROUPS - 1)
    assert links["source"].is_monotonic_increasing


@check("closed", "broken", "without network")
def ports_are_counted_router_by_router(run: Tables) -> None:
    """Links of nodes come first, then the others in order."""
    links = run["links"]
    same(links["port"], NODES + links.groupby("source").cumcount())
    same(links["parallel"], links.groupby(["source", "target", "class"], observed=True).cumcount())


@check("crowded")
def parallel_links_are_counted_class_by_class(run: Tables) -> None:
    """Two long cables and a short one join a and b, and ports 0 to 5 lead to the nodes of each."""
    links = run["links"]
    same(links["source"], [0, 0, 0, 1, 1, 1])
    same(links["class"], ["long", "long", "short"] * 2)
    same(links["parallel"], [0, 1, 0] * 2)
    same(links["port"], [6, 7, 8] * 2)
    same(links["reverse"], [3, 4, 5, 0, 1, 2])
    close(links["capacity_bytes_per_s"], [1e9, 1e9, 2e9] * 2)
    same(links["latency_ps"], [300_000, 300_000, 30_000] * 2)


@check("closed", "broken", "crowded", "without network")
def a_link_and_its_reverse_are_one_cable(run: Tables) -> None:
    links = run["links"]
    same(sorted(links["reverse"]), links["link"])
    back = links.iloc[links["reverse"]]
    same(back["reverse"], links["link"])
    same(back["source"], links["target"])
    same(back["target"], links["source"])
    same(back["parallel"], links["parallel"])
    same(back["class"], links["class"])


@check("closed", "broken", "priced", "without network")
def capacities_and_latencies_match_the_file(run: Tables) -> None:
    inside = run["links"]["class"] == "local"
    close(run["links"]["capacity_bytes_per_s"], np.where(inside, LOCAL, GLOBAL))
    same(run["links"]["latency_ps"], np.where(inside, LOCAL_PS, GLOBAL_PS))
    close(run["nodes"]["capacity_bytes_per_s"], np.full(len(run["nodes"]), TERMINAL))


@check("closed", "broken", "priced", "without network")
def nodes_are_counted_router_by_router(run: Tables) -> None:
    nodes, names = run["nodes"], run["routers"]["name"]
    same(nodes["node"], range(len(nodes)))
    same(nodes["router"], nodes["node"] // NODES)
    same(nodes["slot"], nodes["node"] % NODES)
    slots = zip(nodes["router"], nodes["slot"], strict=True)
    same(nodes["name"], [f"{names[router]}n{slot}" for router, slot in slots])


@check("closed", "broken", "priced", "without network")
def a_node_with_one_nic_is_its_own_host(run: Tables) -> None:
    same(run["nodes"]["host"], run["nodes"]["node"])
    same(run["nodes"]["rail"], [0] * len(run["nodes"]))


@check("railed")
def every_nic_has_a_row(run: Tables) -> None:
    """Eight nodes on a ring of four: rail r ends at the r-th next router of its plane; all carry the same."""
    nodes, hosts = run["nodes"], 8
    same(nodes["node"], range(RAILS * hosts))
    same(nodes["host"], nodes["node"] % hosts)
    same(nodes["rail"], nodes["node"] // hosts)
    rail = nodes["rail"] % 2
    same(nodes["router"], (nodes["host"] // 2 + rail) % 4 + 4 * (nodes["rail"] // 2))
    same(run["routers"]["plane"], [0] * 4 + [1] * 4)
    same(nodes["job"], np.where(nodes["host"] < 5, 0, -1))
    close(nodes["injected_bytes"], np.where(nodes["host"] < 5, 4 * 2**20 / RAILS, 0))


@check("stored")
def storage_nodes_have_the_io_ranks(run: Tables) -> None:
    """Of 12 nodes, 5 and 11 are storage nodes: each gets half of the 4 MiB of the others."""
    nodes = run["nodes"]
    same(nodes["storage"], nodes["node"].isin([5, 11]))
    same(run["placement"]["node"], [0, 1, 2, 3, 5, 11])
    close(nodes["ejected_bytes"], np.where(nodes["storage"], 2 * 2**20, 0))


@check("closed", "broken", "priced")
def placements_follow_their_rules(run: Tables) -> None:
    """`compact` fills nodes one after the other; each rank of the other job has a node of its own."""
    placement, (near, far) = run["placement"], RANKS.values()
    same(placement["job"], [0] * near + [1] * far)
    same(placement["rank"], [*range(near), *range(far)])
    nodes = placement.set_index(["job", "rank"])["node"]
    same(nodes[0], np.arange(near) // PER_NODE["near"])
    assert nodes[1].is_unique
    assert not set(nodes[0]) & set(nodes[1])


@check("closed", "broken", "shared", "priced", "without network")
def a_nodes_job_is_whose_ranks_it_runs(run: Tables) -> None:
    owners = defaultdict(set)
    for row in run["placement"].itertuples():
        owners[row.node].add(row.job)
    expected = [owners[node] for node in run["nodes"]["node"]]
    same(
        run["nodes"]["job"],
        [-1 if not jobs else jobs.pop() if len(jobs) == 1 else -2 for jobs in expected],
    )


@check("shared")
def a_node_of_two_jobs_says_so(run: Tables) -> None:
    same(run["nodes"]["job"], [0, -2, 0, 1])
    same(run["placement"]["node"], [0, 1, 2, 1, 3])


@check("closed", "broken", "priced")
def jobs_match_the_file(run: Tables) -> None:
    jobs = run["jobs"]
    same(jobs["job"], [0, 1])
    same(jobs["name"], RANKS)
    same(jobs["color"], COLORS.values())
    same(jobs["pattern"], ["file", "file"])
    same(jobs["placement"], ["compact", "random-nodes"])
    same(jobs["ranks"], RANKS.values())
    same(jobs["ranks_per_node"], PER_NODE.values())
    nodes = run["placement"].groupby("job")["node"]
    same(jobs["nodes"], nodes.nunique())
    same(jobs["routers"], (run["placement"]["node"] // NODES).groupby(run["placement"]["job"]).nunique())


@check("open")
def jobs_are_named_after_their_pattern(run: Tables) -> None:
    same(run["jobs"]["pattern"], ["uniform", "random-permutation"])
    same(run["jobs"]["name"], ["less", "more"])


@check("closed", "broken", "priced")
def the_matrix_of_ranks_is_what_stands_in_the_files(run: Tables) -> None:
    found = run["communication"]
    sorted_by(found, "job", "source", "destination")
    assert set(found["ranks_per_cell"]) == {1}
    expected: dict[tuple[int, int, int], list[int]] = {}
    for number, job in enumerate(RANKS):
        for source, target, size in messages(job):
            cell = expected.setdefault((number, source, target), [0, 0])
            cell[0] += ITERATIONS[job]
            cell[1] += ITERATIONS[job] * size
    keys = found[["job", "source", "destination"]].itertuples(index=False, name=None)
    same(keys, sorted(expected))
    same(
        zip(found["messages"], found["bytes"], strict=True),
        [tuple(expected[key]) for key in sorted(expected)],
    )


@check("crowded")
def two_ranks_share_a_cell_where_256_are_too_few(run: Tables) -> None:
    """Ranks 2 k and 2 k + 1 send 2 k + 1 and 2 k + 2 bytes to the ranks 34 further on."""
    cells = run["communication"]
    pairs, cells = cells[cells["job"] == 1], cells[cells["job"] == 0]
    same(cells["ranks_per_cell"], [2] * (CROWD // 2))
    first = np.arange(0, CROWD, 2)
    same(cells["source"], first)
    same(cells["destination"], (first + 34) % CROWD)
    same(cells["messages"], [2] * (CROWD // 2))
    close(cells["bytes"], 2 * first + 3)
    same(
        pairs.drop(columns="job").itertuples(index=False, name=None), [(0, 1, 1, 1, 10.0), (3, 2, 1, 1, 20.0)]
    )


@check("closed", "broken", "priced")
def what_jobs_send_is_the_matrix_split_by_place(run: Tables) -> None:
    cells, jobs = run["communication"], run["jobs"]
    node = run["placement"].set_index(["job", "rank"])["node"]
    source, target = (
        node[list(zip(cells["job"], cells[end], strict=True))].to_numpy() for end in ("source", "destination")
    )
    within = np.select(
        [cells["source"] == cells["destination"], source == target, source // NODES == target // NODES],
        ["self_bytes", "on_node_bytes", "on_router_bytes"],
        "network_bytes",
    )
    for kind in ("self_bytes", "on_node_bytes", "on_router_bytes", "network_bytes"):
        close(jobs[kind], cells["bytes"].where(within == kind, 0).groupby(cells["job"]).sum())
    close(jobs["bytes"], cells.groupby("job")["bytes"].sum())
    same(jobs["messages"], cells.groupby("job")["messages"].sum())
    # On-node bytes and bytes of a router occur, so the split is tried.
    assert (jobs[["self_bytes", "on_node_bytes", "on_router_bytes", "network_bytes"]].sum() > 0).all()
    off_node = cells["bytes"].where((within == "on_router_bytes") | (within == "network_bytes"), 0).to_numpy()
    count = len(run["nodes"])
    close(run["nodes"]["injected_bytes"], np.bincount(source, off_node, count))
    close(run["nodes"]["ejected_bytes"], np.bincount(target, off_node, count))


@check("closed", "open", "broken")
def the_jobs_on_a_link_are_its_traffic(run: Tables) -> None:
    shares, links = run["link_jobs"], run["links"]
    sorted_by(shares, "link", "job")
    close(np.bincount(shares["link"], shares["bytes"], len(links)), links["bytes"])
    hops = (run["jobs"]["bytes"] * run["jobs"]["byte_hops_mean"]).to_numpy()
    if run.summary["engine"] == "flow":
        close(np.bincount(shares["job"], shares["bytes"]), hops)
