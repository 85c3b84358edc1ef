"""A default that `check` and a run name changes the result; a key that they do not list changes nothing."""

from __future__ import annotations

import functools
import itertools
import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from running import Command

from odonata import check
from odonata._core import Experiment, schema
from odonata.errors import ExperimentError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

MACHINES = {
    "dragonfly": 'topology = "dragonfly"\np = 1\na = 4\nh = 2\ng = 5\ncores_per_node = 2',
    "fat-tree": 'topology = "fat-tree"\nk = 4',
    "torus": 'topology = "torus"\ndims = [2, 4, 3]\ncores_per_node = 1',
}
WORK = {
    "all-to-all": 'ranks = 16\npattern = { name = "all-to-all", bytes = "64 KiB" }',
    "all-reduce": 'ranks = 16\nprogram = { name = "allreduce", iterations = 2, compute = "1 us" }',
    "wavefront": "ranks = 16\n"
    'program = { name = "lu", iterations = 1, dims = [4, 4], order = "row-major", bytes = "100 kB" }',
    "open": 'ranks = 16\npattern = "uniform"\ntraffic = { name = "open", load = 0.4 }',
    "incast": 'ranks = 16\npattern = { name = "hotspot", hot_ranks = 1, share = 1.0 }\n'
    'traffic = { name = "open", load = 0.8 }',
}
ENGINES = ("flow", "packet", "model", "loggops")

PROGRAMS_ONLY = "loggops"
"""It refuses patterns."""

WITHOUT_ALTERNATIVE = {"job.0.traffic.step_times", "job.0.traffic.step_loads", "engine.parameters"}
"""Keys whose other values need further keys."""


def works(engine: str) -> list[str]:
    if engine == PROGRAMS_ONLY:
        # In a wavefront, receivers come late, so it matters whether senders wait for them.
        return ["all-reduce", "wavefront"]
    return ["all-to-all", "all-reduce", "open"]


def experiment(machine: str, work: str, engine: str) -> Experiment:
    text = f'[machine]\n{machine}\n[[job]]\n{work}\n[engine]\nkind = "{engine}"\n'
    return Experiment(text, "experiment.toml")


def results(of: Experiment) -> dict[str, str]:
    """Every number of every table that was computed, not what describes the machine and the messages."""
    tables: Mapping[str, Any] = of.run(threads=1)["tables"]
    found = {}
    for name, table in tables.items():
        if name in {"routers", "communication", "placement"}:
            continue
        for column in table.column_names if hasattr(table, "column_names") else table:
            if f"{name}.{column}" in {
                "links.latency_ps",
                "links.capacity_bytes_per_s",
                "nodes.capacity_bytes_per_s",
            }:
                continue
            values = table[column]
            found[f"{name}.{column}"] = json.dumps(values, default=np.ndarray.tolist)
    return found


@functools.cache
def words(key: str) -> tuple[str, ...]:
    """All names that a key called so has anywhere in the file."""
    found: set[str] = set()

    def collect(node: Any) -> None:
        if isinstance(node, dict):
            found.update(v for v in [node.get("const"), *node.get("enum", [])] if isinstance(v, str))
        for inner in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
            collect(inner)

    def search(node: Any) -> None:
        if isinstance(node, dict) and isinstance(inner := node.get("properties"), dict) and key in inner:
            collect(inner[key])
        for inner in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
            search(inner)

    search(json.loads(schema()))
    return tuple(sorted(found))


