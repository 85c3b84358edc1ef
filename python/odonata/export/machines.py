"""Exports the machine of a run for other simulators.

If a format cannot represent a property that changes the network, the export fails. Other properties are lost.
The table in `docs/reference/machines.md` lists them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa

from odonata.errors import OdonataError
from odonata.store.atomic import atomic_file

Tables = Callable[[str], pa.Table]
"""Tables of a run by name."""

CYCLE_PS = 1000
"""A cycle of BookSim's listing counts as a nanosecond, as in the reader."""

GIB = float(1 << 30)
TYPES = {"green": 0, "black": 1}

CONFIGURATION = """\
LPGROUPS
{{
   MODELNET_GRP
   {{
      repetitions="{routers}";
      nw-lp="{nodes}";
      modelnet_{model}="{nodes}";
      modelnet_{model}_router="1";
   }}
}}
PARAMS
{{
   modelnet_order=( "{model}", "{model}_router" );
   modelnet_scheduler="fcfs";
   packet_size="4096";
   chunk_size="4096";
   message_size="736";
{sizes}
   num_groups="{groups}";
   num_cns_per_router="{nodes}";
   local_bandwidth="{local:g}";
   global_bandwidth="{between:g}";
   cn_bandwidth="{terminal:g}";
   intra-group-connections="intra";
   inter-group-connections="inter";
   routing="minimal";
}}
"""


@dataclass(frozen=True)
class _Machine:
    """Links between working routers, and the working nodes, ordered by number."""

    links: pd.DataFrame
    routers: pd.DataFrame
    nodes: pd.DataFrame

    @classmethod
    def of(cls, tables: Tables) -> _Machine:
        links, routers, nodes = (tables(name).to_pandas() for name in ("links", "routers", "nodes"))
        links["class"] = links["class"].astype(str)
        return cls(links, routers, nodes[nodes["up"]])


def booksim(tables: Tables, path: Path) -> None:
    """Writes a listing for BookSim's `anynet`, with the latency of both directions of a cable.

    Raises:
        OdonataError: There are parallel cables, which the listing cannot represent.
    """
    machine = _Machine.of(tables)
    links = machine.links
    twice = links[links["parallel"] > 0]
    if len(twice):
        one, other = twice.iloc[0][["source", "target"]]
        raise OdonataError(
            f"routers {one} and {other} have several cables; a listing allows one link between two routers"
        )
    cycles = np.maximum(1, np.round(links["latency_ps"] / CYCLE_PS)).astype(int)
    words: dict[int, list[str]] = {router: [] for router in machine.routers["router"]}
    for node, router in zip(machine.nodes["node"], machine.nodes["router"], strict=True):
        words[router].append(f"node {node}")
    for source, target, latency in zip(links["source"], links["target"], cycles, strict=True):
        words[source].append(f"router {target} {latency}")
    lines = [" ".join([f"router {router}", *parts]) for router, parts in words.items() if parts]
    with atomic_file(path) as unfinished:
        unfinished.write_text("\n".join(lines) + "\n")


def sst_macro(tables: Tables, path: Path) -> None:
    """Writes a file topology for SST/macro (JSON): switches with a port for each cable and node.

    The format has no bandwidths, latencies and classes.
    """
    machine = _Machine.of(tables)
    links = machine.links.sort_values(["source", "target", "class", "parallel"])
    # The i-th link of two switches and the i-th link back are one cable.
    links["number"] = links.groupby(["source", "target"]).cumcount()
    links["port"] = links.groupby("source").cumcount()
    keys = zip(links["source"], links["target"], links["number"], strict=True)
    port_of = dict(zip(keys, links["port"], strict=True))
    switches: dict[str, dict[str, dict[str, dict[str, str | int]]]] = {
        f"s{router}": {"outports": {}} for router in machine.routers["router"]
    }
    for (source, target, number), port in port_of.items():
        back = int(port_of[target, source, number])
        switches[f"s{source}"]["outports"][str(port)] = {"destination": f"s{target}", "inport": back}
    for node, router in zip(machine.nodes["node"], machine.nodes["router"], strict=True):
        outports = switches[f"s{router}"]["outports"]
        outports[str(len(outports))] = {"destination": f"n{node}", "inport": 0}
    document = {
        "avg_num_hops": _mean_hops(links),
        "nodes": {f"n{node}": {} for node in machine.nodes["node"]},
        "switches": {name: switch for name, switch in switches.items() if switch["outports"]},
    }
    with atomic_file(path) as unfinished:
        unfinished.write_text(json.dumps(document, indent=1) + "\n")


