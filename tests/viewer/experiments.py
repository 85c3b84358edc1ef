"""Experiments for the viewer's browser tests."""

from __future__ import annotations

JOB = '[[job]]\nname = "{name}"\npattern = "{pattern}"\nranks = {ranks}\nplacement = "{placement}"\n'
OPEN = 'ranks_per_node = 1\ntraffic = { name = "open", load = 0.4 }\n'
FLOW = '[engine]\nkind = "flow"\nrouting = "{routing}"\nseed = 1\n'
PACKET = """[engine]
kind = "packet"
routing = "ugal-g"
warm_up = "2 us"
measure = "6 us"
drain = "4 us"
interval = "500 ns"
series = ["jobs", "links"]
seed = {seed}
"""

Job = tuple[str, str, int, str]


def experiment(machine: str, jobs: list[Job], engine: str, more: str = "") -> str:
    parts = [f"[machine]\n{machine}\n"]
    parts += [JOB.format(name=n, pattern=p, ranks=r, placement=where) + more for n, p, r, where in jobs]
    return "\n".join([*parts, engine])


def flow(machine: str, jobs: list[Job], routing: str = "adaptive-hybrid", more: str = "") -> str:
    return experiment(machine, jobs, FLOW.format(routing=routing) + more)


def packet(machine: str, jobs: list[Job], seed: int) -> str:
    return experiment(machine, jobs, PACKET.format(seed=seed), OPEN)


TWO = [("spread", "spread", 6000, "non-uniform"), ("halo", "stencil-4d", 8192, "compact")]
# 72 routers of 4 nodes in 9 groups of 8.
SMALL = 'topology = "dragonfly"\np = 4\na = 8\nh = 1\ng = 9'
PAIR = [("near", "stencil-2d", 64, "compact"), ("far", "adversarial", 144, "random-nodes")]
EXPERIMENTS = {
    "edison": flow('preset = "edison"', TWO, more="alone = true\n"),
    "edison-K": flow('preset = "edison"\nedit = ["-K"]', TWO, more="alone = true\n"),
    "dragonfly": flow(
        'preset = "dragonfly-1056"',
        [("a", "uniform", 500, "random-nodes"), ("b", "stencil-2d", 400, "compact")],
    ),
    # 242,760 links.
    "large": flow(
        'topology = "dragonfly"\np = 1\na = 24\nh = 12\ng = 289',
        [("wide", "uniform", 1500, "random-nodes"), ("near", "stencil-3d", 1000, "compact")],
        "min",
    ),
    "torus": flow('preset = "bgp-midplane"', [("halo", "stencil-3d", 512, "compact")], "min"),
    "tree": flow('topology = "fat-tree"\nk = 8\nlevels = 3', [("a", "uniform", 100, "compact")], "min"),
    # All of Edison; the job uses two groups, and the other thirteen have no traffic.
    "corner": flow('preset = "edison"', [("corner", "stencil-3d", 12000, "compact")], "static-direct"),
    "packet": packet(SMALL, PAIR, 1),
    "packet-torus": packet(
        'topology = "torus"\ndims = [4, 4, 4]', [("cube", "uniform", 64, "compact")], 1
    ).replace('"ugal-g"', '"torus-adaptive"\nrecord_channels = true'),
}
# One job on a torus with two mappings: in axis order and tilted.
EXPERIMENTS |= {
    f"mapped-{name}": packet(
        'topology = "torus"\ndims = [4, 4, 4]\naxes = "XYZ"', [("cube", "stencil-3d", 64, "compact")], 1
    )
    .replace('"ugal-g"', '"torus-adaptive"\nrecord_channels = true')
    # Only a congested network uses the deterministic VCs.
    .replace("load = 0.4", "load = 1")
    .replace('placement = "compact"', f'placement = {{ name = "mapping", order = "XYZT"{then} }}')
    for name, then in [("plain", ""), ("tilted", ', transforms = ["tilt Y X 1"]')]
}
# In a view along X the jobs overlap; along Z they do not.
EXPERIMENTS["torus-two"] = flow(
    'preset = "bgp-midplane"',
    [("first", "stencil-3d", 512, "compact"), ("second", "stencil-3d", 512, "compact")],
    "min",
)
EXPERIMENTS["model"] = experiment(
    'preset = "dragonfly-1056"', [("halo", "stencil-3d", 512, "compact")], '[engine]\nkind = "model"\n'
)
# Families with their own picture.
EXPERIMENTS |= {
    family: flow(f'topology = "{family}"\n{more}', [("all", "uniform", 64, "random-nodes")], "min")
    for family, more in [
        ("dragonfly-plus", ""),
        ("hyperx", "dims = [4, 4, 3]"),
        ("slim-fly", "q = 5"),
        ("polarfly", "q = 5"),
        ("jellyfish", "routers = 40\ndegree = 6"),
        ("express-mesh", "dims = [8, 8]\ngap = 4"),
    ]
}
EXPERIMENTS["tags"] = flow(SMALL, [("<!--<script>", "uniform", 32, "compact")])
EXPERIMENTS["many"] = flow(SMALL, [(f"job {n}", "uniform", 8, "compact") for n in range(24)])
# Two mixes of ranks and threads in three scenarios.
EXPERIMENTS["amg"] = """[machine]
preset = "eos"

[engine]
kind = "model"
form = "amg"
parameters = "eos"
scenarios = ["alpha-beta-gamma", "alpha-beta", "alpha-beta-gamma-penalties"]

[[job]]
name = "many ranks"
ranks = 1024
ranks_per_node = 16
pattern = { name = "amg", hierarchy = "laplace7-1024-50x50x25" }

[[job]]
name = "few ranks"
ranks = 64
ranks_per_node = 1
pattern = { name = "amg", hierarchy = "laplace7-64-100x100x100" }
"""
PROGRAM = """[[job]]
name = "{name}"
program = {{ name = "{name}-3d", iterations = 2 }}
ranks = {ranks}
ranks_per_node = 1
placement = "random-nodes"
"""
EXPERIMENTS["ranks"] = "\n".join(
    [
        f"[machine]\n{SMALL}\n",
        PROGRAM.format(name="fft", ranks=32),
        PROGRAM.format(name="halo", ranks=64),
        '[engine]\nkind = "packet"\nrouting = "par"\ninterval = "100 us"\nseries = ["jobs", "links"]',
        "record_calls = true\nrecord_messages = true\nseed = 1\n",
    ]
)
# Levels of a multigrid cycle as jobs.
LEVEL = """[[job]]
name = "level {level}"
ranks = 512
ranks_per_node = 16
placement = "compact"
pattern = {{ name = "amg", hierarchy = "laplace7-512-30x30x30", level = {level}, phase = "smooth" }}
"""
EXPERIMENTS["levels"] = "\n".join(
    [
        '[machine]\npreset = "eos"\n',
        *(LEVEL.format(level=level) for level in range(6)),
        FLOW.format(routing="min"),
    ]
)
# The same after a redistribution of the two coarsest levels to fewer ranks.
EXPERIMENTS["levels-regrouped"] = "\n".join(
    [
        '[machine]\npreset = "eos"\n',
        *(LEVEL.format(level=level) for level in range(1, 4)),
        *(LEVEL.format(level=level).replace('"smooth"', '"smooth", regrouped = true') for level in (4, 5)),
        FLOW.format(routing="min"),
    ]
)
# One run of each family and engine, for the standalone page and the notebook.
FAMILIES = [
    "edison",
    "edison-K",
    "dragonfly",
    "torus-two",
    "tree",
    "packet",
    "packet-torus",
    "model",
    "tags",
    "many",
    "amg",
    "dragonfly-plus",
    "hyperx",
    "slim-fly",
    "polarfly",
    "jellyfish",
    "express-mesh",
]