def alternatives(key: str, value: Any) -> Iterator[Any]:
    """Other values of the same kind, of which some may be refused."""
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield from (value + 1, 2 * value, value + 2, value // 2)
    elif isinstance(value, float):
        yield from (2 * value, value / 2, value + 0.5)
    elif match := re.fullmatch(r"([\d.]+) (\S+)", str(value)):
        amount, unit = float(match[1]), "us" if value == "0 ps" else match[2]
        yield from (
            f"{number:g} {unit}" for number in (amount / 16, amount / 2, 2 * amount, amount + 7) if number
        )
    else:
        yield from (word for word in words(key.rpartition(".")[2]) if word != value)
        yield from (1, 2, 3, "3 kB", "3 us", "blue-waters")


def changed(of: Experiment, key: str, value: Any) -> Iterator[Experiment]:
    """The experiment with other values of a key, where they make one."""
    for other in alternatives(key, value):
        candidate = of.with_overrides([f"{key}={json.dumps(other)}"])
        try:
            candidate.check()
        except ExperimentError:
            continue
        yield candidate


def flat(table: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Keys and values of a file."""
    inner = table.items() if isinstance(table, dict) else enumerate(table)
    for name, value in inner:
        at = f"{path}.{name}".lstrip(".")
        if isinstance(value, dict) or (isinstance(value, list) and value and isinstance(value[0], dict)):
            yield from flat(value, at)
        else:
            yield at, value


def value_of(known: Mapping[str, str]) -> Any:
    """The value of a default; a text if it depends on other keys."""
    try:
        return tomllib.loads(f"value = {known['value']}")["value"]
    except tomllib.TOMLDecodeError:
        return known["value"]


@pytest.mark.parametrize("engine", ENGINES)
def test_every_named_default_decides_a_result(engine: str) -> None:
    missing: dict[str, str] = {}
    deciding: set[str] = set()
    for machine, work in itertools.product(MACHINES, works(engine)):
        of = experiment(MACHINES[machine], WORK[work], engine)
        before = results(of)
        for known in of.check()["summary"]["assumptions"]:
            key = known["key"]
            if not known["decides"] or key in deciding | WITHOUT_ALTERNATIVE:
                continue
            if any(results(other) != before for other in changed(of, key, value_of(known))):
                deciding.add(key)
            else:
                missing[key] = f"{machine}, {work}"
    assert not missing.keys() - deciding, missing
    assert len(deciding) > 8


@pytest.mark.parametrize(("engine", "work"), [(engine, work) for engine in ENGINES for work in works(engine)])
def test_what_is_not_named_changes_nothing(engine: str, work: str) -> None:
    for machine in MACHINES.values():
        of = experiment(machine, WORK[work], engine)
        checked, before = of.check(), results(of)
        given = dict(flat(tomllib.loads(of.text)))
        named = {known["key"] for known in checked["summary"]["assumptions"]}
        for key, value in flat(tomllib.loads(checked["resolved"])):
            # A name that was given may stand as a text in the file.
            silent = {key, key.removesuffix(".name")}
            if key in named or silent & (given.keys() | named) or key.split(".")[0] in {"format", "output"}:
                continue
            if key in {"job.0.name", "job.0.idle", "job.0.absent", "job.0.color"}:
                continue
            for other in changed(of, key, value):
                assert results(other) == before, key
                break


@pytest.mark.parametrize(
    ("engine", "key", "said"),
    [
        ('routing = "ugal-n"', "engine.routing.bias", "16 full packets"),
        ('routing = { name = "par", threshold = 1.5 }', "engine.routing.bias", "16 full packets"),
        ('control = { name = "window", rule = "dctcp" }', "engine.control.gain", "0.0625; dcqcn: 0.00390625"),
    ],
)
def test_a_default_that_depends_on_other_keys_is_named(engine: str, key: str, said: str) -> None:
    of = Experiment(f"{experiment(MACHINES['dragonfly'], WORK['incast'], 'packet').text}{engine}\n", "x.toml")
    known = {entry["key"]: entry for entry in of.check()["summary"]["assumptions"]}
    assert (known[key]["value"], known[key]["decides"]) == (said, True)
    before = results(of)
    assert any(results(other) != before for other in changed(of, key, said))
    given = of.with_overrides([f"{key}={'3 kB' if key.endswith('bias') else 0.5}"])
    assert key not in {entry["key"] for entry in given.check()["summary"]["assumptions"]}


def test_the_source_of_several_values_is_named() -> None:
    of = Experiment('[machine]\npreset = "edison"\n[[job]]\nranks = 8\npattern = "all-to-all"\n', "x.toml")
    known = {entry["key"]: entry for entry in of.check()["summary"]["assumptions"]}
    blue = known["machine.class.blue.bandwidth"]
    assert blue["reason"] == 'of preset "edison"'
    assert not blue["decides"]
    assert known["job.0.placement"]["decides"]
    # Each form of a given key counts.
    for given in [
        "job.0.bytes=1 KiB",
        "job.0.pattern.bytes=1 KiB",
        "job.0.pattern={name='all-to-all', bytes='1 KiB'}",
    ]:
        keys = {entry["key"] for entry in of.with_overrides([given]).check()["summary"]["assumptions"]}
        assert "job.0.pattern.bytes" not in keys, given
        assert "job.0.pattern.order" in keys or "job.0.pattern.iterations" in keys, given


@pytest.mark.parametrize(
    ("machine", "groups"),
    [
        ({"topology": "dragonfly"}, 33),
        ({"topology": "dragonfly", "p": 2, "a": 4, "h": 2}, 9),
        ({"topology": "dragonfly", "p": 1, "a": 6, "h": 7}, 43),
        ({"topology": "dragonfly", "p": 1, "a": 4, "h": 0}, 1),
        ({"topology": "dragonfly", "h": 2, "g": 5}, None),
        ({"topology": "dragonfly-plus"}, 9),
        ({"topology": "dragonfly-plus", "spines": 4, "h": 8}, 9),
        ({"topology": "dragonfly-plus", "spines": 2, "h": 2}, 5),
    ],
)
def test_the_number_of_groups_fits_the_ports_and_is_named(
    machine: dict[str, Any], groups: int | None
) -> None:
    job = {"name": "x", "pattern": "uniform", "ranks": 2}
    found = check({"machine": machine, "job": [job], "engine": {"routing": "min"}})
    named = {row["key"]: row for row in found["summary"]["assumptions"]}
    if groups is None:
        assert "machine.g" not in named
    else:
        assert named["machine.g"]["value"] == str(groups)
        assert named["machine.g"]["decides"]
    assert f"g = {groups or machine['g']}\n" in found["resolved"]


def test_check_and_the_run_print_at_most_ten_lines(odonata_command: Command, tmp_path: Path) -> None:
    jobs = "".join(
        f'[[job]]\nranks = 2\npattern = {{ name = "all-to-all", bytes = "{n} KiB" }}\n' for n in range(1, 20)
    )
    (tmp_path / "x.toml").write_text(f'[machine]\ntopology = "fat-tree"\nk = 8\n{jobs}')
    checked = odonata_command("check", "x.toml")
    assert checked.returncode == 0, checked.stderr
    assumed = checked.stdout.split("Assumed, since the file does not say it")[1].splitlines()
    assert 2 < len(assumed) <= 12
    assert any(line.split()[:2] == ["every", "job"] for line in assumed), checked.stdout
    assert any("routing = " in line for line in assumed)
    everything = odonata_command("check", "x.toml", "--assumptions").stdout
    assert "machine.class.terminal.latency" in everything or "job.18.placement" in everything
    run = odonata_command("run", "x.toml", "-o", "run")
    assert "Assumed, since the file does not say it" in run.stdout
    shown = odonata_command("show", "run").stdout
    assert [line.strip() for line in shown.splitlines() if "routing = " in line] == [
        line.strip() for line in assumed if "routing = " in line
    ]


def test_check_has_no_amounts_of_a_job_that_sends_at_a_load() -> None:
    """The pattern of an open job names partners; only closed jobs have its messages."""
    amounts = []
    for work in ("open", "all-to-all"):
        (job,) = experiment(MACHINES["fat-tree"], WORK[work], "packet").check()["summary"]["jobs"]
        amounts.append((job["messages"], job["bytes"]))
    assert amounts == [(None, None), (16 * 15, 16 * 15 * 65_536)]