def slurm(tables: Tables, path: Path) -> None:
    """Writes Slurm's `topology.conf`: switches with their nodes and, for a fat tree, the switches above them.

    A machine without levels has only switches with nodes, as Slurm needs for a dragonfly
    (`TopologyParam=dragonfly`).

    Raises:
        OdonataError: A name is not valid in Slurm, or a node is at several routers.
    """
    machine = _Machine.of(tables)
    names = dict(zip(machine.routers["router"], machine.routers["name"].astype(str), strict=True))
    nodes = machine.nodes
    if "rail" in nodes and nodes["rail"].max() > 0:
        raise OdonataError("nodes have several NICs, but in Slurm's tree a node is at one switch")
    for name in (*names.values(), *nodes["name"].astype(str)):
        if not re.fullmatch(r"[\w.-]+", name):
            raise OdonataError(f"'{name}' is not a valid name in Slurm")
    of_router = nodes.groupby("router")["name"].apply(lambda own: hostlist(own.astype(str)))
    lines = [f"SwitchName={names[router]} Nodes={own}" for router, own in of_router.items()]
    if "level" in machine.routers:
        level = machine.routers.set_index("router")["level"]
        up = machine.links[
            level[machine.links["source"]].to_numpy() > level[machine.links["target"]].to_numpy()
        ]
        below = up.drop_duplicates(["source", "target"]).groupby("source")["target"]
        lines += [
            f"SwitchName={names[router]} Switches={hostlist([names[other] for other in own])}"
            for router, own in sorted(below, key=lambda item: (level[item[0]], item[0]))
        ]
    with atomic_file(path) as unfinished:
        unfinished.write_text("\n".join(lines) + "\n")


def hostlist(names: Iterable[str]) -> str:
    """Names in short form, such as `n[0-3,7],login`: consecutive numbers of equal width are joined."""
    runs: dict[tuple[str, int], list[list[int]]] = {}
    for name in names:
        prefix, digits = re.fullmatch(r"(.*?)(\d*)", name).groups()  # type: ignore[union-attr]
        # Numbers with leading zeros have a fixed width.
        width = len(digits) if len(digits) > 1 and digits.startswith("0") else 0
        own = runs.setdefault((prefix, width if digits else -1), [])
        number = int(digits or 0)
        if own and own[-1][1] == number - 1 and (width == 0 or len(str(number)) <= width):
            own[-1][1] = number
        else:
            own.append([number, number])
    parts = []
    for (prefix, width), own in runs.items():
        if width < 0:
            parts.append(prefix)
            continue
        spans = [f"{a:0{width}}" + (f"-{b:0{width}}" if b > a else "") for a, b in own]
        alone = len(spans) == 1 and own[0][0] == own[0][1]
        parts.append(prefix + (spans[0] if alone else f"[{','.join(spans)}]"))
    return ",".join(parts)


def _mean_hops(links: pd.DataFrame) -> float:
    """Mean hops of minimal paths, over the ordered pairs of different switches that have one."""
    size = int(links[["source", "target"]].to_numpy().max()) + 1
    order = links.sort_values("source")
    targets, begins = order["target"].to_numpy(), np.searchsorted(order["source"], np.arange(size + 1))
    hops = pairs = 0
    for source in links["source"].unique():
        seen = np.zeros(size, bool)
        seen[source] = True
        front, distance = np.array([source]), 0
        while len(front):
            hops, pairs = hops + distance * len(front), pairs + len(front)
            reached = np.concatenate([targets[begins[router] : begins[router + 1]] for router in front])
            front, distance = np.unique(reached[~seen[reached]]), distance + 1
            seen[front] = True
        pairs -= 1
    return hops / pairs