SWEPT = {f"seed-{seed}": packet(SMALL, PAIR, seed) for seed in (1, 2, 3)}

GRID = (
    packet(SMALL, PAIR, 1).replace('"6 us"', '"2 us"')
    + """
[sweep]
"engine.routing" = ["min", "ugal-g"]
"job.near.ranks" = [32, 64]
"engine.seed" = [1, 2, 3]
"""
)

# Two routings and two placements on three cablings: cheap ones are slow.
SEARCH = (
    flow(
        'topology = "dragonfly"\np = 2\na = 8\nh = 2\ng = 9\nclass.global.price = 20\nclass.local.price = 1',
        [PAIR[0], ("far", "adversarial", 72, "random-nodes")],
        "min",
    )
    + """
[sweep]
"engine.routing" = ["min", "adaptive-hybrid"]
"machine.edit" = [[], ["global.bandwidth*=0.5"], ["-1 global per group pair"]]
"job.*.placement" = ["compact", "random-nodes"]
"engine.seed" = [1, 2]
[optimize]
objectives = ["slowest job", "price"]
"""
)
INTERFERENCE = "\n".join(
    [
        f"[machine]\n{SMALL}\n",
        PROGRAM.format(name="fft", ranks=32),
        PROGRAM.format(name="halo", ranks=64),
        '[engine]\nkind = "packet"\nrouting = "min"\n',
        '[interference]\npairs = [["fft", "halo"]]\ntargets = ["fft", "halo"]',
        'routings = ["min", "par"]\nseeds = [1, 2]\n',
    ]
)

COUNTERS_LINKS = """sg,sr,sc,dg,dr,dc,color,flits,stalls,stalls/flit,flits_vc_0,stalls_vc_0
1,0,2,1,0,3,g,100,50,0.5,60,40
1,0,2,1,3,2,k,10,5,0.5,6,4
4,0,2,1,0,3,b,1000,5,0.005,600,1
4,5,15,4,5,0,g,20,40,2,12,4
"""
COUNTERS_JOBS = "g,r,c,n,jobid\n1,0,2,0,777\n1,0,2,1,777\n4,0,2,3,42\n"