def codes(tables: Tables, directory: Path) -> None:
    """Writes `network.conf`, `intra`, `inter` and `allocation.conf` for CODES into a new directory.

    The allocation has one line per job: the node of each of its ranks.

    Cray's rows and columns become `dragonfly_custom`. Groups with nodes only on routers without global links
    become `dragonfly_plus`, other groups `dragonfly_dally`.

    Raises:
        OdonataError: There are no groups, the groups differ, or bandwidths differ that share one key.
    """
    machine = _Machine.of(tables)
    if "group" not in machine.routers or machine.routers["group"].nunique() < 2:
        raise OdonataError("the machine has no groups, but CODES supports only dragonflies")
    groups = int(machine.routers["group"].nunique())
    size = len(machine.routers) // groups
    links = machine.links
    inside = links["source"] // size == links["target"] // size
    intra = _one_group(links[inside], size, groups)
    nodes = machine.nodes.groupby("router").size().reindex(machine.routers["router"], fill_value=0)
    if not (nodes.to_numpy().reshape(groups, size) == nodes.to_numpy()[:size]).all():
        raise OdonataError("the groups have nodes at different routers; CODES needs equal groups")
    model, sizes = _model(machine, links[~inside], nodes.to_numpy()[:size])
    columns = ["source", "target", "type"] if model == "dragonfly_custom" else ["source", "target"]
    intra["type"] = intra["class"].map(TYPES).fillna(0)
    text = CONFIGURATION.format(
        model=model,
        sizes="\n".join(f'   {key}="{value}";' for key, value in sizes.items()),
        routers=len(machine.routers),
        groups=groups,
        nodes=int(nodes.max()),
        local=_bandwidth(links[inside], "links inside groups"),
        between=_bandwidth(links[~inside], "links between groups"),
        terminal=_bandwidth(machine.nodes, "links of nodes"),
    )
    directory.mkdir(parents=True)
    (directory / "network.conf").write_text(text)
    (directory / "intra").write_bytes(intra[columns].to_numpy("<i4").tobytes())
    placement = tables("placement").to_pandas().sort_values(["job", "rank"])
    lines = [" ".join(map(str, own["node"])) for _, own in placement.groupby("job")]
    (directory / "allocation.conf").write_text("\n".join(lines) + "\n")
    (directory / "inter").write_bytes(links.loc[~inside, ["source", "target"]].to_numpy("<i4").tobytes())


def _one_group(links: pd.DataFrame, size: int, groups: int) -> pd.DataFrame:
    """The links of group 0 by local numbers; raises an error if the groups differ."""
    local = pd.DataFrame(
        {
            "group": links["source"] // size,
            "source": links["source"] % size,
            "target": links["target"] % size,
            "class": links["class"],
        }
    ).sort_values(["group", "source", "target", "class"])
    first: pd.DataFrame = local[local["group"] == 0].drop(columns="group").reset_index(drop=True)
    for group, own in local.groupby("group"):
        if not own.drop(columns="group").reset_index(drop=True).equals(first):
            raise OdonataError(f"groups 0 and {group} are wired differently; CODES needs equal groups")
    if len(links) != groups * len(first):
        raise OdonataError("a group has no links inside; CODES needs equal groups")
    return first


def _model(machine: _Machine, between: pd.DataFrame, nodes: np.ndarray) -> tuple[str, dict[str, int]]:
    """The matching model of CODES, and its sizes."""
    size = len(nodes)
    bare = nodes == 0
    ports = int(between.groupby("source").size().max())
    if bare.any():
        spines = np.unique(between["source"] % size)
        if not bare[spines].all() or bare[: size - bare.sum()].any():
            raise OdonataError(
                "routers without nodes must be spines after all leaves; CODES has no other model"
            )
        sizes = {"num_router_leaf": int((~bare).sum()), "num_router_spine": int(bare.sum())}
        return "dragonfly_plus", {**sizes, "num_level_chans": 1, "num_global_connections": ports}
    if len(np.unique(nodes)) > 1:
        raise OdonataError("routers have different numbers of nodes; CODES needs equal numbers")
    if {"row", "column"} <= set(machine.routers) and set(machine.links["class"]) <= {*TYPES, "blue"}:
        rows, columns = (int(machine.routers[axis].nunique()) for axis in ("row", "column"))
        sizes = {"num_router_rows": rows, "num_router_cols": columns}
        return "dragonfly_custom", {**sizes, "num_global_channels": ports}
    return "dragonfly_dally", {
        "num_routers": size,
        "num_row_chans": 1,
        "num_col_chans": 1,
        "num_global_channels": ports,
    }


def _bandwidth(rows: pd.DataFrame, what: str) -> float:
    """The common bandwidth in GiB/s."""
    values = rows["capacity_bytes_per_s"].unique()
    if len(values) > 1:
        raise OdonataError(f"{what} have {len(values)} different bandwidths; CODES has one key for them")
    return float(values[0]) / GIB
